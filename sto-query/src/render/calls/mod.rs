//! What the threads of a run called: as text, and as a page; calls that took unusually long, and waits.

#[cfg(feature = "pages")]
mod data;
#[cfg(feature = "pages")]
mod page;
pub mod outliers;
mod text;
pub mod waits;

#[cfg(feature = "pages")]
pub use page::html;
pub use text::text;

/// A stack in a line, its leaf first: `read < fill < main`.
fn stack(frames: &[String]) -> String {
    let leaf_first: Vec<&str> = frames.iter().rev().map(String::as_str).collect();
    leaf_first.join(" < ")
}
