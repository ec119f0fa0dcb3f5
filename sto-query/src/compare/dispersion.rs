//! How much counts vary from run to run, beyond what sampling alone does.
//!
//! Counts of samples in n runs of one build vary more than Poisson: caches, other processes and the
//! scheduler differ. As in DESeq (Anders & Huber 2010), the variance is modelled as
//! `mean + dispersion x mean^2`; the square root of the dispersion is the relative deviation from
//! run to run that is left in a function with very many samples.

use super::counts::Counts;
use super::normalise::Sizes;

/// Assumed where no side has several runs: functions vary by 10 % from run to run. Published
/// deviations of whole benchmarks on shared machines are 2 to 5 %; single functions vary more.
pub(super) const ASSUMED: f64 = 0.01;
/// No function is believed to vary by less than 2 % from run to run, however well a few runs agree.
pub(super) const LEAST: f64 = 0.0004;
const MOST: f64 = 100.0;
/// Mean samples a run that a function needs to tell about dispersion.
const MIN_MEAN: f64 = 10.0;
/// A function's variation counts for at most this many times what is expected, so that one erratic
/// function does not speak for all.
const ERRATIC: f64 = 4.0;
/// With fewer functions than this, agreement between runs may be luck.
const MIN_FUNCTIONS: usize = 3;

/// Dispersion by function.
#[derive(Debug)]
pub(super) struct Dispersions {
    /// What most functions have.
    pub(super) common: f64,
    /// Whether it was estimated; else it is [`ASSUMED`].
    pub(super) estimated: bool,
    /// How well the common dispersion is known; infinite where it is assumed.
    pub(super) degrees_of_freedom: f64,
    /// Of functions that vary by more than the common dispersion.
    larger: Vec<(usize, f64)>,
}

impl Dispersions {
    /// The common dispersion is that at which the median function varies as much as it should.
    /// Functions that vary by more keep their own dispersion, as in DESeq: a function that is
    /// erratic on one build must not be called changed because it is erratic on the other.
    pub(super) fn of(counts: &Counts, sizes: &Sizes, least: f64) -> Dispersions {
        let functions = counts.runs.first().map_or(0, Vec::len);
        let replicates: Vec<(usize, Replicates)> = (0..functions)
            .map(|f| (f, Replicates::of(counts, sizes, f)))
            .filter(|(_, r)| r.degrees_of_freedom > 0.0)
            .collect();
        if replicates.len() < MIN_FUNCTIONS {
            return Dispersions {
                common: ASSUMED,
                estimated: false,
                degrees_of_freedom: f64::INFINITY,
                larger: Vec::new(),
            };
        }
        let common = least_at_which(least, |dispersion| {
            replicates
                .iter()
                .map(|(_, r)| r.surplus(dispersion))
                .sum::<f64>()
                <= 0.0
        });
        let larger = replicates
            .iter()
            .filter(|(_, r)| r.deviance(common) > r.degrees_of_freedom)
            .map(|(f, r)| {
                (
                    *f,
                    least_at_which(LEAST, |d| r.deviance(d) <= r.degrees_of_freedom),
                )
            })
            .collect();
        Dispersions {
            common,
            estimated: true,
            degrees_of_freedom: replicates.iter().map(|(_, r)| r.information(common)).sum(),
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

    /// How much more the counts vary than this dispersion explains, weighted by what they tell
    /// about it: the derivative of the pseudo-likelihood (M. Davidian and R. J. Carroll, J. Am.
    /// Stat. Assoc. 82:1079, 1987). Small counts vary as Poisson whatever the dispersion is.
    fn surplus(&self, dispersion: f64) -> f64 {
        let df = self.degrees_of_freedom;
        let deviance = self.deviance(dispersion).min(ERRATIC * df);
        (deviance - df) * self.mean() / (1.0 + dispersion * self.mean())
    }

    /// Degrees of freedom that the function gives to the dispersion: all of them where Poisson
    /// variation is next to nothing, hardly any where it is nearly everything.
    fn information(&self, dispersion: f64) -> f64 {
        let part = dispersion * self.mean() / (1.0 + dispersion * self.mean());
        self.degrees_of_freedom * part * part
    }

    fn mean(&self) -> f64 {
        self.counts.iter().map(|&(_, mean)| mean).sum::<f64>() / self.counts.len() as f64
    }
}

/// The least dispersion that is enough, by bisection of its logarithm.
fn least_at_which(least: f64, enough: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (least.ln(), MOST.ln());
    if enough(least) {
        return least;
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
