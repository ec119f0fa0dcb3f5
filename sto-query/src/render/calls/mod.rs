//! What the threads of a run called: as text, and as a page.

#[cfg(feature = "pages")]
mod data;
#[cfg(feature = "pages")]
mod page;
mod text;

#[cfg(feature = "pages")]
pub use page::html;
pub use text::text;
