//! Text for people: names made harmless and short, numbers, times, sentences and tables in the width of a
//! terminal, command lines that a shell reads back.

mod closest;
pub(crate) mod names;
pub(crate) mod numbers;
pub(crate) mod paragraph;
mod printable;
pub(crate) mod shell;
mod style;
pub(crate) mod table;
mod time;
mod words;

pub(crate) use closest::closest;
pub use printable::printable;
pub(crate) use printable::{display_width, shorten};
pub use shell::Command;
pub use style::{Colors, Look, Style, UnknownColor};
pub use time::Date;
pub use words::Words;

/// A name is never shortened below this, however narrow the terminal is.
pub(crate) const MIN_NAME_WIDTH: usize = 12;
