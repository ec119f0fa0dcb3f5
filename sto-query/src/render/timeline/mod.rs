//! A run over time: as text, and as a page.

mod axis;
#[cfg(feature = "pages")]
mod heat;
#[cfg(feature = "pages")]
mod page;
mod text;

#[cfg(feature = "pages")]
pub use page::html;
pub use text::text;
