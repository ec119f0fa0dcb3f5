//! The source file that a profile means, in folders that the user named.
//!
//! A profile has paths without what differs from machine to machine (*Source files* of `sto-core/src/symbolize/symbols.md`), so
//! the folder that a path begins in is not known. A file is taken for the one that is meant if one of
//! the two paths ends with the whole other; of several the one that agrees in most of its folders.
//! Nothing outside of the folders is read, also not by a symbolic link.

use hashbrown::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};
use sto_core::files::{Links, SafeFile};

/// A source file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text; what is not UTF-8 is replaced.
    pub(crate) text: String,
    /// When it was last written, where the file system says so.
    pub written: Option<SystemTime>,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Found {
    /// The file.
    File(SourceFile),
    /// Several files are as likely.
    Several(Vec<PathBuf>),
    /// There is none.
    Nothing,
}

/// Files that are looked at in a folder before the search gives up: a home folder is no work tree.
const MOST_FILES: usize = 200_000;
/// Larger files are not source.
const MOST_BYTES: u64 = 16 << 20;

/// The files of a folder, and of those below it, that files of profiles may mean: it is gone through once.
#[derive(Clone, Debug)]
pub struct SourceTree {
    folder: PathBuf,
    /// Paths by their last name, in order.
    by_name: HashMap<OsString, Vec<PathBuf>>,
}

impl SourceTree {
    /// Goes through a folder for files with the last names of these files of profiles. A folder that is not there, or
    /// cannot be read, has nothing.
    pub fn of<'a>(folder: &Path, files: impl IntoIterator<Item = &'a str>) -> SourceTree {
        let mut by_name: HashMap<OsString, Vec<PathBuf>> = HashMap::new();
        for file in files {
            if let Some(name) = Path::new(file).file_name() {
                by_name.entry(name.to_owned()).or_default();
            }
        }
        let folder = folder.canonicalize().ok();
        if let Some(folder) = &folder {
            collect(folder, &mut by_name);
        }
        by_name.values_mut().for_each(|paths| paths.sort_unstable());
        SourceTree {
            folder: folder.unwrap_or_default(),
            by_name,
        }
    }

    /// The likeliest files of those that a file of a profile may mean, in order; none where it is not here, or was not
    /// looked for.
    pub fn find(&self, file: &str) -> Vec<PathBuf> {
        let meant: Option<Vec<&OsStr>> = Path::new(file).components().map(name_of).collect();
        let mut meant = meant.unwrap_or_default();
        meant.retain(|name| !name.is_empty());
        let Some(paths) = meant.last().and_then(|&name| self.by_name.get(name)) else {
            return Vec::new();
        };
        let agreeing = |path: &PathBuf| agreeing(&self.folder, path, &meant);
        let best = paths.iter().map(agreeing).max().unwrap_or(0);
        let is_best = |path: &&PathBuf| best > 0 && agreeing(path) == best;
        paths.iter().filter(is_best).cloned().collect()
    }
}

/// Looks for a file of a profile in folders, in their order: the first that has it counts.
///
/// # Errors
/// Where the file that was found cannot be read, with its path.
pub(crate) fn find(file: &str, folders: &[SourceTree]) -> Result<Found, (PathBuf, io::Error)> {
    for folder in folders {
        let paths = folder.find(file);
        match &paths[..] {
            [] => {}
            [only] => {
                let file = read(only).map_err(|source| (only.clone(), source))?;
                return Ok(Found::File(file));
            }
            _ => return Ok(Found::Several(paths)),
        }
    }
    Ok(Found::Nothing)
}

/// A part of a path that leads downwards; the root has no name.
fn name_of(component: Component<'_>) -> Option<&OsStr> {
    match component {
        Component::Normal(name) => Some(name),
        Component::RootDir | Component::CurDir => Some(OsStr::new("")),
        Component::ParentDir | Component::Prefix(_) => None,
    }
}

/// Adds the files below a folder that have one of the names, but links that lead out of it.
fn collect(folder: &Path, by_name: &mut HashMap<OsString, Vec<PathBuf>>) {
    let mut open = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(at) = open.pop() {
        let Ok(entries) = fs::read_dir(&at) else {
            continue;
        };
        for entry in entries.flatten() {
            files += 1;
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            if kind.is_dir() {
                if !is_passed_over(&name) {
                    open.push(entry.path());
                }
            } else if let Some(paths) = by_name.get_mut(&name)
                && (kind.is_file() || kind.is_symlink())
            {
                let path = entry.path();
                let real = path.canonicalize();
                if real.is_ok_and(|real| real.starts_with(folder)) {
                    paths.push(path);
                }
            }
        }
        if files > MOST_FILES {
            break;
        }
    }
}

/// Folders that have no source of their own: hidden ones, and what Cargo builds.
fn is_passed_over(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "target"
}

/// How many names at the end of a path are those of the file that is meant; 0 where it is another.
fn agreeing(folder: &Path, path: &Path, meant: &[&OsStr]) -> usize {
    let names: Vec<&OsStr> = path.iter().collect();
    let pairs = names.iter().rev().zip(meant.iter().rev());
    let agreeing = pairs.take_while(|(a, b)| a == b).count();
    let below = path
        .strip_prefix(folder)
        .map_or(0, |rest| rest.iter().count());
    let is_whole = agreeing == meant.len();
    // The file may be named from further up; but not where that names a package: another one has a
    // file of the same name.
    let is_of_package = meant
        .iter()
        .take(meant.len() - agreeing)
        .any(|name| is_package(name));
    match is_whole || agreeing >= below && !is_of_package {
        true => agreeing,
        false => 0,
    }
}

/// Whether a folder is of a package and its version, as registries name them (`memchr-2.7.4`,
/// `yaml@v3.0.1`), or of Rust's standard library.
fn is_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let version = |text: &str| {
        text.trim_start_matches('v')
            .starts_with(|c: char| c.is_ascii_digit())
    };
    name == "library"
        || name
            .rsplit_once(['-', '@'])
            .is_some_and(|(_, text)| version(text))
}

/// The bytes of a source file.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    SafeFile::open(path, Links::Follow)?.read(MOST_BYTES)
}

pub(crate) fn read(path: &Path) -> io::Result<SourceFile> {
    let file = SafeFile::open(path, Links::Follow)?;
    Ok(SourceFile {
        path: path.to_owned(),
        text: String::from_utf8_lossy(&file.read(MOST_BYTES)?).into_owned(),
        written: file.metadata.modified().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found of a file in a folder with these files, by their paths below it.
    fn found(files: &[&str], meant: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("app");
        for file in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let folder = folder.canonicalize().unwrap();
        let relative = |path: &Path| path.strip_prefix(&folder).unwrap().display().to_string();
        match find(meant, &[SourceTree::of(&folder, [meant])]).unwrap() {
            Found::File(file) => vec![relative(&file.path)],
            Found::Several(paths) => paths.iter().map(|path| relative(path)).collect(),
            Found::Nothing => Vec::new(),
        }
    }

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        let tree = [
            "src/main.rs",
            "lib/zip.c",
            "tools/gen/src/main.rs",
            "main.c",
        ];
        assert_eq!(
            found(&tree, "src/main.rs"),
            ["src/main.rs", "tools/gen/src/main.rs"]
        );
        assert_eq!(found(&tree, "gen/src/main.rs"), ["tools/gen/src/main.rs"]);
        assert_eq!(found(&tree, "app/src/main.rs"), ["src/main.rs"]);
        assert_eq!(found(&tree, "zip.c"), ["lib/zip.c"], "built in its folder");
        assert_eq!(found(&tree, "/srv/ci/build/main.c"), ["main.c"]);
        assert_eq!(found(&tree, "other/zip.c"), [""; 0]);
        assert_eq!(found(&tree, ""), [""; 0]);
    }

    #[test]
    fn the_source_of_a_package_is_not_taken_from_another() {
        let tree = ["src/lib.rs", "vendor/memchr-2.7.4/src/lib.rs"];
        assert_eq!(
            found(&tree, "memchr-2.7.4/src/lib.rs"),
            ["vendor/memchr-2.7.4/src/lib.rs"]
        );
        assert_eq!(found(&tree, "redb-4.4.0/src/lib.rs"), [""; 0]);
        assert_eq!(found(&tree, "library/core/src/lib.rs"), [""; 0]);
    }

    #[test]
    fn nothing_outside_of_the_folders_is_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("app");
        fs::create_dir(&folder).unwrap();
        fs::write(root.path().join("secret.c"), "secret").unwrap();
        fs::write(folder.join("main.c"), "").unwrap();
        std::os::unix::fs::symlink("../secret.c", folder.join("link.c")).unwrap();
        std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
        let secret = root.path().join("secret.c").display().to_string();
        for file in [
            "../secret.c",
            "x/../../secret.c",
            "link.c",
            "up/secret.c",
            "secret.c",
            &secret,
        ] {
            let found = find(file, &[SourceTree::of(&folder, [file])]).unwrap();
            assert_eq!(found, Found::Nothing, "{file}");
        }
    }
}
