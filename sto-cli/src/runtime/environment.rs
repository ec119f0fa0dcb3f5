//! What the libraries must be told of the user and the machine.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use sto_core::binary::SymbolOptions;
use sto_core::files::User;
use sto_core::units::UnixSeconds;

/// Where symbols of a recording are looked for on this machine.
pub(crate) fn symbol_options(symbol_dirs: &[PathBuf], recording: &Path) -> SymbolOptions {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let existing = |path: &str| Some(PathBuf::from(path)).filter(|path| path.exists());
    let found = recording.metadata().ok();
    SymbolOptions {
        symbol_dirs: symbol_dirs.to_vec(),
        recording_dir: recording.parent().map(|folder| match folder.as_os_str() {
            name if name.is_empty() => PathBuf::from("."),
            _ => folder.to_owned(),
        }),
        recorded: found.as_ref().and_then(|file| file.modified().ok()),
        perf_cache: home.map(|home| PathBuf::from(home).join(".debug")),
        debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
        kallsyms: existing("/proc/kallsyms"),
        kernel_notes: existing("/sys/kernel/notes"),
        perf_maps: Some(PathBuf::from("/tmp")),
        // What stands in the recording itself is believed, too.
        believed_users: [User::ROOT, User::of_this_process()]
            .into_iter()
            .chain(found.map(|file| User(file.uid())))
            .collect(),
        ..SymbolOptions::default()
    }
}

/// The time of this machine.
pub(crate) fn now() -> UnixSeconds {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixSeconds(now.unwrap_or_default().as_secs())
}
