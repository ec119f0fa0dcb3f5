//! The calls of a run's threads as text and as a page; unusually long calls, and waits.

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
use crate::text::names::MAX_NAME_WIDTH;

/// Maximum number of callers and width of each name if the width is limited.
const CALLERS: usize = 3;
const NAME: usize = 28;

/// Formats a stack, leaf first: `read < fill < main`.
fn stack(frames: &[String], style: Style) -> String {
    let (most, width) = match style.width {
        Some(_) => (CALLERS + 1, NAME),
        None => (usize::MAX, MAX_NAME_WIDTH),
    };
    let shown = frames.iter().rev().take(most);
    let shown: Vec<String> = shown.map(|name| style.name_up_to(name, width)).collect();
    let more = if frames.len() > shown.len() {
        " < …"
    } else {
        ""
    };
    shown.join(" < ") + more
}
