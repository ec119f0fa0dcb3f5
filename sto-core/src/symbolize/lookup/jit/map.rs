//! perf maps: functions that a program generated at run time, as lines `START SIZE NAME`.
//!
//! Numbers are hexadecimal, and a name may have spaces. Source: `tools/perf/Documentation/jit-interface.txt` in the
//! kernel's sources.

use std::path::{Path, PathBuf};
use sto_model::files::RegularFile;
use sto_model::limits::MAX_PERF_MAP;

pub(super) struct PerfMap {
    pub(super) path: PathBuf,
    text: Vec<u8>,
    /// In ascending order of start addresses, then in the order of the file.
    functions: Vec<Function>,
}

struct Function {
    start: u64,
    size: u64,
    name: std::ops::Range<usize>,
}

impl PerfMap {
    /// Reads a map from a file opened by `path`. Malformed lines are ignored; the last may still be incomplete.
    pub(super) fn read(file: &RegularFile, path: &Path) -> std::io::Result<PerfMap> {
        let text = file.read(MAX_PERF_MAP)?;
        let mut functions = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            functions.extend(parse_line(line, at));
            at += line.len();
        }
        functions.sort_by_key(|function| function.start);
        Ok(PerfMap {
            path: path.to_owned(),
            text,
            functions,
        })
    }

    /// Returns a lookup of function names, to be called with ascending addresses. Of several functions that cover an
    /// address, it returns the one that starts last, then the last in the file.
    pub(super) fn names<'m>(&'m self) -> impl FnMut(u64) -> Option<&'m [u8]> {
        let mut next = self.functions.iter().peekable();
        // The functions that start at or before the address. One that has ended is removed once it is the last.
        let mut open: Vec<&Function> = Vec::new();
        move |address| {
            while let Some(function) = next.next_if(|function| function.start <= address) {
                open.push(function);
            }
            let has_ended = |function: &mut &Function| address - function.start >= function.size;
            while open.pop_if(has_ended).is_some() {}
            Some(&self.text[open.last()?.name.clone()])
        }
    }
}

/// Parses the line at an offset of the text.
fn parse_line(line: &[u8], at: usize) -> Option<Function> {
    let trimmed = line.trim_ascii_end();
    let (start, rest) = split_number(trimmed)?;
    let (size, name) = split_number(rest)?;
    let end = at + trimmed.len();
    (!name.is_empty()).then(|| Function {
        start,
        size,
        name: end - name.len()..end,
    })
}

/// Splits off a hexadecimal number and the space after it.
fn split_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = memchr::memchr(b' ', text)?;
    let digits = std::str::from_utf8(&text[..end]).ok()?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let number = u64::from_str_radix(digits, 16).ok()?;
    Some((number, &text[end + 1..]))
}
