//! Decides whether a function's cost is attributed to itself or to the function of the program that
//! called it.
//!
//! The standard library, the runtime of a language and the support code of compilers rarely cause a
//! change. If `<u32>::wrapping_mul` costs more, the cause is in the function of the program that it
//! was inlined into. [`library`] lists such code as patterns; a policy can add to both lists.

use super::library;
use serde::{Deserialize, Serialize};
use std::path::Path;
use sto_core::model::{Frame, FrameKind};

/// Patterns of functions, by symbol, module and source file. In a pattern, `*` stands for any text;
/// all other characters are literal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FunctionPatterns {
    /// Patterns of symbols, as returned by [`key_symbol`](super::key_symbol).
    pub functions: Vec<String>,
    /// Patterns of the names of files that code was loaded from.
    pub modules: Vec<String>,
    /// Patterns of source files, as recorded in frames.
    pub files: Vec<String>,
}

/// The attribution rules of a policy, which override the built-in ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Attribution {
    /// Functions whose cost is attributed to their caller.
    pub to_caller: FunctionPatterns,
    /// Functions that keep their cost. They override `to_caller`.
    pub to_itself: FunctionPatterns,
}

/// The way in which a function was recognised as library code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LibraryCode {
    /// By its module, whose build id shows whether the library changed.
    ByModule,
    /// By its name or source file, or by a policy. Its code may be in any module.
    ByName,
}

impl FunctionPatterns {
    fn has(&self, symbol: &str, frame: Frame<'_>) -> bool {
        let matches = |patterns: &[String], text: &str| {
            !text.is_empty() && patterns.iter().any(|pattern| matches(pattern, text))
        };
        matches(&self.functions, symbol)
            || matches(&self.modules, frame.module)
            || matches(&self.files, frame.file)
    }
}

impl Attribution {
    /// Returns how a frame is recognised as library code. `symbol` is its key.
    ///
    /// Returns `None` for the program, the other libraries it consists of, the kernel, and frames
    /// without a symbol in an unknown module.
    pub fn library_code(&self, symbol: &str, frame: Frame<'_>) -> Option<LibraryCode> {
        if self.to_itself.has(symbol, frame) {
            return None;
        }
        if self.to_caller.has(symbol, frame) {
            return Some(LibraryCode::ByName);
        }
        if frame.kind == FrameKind::Kernel {
            return None;
        }
        if is_one_of(library::MODULES, frame.module) {
            return Some(LibraryCode::ByModule);
        }
        let by_name = frame.kind != FrameKind::Unresolved && is_library_name(symbol, frame);
        by_name.then_some(LibraryCode::ByName)
    }
}

fn is_library_name(symbol: &str, frame: Frame<'_>) -> bool {
    if is_one_of(library::DEPENDENCY_FILES, frame.file) {
        return false;
    }
    if symbol.contains("::") && !frame.file.ends_with(".go") {
        // The name identifies the owner of the function, the file does not always: the file of a
        // function that was not inlined is that of its first instruction, which may be inlined from
        // elsewhere.
        return path_root(symbol).is_some_and(is_library_root)
            || frame.kind == FrameKind::Inlined && is_one_of(library::FILES, frame.file);
    }
    is_one_of(library::FILES, frame.file)
        || is_one_of(library::FUNCTIONS, symbol)
        || is_go(symbol, frame)
        || is_one_of(library::JAVA, without_signature(symbol))
}

/// Whether a function is library code by the built-in rules, judging from only its symbol and
/// module.
pub(crate) fn is_library(symbol: &str, module: &str) -> bool {
    let frame = Frame {
        module,
        symbol,
        kind: FrameKind::User,
        file: "",
        line: 0,
    };
    Attribution::default().library_code(symbol, frame).is_some()
}

/// Whether a source file belongs to the program's repository, judging from its path in the normal
/// form of frames: it is relative, and not a file of a library or of a dependency.
pub(crate) fn is_repository_file(file: &str) -> bool {
    let folder = file.split('/').next().unwrap_or(file);
    let is_elsewhere = file.starts_with('/')
        || file.contains("://")
        || split_version(folder).is_some()
        || is_one_of(library::FILES, file)
        || is_one_of(library::DEPENDENCY_FILES, file);
    !is_elsewhere
}

/// Splits the name of a folder such as `rayon-1.12.0`; `None` if it has no version.
pub(crate) fn split_version(folder: &str) -> Option<(&str, &str)> {
    let (name, version) = folder.rsplit_once(['-', '@'])?;
    let version = version.strip_prefix('v').unwrap_or(version);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    is_version.then_some((name, version))
}

/// Returns what a function is part of: the crate, namespace or package in its name, or otherwise
/// its module. Rust's standard library counts as one.
pub(crate) fn origin<'a>(symbol: &'a str, module: &'a str) -> &'a str {
    let is_path = |root: &&str| {
        symbol.starts_with('<')
            || symbol
                .split_once(root)
                .is_some_and(|(_, it)| it.starts_with("::"))
    };
    match path_root(symbol).filter(is_path) {
        None | Some("") => module,
        Some("core" | "alloc") => "std",
        Some(root) => root,
    }
}

/// Returns the first name of a path: `core` of `core::ptr::read`, `hot` of `<hot::Words as
/// core::iter::Iterator>::next`. Code of a trait is defined with the trait or with the type, so it
/// is the library's only if both are. `None` if a type has no path: `<u32>::wrapping_mul`.
fn path_root(symbol: &str) -> Option<&str> {
    let Some(inside) = symbol.strip_prefix('<') else {
        return Some(first_name(symbol));
    };
    let (of_type, of_trait) = type_and_trait(inside);
    let is_ours = |name: &&str| !is_library_root(name);
    let roots = [
        type_root(of_type),
        of_trait.map(type_root).unwrap_or_default(),
    ];
    roots
        .iter()
        .copied()
        .find(is_ours)
        .or_else(|| roots.first().copied())
}

/// Splits `TYPE as TRAIT` before the closing bracket.
fn type_and_trait(inside: &str) -> (&str, Option<&str>) {
    let (mut depth, mut of_type, mut begin) = (0_i32, None, 0);
    let bytes = inside.as_bytes();
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            // An arrow is not a closing bracket.
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' if depth == 0 => {
                let last = &inside[begin..at];
                return match of_type {
                    Some(of_type) => (of_type, Some(last)),
                    None => (last, None),
                };
            }
            b'>' | b')' | b']' => depth -= 1,
            b' ' if depth == 0 && of_type.is_none() && inside[at..].starts_with(" as ") => {
                of_type = Some(&inside[..at]);
                begin = at + " as ".len();
            }
            _ => {}
        }
    }
    (inside, None)
}

/// Returns the first name of a type's path, ignoring references and pointers. Empty for primitive
/// types.
fn type_root(of_type: &str) -> &str {
    let mut rest = of_type;
    loop {
        let before = rest;
        for mark in [
            "&", "*const ", "*mut ", "mut ", "dyn ", "(", "[", "<", "impl ",
        ] {
            rest = rest.strip_prefix(mark).unwrap_or(rest);
        }
        if rest == before {
            break;
        }
    }
    match first_name(rest) {
        name if rest[name.len()..].starts_with("::") => name,
        // `u32`, `str`, a type parameter.
        _ => "",
    }
}

fn first_name(path: &str) -> &str {
    let is_end = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
    &path[..path.find(is_end).unwrap_or(path.len())]
}

fn is_library_root(name: &str) -> bool {
    name.is_empty() || library::ROOTS.contains(&name)
}

/// Whether a function belongs to Go's standard packages, whose paths begin without a domain.
fn is_go(symbol: &str, frame: Frame<'_>) -> bool {
    let is_named = frame.file.ends_with(".go");
    // Type arguments and the receiver may contain paths of their own.
    let end = symbol.find(['(', '[']).unwrap_or(symbol.len());
    let package = match symbol[..end].rfind('/') {
        Some(slash) => match symbol[slash..end].find('.') {
            Some(dot) => &symbol[..slash + dot],
            None => return false,
        },
        None => match symbol[..end].find('.') {
            Some(dot) => &symbol[..dot],
            None => return false,
        },
    };
    let first = package.split('/').next().unwrap_or(package);
    match Path::new(frame.file).file_name() {
        Some(_) if is_named => library::GO.contains(&first),
        None if frame.kind == FrameKind::User => first == "runtime",
        _ => false,
    }
}

/// Returns a method's name without result and parameters, which HotSpot writes into perf maps.
fn without_signature(symbol: &str) -> &str {
    let name = symbol.split('(').next().unwrap_or(symbol);
    name.rsplit(' ').next().unwrap_or(name)
}

fn is_one_of(patterns: &[&str], text: &str) -> bool {
    !text.is_empty() && patterns.iter().any(|pattern| matches(pattern, text))
}

/// Whether a pattern matches a whole text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, mut pattern)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    // The text between two `*` is matched at its first occurrence.
    while let Some((part, rest)) = pattern.split_once('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        (text, pattern) = (&text[at + part.len()..], rest);
    }
    text.ends_with(pattern)
}
