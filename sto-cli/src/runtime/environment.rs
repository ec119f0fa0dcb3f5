//! Gives the libraries access to the user and the machine.

use crate::runtime::{Progress, git, interrupt, ui};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use sto_core::ingest::{
    Debuginfod, IngestError, IngestOptions, IngestOutcome, SymbolOptions, ingest,
};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_query::sources::{Environment, WorkTree};

/// The debuginfod servers at these URLs, separated by spaces, with the settings and the cache of elfutils
/// (debuginfod-client-config(7)); `None` without servers or without a folder for the cache.
pub(crate) fn debuginfod(urls: &str) -> Option<Debuginfod> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = |name| variable(name).map(PathBuf::from);
    let cache = folder("DEBUGINFOD_CACHE_PATH").or_else(|| {
        let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        Some(caches?.join("debuginfod_client"))
    })?;
    let urls: Vec<String> = urls.split_whitespace().map(str::to_owned).collect();
    if urls.is_empty() {
        return None;
    }
    let number = |name| -> Option<u64> {
        let value = variable(name)?.to_str()?.trim().parse().ok();
        value.filter(|&value| value > 0)
    };
    let mut servers = Debuginfod::new(urls, cache);
    servers.temporary_files = interrupt::temporaries().clone();
    if let Some(seconds) = number("DEBUGINFOD_TIMEOUT") {
        servers.timeout = Duration::from_secs(seconds);
    }
    if let Some(seconds) = number("DEBUGINFOD_MAXTIME") {
        servers.max_time = Duration::from_secs(seconds);
    }
    if let Some(bytes) = number("DEBUGINFOD_MAXSIZE") {
        servers.max_bytes = bytes;
    }
    Some(servers)
}

/// Splits `FILE=PATH`, unless there is a folder of that name.
fn split_symbol_file(named: &Path) -> Option<(String, PathBuf)> {
    let (file, path) = named.to_str()?.split_once('=')?;
    (!named.is_dir()).then(|| (file.to_owned(), path.into()))
}

/// Returns the options for finding symbols of a recording on this machine: `named` folders and files (`FILE=PATH`) first.
pub(crate) fn symbol_options(named: &[PathBuf], recording: &Path) -> SymbolOptions {
    SymbolOptions {
        symbol_files: named
            .iter()
            .filter_map(|named| split_symbol_file(named))
            .collect(),
        symbol_dirs: named
            .iter()
            .filter(|named| split_symbol_file(named).is_none())
            .cloned()
            .collect(),
        ..SymbolOptions::system().for_recording(recording)
    }
}

/// The user's machine, for queries.
pub(crate) struct Machine(WorkTree);

impl Machine {
    /// The machine, with the work tree that contains the working directory.
    pub(crate) fn here() -> Machine {
        Machine(git::here())
    }
}

impl Environment for Machine {
    fn work_tree(&self) -> Option<&WorkTree> {
        Some(&self.0)
    }

    fn read(
        &self,
        memory: &Store,
        file: &Path,
        options: IngestOptions,
    ) -> Result<IngestOutcome, IngestError> {
        let progress = Progress::new(file);
        let options = IngestOptions {
            symbols: SymbolOptions {
                debuginfod: std::env::var("DEBUGINFOD_URLS")
                    .ok()
                    .filter(|_| cfg!(feature = "debuginfod"))
                    .and_then(|urls| debuginfod(&urls)),
                ..symbol_options(&[], file)
            },
            call_folder: Some(std::env::temp_dir()),
            on_read: progress.on_read(),
            ..options
        };
        let mut show = |stage| progress.stage(stage);
        let report = ingest(memory, file, &options, &mut show)?;
        drop(progress);
        ui::warn(file, &report.warnings);
        Ok(report)
    }

    fn takes_all(&self, name: &str, functions: &[String]) {
        let fits = format!("`{name}` matches {} functions", functions.len());
        ui::print_list(&fits, functions);
    }
}

/// The current time.
pub(crate) fn now() -> UnixSeconds {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixSeconds(now.unwrap_or_default().as_secs())
}
