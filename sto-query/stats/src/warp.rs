//! Dynamic time warping: how two series go together when time ran at different speeds in them.
//!
//! "Dynamic time warping" of `statistics.md` has the rules. [`distance`] is the error of the best path,
//! [`path`] the path itself, and [`warnings()`] where not to trust it.

mod diagonals;
mod warnings;

use diagonals::Diagonals;
use std::fmt;
pub use warnings::{Warning, warnings};

/// One of the two series that are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
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

/// Why two series cannot be aligned.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WarpError {
    /// A series has no points.
    #[error("series {series} has no points, and nothing can be aligned with it")]
    Empty {
        /// Which of the two.
        series: Side,
    },
    /// A point is infinite or not a number.
    #[error("series {series} has {value} at index {index}, and only finite numbers can be aligned")]
    NotFinite {
        /// Which of the two.
        series: Side,
        /// The first such point, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The error of the best path is not finite.
    #[error(
        "the differences of the series add up to more than {:e}: scale them down",
        f64::MAX
    )]
    Overflow,
}

/// A best path from the first points of two series to their last.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// (index in a, index in b) from the first to the last; either index goes up by one, or both do.
    pub pairs: Vec<(usize, usize)>,
    /// What [`distance`] is: the sum of |a_i - b_j| over the pairs, added up in their order.
    pub error: f64,
}

/// The error of the best path, by the paper's equation 1: the least sum of |a_i - b_j| over the pairs of a
/// path, not divided by its length.
///
/// `band` is the half width of a Sakoe-Chiba band; `None` is any path. Takes time by the cells within the
/// band, and memory by the points of both series.
///
/// # Errors
///
/// [`WarpError`] where a series is empty or has a value that is not finite, or where the sum is not.
pub fn distance(a: &[f64], b: &[f64], band: Option<usize>) -> Result<f64, WarpError> {
    check(a, b)?;
    finite(Diagonals::new(a, b, band).error())
}

/// The best path, and its error.
///
/// Takes little longer than [`distance`], and memory for some of the anti-diagonals: 5 MB for 10,000 points each
/// without a band, 10 MB for 65,536 with one of 1,000.
///
/// # Errors
///
/// Those of [`distance`].
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
