//! The search for jitdumps and perf maps, and the users whose files are trusted.

use super::jit_dump::JitDump;
use std::io;
use std::path::{Path, PathBuf};
use sto_model::SymbolOptions;
use sto_model::files::{Links, RegularFile, User, own_id_of_process, user_of_process_since};
use sto_model::system::file_id;
use sto_model::{Hint, Notice};

/// Returns the path and the process id of the jitdump that a mapped file is (`jit-PID.dump`), or from which
/// `perf inject --jit` made the file (`jitted-PID-N.so`).
pub fn jit_dump_path(path: &str) -> Option<(String, u32)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let number = |digits: &str| digits.parse::<u32>().ok();
    if let Some(name) = name.strip_prefix("jit-") {
        return Some((path.to_owned(), number(name.strip_suffix(".dump")?)?));
    }
    let numbers = name.strip_prefix("jitted-")?.strip_suffix(".so")?;
    let pid = number(numbers.split_once('-')?.0)?;
    Some((format!("{folder}/jit-{pid}.dump"), pid))
}

/// Whether `perf inject --jit` made a file from a function in a jitdump.
pub fn is_injected(path: &str) -> bool {
    jit_dump_path(path).is_some_and(|(dump, _)| dump != path)
}

/// Finds the jitdump that a process mapped from the path `recorded`.
///
/// A copy in one of the user's symbol folders or next to the recording is used first. Otherwise it is the file at the
/// recorded path, or at that path in the container of a running process, if it still has the inode number `inode` and
/// belongs to a [trusted user](is_trusted_owner).
///
/// # Errors
/// Returns a notice with the problem and a remedy if there is no trusted jitdump.
pub fn find_jit_dump(
    recorded: &str,
    pid: u32,
    inode: Option<u64>,
    options: &SymbolOptions,
) -> Result<JitDump, Notice> {
    let name = format!("jit-{pid}.dump");
    let copies = copied_paths(&name, options);
    let copy = copies.into_iter().find_map(|path| {
        let file = RegularFile::open(&path, Links::Follow).ok()?;
        JitDump::open(&file, &path, pid)
    });
    let recorded_path = Path::new(recorded);
    copy.map_or_else(|| open_recorded(recorded_path, pid, inode, options), Ok)
        .or_else(|why| open_in_container(recorded_path, pid, inode, options).ok_or(why))
        .map_err(|why| {
            let text = format!(
                "{recorded} was the jitdump of process {pid}, and {why}; copy it next to the recording, or give its folder"
            );
            Notice::new(text, Hint::SymbolFolder)
        })
}

fn open_recorded(
    path: &Path,
    pid: u32,
    inode: Option<u64>,
    options: &SymbolOptions,
) -> Result<JitDump, String> {
    if !path.is_absolute() {
        return Err("its path is not absolute".to_owned());
    }
    let file = RegularFile::open(path, Links::Refuse).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "it no longer exists".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if inode != Some(file_id(&file.metadata).inode) {
        return Err("the path has another file now".to_owned());
    }
    if !is_trusted_owner(file.owner(), pid, options) {
        return Err(untrusted_owner(file.owner(), pid));
    }
    JitDump::open(&file, path, pid)
        .ok_or_else(|| "the file there is not a jitdump of that process".to_owned())
}

/// Opens the jitdump in the container of a running process that has the id `own_id` there.
fn open_in_container(
    path: &Path,
    own_id: u32,
    inode: Option<u64>,
    options: &SymbolOptions,
) -> Option<JitDump> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    let mut in_container = ids.filter(|&id| id != own_id && own_id_of_process(id) == Some(own_id));
    in_container.find_map(|id| {
        let path = path_in_process(id, path)?;
        let file = RegularFile::open(&path, Links::Refuse).ok()?;
        let is_recorded = inode == Some(file_id(&file.metadata).inode);
        (is_recorded && is_owned_by_process(file.owner(), id, options))
            .then(|| JitDump::open(&file, &path, own_id))?
    })
}

/// Returns the path by which a running process's own file can be opened, even if it runs in a container; `None` if the
/// path is not absolute.
pub fn path_in_process(pid: u32, path: &Path) -> Option<PathBuf> {
    let below_root = path.strip_prefix("/").ok()?;
    Some(PathBuf::from(format!("/proc/{pid}/root")).join(below_root))
}

/// Returns a clause that says why a file of an untrusted user is ignored.
pub fn untrusted_owner(owner: User, pid: u32) -> String {
    format!(
        "it is ignored: it belongs to {owner}, who is not known to be the user of process {pid}, so its contents cannot be trusted"
    )
}

/// Returns `true` if a user's file about a process is trusted.
///
/// Any user can put a file with the name of another user's process into `/tmp`.
pub fn is_trusted_owner(owner: User, pid: u32, options: &SymbolOptions) -> bool {
    options.trusted_users.contains(&owner) || is_owned_by_process(owner, pid, options)
}

/// Returns `true` if the recorded process is still running, and is the owner's.
pub fn is_owned_by_process(owner: User, pid: u32, options: &SymbolOptions) -> bool {
    options
        .recording_modified
        .and_then(|recorded| user_of_process_since(pid, recorded))
        .is_some_and(|user| user == owner)
}

/// Returns where the user may have copied a file: into a symbol folder or next to the recording.
pub fn copied_paths(name: &str, options: &SymbolOptions) -> Vec<PathBuf> {
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    dirs.map(|dir| dir.join(name)).collect()
}
