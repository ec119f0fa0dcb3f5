//! Layout and colours of text in a terminal, and the vocabulary of the program that prints it.

use super::names::{MAX_NAME_WIDTH, shorten_name};
use super::{MIN_NAME_WIDTH, printable, shorten};
use std::fmt;
use std::str::FromStr;
use sto_core::Hint;

/// Layout of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Number of columns of the terminal; `None` for a pipe or a file, where nothing is shortened.
    pub width: Option<usize>,
    /// Colours; `None` for plain text.
    pub colors: Option<Colors>,
    /// Whether names of functions are shown in full, however long they are.
    pub full_names: bool,
    /// Names of the commands and options that hints refer to.
    pub words: Words,
}

/// Appearance of text by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Headings, and names that a report is about.
    pub(crate) heading: Look,
    /// Less important text.
    pub dim: Look,
    /// Regressions.
    pub regression: Look,
    /// Improvements.
    pub(crate) improvement: Look,
}

/// Colour and attributes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// A colour of the terminal's 256; its default colour if `None`.
    color: Option<u8>,
    is_bold: bool,
    is_dim: bool,
    is_underlined: bool,
}

/// Names of the first 8 colours. The next 8 have the prefix `bright-`.
const NAMES: [&str; 8] = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
];

impl Default for Colors {
    fn default() -> Self {
        Colors::USUAL
    }
}

impl Colors {
    /// The default colours.
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

    /// Returns the appearance of each kind of text, with the name of the kind.
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

    /// Formats text with SGR sequences of ECMA-48, and xterm's sequences for colours from 16 on.
    pub fn paint(self, text: &str) -> String {
        let attributes = [(self.is_bold, 1), (self.is_dim, 2), (self.is_underlined, 4)];
        let attributes = attributes.into_iter().filter(|(is_set, _)| *is_set);
        let mut codes: Vec<String> = attributes.map(|(_, code)| code.to_string()).collect();
        codes.extend(self.color.map(|color| match color {
            0..8 => (30 + color).to_string(),
            8..16 => (82 + color).to_string(),
            _ => format!("38;5;{color}"),
        }));
        if codes.is_empty() || text.is_empty() {
            text.to_owned()
        } else {
            format!("\x1b[{}m{text}\x1b[0m", codes.join(";"))
        }
    }
}

/// A text that is not a valid colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColor(String);

impl fmt::Display for UnknownColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a colour: expected {}, each also with `bright-` before it, or a number up to 255; \
             before or in place of it `bold`, `dim` or `underline`; or `none`",
            printable(&self.0),
            NAMES.join(", ")
        )
    }
}

impl std::error::Error for UnknownColor {}

impl FromStr for Look {
    type Err = UnknownColor;

    /// Parses attributes and a colour, such as `bold bright-red`, `208` or `none`.
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
    /// Formats a heading.
    pub(crate) fn bold(self, text: &str) -> String {
        self.painted(|colors| colors.heading, text)
    }

    /// Formats less important text.
    pub(crate) fn dim(self, text: &str) -> String {
        self.painted(|colors| colors.dim, text)
    }

    /// Formats a regression.
    pub(crate) fn worse(self, text: &str) -> String {
        self.painted(|colors| colors.regression, text)
    }

    /// Formats an improvement.
    pub(crate) fn better(self, text: &str) -> String {
        self.painted(|colors| colors.improvement, text)
    }

    fn painted(self, role: fn(Colors) -> Look, text: &str) -> String {
        match self.colors {
            Some(colors) => role(colors).paint(text),
            None => text.to_owned(),
        }
    }

    /// Returns the width of sentences: the width of the terminal up to 100 columns, as longer lines
    /// are hard to read, or 80 if the width is not limited.
    pub(crate) fn text_width(self) -> usize {
        self.width.unwrap_or(80).clamp(2 * MIN_NAME_WIDTH, 100)
    }

    /// Returns the short form of a function's name that begins at `column`, shortened to end at the
    /// right edge of the terminal.
    pub(crate) fn name(self, symbol: &str, column: usize) -> String {
        let max = self.width.map_or(MAX_NAME_WIDTH, |width| {
            width.saturating_sub(column).max(MIN_NAME_WIDTH)
        });
        self.name_up_to(symbol, max)
    }

    /// Returns the short form of a function's name in at most `max` columns.
    pub(crate) fn name_up_to(self, symbol: &str, max: usize) -> String {
        let symbol = printable(symbol);
        if self.full_names {
            symbol.into_owned()
        } else {
            shorten_name(&symbol, max)
        }
    }

    /// Shortens text that begins at `column` to end at the right edge of the terminal.
    pub(crate) fn shorten_to_fit(self, text: &str, column: usize) -> String {
        match self.width {
            Some(width) => shorten(text, width.saturating_sub(column).max(MIN_NAME_WIDTH)),
            None => text.to_owned(),
        }
    }
}

/// Names of the commands, options or buttons of a program that a [`Hint`] refers to. By default,
/// the names are empty, and sentences omit them.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Returns the name of a hint's command; empty if the program has no such command.
    pub hint: fn(Hint) -> &'static str,
    /// Prefix of option names: `--`.
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
    /// Returns the name of a hint's command, if the program has one.
    pub(crate) fn name(self, hint: Hint) -> Option<&'static str> {
        Some((self.hint)(hint)).filter(|name| !name.is_empty())
    }

    /// Returns the part of a sentence that names a hint's command; empty without such a command.
    pub(crate) fn hint_phrase(self, before: &str, hint: Hint, after: &str) -> String {
        let name = self.name(hint);
        name.map_or_else(String::new, |name| format!("{before}{name}{after}"))
    }
}
