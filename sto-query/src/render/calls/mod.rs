//! What the threads of a run called: as text, and as a page.

mod text;

pub use text::text;
