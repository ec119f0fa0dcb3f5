//! What the threads of a run called: as text, and as a page; calls that took unusually long, and waits.

mod command;
mod data;
pub mod outliers;
mod page;
mod records;
mod text;
pub mod waits;
mod zoom;

pub use command::PartCommand;
pub use page::html;
pub use text::text;

use crate::text::Style;
use crate::text::names::shorten_name;

/// Callers that are shown of a stack where the width is limited, and columns of each name.
const CALLERS: usize = 3;
const NAME: usize = 28;

/// A stack in a line, its leaf first: `read < fill < main`.
fn stack(frames: &[String], style: Style) -> String {
    let (most, width) = match style.width {
        Some(_) => (CALLERS + 1, NAME),
        None => (usize::MAX, usize::MAX),
    };
    let shown = frames.iter().rev().take(most);
    let shown: Vec<String> = shown.map(|name| shorten_name(name, width)).collect();
    let more = if frames.len() > shown.len() {
        " < …"
    } else {
        ""
    };
    shown.join(" < ") + more
}
