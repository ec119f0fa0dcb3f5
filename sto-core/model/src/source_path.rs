//! Source paths without what differs between checkouts and machines.

use crate::limits::cap;
use std::collections::BTreeSet;

/// The source path that a frame carries, where the format gives one and no compilation directory.
#[doc(hidden)]
pub fn source_path(path: &str) -> String {
    normalize(path, |_| None)
}

/// The source path that a frame carries, so that two people's builds of one source share it.
///
/// The first of these rules that fits takes its part off; `..` and `.` are then folded, and a `..`
/// that leads out of what is left is dropped:
///
/// 1. up to `.../git/checkouts/`, and there the hash and the revision: a crate from git;
/// 2. up to `/rustc/HASH/`, `/rust/deps/` or `.../lib/rustlib/src/rust/`: the Rust standard library
///    and the crates it is made of;
/// 3. up to `.../registry/src/INDEX-HASH/`: a crate from a registry;
/// 4. up to the outermost compilation directory (`DW_AT_comp_dir`) of the module;
/// 5. up to `/home/USER/`, `/Users/USER/` or `/root/`.
///
/// `symbols.md` has them with examples. A path that no rule fits stays as it is, and so does a URL; that of a
/// file (`file://`) is its path. Rule 4 is for absolute paths that no rule before it fits: `compiled_in` is given
/// the parts of the path, and returns how many of them are a compilation directory.
#[doc(hidden)]
pub fn normalize(path: &str, compiled_in: impl FnOnce(&[&str]) -> Option<usize>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if is_url(path) {
        return cap(path);
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
                .or_else(|| absolute.then(|| compiled_in(&parts)).flatten())
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
    cap(&format!("{root}{}", folded.join("/")))
}

/// Whether a scheme (RFC 3986, section 3.1) and `://` begin a text.
fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        let is_of_schemes = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_of_schemes)
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

/// Length of `.../git/checkouts/NAME-HASH/REVISION`, and the name.
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

/// Whether cargo's 16 hexadecimal digits end the name of a folder, as in `index.crates.io-...`.
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

/// The outermost of a module's compilation directories, as parts of their paths, in ascending order.
///
/// Relative ones are left out: a build that has them is already independent of its folder.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct CompilationDirs(Vec<Vec<String>>);

impl CompilationDirs {
    /// The directories among these that no other holds.
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
            // A directory sorts right before those it holds.
            if outermost.last().is_none_or(|outer| !dir.starts_with(outer)) {
                outermost.push(dir);
            }
        }
        CompilationDirs(outermost)
    }

    /// How many parts of the path are a compilation directory.
    pub fn prefix_of(&self, path: &[&str]) -> Option<usize> {
        // None holds another, so only the last that is not ordered after the path can hold it.
        let is_up_to = |dir: &Vec<String>| dir.iter().map(String::as_str).le(path.iter().copied());
        let dir = self.0[..self.0.partition_point(is_up_to)].last()?;
        let holds = path.len() >= dir.len() && dir.iter().zip(path).all(|(a, b)| a == b);
        holds.then_some(dir.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_what_differs_between_checkouts_and_machines() {
        let dirs =
            CompilationDirs::new(["/srv/ci/app/lib", "/srv/ci/app", "/", "./csu", "/srv/x/.."]);
        let cases = [
            // Relative paths, and folding.
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
            // Nothing to take off.
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
                normalize(path, |parts| dirs.prefix_of(parts)),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn an_endless_path_is_cut() {
        let path = "é/".repeat(5000);
        let normal = normalize(&path, |_| None);
        assert!(normal.len() <= 4096 && normal.ends_with('…'));
    }
}
