//! Where the files are that programs and their symbols are in.

use crate::files::User;
use crate::model::Granularity;
use std::path::PathBuf;
use std::time::SystemTime;

/// Where symbols are looked for. Everything that depends on the user or the machine is given here.
#[derive(Clone, Debug, Default)]
pub struct SymbolOptions {
    /// Folders that the user names; tried first.
    pub symbol_dirs: Vec<PathBuf>,
    /// The folder of the recording.
    pub recording_dir: Option<PathBuf>,
    /// When the recording was last written: a file without a build id that was written later is another.
    pub recorded: Option<SystemTime>,
    /// perf's cache of files by build id: `~/.debug`.
    pub perf_cache: Option<PathBuf>,
    /// Folders of separate debug files: `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// The running kernel's symbols: `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
    /// The running kernel's notes, which carry its build id: `/sys/kernel/notes`.
    pub kernel_notes: Option<PathBuf>,
    /// Where programs write perf maps: `/tmp`.
    pub perf_maps: Option<PathBuf>,
    /// Whose perf maps and jitdumps are believed where every user may put some, beside those of the user
    /// of the recorded process, while that runs.
    pub believed_users: Vec<User>,
    /// What a frame stands for: a function, or a function at a line.
    pub granularity: Granularity,
}
