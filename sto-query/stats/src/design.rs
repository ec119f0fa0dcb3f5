//! Which run is of which side, and how large it is.

/// The runs of a comparison: their size factors, those of the baseline first.
///
/// A run's size factor is what an unchanged function has in it, in any unit that all runs share.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    sizes: Vec<f64>,
    split: usize,
}

impl Design {
    /// Runs of these sizes, of which the first `split` are the baseline's. Runs of one side alone say
    /// how counts vary, but there is nothing to test.
    ///
    /// # Panics
    /// Where there is no run, or a size is not a positive number.
    pub fn new(sizes: Vec<f64>, split: usize) -> Design {
        assert!(0 < split && split <= sizes.len(), "a comparison has runs");
        assert!(
            sizes.iter().all(|size| size.is_finite() && *size > 0.0),
            "a run's size is a positive number"
        );
        Design { sizes, split }
    }

    /// The size factors, by run.
    pub(super) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Anything by run, cut into baseline and candidate.
    pub(super) fn sides<'a, T>(&self, by_run: &'a [T]) -> [&'a [T]; 2] {
        let (baseline, candidate) = by_run.split_at(self.split);
        [baseline, candidate]
    }

    /// The same runs, with those of the candidate this many times as large: what is then unchanged
    /// has this ratio.
    pub(super) fn scaled(&self, ratio: f64) -> Design {
        let mut scaled = self.clone();
        for size in &mut scaled.sizes[self.split..] {
            *size *= ratio;
        }
        scaled
    }

    /// Sum of the size factors of each side.
    pub(super) fn sums(&self) -> [f64; 2] {
        self.sides(&self.sizes).map(|sizes| sizes.iter().sum())
    }

    /// Number of equally large runs that would vary as much as the runs of each side do together.
    pub(super) fn effective_runs(&self) -> [f64; 2] {
        self.sides(&self.sizes).map(|sizes| {
            let sum: f64 = sizes.iter().sum();
            sum * sum / sizes.iter().map(|size| size * size).sum::<f64>()
        })
    }
}
