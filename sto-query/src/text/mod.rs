//! Text for people: names made harmless and short, numbers, times, sentences and tables in the width of a
//! terminal, command lines that a shell reads back.

mod closest;
pub(crate) mod names;
mod numbers;
mod paragraph;
mod printable;
pub(crate) mod shell;
mod style;
mod table;
mod time;
mod words;

pub(crate) use closest::closest;
pub(crate) use numbers::{bytes, counted, grouped, percent, probability, quantity, saving};
pub(crate) use paragraph::{line, paragraph, title};
pub use printable::printable;
pub(crate) use printable::{display_width, shorten};
pub use shell::Command;
pub use style::{Colors, Look, Style, UnknownColor};
pub(crate) use table::{Cell, Column, Table};
pub use time::Date;
pub use words::Words;

/// A name is never shortened below this, however narrow the terminal is.
pub(crate) const MIN_NAME_WIDTH: usize = 12;
