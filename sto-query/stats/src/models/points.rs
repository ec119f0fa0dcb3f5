//! Points to which curves are fitted.

use rayon::prelude::*;

/// Pairs of x and y, sorted by x, then y.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Empty if all points are of one run.
    group: Vec<u32>,
    /// Empty if all weights are equal.
    weight: Vec<f64>,
}

/// Reason why numbers are not valid points.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// A number is infinite or NaN.
    #[error("point {position} is ({x}, {y}); expected two finite numbers")]
    NotFinite {
        /// Position of the point in the input, from 1.
        position: usize,
        /// x of the point.
        x: f64,
        /// y of the point.
        y: f64,
    },
    /// A weight is zero, negative, infinite or NaN.
    #[error("weight {position} is {weight}; expected a finite number above 0")]
    Weight {
        /// Position of the weight in the order of points, from 1.
        position: usize,
        /// The weight.
        weight: f64,
    },
    /// The number of weights differs from the number of points.
    #[error("there are {weights} weights for {points} points; expected one for each")]
    Weights {
        /// Number of weights.
        weights: usize,
        /// Number of points.
        points: usize,
    },
}

impl Points {
    /// Creates points that are all of one run.
    ///
    /// # Errors
    ///
    /// Returns an error if a number is not finite.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Result<Points, PointsError> {
        let mut points: Vec<(f64, f64)> = points.into_iter().collect();
        finite(points.iter().copied())?;
        if !points.is_sorted_by(|a, b| order(a, b).is_le()) {
            points.par_sort_unstable_by(order);
        }
        let (x, y) = points.into_iter().unzip();
        Ok(Points {
            x,
            y,
            ..Points::default()
        })
    }

    /// Creates points with the number of each point's run.
    ///
    /// # Errors
    ///
    /// Returns an error if a number is not finite.
    pub fn with_groups(
        points: impl IntoIterator<Item = (f64, f64, u32)>,
    ) -> Result<Points, PointsError> {
        let mut points: Vec<(f64, f64, u32)> = points.into_iter().collect();
        finite(points.iter().map(|&(x, y, _)| (x, y)))?;
        points.par_sort_unstable_by(|a, b| {
            order(&(a.0, a.1), &(b.0, b.1)).then_with(|| a.2.cmp(&b.2))
        });
        Ok(Points {
            x: points.iter().map(|point| point.0).collect(),
            y: points.iter().map(|point| point.1).collect(),
            group: points.iter().map(|point| point.2).collect(),
            weight: Vec::new(),
        })
    }

    /// Sets the weights, in the order of points; they are scaled to a mean of 1. A point with twice the variance of
    /// another should have half its weight.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one weight for each point, or if one is not a finite number above 0.
    pub fn with_weights(mut self, mut weights: Vec<f64>) -> Result<Points, PointsError> {
        if weights.len() != self.len() {
            return Err(PointsError::Weights {
                weights: weights.len(),
                points: self.len(),
            });
        }
        let wrong = |weight: &f64| !weight.is_finite() || *weight <= 0.0;
        if let Some(ix) = weights.iter().position(wrong) {
            return Err(PointsError::Weight {
                position: ix + 1,
                weight: weights[ix],
            });
        }
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        self.weight = weights;
        Ok(self)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Returns `true` if there are no points.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// x of each point, ascending.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// y of each point.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Run of each point; `None` if all are of one run.
    pub fn groups(&self) -> Option<&[u32]> {
        (!self.group.is_empty()).then_some(&self.group)
    }

    /// Weight of each point; `None` if all are equal.
    pub fn weights(&self) -> Option<&[f64]> {
        (!self.weight.is_empty()).then_some(&self.weight)
    }

    /// Returns the points with equal weights.
    pub(super) fn without_weights(&self) -> std::borrow::Cow<'_, Points> {
        use std::borrow::Cow;
        if self.weight.is_empty() {
            Cow::Borrowed(self)
        } else {
            Cow::Owned(Points {
                weight: Vec::new(),
                ..self.clone()
            })
        }
    }

    /// Returns the smallest and largest x; `None` if there are no points.
    pub fn range(&self) -> Option<(f64, f64)> {
        Some((*self.x.first()?, *self.x.last()?))
    }
}

fn finite(points: impl Iterator<Item = (f64, f64)>) -> Result<(), PointsError> {
    for (ix, (x, y)) in points.enumerate() {
        if !x.is_finite() || !y.is_finite() {
            let position = ix + 1;
            return Err(PointsError::NotFinite { position, x, y });
        }
    }
    Ok(())
}

fn order(a: &(f64, f64), b: &(f64, f64)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1))
}
