//! What the libraries must be told of the user and the machine.

use crate::runtime::error::CliError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use sto_core::symbolize::SymbolOptions;
use sto_core::units::UnixSeconds;
use sto_query::select::{Commit, Selector};

/// Where symbols of a recording are looked for on this machine.
pub(crate) fn symbol_options(symbol_dirs: &[PathBuf], recording: &Path) -> SymbolOptions {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let existing = |path: &str| Some(PathBuf::from(path)).filter(|path| path.exists());
    SymbolOptions {
        symbol_dirs: symbol_dirs.to_vec(),
        recording_dir: recording.parent().map(|folder| match folder.as_os_str() {
            name if name.is_empty() => PathBuf::from("."),
            _ => folder.to_owned(),
        }),
        recorded: recording.metadata().and_then(|file| file.modified()).ok(),
        perf_cache: home.map(|home| PathBuf::from(home).join(".debug")),
        debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
        kallsyms: existing("/proc/kallsyms"),
        kernel_notes: existing("/sys/kernel/notes"),
        perf_maps: Some(PathBuf::from("/tmp")),
        ..SymbolOptions::default()
    }
}

/// The time of this machine.
pub(crate) fn now() -> UnixSeconds {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixSeconds(now.unwrap_or_default().as_secs())
}

/// The revision of the work tree that the working directory is in, as `git describe` gives it with
/// the whole id of the commit; `None` where there is no git or no work tree.
pub(crate) fn revision() -> Option<String> {
    revision_of(Path::new("."))
}

/// The same of the work tree that a folder is in.
pub(crate) fn revision_of(folder: &Path) -> Option<String> {
    const DESCRIBE: [&str; 6] = [
        "describe",
        "--always",
        "--dirty",
        "--tags",
        "--long",
        "--abbrev=40",
    ];
    git(folder, &DESCRIBE)
}

/// The selector, with the commit that git says its revision is.
pub(crate) fn resolved(selector: Selector) -> Result<Selector, CliError> {
    let Some(revision) = selector.revision() else {
        return Ok(selector);
    };
    let here = Path::new(".");
    let commit = format!("{revision}^{{commit}}");
    let arguments = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &commit,
    ];
    match git(here, &arguments) {
        Some(id) => {
            let tags = git(here, &["tag", "--points-at", &id]).unwrap_or_default();
            let tags = tags.lines().map(str::to_owned).collect();
            Ok(selector.at(Commit { id, tags }))
        }
        // The digits of a commit need no git.
        None if revision.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(selector),
        None => Err(CliError::NoRevision {
            revision: revision.to_owned(),
        }),
    }
}

/// What git says of the work tree that a folder is in; `None` where it fails or says nothing.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    let said = said.trim();
    (output.status.success() && !said.is_empty()).then(|| said.to_owned())
}

/// The top of the git work tree that a folder is in.
pub(crate) fn work_tree(folder: &Path) -> Option<PathBuf> {
    let mut folders = folder.ancestors();
    folders
        .find(|folder| folder.join(".git").exists())
        .map(Path::to_owned)
}
