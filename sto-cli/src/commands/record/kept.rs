//! Copies of what describes code that was made at run time, beside its recording.

use crate::runtime::CliError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use sto_core::files::{Links, SafeFile, user_of_process};
use sto_core::ingest::IngestOutcome;
use sto_core::limits::{MAX_JIT_DUMP, MAX_PERF_MAP};

/// Copies the perf map of a process that runs, where it has one: it may have been written long before the
/// recording.
///
/// # Errors
/// With a clause that says why one was left out. What the process made of that name may be anything: it
/// must be its user's own file, and not a link to one that only this process may read.
pub(super) fn copy_perf_map(pid: u32, recording: &Path) -> Result<(), String> {
    let name = format!("perf-{pid}.map");
    // Through the process, which may have a `/tmp` of its own. Most processes have no map.
    let path = PathBuf::from(format!("/proc/{pid}/root/tmp")).join(&name);
    let refuse =
        |why: &dyn std::fmt::Display| Err(format!("{} is left out: {why}", path.display()));
    let file = match SafeFile::open(&path, Links::Refuse) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return refuse(&error),
    };
    if user_of_process(pid) != Some(file.owner()) {
        return refuse(&format!(
            "it belongs to {}, who is not that of the process",
            file.owner()
        ));
    }
    copy(&file, &recording.with_file_name(name), MAX_PERF_MAP).or_else(|error| refuse(&error))
}

/// Copies the perf maps and jitdumps that gave names; what perf's own cache has (programs, libraries, the
/// kernel's symbols) is found there by build id.
pub(super) fn copy_all(report: &IngestOutcome, folder: &Path) -> Result<(), CliError> {
    let files = report.modules.iter();
    for path in files.filter_map(|(_, symbols)| symbols.file.as_deref()) {
        let name = path.file_name().unwrap_or_default();
        let target = folder.join(name);
        let text = name.to_string_lossy();
        if (text.ends_with(".map") || text.ends_with(".dump")) && !target.exists() {
            let file = SafeFile::open(path, Links::Refuse);
            let copied = file.and_then(|file| copy(&file, &target, MAX_JIT_DUMP));
            copied.map_err(|source| CliError::WriteFile {
                path: target,
                source,
            })?;
        }
    }
    Ok(())
}

/// In place of what an earlier recording may have left there.
fn copy(file: &SafeFile, target: &Path, most: u64) -> io::Result<()> {
    file.check_size(most)?;
    let _ = fs::remove_file(target);
    let copied = file.copy_to(&mut File::create_new(target)?, most);
    if copied.is_err() {
        let _ = fs::remove_file(target);
    }
    copied
}
