//! Normalisation of source paths: removes the parts that differ between checkouts and machines.

use crate::limits::truncate_name;
use std::collections::BTreeSet;

/// Normalises a source path like [`normalize`], without compilation directories.
#[doc(hidden)]
pub fn normalize_source_path(path: &str) -> String {
    normalize_source_path_with(path, |_| None)
}

/// Normalises a source path, so that builds of the same source on different machines have the same path.
///
/// The first matching rule removes a prefix. Then `..` and `.` are resolved, and a `..` that would
/// leave the remaining path is dropped:
///
/// 1. everything up to `.../git/checkouts/`, and the hash and revision after it (a crate from git);
/// 2. everything up to `/rustc/HASH/`, `/rust/deps/` or `.../lib/rustlib/src/rust/` (the Rust
///    standard library and its dependencies);
/// 3. everything up to `.../registry/src/INDEX-HASH/` (a crate from a registry);
/// 4. everything up to the module's outermost compilation directory (`DW_AT_comp_dir`);
/// 5. everything up to `/home/USER/`, `/Users/USER/` or `/root/`.
///
/// `symbols.md` has examples. Other paths keep all their parts, and URLs stay unchanged, except that `file://`
/// is removed. Rule 4 applies to absolute paths only: `comp_dir_len` gets the components of the path and returns
/// how many of them are a compilation directory.
#[doc(hidden)]
pub fn normalize_source_path_with(
    path: &str,
    comp_dir_len: impl FnOnce(&[&str]) -> Option<usize>,
) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if is_url(path) {
        return truncate_name(path);
    }
    let absolute = path.starts_with('/');
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let (prefix, crate_name) = match git_crate(&parts) {
        Some((prefix, name)) => (prefix, Some(name)),
        None => {
            let prefix = rust_prefix(&parts, absolute)
                .or_else(|| absolute.then(|| comp_dir_len(&parts)).flatten())
                .or_else(|| absolute.then(|| home_prefix(&parts)).flatten())
                .filter(|&prefix| prefix < parts.len());
            (prefix.unwrap_or(0), None)
        }
    };
    let mut folded: Vec<&str> = crate_name.into_iter().collect();
    for part in parts[prefix..].iter().copied() {
        if part == ".." {
            folded.pop();
        } else {
            folded.push(part);
        }
    }
    let root = if absolute && prefix == 0 { "/" } else { "" };
    truncate_name(&format!("{root}{}", folded.join("/")))
}

/// Whether the text begins with a scheme (RFC 3986, section 3.1) and `://`.
fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme_byte)
    })
}

fn rust_prefix(parts: &[&str], absolute: bool) -> Option<usize> {
    if absolute && (parts.first() == Some(&"rustc") || parts.starts_with(&["rust", "deps"])) {
        return Some(2);
    }
    let after = |marker: &[&str]| {
        let at = parts
            .windows(marker.len())
            .position(|window| window == marker)?;
        Some(at + marker.len())
    };
    if let Some(prefix) = after(&["lib", "rustlib", "src", "rust"]) {
        return Some(prefix);
    }
    let index = after(&["registry", "src"])?;
    parts
        .get(index)
        .is_some_and(|name| ends_in_hash(name))
        .then_some(index + 1)
}

/// Number of components of `.../git/checkouts/NAME-HASH/REVISION`, and the name.
fn git_crate<'a>(parts: &[&'a str]) -> Option<(usize, &'a str)> {
    let at = parts
        .windows(2)
        .position(|window| window == ["git", "checkouts"])?;
    let [name, revision, _, ..] = parts[at + 2..] else {
        return None;
    };
    let is_revision = revision.len() >= 7 && revision.bytes().all(|b| b.is_ascii_hexdigit());
    let (name, _) = name.rsplit_once('-').filter(|_| ends_in_hash(name))?;
    is_revision.then_some((at + 4, name))
}

/// Whether the name of a folder ends in cargo's 16 hexadecimal digits, as in `index.crates.io-...`.
fn ends_in_hash(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn home_prefix(parts: &[&str]) -> Option<usize> {
    match *parts.first()? {
        "home" | "Users" => Some(2),
        "root" => Some(1),
        _ => None,
    }
}

/// The outermost compilation directories of a module, as path components, in ascending order.
///
/// Relative directories are ignored: paths of such a build do not depend on its location.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct CompilationDirs(Vec<Vec<String>>);

impl CompilationDirs {
    /// Selects the directories that are not inside another one.
    pub fn new<'a>(dirs: impl IntoIterator<Item = &'a str>) -> CompilationDirs {
        let dirs: BTreeSet<Vec<String>> = dirs
            .into_iter()
            .filter(|dir| dir.starts_with('/'))
            .map(|dir| {
                let parts = dir.split('/').filter(|part| !matches!(*part, "" | "."));
                parts.map(str::to_owned).collect()
            })
            .filter(|parts: &Vec<String>| !parts.is_empty() && !parts.iter().any(|p| p == ".."))
            .collect();
        let mut outermost: Vec<Vec<String>> = Vec::new();
        for dir in dirs {
            // A directory sorts right before the directories inside it.
            if outermost.last().is_none_or(|outer| !dir.starts_with(outer)) {
                outermost.push(dir);
            }
        }
        CompilationDirs(outermost)
    }

    /// The number of leading components of the path that are a compilation directory.
    pub fn prefix_len(&self, path: &[&str]) -> Option<usize> {
        // No directory contains another, so only the last one that sorts before the path can contain it.
        let is_up_to = |dir: &Vec<String>| dir.iter().map(String::as_str).le(path.iter().copied());
        let dir = self.0[..self.0.partition_point(is_up_to)].last()?;
        let is_prefix = path.len() >= dir.len() && dir.iter().zip(path).all(|(a, b)| a == b);
        is_prefix.then_some(dir.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_parts_that_differ_between_machines() {
        let dirs =
            CompilationDirs::new(["/srv/ci/app/lib", "/srv/ci/app", "/", "./csu", "/srv/x/.."]);
        let cases = [
            // Relative paths.
            ("src/main.c", "src/main.c"),
            ("./src//main.c", "src/main.c"),
            ("../src/main.c", "src/main.c"),
            ("a/../../src/./main.c", "src/main.c"),
            ("./csu/../sysdeps/x86_64/start.S", "sysdeps/x86_64/start.S"),
            // The standard library.
            (
                "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/function.rs",
                "library/core/src/ops/function.rs",
            ),
            (
                "/rust/deps/hashbrown-0.16.0/src/raw.rs",
                "hashbrown-0.16.0/src/raw.rs",
            ),
            (
                "/home/ann/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/lib.rs",
                "library/core/src/lib.rs",
            ),
            // Crates.
            (
                "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/redb-4.4.0/src/lib.rs",
                "redb-4.4.0/src/lib.rs",
            ),
            (
                "/usr/local/cargo/registry/src/github.com-1ecc6299db9ec823/zstd-sys-2.0.1/zstd/lib/x.c",
                "zstd-sys-2.0.1/zstd/lib/x.c",
            ),
            (
                "/home/ann/.cargo/git/checkouts/blazesym-0f1e2d3c4b5a6978/a1b2c3d/src/lib.rs",
                "blazesym/src/lib.rs",
            ),
            ("/srv/registry/src/main/x.c", "/srv/registry/src/main/x.c"),
            ("/srv/git/checkouts/x.c", "/srv/git/checkouts/x.c"),
            // The outermost compilation directory.
            ("/srv/ci/app/src/main.c", "src/main.c"),
            ("/srv/ci/app/lib/a.c", "lib/a.c"),
            ("/srv/ci/app/./lib/../b.c", "b.c"),
            ("/srv/ci/app/../other/b.c", "other/b.c"),
            ("/srv/ci/application/a.c", "/srv/ci/application/a.c"),
            ("/srv/ci/app", "/srv/ci/app"),
            // Homes.
            ("/home/ann/app/main.c", "app/main.c"),
            ("/Users/ann/app/main.c", "app/main.c"),
            ("/root/main.c", "main.c"),
            ("/home/ann", "/home/ann"),
            // URLs.
            ("file:///home/ann/app/main.js", "app/main.js"),
            (
                "https://example.org/./a//b.js?c=/../d",
                "https://example.org/./a//b.js?c=/../d",
            ),
            ("webpack:///./src/main.js", "webpack:///./src/main.js"),
            ("a b://main.c", "a b:/main.c"),
            // No rule matches.
            (
                "/usr/include/c++/12/bits/stl_vector.h",
                "/usr/include/c++/12/bits/stl_vector.h",
            ),
            ("/usr/../include/a.h", "/include/a.h"),
            ("", ""),
            ("/", "/"),
            ("..", ""),
        ];
        for (path, expected) in cases {
            assert_eq!(
                normalize_source_path_with(path, |parts| dirs.prefix_len(parts)),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn truncates_long_paths() {
        let path = "é/".repeat(5000);
        let normal = normalize_source_path_with(&path, |_| None);
        assert!(normal.len() <= 4096 && normal.ends_with('…'));
    }
}
