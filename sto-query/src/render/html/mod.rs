//! What self-contained HTML pages are made of: markup that cannot be broken by names, a page that
//! needs and may use no network, and the interactive flame graph in it.

mod axis;
mod flame;
mod markup;
mod options;
mod page;

pub(super) use axis::{Axis, coordinate};
pub(super) use flame::{FlameGraph, FlameSides};
pub(super) use markup::{Html, STEP, folded, short_name};
pub(super) use options::options_table;
pub(super) use page::Page;
