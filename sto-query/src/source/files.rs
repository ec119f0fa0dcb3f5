//! Lookup of a profile's source files in folders given by the user.
//!
//! Paths in profiles lack the parts that differ between machines (*Source files* of
//! `sto-core/src/symbolize/symbols.md`), so their root folder is unknown. A file matches if one of the two paths ends
//! with the whole other; of several files, the one with most matching folders is chosen. Nothing outside of the
//! folders is read, not even through a symbolic link.

use hashbrown::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};
use sto_core::files::{Links, RegularFile};

/// A source file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct SourceFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Text, with invalid UTF-8 replaced.
    pub(crate) text: String,
    /// Modification time, if the file system has it.
    pub written: Option<SystemTime>,
}

/// Result of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Lookup {
    /// The file was found.
    File(SourceFile),
    /// Several files match equally well.
    Several(Vec<PathBuf>),
    /// No file matches.
    Nothing,
}

/// Maximum number of files examined in a folder, because a home folder is not a work tree.
const MOST_FILES: usize = 200_000;
/// Maximum size of a source file.
const MOST_BYTES: u64 = 16 << 20;

/// Files in a folder and its subfolders that may match files of profiles, found by a single scan.
#[derive(Clone, Debug)]
pub struct SourceTree {
    folder: PathBuf,
    /// Paths by file name, sorted.
    by_name: HashMap<OsString, Vec<PathBuf>>,
}

impl SourceTree {
    /// Scans a folder for files with the names of these files of profiles. A folder that does not exist or cannot be
    /// read counts as empty.
    pub fn scan<'a>(folder: &Path, files: impl IntoIterator<Item = &'a str>) -> SourceTree {
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

    /// Returns the best matches for a file of a profile, sorted; empty if nothing matches, or if its name was not
    /// scanned for.
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

/// Looks up a file of a profile in several folders; the first folder with a match wins.
///
/// # Errors
///
/// Returns an error with the path if the file cannot be read.
pub(crate) fn find(file: &str, folders: &[SourceTree]) -> Result<Lookup, (PathBuf, io::Error)> {
    for folder in folders {
        let paths = folder.find(file);
        match &paths[..] {
            [] => {}
            [only] => {
                let file = read(only).map_err(|source| (only.clone(), source))?;
                return Ok(Lookup::File(file));
            }
            _ => return Ok(Lookup::Several(paths)),
        }
    }
    Ok(Lookup::Nothing)
}

/// Returns the name of a path component; empty for the root, `None` for `..`.
fn name_of(component: Component<'_>) -> Option<&OsStr> {
    match component {
        Component::Normal(name) => Some(name),
        Component::RootDir | Component::CurDir => Some(OsStr::new("")),
        Component::ParentDir | Component::Prefix(_) => None,
    }
}

/// Adds the files below a folder that have one of the names, except links that lead out of it.
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

/// Returns `true` for folders without the project's own source: hidden ones, and Cargo's output.
fn is_passed_over(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "target"
}

/// Returns the number of matching path components, from the end; 0 if the file does not match.
fn agreeing(folder: &Path, path: &Path, meant: &[&OsStr]) -> usize {
    let names: Vec<&OsStr> = path.iter().collect();
    let pairs = names.iter().rev().zip(meant.iter().rev());
    let agreeing = pairs.take_while(|(a, b)| a == b).count();
    let below = path
        .strip_prefix(folder)
        .map_or(0, |rest| rest.iter().count());
    let is_whole = agreeing == meant.len();
    // The profile's path may start further up, but not in another package, which may have a file with the same name.
    let is_of_package = meant
        .iter()
        .take(meant.len() - agreeing)
        .any(|name| is_package(name));
    if is_whole || agreeing >= below && !is_of_package {
        agreeing
    } else {
        0
    }
}

/// Returns `true` for the folder of a package with a version, as named by registries (`memchr-2.7.4`, `yaml@v3.0.1`),
/// and for Rust's standard library.
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

/// Reads a source file.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    RegularFile::open(path, Links::Follow)?.read(MOST_BYTES)
}

pub(crate) fn read(path: &Path) -> io::Result<SourceFile> {
    let file = RegularFile::open(path, Links::Follow)?;
    Ok(SourceFile {
        path: path.to_owned(),
        text: String::from_utf8_lossy(&file.read(MOST_BYTES)?).into_owned(),
        written: file.metadata.modified().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up a file in a folder with these files, and returns the matches relative to the folder.
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
        match find(meant, &[SourceTree::scan(&folder, [meant])]).unwrap() {
            Lookup::File(file) => vec![relative(&file.path)],
            Lookup::Several(paths) => paths.iter().map(|path| relative(path)).collect(),
            Lookup::Nothing => Vec::new(),
        }
    }

    #[test]
    fn finds_file_by_the_end_of_its_path() {
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
    fn does_not_confuse_packages() {
        let tree = ["src/lib.rs", "vendor/memchr-2.7.4/src/lib.rs"];
        assert_eq!(
            found(&tree, "memchr-2.7.4/src/lib.rs"),
            ["vendor/memchr-2.7.4/src/lib.rs"]
        );
        assert_eq!(found(&tree, "redb-4.4.0/src/lib.rs"), [""; 0]);
        assert_eq!(found(&tree, "library/core/src/lib.rs"), [""; 0]);
    }

    #[test]
    fn does_not_read_outside_of_the_folders() {
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
            let found = find(file, &[SourceTree::scan(&folder, [file])]).unwrap();
            assert_eq!(found, Lookup::Nothing, "{file}");
        }
    }
}
