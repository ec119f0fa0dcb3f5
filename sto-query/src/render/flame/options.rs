//! Options of flame graphs.

use super::palette::Palette;
use crate::compare::Focus;
use crate::functions::KeyOptions;
use serde::{Deserialize, Serialize};

/// Maximum number of levels. Deeper calls count for the frame at the last level. A taller picture
/// would be unreadable.
pub(super) const MAX_LEVELS: usize = 500;

/// The stacks that a flame graph shows, their direction, and their colours.
#[derive(Clone, Debug, Default)]
pub struct FlameOptions {
    /// Show only stacks that contain one of these functions.
    pub focus: Option<Focus>,
    /// Hide stacks that contain one of these functions.
    pub ignore: Option<Focus>,
    /// Whether leaves are the roots of the drawing, with their callers below them. This shows the
    /// functions with the highest self cost, and who calls them.
    pub inverted: bool,
    /// The colours.
    pub palette: Palette,
    /// How functions of two builds are matched in a difference.
    pub matching: KeyOptions,
    /// Whether to draw an HTML page, which fits narrow windows and paper, instead of an SVG.
    pub as_page: bool,
    /// In a difference, the cost of a run of the candidate relative to one of the baseline, after
    /// the normalisation of [`compare`](crate::compare::compare). `None` compares shares.
    pub growth: Option<f64>,
    /// A sentence to add to the notes above the drawing.
    pub note: String,
}

/// The costs that determine the widths of a differential flame graph. Stacks with zero width are
/// not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Widths {
    /// The candidate, or the baseline if the candidate has no samples of the stacks.
    #[default]
    Candidate,
    /// The baseline, or the candidate if the baseline has no samples of the stacks.
    Baseline,
    /// The baseline, restricted to stacks that the candidate lacks.
    Elided,
}
