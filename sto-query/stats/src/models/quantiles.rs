//! Quantiles of sorted numbers.

/// Returns the quantile of sorted numbers with linear interpolation, as in numpy; NaN for an empty slice.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = part * last as f64;
    let low = (position as usize).min(last);
    let high = (low + 1).min(last);
    sorted[low] + (sorted[high] - sorted[low]) * (position - low as f64)
}
