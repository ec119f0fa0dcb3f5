//! Metrics ranked by how well they explain a target, as text and as a page.

mod page;
mod text;

pub use page::html;
pub use text::text;
