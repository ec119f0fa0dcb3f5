//! Copies perf maps and jitdumps next to the recording of a program with generated code.

use crate::runtime::CliError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use sto_core::files::{Links, RegularFile, own_id_of_process, user_of_process};
use sto_core::ingest::IngestOutcome;
use sto_core::limits::{MAX_JIT_DUMP, MAX_PERF_MAP};

/// Copies the perf map of a running process, if it has one: the map may have been written long before the
/// recording, and in a container, it is named after the id that the process has there.
///
/// # Errors
/// Returns a warning that says why a map was left out. The process may have put anything in that place, so the
/// map must be a file of the process's user, and not a link to a file that only sto may read.
pub(super) fn copy_perf_map(pid: u32, recording: &Path) -> Result<(), String> {
    let own_id = own_id_of_process(pid).unwrap_or(pid);
    // The path goes through /proc, because the process may have its own `/tmp`. Most processes have no map.
    let path = PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{own_id}.map"));
    let refuse =
        |why: &dyn std::fmt::Display| Err(format!("{} is left out: {why}", path.display()));
    let file = match RegularFile::open(&path, Links::Refuse) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return refuse(&error),
    };
    if user_of_process(pid) != Some(file.owner()) {
        return refuse(&format!(
            "it belongs to {}, who is not the user of the process",
            file.owner()
        ));
    }
    let copied_to = recording.with_file_name(format!("perf-{pid}.map"));
    copy(&file, &copied_to, MAX_PERF_MAP).or_else(|error| refuse(&error))
}

/// Writes the code that the kernel maps into every process to `[vdso]` next to the recording, if it can be read: it is in
/// no file, and recordings with the build ids of mappings do not have that of this one.
pub(super) fn write_vdso(recording: &Path) {
    let read = || -> Option<Vec<u8>> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let vdso = maps.lines().find(|line| line.ends_with(" [vdso]"))?;
        let (start, end) = vdso.split_once(' ')?.0.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let mut code = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
        let memory = File::open("/proc/self/mem").ok()?;
        memory.read_exact_at(&mut code, start).ok()?;
        Some(code)
    };
    if let Some(code) = read() {
        // Without the copy, its functions have no names.
        let _ = fs::write(recording.with_file_name("[vdso]"), code);
    }
}

/// Copies the perf maps and jitdumps that named functions. Other files (programs, libraries, the
/// kernel's symbols) are in perf's own cache, by build id.
pub(super) fn copy_all(report: &IngestOutcome, folder: &Path) -> Result<(), CliError> {
    let files = report.modules.iter();
    for path in files.filter_map(|(_, symbols)| symbols.file.as_deref()) {
        let name = path.file_name().unwrap_or_default();
        let target = folder.join(name);
        let text = name.to_string_lossy();
        if (text.ends_with(".map") || text.ends_with(".dump")) && !target.exists() {
            let file = RegularFile::open(path, Links::Refuse);
            let copied = file.and_then(|file| copy(&file, &target, MAX_JIT_DUMP));
            copied.map_err(|source| CliError::WriteFile {
                path: target,
                source,
            })?;
        }
    }
    Ok(())
}

/// Copies a file, replacing one that an earlier recording may have left.
fn copy(file: &RegularFile, target: &Path, most: u64) -> io::Result<()> {
    file.check_size(most)?;
    let _ = fs::remove_file(target);
    let copied = file.copy_to(&mut File::create_new(target)?, most);
    if copied.is_err() {
        let _ = fs::remove_file(target);
    }
    copied
}
