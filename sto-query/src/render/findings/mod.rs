//! Comparisons in the formats of various outputs, one file per output.
//!
//! All outputs except text contain any number of comparisons, one per benchmark, with a verdict
//! over all of them.
//!
//! See [the manual](crate::manual::findings).

mod curves;
mod details;
mod github;
mod html;
mod junit;
mod markdown;
mod metrics;
mod notes;
mod sarif;
mod steps;
mod text;
pub(super) mod words;

pub use details::Detail;
pub use github::github;
pub use html::html;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::{check_text, findings_text, verdict_text};
