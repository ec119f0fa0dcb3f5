//! Parts of costs.

use sto_core::units::Cost;

/// What part of `whole` this is, from 0 to 1.
///
/// Shares are of the value; of the samples only where nothing has a value. A part of nothing is 0.
pub(crate) fn share(part: Cost, whole: Cost) -> f64 {
    match (whole.value, whole.samples) {
        (0, 0) => 0.0,
        (0, samples) => part.samples as f64 / samples as f64,
        (value, _) => part.value as f64 / value as f64,
    }
}
