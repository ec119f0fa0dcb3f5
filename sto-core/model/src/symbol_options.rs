//! Options of the search for symbols.

use crate::files::{TemporaryFiles, User};
use crate::{GnuBuildId, Granularity};
use hashbrown::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

/// The places to search for symbols. The library reads no other setting of the user or the machine.
#[derive(Clone, Debug, Default)]
pub struct SymbolOptions {
    /// Folders given by the user, which are searched first.
    pub symbol_dirs: Vec<PathBuf>,
    /// Files given by the user for modules of the recording: the module's recorded path or base name, and the file
    /// to use. They are used without a check if the recording has no build id for the module.
    pub symbol_files: Vec<(String, PathBuf)>,
    /// The bytes of programs, libraries and their debug files, with the names of the files. They are used without a
    /// check if the recording has no build id for a module with this name.
    pub symbol_bytes: Vec<(PathBuf, Arc<[u8]>)>,
    /// The folder of the recording.
    pub recording_dir: Option<PathBuf>,
    /// The modification time of the recording. A file without a build id that is newer is not the recorded one.
    pub recording_modified: Option<SystemTime>,
    /// perf's cache of files by build id: `~/.debug`.
    pub perf_cache: Option<PathBuf>,
    /// Folders of separate debug files: `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// Servers to ask for files that are not found locally, or only without debug info.
    pub debuginfod: Option<Debuginfod>,
    /// Symbols of the running kernel: `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
    /// Notes of the running kernel, which contain its build id: `/sys/kernel/notes`.
    pub kernel_notes: Option<PathBuf>,
    /// The folder in which programs write perf maps: `/tmp`.
    pub perf_maps: Option<PathBuf>,
    /// Users whose perf maps and jitdumps in world-writable folders are trusted. The user of the
    /// recorded process is also trusted while the process is running.
    pub trusted_users: Vec<User>,
    /// The unit of code that one frame represents.
    pub granularity: Granularity,
    /// The files in `symbol_dirs` and below by build id, listed when they are first needed.
    #[doc(hidden)]
    pub files_in_symbol_dirs: Arc<OnceLock<HashMap<GnuBuildId, Vec<PathBuf>>>>,
}

impl SymbolOptions {
    /// The places where the command `sto` searches: perf's cache in the user's home, debug files of the system, the running
    /// kernel, and perf maps in `/tmp` of this user and root.
    ///
    /// Asks the system for the user's home, which the environment variable `HOME` names on Unix.
    pub fn system() -> SymbolOptions {
        let existing = |path: &str| Some(PathBuf::from(path)).filter(|path| path.exists());
        SymbolOptions {
            perf_cache: std::env::home_dir().map(|home| home.join(".debug")),
            debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
            kallsyms: existing("/proc/kallsyms"),
            kernel_notes: existing("/sys/kernel/notes"),
            perf_maps: Some(PathBuf::from("/tmp")),
            trusted_users: vec![User::ROOT, User::current()],
            ..SymbolOptions::default()
        }
    }

    /// Adds what a recording's file tells: files next to it are searched, files that are newer are not the recorded ones,
    /// and its owner is trusted.
    pub fn for_recording(mut self, file: &Path) -> SymbolOptions {
        self.recording_dir = file.parent().map(|folder| match folder.as_os_str() {
            name if name.is_empty() => PathBuf::from("."),
            _ => folder.to_owned(),
        });
        if let Ok(found) = file.metadata() {
            self.recording_modified = found.modified().ok();
            self.trusted_users.push(User::owner_of(&found));
        }
        self
    }
}

/// debuginfod servers, which provide files by build id. Clones share the list of unreachable servers.
#[derive(Clone, Debug)]
pub struct Debuginfod {
    /// Base URLs of the servers, in the order in which they are asked.
    pub urls: Vec<String>,
    /// The folder that caches downloaded files and negative answers.
    pub cache: PathBuf,
    /// Maximum time without data from a server, and maximum time for the first 100 KiB.
    pub timeout: Duration,
    /// Maximum time for downloading one file.
    pub max_time: Duration,
    /// Maximum size of a file in bytes.
    pub max_bytes: u64,
    /// The files that are being downloaded.
    pub temporary_files: TemporaryFiles,
    /// Servers that could not be reached or took too long. They are not asked again.
    #[doc(hidden)]
    pub unreachable: Arc<Mutex<Vec<String>>>,
}

impl Debuginfod {
    /// Creates the options with default limits: a timeout of 90 seconds, and 20 minutes and 2 GiB per file.
    pub fn new(urls: Vec<String>, cache: PathBuf) -> Debuginfod {
        Debuginfod {
            urls,
            cache,
            timeout: Duration::from_secs(90),
            max_time: Duration::from_secs(20 * 60),
            max_bytes: 2 << 30,
            temporary_files: TemporaryFiles::default(),
            unreachable: Arc::default(),
        }
    }
}
