//! Where jitdumps and perf maps may be, and whose are believed.

use super::jit_dump::JitDump;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sto_model::SymbolOptions;
use sto_model::files::{Links, SafeFile, User, user_of_process_since};
use sto_model::{Hint, Notice};

/// The process whose jitdump a mapped file is, or was made of by `perf inject --jit`, and the
/// jitdump's path.
pub fn dump_of(path: &str) -> Option<(String, u32)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let number = |digits: &str| digits.parse::<u32>().ok();
    if let Some(name) = name.strip_prefix("jit-") {
        return Some((path.to_owned(), number(name.strip_suffix(".dump")?)?));
    }
    let numbers = name.strip_prefix("jitted-")?.strip_suffix(".so")?;
    let pid = number(numbers.split_once('-')?.0)?;
    Some((format!("{folder}/jit-{pid}.dump"), pid))
}

/// Finds the jitdump of a process, which the recording says was mapped from this path: beside the
/// recording or in a folder that the user names, else there, if it is still the file of this inode, and of
/// a [user that is believed](is_believed).
///
/// # Errors
/// With a sentence that says why there is none, and what to do.
pub fn find_dump(
    recorded: &str,
    pid: u32,
    inode: Option<u64>,
    options: &SymbolOptions,
) -> Result<JitDump, Notice> {
    let name = format!("jit-{pid}.dump");
    let copies = beside(&name, options);
    let copy = copies.into_iter().find_map(|path| {
        let file = SafeFile::open(&path, Links::Follow).ok()?;
        JitDump::open(&file, &path, pid)
    });
    copy.map_or_else(|| dump_at(Path::new(recorded), pid, inode, options), Ok)
        .map_err(|why| {
            let text = format!(
                "{recorded} was the jitdump of process {pid}, and {why}; copy it beside the recording, or name its folder"
            );
            Notice::new(text, Hint::SymbolFolder)
        })
}

fn dump_at(
    path: &Path,
    pid: u32,
    inode: Option<u64>,
    options: &SymbolOptions,
) -> Result<JitDump, String> {
    if !path.is_absolute() {
        return Err("its path is not a whole one".to_owned());
    }
    let file = SafeFile::open(path, Links::Refuse).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "it is not there any more".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if inode != Some(file.metadata.ino()) {
        return Err("another file is there now".to_owned());
    }
    if !is_believed(file.owner(), pid, options) {
        return Err(left_out(file.owner(), pid));
    }
    JitDump::open(&file, path, pid)
        .ok_or_else(|| "what is there is no jitdump of that process".to_owned())
}

/// The sentence that says why a file of another user was left out.
pub fn left_out(owner: User, pid: u32) -> String {
    format!(
        "it is left out: it belongs to {owner}, who is not known to be the user of process {pid}, so that anything may stand in it"
    )
}

/// Whether what a user wrote of a process is believed: anybody may put a file into `/tmp` that has the
/// name of one of another user's process.
pub fn is_believed(owner: User, pid: u32, options: &SymbolOptions) -> bool {
    options.believed_users.contains(&owner)
        || options
            .recorded
            .and_then(|recorded| user_of_process_since(pid, recorded))
            .is_some_and(|user| user == owner)
}

/// Where a file may be that was copied with a recording.
pub fn beside(name: &str, options: &SymbolOptions) -> Vec<PathBuf> {
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    dirs.map(|dir| dir.join(name)).collect()
}
