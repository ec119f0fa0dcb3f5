//! How text is laid out and coloured for a terminal, and the words of the program that prints it.

use super::{MIN_NAME_WIDTH, shorten};
use std::fmt;
use std::str::FromStr;
use sto_core::Hint;

/// How text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Number of columns of the terminal; `None` shortens nothing, as for a pipe or a file.
    pub width: Option<usize>,
    /// The colours; `None` for plain text.
    pub colors: Option<Colors>,
    /// What the reader can do next is called so.
    pub words: Words,
}

/// How text looks, by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Headings, and names that a report is about.
    pub(crate) heading: Look,
    /// What matters less.
    pub dim: Look,
    /// What got worse.
    pub regression: Look,
    /// What got better.
    pub(crate) improvement: Look,
}

/// A colour and attributes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// A colour of the terminal's 256; its usual one by default.
    color: Option<u8>,
    is_bold: bool,
    is_dim: bool,
    is_underlined: bool,
}

/// The terminal's first colours, and then the same ones with `bright-` before them.
const NAMES: [&str; 8] = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
];

impl Default for Colors {
    fn default() -> Self {
        Colors::USUAL
    }
}

impl Colors {
    /// The colours where nobody chose others.
    pub const USUAL: Colors = Colors {
        heading: Look {
            is_bold: true,
            ..Look::PLAIN
        },
        dim: Look {
            is_dim: true,
            ..Look::PLAIN
        },
        regression: Look {
            color: Some(1),
            is_bold: true,
            ..Look::PLAIN
        },
        improvement: Look {
            color: Some(4),
            is_bold: true,
            ..Look::PLAIN
        },
    };

    /// What may have a colour, by name, with how it looks.
    pub fn roles(&mut self) -> [(&'static str, &mut Look); 4] {
        [
            ("heading", &mut self.heading),
            ("dim", &mut self.dim),
            ("regression", &mut self.regression),
            ("improvement", &mut self.improvement),
        ]
    }
}

impl Look {
    const PLAIN: Look = Look {
        color: None,
        is_bold: false,
        is_dim: false,
        is_underlined: false,
    };

    /// Text that looks so: with SGR sequences of ECMA-48, and xterm's for colours from the 16th.
    pub fn paint(self, text: &str) -> String {
        let attributes = [(self.is_bold, 1), (self.is_dim, 2), (self.is_underlined, 4)];
        let attributes = attributes.into_iter().filter(|(is_set, _)| *is_set);
        let mut codes: Vec<String> = attributes.map(|(_, code)| code.to_string()).collect();
        codes.extend(self.color.map(|color| match color {
            0..8 => (30 + color).to_string(),
            8..16 => (82 + color).to_string(),
            _ => format!("38;5;{color}"),
        }));
        match codes.is_empty() || text.is_empty() {
            true => text.to_owned(),
            false => format!("\x1b[{}m{text}\x1b[0m", codes.join(";")),
        }
    }
}

/// Text that names no colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColor(String);

impl fmt::Display for UnknownColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no colour: expected {}, each also with `bright-` before it, or a number up to 255; \
             before or in place of it `bold`, `dim` or `underline`; or `none`",
            super::printable(&self.0),
            NAMES.join(", ")
        )
    }
}

impl std::error::Error for UnknownColor {}

impl FromStr for Look {
    type Err = UnknownColor;

    /// Reads attributes and a colour, as in `bold bright-red`, `208` or `none`.
    fn from_str(text: &str) -> Result<Look, UnknownColor> {
        let unknown = || UnknownColor(text.to_owned());
        let mut look = Look::PLAIN;
        if text.trim() == "none" {
            return Ok(look);
        }
        let mut words = text.split_whitespace().peekable();
        words.peek().ok_or_else(unknown)?;
        for word in words {
            match word {
                "bold" => look.is_bold = true,
                "dim" => look.is_dim = true,
                "underline" => look.is_underlined = true,
                _ if look.color.is_some() => return Err(unknown()),
                word => look.color = Some(color(word).ok_or_else(unknown)?),
            }
        }
        Ok(look)
    }
}

fn color(word: &str) -> Option<u8> {
    if let Ok(number) = word.parse() {
        return Some(number);
    }
    let (name, first) = match word.strip_prefix("bright-") {
        Some(name) => (name, 8),
        None => (word, 0),
    };
    let ix = NAMES.iter().position(|known| *known == name)?;
    Some(first + ix as u8)
}

impl Style {
    /// Makes a heading stand out.
    pub(crate) fn bold(self, text: &str) -> String {
        self.painted(|colors| colors.heading, text)
    }

    /// Lets what matters less stand back.
    pub(crate) fn dim(self, text: &str) -> String {
        self.painted(|colors| colors.dim, text)
    }

    /// Marks what got worse.
    pub(crate) fn worse(self, text: &str) -> String {
        self.painted(|colors| colors.regression, text)
    }

    /// Marks what got better.
    pub(crate) fn better(self, text: &str) -> String {
        self.painted(|colors| colors.improvement, text)
    }

    fn painted(self, role: fn(Colors) -> Look, text: &str) -> String {
        match self.colors {
            Some(colors) => role(colors).paint(text),
            None => text.to_owned(),
        }
    }

    /// Columns of sentences: those of the terminal up to 100, as longer lines are hard to read; and 80 where
    /// the width is not limited.
    pub(crate) fn text_width(self) -> usize {
        self.width.unwrap_or(80).clamp(2 * MIN_NAME_WIDTH, 100)
    }

    /// Shortens text so that it ends at the right edge, if it begins at this column.
    pub(crate) fn fit(self, text: &str, column: usize) -> String {
        match self.width {
            Some(width) => shorten(text, width.saturating_sub(column).max(MIN_NAME_WIDTH)),
            None => text.to_owned(),
        }
    }
}

/// What a program calls what a [`Hint`] is about: its commands, options or buttons. By default it has none, and
/// sentences go without.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What does it; empty where nothing does.
    pub hint: fn(Hint) -> &'static str,
    /// What stands before the name of an option: `--`.
    pub option: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            hint: |_| "",
            option: "",
        }
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        std::ptr::fn_addr_eq(self.hint, other.hint) && self.option == other.option
    }
}

impl Eq for Words {}

impl Words {
    /// What does it, if anything.
    pub(crate) fn of(self, hint: Hint) -> Option<&'static str> {
        Some((self.hint)(hint)).filter(|name| !name.is_empty())
    }

    /// The part of a sentence that names what does it; empty where nothing does.
    pub(crate) fn within(self, before: &str, hint: Hint, after: &str) -> String {
        let name = self.of(hint);
        name.map_or_else(String::new, |name| format!("{before}{name}{after}"))
    }
}
