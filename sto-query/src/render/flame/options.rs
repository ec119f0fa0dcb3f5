//! How flame graphs are drawn.

use super::palette::Palette;
use crate::compare::Focus;
use crate::functions::KeyOptions;
use serde::{Deserialize, Serialize};

/// Levels of calls that are drawn; what is deeper is a part of the frame at this level. A picture
/// of more could not be read.
pub(super) const MAX_LEVELS: usize = 500;

/// Which stacks a flame graph shows, from which end, and in which colours.
#[derive(Clone, Debug, Default)]
pub struct FlameOptions {
    /// Show only stacks that have one of these functions.
    pub focus: Option<Focus>,
    /// Show no stack that has one of these functions.
    pub ignore: Option<Focus>,
    /// Whether the innermost functions come first, and their callers hang below them as icicles:
    /// which functions cost most by themselves, and who calls them.
    pub inverted: bool,
    /// The colours.
    pub palette: Palette,
    /// Which functions of two builds are one, in a difference.
    pub matching: KeyOptions,
    /// Whether to draw it on a page of HTML, which fits narrow windows and paper, too; else as SVG.
    pub as_page: bool,
    /// A sentence that stands above the drawing, behind all others.
    pub note: String,
}

/// What the widths of a differential flame graph are of. Stacks without any width are not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Widths {
    /// The candidate, or the baseline where the candidate has none of the stacks.
    #[default]
    Candidate,
    /// The baseline, or the candidate where the baseline has none of the stacks.
    Baseline,
    /// The baseline, in stacks that the candidate does not have: what is gone.
    Elided,
}
