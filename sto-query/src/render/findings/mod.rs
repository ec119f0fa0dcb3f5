//! What a comparison found: one file an output.

mod notes;
mod steps;
mod text;

pub use text::findings_text;
