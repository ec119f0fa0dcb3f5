//! A line of a stack: `ip symbol+0xoffset (dso)`.

use crate::names::{kind_by_module, module_name};
use sto_model::FrameKind;

/// The fields of a line of a stack.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    /// The instruction pointer: for code of a file usually an offset in the file, otherwise an
    /// address.
    pub(super) ip: u64,
    /// The function name, without offset.
    pub(super) symbol: &'a [u8],
    /// Path of the file, or `(inlined)`; empty if the line has none.
    pub(super) dso: &'a [u8],
}

impl<'a> Call<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Call<'a>> {
        let (ip, rest) = split_ip(line.trim_ascii_start())?;
        let (symbol, dso) = split_dso(rest.trim_ascii());
        Some(Call {
            ip,
            symbol: without_offset(symbol),
            dso,
        })
    }

    pub(super) fn is_inlined(&self) -> bool {
        self.dso == b"inlined"
    }

    pub(super) fn is_resolved(&self) -> bool {
        !matches!(self.symbol, b"" | b"[unknown]")
    }

    /// The module name of the frame; empty if unknown.
    pub(super) fn module(&self) -> &'a [u8] {
        module_name(self.dso)
    }

    pub(super) fn kind(&self) -> FrameKind {
        if !self.is_resolved() {
            FrameKind::Unresolved
        } else {
            kind_by_module(self.dso)
        }
    }
}

/// Returns `true` if the line is complete up to the closing parenthesis of a file name. Parameters
/// of a function may be in parentheses too.
pub(super) fn ends_with_file(line: &[u8]) -> bool {
    let (_, dso) = split_dso(line.trim_ascii_end());
    dso == b"inlined" || dso.starts_with(b"/") || dso.starts_with(b"[")
}

/// The hexadecimal number before the first white space, and the text from there.
fn split_ip(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut ip = 0;
    let mut len = 0;
    for &byte in text {
        let digit = HEXADECIMAL[usize::from(byte)];
        if digit == NO_DIGIT {
            break;
        }
        if ip >> 60 != 0 {
            return None;
        }
        ip = ip << 4 | u64::from(digit);
        len += 1;
    }
    let rest = &text[len..];
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (len > 0 && ends).then_some((ip, rest))
}

const NO_DIGIT: u8 = u8::MAX;

/// The value of each hexadecimal digit; a table, because comparisons would often be mispredicted.
const HEXADECIMAL: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// The symbol and the contents of the last parentheses, which may be nested, as in `(/usr/bin/prog
/// (deleted))`.
fn split_dso(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(inside) = text.strip_suffix(b")") else {
        return (text, b"");
    };
    let begin = match memchr::memrchr2(b'(', b')', inside) {
        Some(at) if inside[at] == b')' => before_nested(inside),
        begin => begin,
    };
    match begin {
        // Without a space before it, these are the parameters of a function, and there is no file.
        Some(at) if at == 0 || text[at - 1] == b' ' => {
            (text[..at].trim_ascii_end(), &inside[at + 1..])
        }
        _ => (text, b""),
    }
}

/// Index of the parenthesis that matches the one at the end of a text.
fn before_nested(text: &[u8]) -> Option<usize> {
    let mut open = 1;
    text.iter().rposition(|byte| {
        match byte {
            b')' => open += 1,
            b'(' => open -= 1,
            _ => {}
        }
        open == 0
    })
}

fn without_offset(symbol: &[u8]) -> &[u8] {
    let Some(plus) = memchr::memrchr(b'+', symbol) else {
        return symbol;
    };
    match &symbol[plus + 1..] {
        [b'0', b'x', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => &symbol[..plus],
        _ => symbol,
    }
}
