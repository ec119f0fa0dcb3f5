//! Spells Rust paths in one way, whichever mangling they come from.
//!
//! | | legacy mangling | v0 mangling | key |
//! |---|---|---|---|
//! | inherent | `m::Type<T>::f` | `<m::Type<u8>>::f` | `m::Type<...>::f` |
//! | inherent, in another module | `m::<impl n::Type>::f` | `<n::Type>::f` | `n::Type::f` |
//! | trait | `m::<impl Trait for Type>::f` | `<Type as Trait>::f` | `<Type as Trait>::f` |
//! | generic | `m::f` | `m::f::<u8>` | `m::f`, `m::f<u8>` |
//!
//! Arguments that only one of the manglings has stay:
//! [`Spellings`](crate::functions::Spellings) compares the names of both builds to match
//! those.

use super::{Rule, is_name};
use std::ops::Range;

/// Limit to nested brackets.
const MAX_DEPTH: usize = 64;

/// Returns the path in the spelling of keys; `None` if the name is no Rust path, or has it already.
pub(super) fn respelled(name: &str, note: &mut impl FnMut(Rule, &str, &str)) -> Option<String> {
    if !is_rust(name) {
        return None;
    }
    let mut path = Path {
        name,
        closes: closing_brackets(name)?,
        key: String::with_capacity(name.len()),
    };
    path.write(0..name.len());
    if path.key == name {
        return None;
    }
    note(Rule::RustPath, name, &path.key);
    Some(path.key)
}

/// Whether only Rust has names like this one.
pub(crate) fn is_rust(name: &str) -> bool {
    let is_qualified = || name.starts_with('<') && name.contains(" as ");
    let is_method = || name.starts_with('<') && name.contains(">::");
    // Not `run()::<lambda(int)>`, as GCC writes it in debug info, nor Java's `LShop;::<init>`.
    const NO_RUST: [&str; 4] = ["::<lambda", "::<unnamed", "::<init>", "::<clinit>"];
    let has_generics = || name.contains("::<") && !NO_RUST.iter().any(|part| name.contains(part));
    ["core::ptr::drop_in_place<", "_R"]
        .iter()
        .any(|start| name.starts_with(start))
        || is_qualified()
        || is_method()
        || has_generics()
}

/// Returns the position of the closing bracket of each `<`, or 0 for other bytes. Returns `None` if
/// the brackets are not balanced or nested too deeply, as in a truncated name.
fn closing_brackets(name: &str) -> Option<Vec<usize>> {
    let bytes = name.as_bytes();
    let mut closes = vec![0; bytes.len()];
    let mut open = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' if open.len() == MAX_DEPTH => return None,
            b'<' => open.push(at),
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => closes[open.pop()?] = at,
            _ => {}
        }
    }
    open.is_empty().then_some(closes)
}

/// A path while it is written anew.
struct Path<'a> {
    name: &'a str,
    closes: Vec<usize>,
    key: String,
}

impl Path<'_> {
    fn write(&mut self, range: Range<usize>) {
        let mut start = self.key.len();
        let mut at = range.start;
        while at < range.end {
            let byte = self.name.as_bytes()[at];
            if byte == b'<' {
                let inside = at + 1..self.closes[at];
                at = inside.end + 1;
                self.write_brackets(start, inside);
                continue;
            }
            let from = at;
            at += 1;
            match byte {
                b',' if !self.name[at..].starts_with(' ') => self.key.push_str(", "),
                b':' | b'{' | b'}' | b'#' | b'.' => self.key.push(char::from(byte)),
                _ if is_name(byte) => {
                    at = from + self.count_name(from..range.end);
                    self.key.push_str(&self.name[from..at]);
                    continue;
                }
                _ => self.key.push(char::from(byte)),
            }
            if !matches!(byte, b':' | b'{' | b'}' | b'#' | b'.') {
                start = self.key.len();
            }
        }
    }

    fn count_name(&self, range: Range<usize>) -> usize {
        let bytes = &self.name.as_bytes()[range];
        bytes.iter().take_while(|byte| is_name(**byte)).count()
    }

    /// Writes brackets of a path that begins at `start` of the key.
    fn write_brackets(&mut self, start: usize, inside: Range<usize>) {
        let text = &self.name[inside.clone()];
        let path = self.key[start..].strip_suffix("::");
        if let (Some(_), Some(block)) = (path, text.strip_prefix("impl ")) {
            let block_start = inside.end - block.len();
            self.key.truncate(start);
            match self.find_outside(block_start..inside.end, " for ") {
                Some(at) => {
                    self.key.push('<');
                    self.write(at + " for ".len()..inside.end);
                    self.key.push_str(" as ");
                    self.write(block_start..at);
                    self.key.push('>');
                }
                None => self.write_self_type(block_start..inside.end),
            }
            return;
        }
        if path.is_some() {
            self.key.truncate(self.key.len() - "::".len());
        }
        let is_self_type = self.key.len() == start
            && self.name[inside.end + 1..].starts_with("::")
            && self.find_outside(inside.clone(), " as ").is_none();
        if is_self_type {
            self.write_self_type(inside);
        } else {
            self.key.push('<');
            self.write(inside);
            self.key.push('>');
        }
    }

    /// Writes the type before `::f`: paths without brackets, other types (`[T]`, `u8`) with them.
    fn write_self_type(&mut self, inside: Range<usize>) {
        let text = &self.name[inside.clone()];
        let begins_with_name = text.bytes().next().is_some_and(is_name) || text.starts_with('<');
        let is_path = begins_with_name
            && !text.starts_with("dyn ")
            && self.find_outside(inside.clone(), "::").is_some()
            && self.find_outside(inside.clone(), " ").is_none();
        if is_path {
            self.write(inside);
        } else {
            self.key.push('<');
            self.write(inside);
            self.key.push('>');
        }
    }

    /// Returns the position of the first occurrence outside of angle brackets.
    fn find_outside(&self, range: Range<usize>, text: &str) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            if self.name.as_bytes()[at] == b'<' {
                at = self.closes[at];
            } else if self.name.as_bytes()[at..range.end].starts_with(text.as_bytes()) {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}
