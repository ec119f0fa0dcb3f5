//! Text for people: escaping and shortening of names, numbers, times, paragraphs and tables that
//! fit a terminal, and command lines for shells.

pub(crate) mod names;
mod numbers;
mod paragraph;
pub(crate) mod shell;
mod short_names;
mod style;
mod table;
mod time;
mod width;

pub(crate) use names::find_closest;
pub(crate) use numbers::{
    bytes, compression_ratio, cost, format_count, format_time, group_digits, list_names,
    omitted_line, percent, probability, quantity, seconds, short, sparkline,
};
pub(crate) use paragraph::{line, paragraph, title};
pub use shell::Command;
pub use short_names::short_name;
pub(crate) use short_names::{name_with_types, part_starts};
pub use sto_core::printable;
pub use style::{Colors, Look, Style, UnknownColor, Words};
pub(crate) use table::{Cell, Column, Table};
pub use time::Date;
pub(crate) use width::{display_width, shorten};

/// Minimum width of a shortened name, even in narrow terminals.
pub(crate) const MIN_NAME_WIDTH: usize = 12;
