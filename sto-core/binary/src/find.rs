//! The search for the files of a module, by its build id.

use super::debuginfod::Client;
use super::elf::{Detail, ElfFile};
pub use super::found::Found;
use super::found::{Artifact, rebase, recorded_path};
use super::jit_files::{find_jit_dump, jit_dump_path};
use super::symbol_folders::files_with_build_id;
use super::without_build_id::{find_without_build_id, path_from_user};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use sto_model::GnuBuildId;
use sto_model::SymbolOptions;
use sto_model::{Hint, Notice};
use sto_model::{Module, ModuleKind};

/// Finds the files of a module: the mapped file or its separate debug file, whichever has more detail, and of equally
/// detailed ones the first in the search order (see `symbols.md`).
///
/// # Errors
/// Returns a notice with the problem and a remedy if no file matches.
pub fn find_files(module: &Module, options: &SymbolOptions) -> Result<Found, Notice> {
    if module.path.starts_with("/memfd:") || module.path.starts_with("anon_inode:") {
        return Err(format!(
            "{} is memory without a file on disk, so its functions have no names",
            module.path
        )
        .into());
    }
    // A jitdump that was found when the recording was read has become a module of another kind.
    if let Some((path, pid)) = jit_dump_path(&module.path)
        && path == module.path
    {
        return match find_jit_dump(&path, pid, module.inode, options) {
            Ok(_) => {
                Err(format!("{path} appeared while the recording was read; ingest it again").into())
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
    if let Some(path) = path_from_user(module, options) {
        paths.push_front(path.to_owned());
    }
    let mut best = Best::default();
    let in_memory = options.symbol_bytes.iter();
    let in_memory =
        in_memory.filter_map(|(name, bytes)| ElfFile::from_bytes(name, bytes.clone()).ok());
    in_memory
        .filter(|file| file.build_id.as_ref() == Some(build_id))
        .for_each(|file| best.add(file));
    let mut refused = None;
    // Listing folders takes longer than trying paths.
    let listed = std::iter::once_with(|| files_with_build_id(build_id, options));
    let mut listed = listed.flatten().cloned();
    while let Some(path) = paths.pop_front().or_else(|| listed.next()) {
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
        best.add(file);
        if best.has_debug_info() && best.has_code() {
            break;
        }
    }
    let unanswered = ask_servers(&mut best, build_id, options);
    let Best { symbols, image } = best;
    let Some(symbols) = symbols else {
        let problems = [refused, unanswered].into_iter().flatten();
        let problems: String = problems.map(|problem| format!(" ({problem})")).collect();
        let missing = format!(
            "no file with the recorded build id {build_id} was found for {}{problems}; put a copy of the file, or its separate debug file, into",
            module.path
        );
        return Err(match &options.symbol_dirs[..] {
            [] => Notice::new(
                format!("{missing} a folder, and give that folder"),
                Hint::SymbolFolder,
            ),
            [given, ..] => Notice::from(format!("{missing} {}", given.display())),
        });
    };
    Ok(Found {
        image: image.filter(|_| !symbols.has_code),
        symbols,
        unanswered,
    })
}

/// The best files found so far.
#[derive(Default)]
struct Best {
    /// The file with the most detail.
    symbols: Option<ElfFile>,
    /// The first file with code among the others.
    image: Option<ElfFile>,
}

impl Best {
    fn add(&mut self, file: ElfFile) {
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

/// Asks debuginfod servers for the code and the debug info that no local file has. Returns why a server could not be
/// asked.
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
                Ok(Some(file)) => best.add(file),
                Ok(None) => {}
                Err(problem) => drop(unanswered.get_or_insert(problem)),
            }
        }
    }
    unanswered
}

/// Finds the supplementary debug file, which has the debug info that `file` shares with others (`.gnu_debugaltlink`):
/// by its build id in the folders of debug files, then at the path in the link.
pub fn find_supplement(file: &ElfFile, options: &SymbolOptions) -> Option<ElfFile> {
    let (linked, build_id) = file.debug_alt_link.as_ref()?;
    let folder = file.path.parent().unwrap_or(Path::new("."));
    let dirs = options.symbol_dirs.iter().chain(&options.debug_dirs);
    let mut paths = dirs
        .map(|dir| debug_file(dir, build_id))
        .collect::<Vec<_>>();
    paths.push(folder.join(linked));
    let mut files = paths.iter().filter_map(|path| ElfFile::open(path).ok()?);
    let found = files.find(|file| file.build_id.as_ref() == Some(build_id));
    found.or_else(|| {
        let servers = options.debuginfod.as_ref()?;
        Client(servers).find(build_id, Artifact::DebugInfo).ok()?
    })
}

/// Finds the package of split debug info of a file: `FILE.dwp` next to the file, or next to where the recorded file
/// would be. The ids of the package's units show whether they belong to the file.
pub fn find_package(file: &ElfFile, module: &Module, options: &SymbolOptions) -> Option<ElfFile> {
    let recorded = recorded_path(module);
    let with_dwp = |path: &Path| {
        let mut path = path.as_os_str().to_owned();
        path.push(".dwp");
        PathBuf::from(path)
    };
    let mut paths = vec![with_dwp(&file.path)];
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    if let Some(name) = recorded.file_name() {
        paths.extend(dirs.map(|dir| with_dwp(&dir.join(name))));
    }
    paths.extend(recorded.is_absolute().then(|| with_dwp(recorded)));
    let mut files = paths.iter().filter_map(|path| ElfFile::open(path).ok()?);
    files.next()
}

/// Returns the paths that may have the split debug info (`.dwo`) of a unit: the path that the unit names, relative to
/// the folder in which it was compiled, and the same file name next to the program.
pub fn dwo_paths(
    program: &ElfFile,
    name: &Path,
    folder: Option<&Path>,
    options: &SymbolOptions,
) -> Vec<PathBuf> {
    let dirs = options.symbol_dirs.iter().chain(&options.recording_dir);
    let mut paths: Vec<PathBuf> = dirs
        .flat_map(|dir| {
            let base = name.file_name().map(|base| dir.join(base));
            [Some(rebase(dir, name)), base].into_iter().flatten()
        })
        .collect();
    let named = folder.map_or_else(|| name.to_owned(), |folder| folder.join(name));
    paths.extend(named.is_absolute().then_some(named));
    let sibling = program.path.parent().zip(name.file_name());
    paths.extend(sibling.map(|(folder, base)| folder.join(base)));
    paths
}

/// Returns every path that may have a file with this build id, in the search order.
fn search_paths(module: &Module, build_id: &GnuBuildId, options: &SymbolOptions) -> Vec<PathBuf> {
    let (recorded, names) = (recorded_path(module), file_names(module));
    let mut paths = Vec::new();
    for dir in &options.symbol_dirs {
        paths.extend(build_id_paths(dir, build_id));
        paths.extend(names.iter().map(|name| dir.join(name)));
        paths.push(rebase(dir, recorded));
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
            let folder = rebase(dir, folder);
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

/// Returns the file names that a module may have: the recorded one, and for a kernel module also those with other
/// extensions, and with dashes in the place of underscores or the other way round.
fn file_names(module: &Module) -> Vec<OsString> {
    let recorded = recorded_path(module).file_name();
    let mut names: Vec<OsString> = recorded.map(OsStr::to_owned).into_iter().collect();
    if module.kind == ModuleKind::KernelModule
        && let Some(name) = kernel_module_name(module.name())
    {
        let spellings = [
            name.to_owned(),
            name.replace('_', "-"),
            name.replace('-', "_"),
        ];
        for extension in [".ko", ".ko.xz", ".ko.zst", ".ko.gz", ".ko.debug"] {
            let with_extension = |name| format!("{name}{extension}").into();
            names.extend(spellings.iter().map(with_extension));
        }
    }
    names
}

/// Returns the name of a kernel module without the extension of its file, or without brackets.
pub fn kernel_module_name(file: &str) -> Option<&str> {
    match file.strip_prefix('[') {
        Some(name) => name.strip_suffix(']'),
        None => Some(file.split_once(".ko")?.0),
    }
}

/// Returns the paths for a build id under `.build-id` of a folder: of debug packages, then of perf's cache.
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

/// Returns `DIR/.build-id/ab/cdef`: in perf's cache a folder, in others a file.
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

/// Returns the paths that may have the separate debug file named by `.gnu_debuglink`: in the user's folders, then by
/// gdb's rules.
fn debug_link_paths(name: &OsStr, recorded: &Path, options: &SymbolOptions) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    // Drop any folders of the name: it must not lead elsewhere.
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
                .map(|root| rebase(root, dir).join(name)),
        );
    }
    paths
}
