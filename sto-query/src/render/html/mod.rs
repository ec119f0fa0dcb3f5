//! What self-contained HTML pages are made of: names that cannot break markup, a page that needs and
//! may use no network, and the interactive flame graph in it.

mod flame;
mod markup;
mod page;
mod parts;

pub(super) use flame::{FlameGraph, FlameSides};
pub(super) use markup::{data, folded, name, number_head, numbers, short_name, step, whole_name};
pub(super) use page::Page;
pub(super) use parts::{Side, measured, options_table, recorded, sides};
