//! Shares of costs.

use sto_core::units::Cost;

/// Returns the share of `part` in `whole`, from 0 to 1.
///
/// Values are compared, or samples if there are no values. A share of zero is 0.
pub(crate) fn share(part: Cost, whole: Cost) -> f64 {
    match (whole.value, whole.samples) {
        (0, 0) => 0.0,
        (0, samples) => part.samples as f64 / samples as f64,
        (value, _) => part.value as f64 / value as f64,
    }
}
