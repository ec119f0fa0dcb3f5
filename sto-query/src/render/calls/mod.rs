//! What the threads of a run called: as text, and as a page; calls that took unusually long, and waits.

#[cfg(feature = "pages")]
mod data;
pub mod outliers;
#[cfg(feature = "pages")]
mod page;
mod text;
pub mod waits;

#[cfg(feature = "pages")]
pub use page::html;
pub use text::text;

use crate::text::Style;

/// Callers that are shown of a stack where the width is limited.
const CALLERS: usize = 3;

/// A stack in a line, its leaf first: `read < fill < main`.
fn stack(frames: &[String], style: Style) -> String {
    let most = style.width.map_or(usize::MAX, |_| CALLERS + 1);
    let shown: Vec<&str> = frames.iter().rev().take(most).map(String::as_str).collect();
    let more = if frames.len() > shown.len() {
        " < …"
    } else {
        ""
    };
    shown.join(" < ") + more
}
