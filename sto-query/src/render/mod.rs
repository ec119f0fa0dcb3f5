//! Reports as text, JSON, SVG, HTML, and in the formats of CI systems; one file per output.
//!
//! Names in a profile come from the recorded program or whoever made the file and can contain
//! anything. Text and SVG escape them with [`printable`](crate::text::printable), JSON with its
//! serializer.
//!
//! See [the manual](crate::manual::json).

pub mod align;
pub mod bisect;
pub mod blame;
pub mod bottlenecks;
pub mod calibrate;
pub mod calls;
pub mod columns;
pub mod correlate;
pub mod drawing;
pub mod evolution;
pub mod exchange;
pub mod expansion;
pub mod explain_match;
pub mod export;
mod findings;
pub mod flame;
mod guides;
mod header;
pub mod hot;
pub mod hover;
mod html;
pub mod ingest;
pub mod lake;
pub mod log;
pub mod ls;
pub mod maintain;
pub mod merge;
pub mod models;
pub mod occurrences;
pub mod phases;
mod plot;
pub mod potential;
pub mod profile_page;
pub mod recorded;
pub mod runs;
pub mod scores;
pub mod series;
pub mod series_svg;
pub mod show;
pub mod source;
pub mod stats;
pub mod suspects;
pub mod symbolize;
pub mod timeline;
pub mod top;
pub mod tree;
pub mod verify;

pub use findings::{Detail, check_text, findings_text, github, markdown, sarif, verdict_text};
pub use findings::{html, junit};
