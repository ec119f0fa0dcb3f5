//! A run over time: as text, and as a page.

mod axis;
#[cfg(feature = "pages")]
mod heat;
#[cfg(feature = "pages")]
mod page;
mod text;

#[cfg(feature = "pages")]
pub use page::html;
pub(in crate::render) use text::axis_line;
pub use text::text;
