//! The functions of files: `FILE.sym`.

use crate::wire::text::{base_name, lines, words};
use std::ops::Range;

/// The functions of a file, in order of address.
#[derive(Default)]
pub(super) struct Symbols {
    text: Vec<u8>,
    list: Vec<Symbol>,
}

struct Symbol {
    address: u64,
    kind: u8,
    name: Range<usize>,
}

/// A function, and whether it belongs to another file and is called through this file's procedure
/// linkage table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a [u8],
    pub(super) is_of_other_file: bool,
}

/// Marks a function that is called through a procedure linkage table, and the end of the functions
/// before it.
const OF_OTHER_FILE: u8 = b'P';
const END: u8 = b'?';

impl Symbols {
    /// Reads lines `ADDRESS KIND NAME` or, in later versions, `ADDRESS SIZE KIND NAME`; other lines
    /// are ignored.
    pub(super) fn read(text: Vec<u8>) -> Symbols {
        let mut list = Vec::new();
        for (_, line) in lines(&text) {
            list.extend(symbol(&text, line));
        }
        list.sort_by_key(|symbol| symbol.address);
        Symbols { text, list }
    }

    /// The path of the file, from a line `# path name: PATH`.
    pub(super) fn path(&self) -> Option<&[u8]> {
        let mut head = lines(&self.text).map_while(|(_, line)| line.strip_prefix(b"#"));
        head.find_map(|line| line.trim_ascii().strip_prefix(b"path name:"))
            .map(<[u8]>::trim_ascii)
    }

    /// The function that contains an address.
    pub(super) fn function(&self, address: u64) -> Option<Function<'_>> {
        let after = self
            .list
            .partition_point(|symbol| symbol.address <= address);
        let symbol = self.list[..after].last()?;
        (symbol.kind != END).then(|| Function {
            name: &self.text[symbol.name.clone()],
            is_of_other_file: symbol.kind == OF_OTHER_FILE,
        })
    }
}

fn symbol(text: &[u8], line: &[u8]) -> Option<Symbol> {
    let mut fields = words(line);
    let address = hexadecimal(fields.next()?)?;
    let mut kind = fields.next()?;
    if kind.len() > 1 {
        hexadecimal(kind)?;
        kind = fields.next()?;
    }
    let &[kind] = kind else {
        return None;
    };
    // Demangled names contain spaces.
    let name = fields.next()?;
    let begin = name.as_ptr() as usize - text.as_ptr() as usize;
    let end = line.as_ptr() as usize + line.trim_ascii_end().len() - text.as_ptr() as usize;
    Some(Symbol {
        address,
        kind,
        name: begin..end,
    })
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The name of the symbol file for a file.
pub(super) fn symbol_file_name(file: &str) -> String {
    let name = base_name(file.as_bytes());
    format!("{}.sym", String::from_utf8_lossy(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_belongs_to_last_function_before_it() {
        let text = b"# symbols: 4\n# path name: /bin/app\n\
            0000000000001030 P malloc\n\
            0000000000001040 ? __dynsym_end\n\
            0000000000001200 0000000000000010 T app::twice(int, int)\n\
            junk\n\
            0000000000001300 ? __sym_end\n";
        let symbols = Symbols::read(text.to_vec());
        assert_eq!(symbols.path(), Some(&b"/bin/app"[..]));
        let function = |address| symbols.function(address);
        let malloc = Function {
            name: b"malloc",
            is_of_other_file: true,
        };
        assert_eq!(function(0x1030), Some(malloc));
        assert_eq!(function(0x103f), Some(malloc));
        assert_eq!(function(0x1050), None);
        assert_eq!(function(0x1000), None);
        assert_eq!(function(0x1234).unwrap().name, b"app::twice(int, int)");
        assert_eq!(function(0x1300), None);
        assert_eq!(symbol_file_name("/lib/libc.so.6"), "libc.so.6.sym");
    }
}
