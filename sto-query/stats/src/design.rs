//! Assignment of runs to the two sides of a comparison, and their sizes.

/// The size factors of the runs of a comparison, the baseline's first.
///
/// A run's size factor is the expected count of an unchanged function in it, in any unit that all runs share.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    sizes: Vec<f64>,
    split: usize,
    /// Variance of the error of the logarithm of candidate sizes / baseline sizes.
    uncertainty: f64,
}

impl Design {
    /// Creates the design of runs with these size factors; the first `split` runs are the baseline's. If only the
    /// baseline has runs, the variation of counts can be estimated but nothing can be tested.
    ///
    /// # Panics
    /// Panics if `split` is 0 or more than the number of runs, or if a size is not a positive number.
    pub fn new(sizes: Vec<f64>, split: usize) -> Design {
        assert!(0 < split && split <= sizes.len(), "a comparison has runs");
        assert!(
            sizes.iter().all(|size| size.is_finite() && *size > 0.0),
            "a run's size is a positive number"
        );
        Design {
            sizes,
            split,
            uncertainty: 0.0,
        }
    }

    /// Sets the variance of log(candidate sizes / baseline sizes), if the sizes are estimates. It is 0 otherwise.
    pub fn with_uncertainty(self, variance: f64) -> Design {
        Design {
            uncertainty: variance,
            ..self
        }
    }

    /// Variance of the error of log(candidate sizes / baseline sizes).
    pub(super) fn uncertainty(&self) -> f64 {
        self.uncertainty
    }

    /// Returns the size factors, by run.
    pub(super) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Splits values by run into those for the baseline and those for the candidate.
    pub(super) fn sides<'a, T>(&self, by_run: &'a [T]) -> [&'a [T]; 2] {
        let (baseline, candidate) = by_run.split_at(self.split);
        [baseline, candidate]
    }

    /// Returns this design with the candidate's size factors multiplied by `ratio`: a function that changed by
    /// `ratio` counts as unchanged in it.
    pub(super) fn scaled(&self, ratio: f64) -> Design {
        let mut scaled = self.clone();
        for size in &mut scaled.sizes[self.split..] {
            *size *= ratio;
        }
        scaled
    }

    /// Returns the sum of the size factors of each side.
    pub(super) fn sums(&self) -> [f64; 2] {
        self.sides(&self.sizes).map(|sizes| sizes.iter().sum())
    }

    /// Returns, for each side, the number of equally large runs whose sum would vary as much as its runs' sum.
    pub(super) fn effective_runs(&self) -> [f64; 2] {
        self.sides(&self.sizes).map(|sizes| {
            let sum: f64 = sizes.iter().sum();
            sum * sum / sizes.iter().map(|size| size * size).sum::<f64>()
        })
    }
}
