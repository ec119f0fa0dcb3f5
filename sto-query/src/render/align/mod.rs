//! The alignment of two runs in time, as text and as a page.

mod page;
mod text;

pub use page::html;
pub use text::text;
pub(super) use text::{doubts, sentences, time};
