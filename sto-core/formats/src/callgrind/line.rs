//! Lines, and the numbers in them.

use crate::wire::text::{decimal, excerpt, words};

/// A line that is neither blank nor a comment.
pub(super) enum Line<'l> {
    /// `key: value`.
    Header { key: &'l [u8], value: &'l [u8] },
    /// `fn=(3) main` and other lines that name the context of the lines that follow.
    Name { field: &'l [u8], name: &'l [u8] },
    /// `calls=12 +3`: the next line has the cost.
    Call,
    /// A jump; the next line has its position.
    Jump,
    /// Positions and costs: `+2 5 1`.
    Costs(&'l [u8]),
}

impl<'l> Line<'l> {
    pub(super) fn parse(line: &'l [u8]) -> Result<Line<'l>, String> {
        if line
            .first()
            .is_some_and(|byte| byte.is_ascii_digit() || b"+-*".contains(byte))
        {
            return Ok(Line::Costs(line));
        }
        let word = line
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let (key, rest) = line.split_at(word);
        match (key, rest) {
            (b"calls" | b"rcalls", [b'=', ..]) => Ok(Line::Call),
            (b"jump" | b"jcnd", [b'=', ..]) => Ok(Line::Jump),
            (
                b"ob" | b"fl" | b"fi" | b"fe" | b"fn" | b"cob" | b"cfl" | b"cfi" | b"cfn" | b"job"
                | b"jfi" | b"jfn",
                [b'=', name @ ..],
            ) => Ok(Line::Name { field: key, name }),
            ([_, ..], [b':', value @ ..]) => Ok(Line::Header {
                key,
                value: value.trim_ascii(),
            }),
            _ => Err(format!(
                "expected costs, a name such as `fn=`, `calls=`, or a header such as `events:`, found {}",
                excerpt(line)
            )),
        }
    }
}

/// Parses a decimal number, or a hexadecimal one with `0x`.
pub(super) fn number(text: &[u8]) -> Result<u64, String> {
    let number = match text.strip_prefix(b"0x") {
        Some(digits) if !digits.is_empty() => digits.iter().try_fold(0u64, |sum, &digit| {
            let digit = char::from(digit).to_digit(16)?;
            Some(sum.checked_mul(16)? + u64::from(digit))
        }),
        _ => decimal(text),
    };
    number.ok_or_else(|| {
        format!(
            "expected a number from 0 to 2^64 - 1, found {}",
            excerpt(text)
        )
    })
}

pub(super) fn id(text: &[u8]) -> Result<u32, String> {
    let narrow = u32::try_from(number(text)?);
    narrow.map_err(|_| format!("expected an id below 2^32, found {}", excerpt(text)))
}

/// `NAME = formula : title` without the formula.
pub(super) fn title(value: &[u8]) -> (&[u8], &[u8]) {
    let colon = memchr::memchr(b':', value).unwrap_or(value.len());
    let (name, title) = value.split_at(colon);
    let name = words(name).next().unwrap_or(b"");
    let name = name.split(|&byte| byte == b'=').next().unwrap_or(name);
    (name, title.get(1..).unwrap_or(b"").trim_ascii())
}

/// An address or line, absolute or relative to the previous one.
pub(super) enum Position {
    At(u64),
    Ahead(u64),
    Back(u64),
}

impl Position {
    pub(super) fn parse(word: Option<&[u8]>) -> Result<Position, String> {
        match word {
            None => Err("expected a position before the costs, found none".to_owned()),
            Some(b"*") => Ok(Position::Ahead(0)),
            Some([b'+', digits @ ..]) => number(digits).map(Position::Ahead),
            Some([b'-', digits @ ..]) => number(digits).map(Position::Back),
            Some(digits) => number(digits).map(Position::At),
        }
    }

    pub(super) fn from(self, before: u64) -> Result<u64, String> {
        let position = match self {
            Position::At(position) => Some(position),
            Position::Ahead(distance) => before.checked_add(distance),
            Position::Back(distance) => before.checked_sub(distance),
        };
        position.ok_or_else(|| {
            format!("a position that leaves 64 bits, counted from {before}; was the file edited?")
        })
    }
}
