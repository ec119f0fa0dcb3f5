//! A run over time, as text and as a page.

mod axis;
mod heat;
mod line;
mod page;
mod text;

pub(in crate::render) use line::{LINE, Line};
pub use page::html;
pub(in crate::render) use text::axis_line;
pub use text::text;
