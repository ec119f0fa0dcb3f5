//! perf maps: the functions that a program made at run time, as lines `START SIZE name`.
//!
//! The format is `tools/perf/Documentation/jit-interface.txt` of the kernel's sources: numbers are
//! hexadecimal, and a name may have blanks.

use crate::files::SafeFile;
use crate::limits::MAX_PERF_MAP;
use std::path::{Path, PathBuf};

/// A perf map, with its functions by address.
pub(super) struct PerfMap {
    pub(super) path: PathBuf,
    text: Vec<u8>,
    /// By start; where several start at one place, the one that was written last stands last.
    functions: Vec<Function>,
    largest: u64,
}

struct Function {
    start: u64,
    size: u64,
    name: std::ops::Range<usize>,
}

/// Most functions that are looked at to find the one at an address.
const MAX_LOOKED_AT: usize = 4096;

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
        let sizes = functions.iter().map(|function| function.size);
        Ok(PerfMap {
            path: path.to_owned(),
            largest: sizes.max().unwrap_or(0),
            text,
            functions,
        })
    }

    /// The name of the function at an address: of several, the one that starts last and, among
    /// equals, was written last.
    pub(super) fn name_at(&self, address: u64) -> Option<&[u8]> {
        let after = self
            .functions
            .partition_point(|function| function.start <= address);
        let found = self.functions[..after]
            .iter()
            .rev()
            .take(MAX_LOOKED_AT)
            .take_while(|function| address - function.start < self.largest)
            .find(|function| address - function.start < function.size)?;
        Some(&self.text[found.name.clone()])
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

/// A hexadecimal number, and what stands behind the blank after it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = memchr::memchr(b' ', text)?;
    let digits = std::str::from_utf8(&text[..end]).ok()?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let number = u64::from_str_radix(digits, 16).ok()?;
    Some((number, &text[end + 1..]))
}
