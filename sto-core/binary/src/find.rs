//! The search for the file that was mapped, known by its build id.

use super::debuginfod::Client;
use super::elf::{Detail, ElfFile};
pub use super::found::Found;
use super::found::{Artifact, recorded_path};
use super::jit_files::{dump_of, find_dump};
use super::without_build_id::{by_hand, find_without_build_id};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use sto_model::GnuBuildId;
use sto_model::SymbolOptions;
use sto_model::{Hint, Notice};
use sto_model::{Module, ModuleKind};

/// Finds the files of a module: of those that were mapped, or were made of what was mapped, the one
/// with most detail, and among equals the one that stands first in the search order (see `symbols.md`).
///
/// # Errors
/// With a sentence that says what was found instead, and what to do.
pub fn find(module: &Module, options: &SymbolOptions) -> Result<Found, Notice> {
    if module.path.starts_with("/memfd:") || module.path.starts_with("anon_inode:") {
        return Err(format!(
            "{} is memory without a file on disk, so its functions have no names",
            module.path
        )
        .into());
    }
    // One that was believed when the recording was read is a module of another kind.
    if let Some((path, pid)) = dump_of(&module.path)
        && path == module.path
    {
        return match find_dump(&path, pid, module.inode, options) {
            Ok(_) => {
                Err(format!("{path} came while the recording was read; ingest it again").into())
            }
            Err(problem) => Err(problem),
        };
    }
    match &module.build_id {
        Some(build_id) => find_by_build_id(module, build_id, options),
        None => find_without_build_id(module, options),
    }
}

fn find_by_build_id(
    module: &Module,
    build_id: &GnuBuildId,
    options: &SymbolOptions,
) -> Result<Found, Notice> {
    let recorded = recorded_path(module);
    let mut paths = VecDeque::from(search_paths(module, build_id, options));
    if let Some(path) = by_hand(module, options) {
        paths.push_front(path.to_owned());
    }
    let mut best = Best::default();
    let mut refused = None;
    while let Some(path) = paths.pop_front() {
        let file = match ElfFile::open(&path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(problem) => {
                refused.get_or_insert(problem);
                continue;
            }
        };
        if file.build_id.as_ref() != Some(build_id) {
            refused.get_or_insert_with(|| match &file.build_id {
                Some(other) => format!("{} has build id {other}", path.display()),
                None => format!("{} has no build id", path.display()),
            });
            continue;
        }
        if let Some(name) = &file.debug_link {
            paths.extend(debug_link_paths(name, recorded, options));
        }
        best.take(file);
        if best.has_debug_info() && best.has_code() {
            break;
        }
    }
    let unanswered = ask_servers(&mut best, build_id, options);
    let Best { symbols, image } = best;
    let Some(symbols) = symbols else {
        let instead = [refused, unanswered];
        let instead = instead.into_iter().flatten();
        let instead: String = instead.map(|problem| format!(" ({problem})")).collect();
        let text = format!(
            "no file with the recorded build id {build_id} was found for {}{instead}; put a copy of it, or its separate debug file, into a folder and name that",
            module.path
        );
        return Err(Notice::new(text, Hint::SymbolFolder));
    };
    Ok(Found {
        image: image.filter(|_| !symbols.has_code),
        symbols,
        unanswered,
    })
}

/// The best files so far.
#[derive(Default)]
struct Best {
    symbols: Option<ElfFile>,
    /// The first that holds code, of those that do not have the most detail.
    image: Option<ElfFile>,
}

impl Best {
    fn take(&mut self, file: ElfFile) {
        let best = self.symbols.as_ref().map(|best| best.detail);
        let other = if best < Some(file.detail) {
            self.symbols.replace(file)
        } else {
            Some(file)
        };
        let image = self.image.take();
        self.image = image.or(other.filter(|file| file.has_code));
    }

    fn has_debug_info(&self) -> bool {
        let best = self.symbols.as_ref();
        best.is_some_and(|best| best.detail == Detail::DebugInfo)
    }

    fn has_code(&self) -> bool {
        self.image.is_some() || self.symbols.as_ref().is_some_and(|best| best.has_code)
    }
}

/// Asks debuginfod servers for what no file at hand has; returns why they did not say whether they have it.
fn ask_servers(best: &mut Best, build_id: &GnuBuildId, options: &SymbolOptions) -> Option<String> {
    let servers = options.debuginfod.as_ref()?;
    let mut unanswered = None;
    for (artifact, is_there) in [
        (
            Artifact::DebugInfo,
            Best::has_debug_info as fn(&Best) -> bool,
        ),
        (Artifact::Executable, Best::has_code),
    ] {
        if !is_there(best) {
            match Client(servers).find(build_id, artifact) {
                Ok(Some(file)) => best.take(file),
                Ok(None) => {}
                Err(problem) => drop(unanswered.get_or_insert(problem)),
            }
        }
    }
    unanswered
}

/// The file that a debug file shares a part of its debug info with others in (`.gnu_debugaltlink`): where it says,
/// or where debug files of that build id are.
pub fn find_supplement(file: &ElfFile, options: &SymbolOptions) -> Option<ElfFile> {
    let (named, build_id) = file.debug_alt_link.as_ref()?;
    let folder = file.path.parent().unwrap_or(Path::new("."));
    let dirs = options.symbol_dirs.iter().chain(&options.debug_dirs);
    let mut paths = dirs
        .map(|dir| debug_file(dir, build_id))
        .collect::<Vec<_>>();
    paths.push(folder.join(named));
    let mut files = paths.iter().filter_map(|path| ElfFile::open(path).ok()?);
    let found = files.find(|file| file.build_id.as_ref() == Some(build_id));
    found.or_else(|| {
        let servers = options.debuginfod.as_ref()?;
        Client(servers).find(build_id, Artifact::DebugInfo).ok()?
    })
}

/// The package of what was split off of a file's debug info: `FILE.dwp`, beside it, or where the recorded file
/// would be. Its parts have ids.
pub fn find_package(file: &ElfFile, module: &Module, options: &SymbolOptions) -> Option<ElfFile> {
    let recorded = recorded_path(module);
    let named = |path: &Path| {
        let mut path = path.as_os_str().to_owned();
        path.push(".dwp");
        PathBuf::from(path)
    };
    let mut paths = vec![named(&file.path)];
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    if let Some(name) = recorded.file_name() {
        paths.extend(dirs.map(|dir| named(&dir.join(name))));
    }
    paths.extend(recorded.is_absolute().then(|| named(recorded)));
    let mut files = paths.iter().filter_map(|path| ElfFile::open(path).ok()?);
    files.next()
}

/// Where a file may be that a unit was split into when it was compiled in a folder (`.dwo`): as the unit says, and
/// beside its program.
pub fn split_paths(
    program: &ElfFile,
    name: &Path,
    folder: Option<&Path>,
    options: &SymbolOptions,
) -> Vec<PathBuf> {
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    let mut paths: Vec<PathBuf> = dirs
        .flat_map(|dir| {
            let base = name.file_name().map(|base| dir.join(base));
            [Some(below(dir, name)), base].into_iter().flatten()
        })
        .collect();
    let said = folder.map_or_else(|| name.to_owned(), |folder| folder.join(name));
    paths.extend(said.is_absolute().then_some(said));
    let beside = program.path.parent().zip(name.file_name());
    paths.extend(beside.map(|(folder, base)| folder.join(base)));
    paths
}

/// Every path that may hold a file with this build id, the most trusted first.
fn search_paths(module: &Module, build_id: &GnuBuildId, options: &SymbolOptions) -> Vec<PathBuf> {
    let (recorded, names) = (recorded_path(module), names_of(module));
    let mut paths = Vec::new();
    for dir in &options.symbol_dirs {
        paths.extend(build_id_paths(dir, build_id));
        paths.extend(names.iter().map(|name| dir.join(name)));
        paths.push(below(dir, recorded));
    }
    if let Some(dir) = &options.recording_dir {
        paths.extend(names.iter().map(|name| dir.join(name)));
    }
    if let Some(cache) = &options.perf_cache {
        paths.extend(build_id_paths(cache, build_id));
    }
    for dir in &options.debug_dirs {
        paths.push(debug_file(dir, build_id));
        if module.kind == ModuleKind::KernelModule
            && let Some(folder) = recorded.parent()
        {
            let folder = below(dir, folder);
            paths.extend(names.iter().map(|name| folder.join(name)));
        }
    }
    if recorded.is_absolute() {
        paths.push(recorded.to_owned());
    }
    let mut distinct: Vec<PathBuf> = Vec::with_capacity(paths.len());
    for path in paths {
        if !distinct.contains(&path) {
            distinct.push(path);
        }
    }
    distinct
}

/// What a file may be called: its own name, of which there is none below `/`; for a kernel module also what it is called
/// where others compress it, or have dashes where the kernel has underscores.
fn names_of(module: &Module) -> Vec<OsString> {
    let own = recorded_path(module).file_name();
    let mut names: Vec<OsString> = own.map(OsStr::to_owned).into_iter().collect();
    if module.kind == ModuleKind::KernelModule
        && let Some(name) = kernel_module_name(module.name())
    {
        let spelled = [
            name.to_owned(),
            name.replace('_', "-"),
            name.replace('-', "_"),
        ];
        for ending in [".ko", ".ko.xz", ".ko.zst", ".ko.gz", ".ko.debug"] {
            names.extend(spelled.iter().map(|name| format!("{name}{ending}").into()));
        }
    }
    names
}

/// The name of a kernel module: that of its file without the ending, or what is between brackets.
pub fn kernel_module_name(file: &str) -> Option<&str> {
    match file.strip_prefix('[') {
        Some(name) => name.strip_suffix(']'),
        None => Some(file.split_once(".ko")?.0),
    }
}

/// The paths under `.build-id` of a folder: those of debug packages, then those of perf.
fn build_id_paths(dir: &Path, build_id: &GnuBuildId) -> [PathBuf; 5] {
    let entry = build_id_entry(dir, build_id);
    [
        debug_file(dir, build_id),
        entry.join("debug"),
        entry.join("elf"),
        entry.join("vdso"),
        entry,
    ]
}

/// `DIR/.build-id/ab/cdef`: in perf's cache a folder, elsewhere the file.
pub fn build_id_entry(dir: &Path, build_id: &GnuBuildId) -> PathBuf {
    let hex = build_id.to_string();
    let (first, rest) = hex.split_at(2);
    dir.join(".build-id").join(first).join(rest)
}

fn debug_file(dir: &Path, build_id: &GnuBuildId) -> PathBuf {
    let mut path = build_id_entry(dir, build_id).into_os_string();
    path.push(".debug");
    PathBuf::from(path)
}

/// Where the separate debug file that a file names may be, by gdb's rules and beside what the user
/// gave.
fn debug_link_paths(name: &OsStr, recorded: &Path, options: &SymbolOptions) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    // A name, not a path that leads elsewhere.
    let Some(name) = Path::new(name).file_name() else {
        return paths;
    };
    let user_dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    paths.extend(user_dirs.map(|dir| dir.join(name)));
    if let Some(dir) = recorded.parent().filter(|dir| dir.is_absolute()) {
        paths.push(dir.join(name));
        paths.push(dir.join(".debug").join(name));
        paths.extend(
            options
                .debug_dirs
                .iter()
                .map(|root| below(root, dir).join(name)),
        );
    }
    paths
}

/// The recorded path as it is under another root.
fn below(root: &Path, path: &Path) -> PathBuf {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut below = root.to_owned();
    below.extend(parts);
    below
}
