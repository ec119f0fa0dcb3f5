//! The kernel's list of its own symbols (`/proc/kallsyms`, Linux' `kernel/kallsyms.c`).

/// Maximum length of a kernel function. Real ones are much shorter, so an address this far after the last symbol is in
/// code that the list does not have.
const MAX_FUNCTION: u64 = 1 << 20;

/// A list of kernel symbols, indexed by address.
pub(super) struct Kallsyms {
    text: Vec<u8>,
    /// Distinct addresses in ascending order, each with the offset of its line in the text.
    lines: Vec<(u64, usize)>,
    /// Address of `_text`, otherwise of `_stext`; perf records the address of the same symbol. `None` if the kernel hid
    /// the addresses.
    pub(super) text_address: Option<u64>,
}

/// A function of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KernelSymbol<'a> {
    pub(super) name: &'a [u8],
    /// The kernel module of the function; `None` for the kernel itself.
    pub(super) module: Option<&'a str>,
}

/// A line: `ffffffff81000000 T _text`, or `ffffffffc0000000 t init\t[module]`.
struct Line<'a> {
    address: u64,
    kind: u8,
    name: &'a [u8],
    module: &'a [u8],
}

impl Kallsyms {
    /// Parses a list, ignoring malformed lines.
    pub(super) fn parse(text: Vec<u8>) -> Kallsyms {
        let mut lines = Vec::with_capacity(text.len() / 40);
        let mut start = 0;
        for line in text.split(|&byte| byte == b'\n') {
            if let Some(line) = Line::parse(line) {
                lines.push((line.address, start));
            }
            start += line.len() + 1;
        }
        // A stable sort: symbols of one address keep their order. The list is nearly sorted already.
        lines.sort_by_key(|&(address, _)| address);
        let mut kallsyms = Kallsyms {
            text,
            lines,
            text_address: None,
        };
        kallsyms.text_address = kallsyms.find_text();
        kallsyms.keep_functions();
        kallsyms
    }

    fn find_text(&self) -> Option<u64> {
        let address_of = |name: &[u8]| {
            let mut lines = self.lines.iter().filter_map(|&(_, start)| self.line(start));
            Some(lines.find(|line| line.name == name)?.address)
        };
        address_of(b"_text")
            .or_else(|| address_of(b"_stext"))
            .filter(|&address| address != 0)
    }

    /// Keeps one symbol of each address: the last function in the list, as perf does, if there is one.
    fn keep_functions(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        let is_function = |start| self.line(start).is_some_and(|line| line.is_function());
        lines.dedup_by(|next, kept| {
            if next.0 == kept.0 && is_function(next.1) {
                kept.1 = next.1;
            }
            next.0 == kept.0
        });
        self.lines = lines;
    }

    /// Returns the function that has an address.
    pub(super) fn function_at(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let end = self.lines.partition_point(|&(start, _)| start <= address);
        let (start, line) = *self.lines[..end].last()?;
        if address - start >= MAX_FUNCTION {
            return None;
        }
        let best = self.line(line).filter(Line::is_function)?;
        let module = match best.module {
            // Code that the kernel generates at run time belongs to no module.
            b"" | b"bpf" | b"__builtin__ftrace" | b"__builtin__kprobes" => None,
            module => Some(std::str::from_utf8(module).ok()?),
        };
        Some(KernelSymbol {
            name: best.name,
            module,
        })
    }

    fn line(&self, start: usize) -> Option<Line<'_>> {
        let rest = &self.text[start..];
        let end = rest.iter().position(|&byte| byte == b'\n');
        Line::parse(&rest[..end.unwrap_or(rest.len())])
    }
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Option<Line<'a>> {
        let digits = line.iter().position(|&byte| byte == b' ')?;
        let address = std::str::from_utf8(&line[..digits]).ok()?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let [b' ', kind, b' ', rest @ ..] = &line[digits..] else {
            return None;
        };
        let name_end = rest.iter().position(u8::is_ascii_whitespace);
        let (name, module) = rest.split_at(name_end.unwrap_or(rest.len()));
        let module = module.trim_ascii();
        let module = module
            .strip_prefix(b"[")
            .and_then(|module| module.strip_suffix(b"]"));
        Some(Line {
            address,
            kind: *kind,
            name,
            module: module.unwrap_or_default(),
        })
    }

    fn is_function(&self) -> bool {
        matches!(self.kind.to_ascii_uppercase(), b'T' | b'W')
    }
}
