//! Dynamic time warping: alignment of two series that progress at different speeds.
//!
//! "Dynamic time warping" in `statistics.md` has the rules. [`distance`] returns the error of the best path, [`path`]
//! the path itself, and [`warnings()`] the reasons not to trust it.

mod diagonals;
mod warnings;

use diagonals::Diagonals;
use std::fmt;
pub use warnings::{Warning, warnings};

/// One of the two series that are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first series.
    A,
    /// The second series.
    B,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::A => "a",
            Side::B => "b",
        })
    }
}

/// Reason why two series cannot be aligned.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WarpError {
    /// A series has no points.
    #[error("series {series} has no points to align")]
    Empty {
        /// The empty series.
        series: Side,
    },
    /// A point is infinite or not a number.
    #[error("series {series} has {value} at index {index}; only finite numbers can be aligned")]
    NotFinite {
        /// The series with the point.
        series: Side,
        /// Index of the first such point, from 0.
        index: usize,
        /// Value of the point.
        value: f64,
    },
    /// The error of the best path is not finite.
    #[error(
        "the differences of the series add up to more than {:e}: scale them down",
        f64::MAX
    )]
    Overflow,
}

/// An optimal path from the first points of two series to their last.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Pairs (index in a, index in b) from first to last. Each step increases one index or both by one.
    pub pairs: Vec<(usize, usize)>,
    /// Error of the path, as [`distance`] returns it: the sum of |a_i - b_j| over the pairs, added in their order.
    pub error: f64,
}

/// Returns the error of the best path, by the paper's equation 1: the least sum of |a_i - b_j| over the pairs of a
/// path, not divided by its length.
///
/// `band` is the half width of a Sakoe-Chiba band; `None` allows any path. The time is proportional to the number of
/// cells in the band, the memory to the number of points of both series.
///
/// # Errors
///
/// Returns [`WarpError`] if a series is empty or has a value that is not finite, or if the sum is not finite.
pub fn distance(a: &[f64], b: &[f64], band: Option<usize>) -> Result<f64, WarpError> {
    check(a, b)?;
    finite(Diagonals::new(a, b, band).error())
}

/// Returns the best path and its error.
///
/// It takes little longer than [`distance`], and memory for some of the anti-diagonals: 5 MB for 10,000 points each
/// without a band, 10 MB for 65,536 with a band of 1,000.
///
/// # Errors
///
/// Returns the same errors as [`distance`].
pub fn path(a: &[f64], b: &[f64], band: Option<usize>) -> Result<Path, WarpError> {
    check(a, b)?;
    let (error, pairs) = Diagonals::new(a, b, band).path();
    finite(error).map(|error| Path { pairs, error })
}

fn check(a: &[f64], b: &[f64]) -> Result<(), WarpError> {
    for (series, points) in [(Side::A, a), (Side::B, b)] {
        if points.is_empty() {
            return Err(WarpError::Empty { series });
        }
        if let Some(index) = points.iter().position(|value| !value.is_finite()) {
            let value = points[index];
            return Err(WarpError::NotFinite {
                series,
                index,
                value,
            });
        }
    }
    Ok(())
}

fn finite(error: f64) -> Result<f64, WarpError> {
    error
        .is_finite()
        .then_some(error)
        .ok_or(WarpError::Overflow)
}
