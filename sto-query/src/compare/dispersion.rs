//! How much counts vary from run to run, beyond what sampling alone does.
//!
//! Counts of samples in n runs of one build vary more than Poisson: caches, other processes and the
//! scheduler differ. As in DESeq (Anders & Huber 2010), the variance is modelled as
//! `mean + dispersion x mean^2`; the square root of the dispersion is the relative deviation from
//! run to run that is left in a function with very many samples.

use super::counts::Counts;
use super::normalise::{Sizes, median};

/// Assumed where no side has several runs: functions vary by 10 % from run to run. Published
/// deviations of whole benchmarks on shared machines are 2 to 5 %; single functions vary more.
pub(super) const ASSUMED: f64 = 0.01;
/// No function is believed to vary by less than 2 % from run to run, however well a few runs agree.
const LEAST: f64 = 0.0004;
const MOST: f64 = 100.0;
/// Mean samples a run that a function needs to tell about dispersion.
const MIN_MEAN: f64 = 10.0;
/// With fewer functions than this, agreement between runs may be luck.
const MIN_FUNCTIONS: usize = 3;

/// Dispersion by function.
#[derive(Debug)]
pub(super) struct Dispersions {
    /// What most functions have.
    pub(super) common: f64,
    /// Whether it was estimated; else it is [`ASSUMED`].
    pub(super) estimated: bool,
    /// Of functions that vary by more than the common dispersion.
    larger: Vec<(usize, f64)>,
}

impl Dispersions {
    /// The common dispersion is that at which the median function varies as much as it should.
    /// Functions that vary by more keep their own dispersion, as in DESeq: a function that is
    /// erratic on one build must not be called changed because it is erratic on the other.
    pub(super) fn of(counts: &Counts, sizes: &Sizes) -> Dispersions {
        let functions = counts.runs.first().map_or(0, Vec::len);
        let replicates: Vec<(usize, Replicates)> = (0..functions)
            .map(|f| (f, Replicates::of(counts, sizes, f)))
            .filter(|(_, r)| r.degrees_of_freedom > 0.0)
            .collect();
        if replicates.len() < MIN_FUNCTIONS {
            return Dispersions {
                common: ASSUMED,
                estimated: false,
                larger: Vec::new(),
            };
        }
        let common = least_at_which(|dispersion| {
            let surplus = replicates
                .iter()
                .map(|(_, r)| r.deviance(dispersion) / r.median_deviance());
            median(surplus.collect()) <= 1.0
        });
        let larger = replicates
            .iter()
            .filter(|(_, r)| r.deviance(common) > r.degrees_of_freedom)
            .map(|(f, r)| {
                (
                    *f,
                    least_at_which(|d| r.deviance(d) <= r.degrees_of_freedom),
                )
            })
            .collect();
        Dispersions {
            common,
            estimated: true,
            larger,
        }
    }

    /// The dispersion of a function.
    pub(super) fn get(&self, function: usize) -> f64 {
        let own = self.larger.binary_search_by_key(&function, |&(f, _)| f);
        own.map_or(self.common, |place| self.larger[place].1)
    }
}

/// Counts of one function in runs of which several are of one build.
struct Replicates {
    /// Count and what is expected if every run of a build is alike.
    counts: Vec<(f64, f64)>,
    degrees_of_freedom: f64,
}

impl Replicates {
    fn of(counts: &Counts, sizes: &Sizes, function: usize) -> Replicates {
        let mut replicates = Replicates {
            counts: Vec::new(),
            degrees_of_freedom: 0.0,
        };
        let (runs, factors) = (counts.of(function), sizes.sides());
        replicates.add(runs.baseline, factors.baseline);
        replicates.add(runs.candidate, factors.candidate);
        replicates
    }

    fn add(&mut self, counts: impl Iterator<Item = u64> + Clone, factors: &[f64]) {
        let samples: f64 = counts.clone().map(|count| count as f64).sum();
        let runs = factors.len();
        if runs < 2 || samples < MIN_MEAN * runs as f64 {
            return;
        }
        let mean = samples / factors.iter().sum::<f64>();
        let expected = factors.iter().map(|factor| factor * mean);
        self.counts
            .extend(counts.map(|count| count as f64).zip(expected));
        self.degrees_of_freedom += runs as f64 - 1.0;
    }

    /// Pearson's statistic: as large as the degrees of freedom where the dispersion is right.
    fn deviance(&self, dispersion: f64) -> f64 {
        let terms = self.counts.iter().map(|&(count, mean)| {
            (count - mean) * (count - mean) / (mean + dispersion * mean * mean)
        });
        terms.sum()
    }

    /// Median of a chi-squared variable (E. B. Wilson and M. M. Hilferty, PNAS 17:684, 1931).
    fn median_deviance(&self) -> f64 {
        let df = self.degrees_of_freedom;
        df * (1.0 - 2.0 / (9.0 * df)).powi(3)
    }
}

/// The least dispersion that is enough, by bisection of its logarithm.
fn least_at_which(enough: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (LEAST.ln(), MOST.ln());
    if enough(LEAST) {
        return LEAST;
    }
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if enough(middle.exp()) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high.exp()
}
