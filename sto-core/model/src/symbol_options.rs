//! Where symbols are looked for.

use crate::Granularity;
use crate::files::{Temporaries, User};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Where symbols are looked for. Everything that depends on the user or the machine is given here.
#[derive(Clone, Debug, Default)]
pub struct SymbolOptions {
    /// Folders that the user names; tried first.
    pub symbol_dirs: Vec<PathBuf>,
    /// Files that the user names for programs and libraries of the recording: its path or base name there, and
    /// where it is. They are believed where the recording has no build id.
    pub by_hand: Vec<(String, PathBuf)>,
    /// The folder of the recording.
    pub recording_dir: Option<PathBuf>,
    /// When the recording was last written: a file without a build id that was written later is another.
    pub recorded: Option<SystemTime>,
    /// perf's cache of files by build id: `~/.debug`.
    pub perf_cache: Option<PathBuf>,
    /// Folders of separate debug files: `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// Servers that are asked for what is not found, or without debug info.
    pub debuginfod: Option<Debuginfod>,
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

/// Servers that are asked for files by their build ids. Clones share what is known of the servers.
#[derive(Clone, Debug)]
pub struct Debuginfod {
    /// Where their addresses begin, in the order in which they are asked.
    pub urls: Vec<String>,
    /// The folder in which what they sent is kept, and what they did not have.
    pub cache: PathBuf,
    /// How long a server may send nothing, and at most for its first 100 KiB.
    pub timeout: Duration,
    /// How long a file may take.
    pub max_time: Duration,
    /// How large a file may be.
    pub max_bytes: u64,
    /// Where files are that are not complete.
    pub temporaries: Temporaries,
    /// Those that could not be reached, or took too long. They are not asked again.
    #[doc(hidden)]
    pub given_up: Arc<Mutex<Vec<String>>>,
}

impl Debuginfod {
    /// Servers, and a folder for what they send. A server may take 90 seconds to answer, a file 20 minutes, and have
    /// 2 GiB.
    pub fn new(urls: Vec<String>, cache: PathBuf) -> Debuginfod {
        Debuginfod {
            urls,
            cache,
            timeout: Duration::from_secs(90),
            max_time: Duration::from_secs(20 * 60),
            max_bytes: 2 << 30,
            temporaries: Temporaries::default(),
            given_up: Arc::default(),
        }
    }
}
