//! What comparisons found: one file an output.
//!
//! All but the text are of any number of comparisons, one a benchmark, with one verdict over all.
//!
#![doc = include_str!("findings.md")]

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
