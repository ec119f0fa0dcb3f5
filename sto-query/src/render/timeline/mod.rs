//! A run over time, as text and as a page.

mod axis;
mod heat;
mod page;
mod text;

pub use page::html;
pub(in crate::render) use page::{LINE, Line};
pub(in crate::render) use text::axis_line;
pub use text::text;
