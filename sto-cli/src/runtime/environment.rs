//! What the libraries must be told of the user and the machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use sto_core::symbolize::SymbolOptions;
use sto_core::units::UnixSeconds;

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

/// The revision of the work tree that the working directory is in, as `git describe` gives it;
/// `None` where there is no git or no work tree.
pub(crate) fn revision() -> Option<String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--tags"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let revision = String::from_utf8(output.stdout).ok()?;
    let revision = revision.trim();
    (output.status.success() && !revision.is_empty()).then(|| revision.to_owned())
}
