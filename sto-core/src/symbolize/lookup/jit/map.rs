//! perf maps: the functions that a program made at run time, as lines `START SIZE name`.
//!
//! The format is `tools/perf/Documentation/jit-interface.txt` of the kernel's sources: numbers are
//! hexadecimal, and a name may have blanks.

use std::path::{Path, PathBuf};
use sto_model::files::SafeFile;
use sto_model::limits::MAX_PERF_MAP;

/// A perf map, with its functions by address.
pub(super) struct PerfMap {
    pub(super) path: PathBuf,
    text: Vec<u8>,
    /// By start; where several start at one address, the one that was written last is last.
    functions: Vec<Function>,
}

struct Function {
    start: u64,
    size: u64,
    name: std::ops::Range<usize>,
}

impl PerfMap {
    /// Reads a map that was opened by this path; lines that are none are passed over, such as one that is being written.
    pub(super) fn read(file: &SafeFile, path: &Path) -> std::io::Result<PerfMap> {
        let text = file.read(MAX_PERF_MAP)?;
        let mut functions = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            functions.extend(function(line, at));
            at += line.len();
        }
        functions.sort_by_key(|function| function.start);
        Ok(PerfMap {
            path: path.to_owned(),
            text,
            functions,
        })
    }

    /// The name of the function at an address, which is asked for by ascending ones: of several, the one that
    /// starts last and, among equals, was written last.
    pub(super) fn names<'m>(&'m self) -> impl FnMut(u64) -> Option<&'m [u8]> {
        let mut next = self.functions.iter().peekable();
        // Those that have begun; what ends below one that goes on is taken out when that has ended.
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

fn function(line: &[u8], at: usize) -> Option<Function> {
    let trimmed = line.trim_ascii_end();
    let (start, rest) = number(trimmed)?;
    let (size, name) = number(rest)?;
    let from = at + trimmed.len() - name.len();
    (!name.is_empty()).then(|| Function {
        start,
        size,
        name: from..at + trimmed.len(),
    })
}

/// A hexadecimal number, and what follows the blank after it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = memchr::memchr(b' ', text)?;
    let digits = std::str::from_utf8(&text[..end]).ok()?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let number = u64::from_str_radix(digits, 16).ok()?;
    Some((number, &text[end + 1..]))
}
