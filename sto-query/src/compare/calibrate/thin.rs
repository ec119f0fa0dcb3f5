//! Finds how much a function must grow for a comparison to detect it.
//!
//! A run cannot be made slower after it was recorded, but the baseline can be made faster: if each
//! of a function's samples is kept with probability 1 / c, the other side has c times as many on
//! average. Counts with the variance m + d m^2 then have m/c + d (m/c)^2: the same dispersion
//! beyond Poisson, as if they had been recorded like that. (Multiplying counts would multiply their
//! noise.)

use crate::compare::counts::FunctionCounts;
use crate::compare::evidence::{Direction, Evidence, TestParameters, Tests, direction};
use crate::compare::pair::Pair;
use sto_stats::Random;
use sto_stats::{Variation, benjamini_hochberg};

/// Largest growth that is tried.
const LARGEST: f64 = 1000.0;
/// Number of bisections of the logarithm, for a precision of 0.2 %.
const STEPS: usize = 12;

/// A comparison of equal builds in which functions are made slower.
pub(super) struct EqualBuilds<'a> {
    pub(super) counts: &'a FunctionCounts,
    pub(super) tests: &'a Tests<'a>,
}

impl EqualBuilds<'_> {
    /// Returns the smallest growth of a function that the comparison would have detected; `None` if
    /// it is above [`LARGEST`].
    ///
    /// `below` has, for each baseline run and function, the number of the function's attributed
    /// self samples whose stacks contain that function: its callers, and itself.
    pub(super) fn min_detectable_change(
        &self,
        seed: u64,
        function: usize,
        below: &[&Vec<u64>],
    ) -> Option<f64> {
        let mut random = Random::new(seed);
        let deviates: Vec<f64> = below.iter().map(|_| random.normal()).collect();
        let is_caller = |caller: &usize| {
            let tested = self.tests.total[*caller].tested.is_some();
            tested && below.iter().any(|below| below[*caller] > 0)
        };
        let functions = self.tests.total.len();
        let callers: Vec<usize> = (0..functions).filter(is_caller).collect();
        let p = |evidence: &Evidence| evidence.tested.map(|tested| tested.p);
        let equal: Vec<Option<f64>> = self
            .tests
            .attributed
            .iter()
            .chain(&self.tests.total)
            .map(p)
            .collect();
        let own_row = self.counts.attributed.samples_by_run(function);
        let is_found = |change: f64| {
            let mut row = own_row.clone();
            for (count, deviate) in row.iter_mut().zip(&deviates) {
                *count = thinned(*count, 1.0 / change, *deviate);
            }
            let kept: Vec<f64> = row
                .iter()
                .zip(&own_row)
                .map(|(kept, all)| kept / all.max(1.0))
                .collect();
            let mut has_grown = self.has_grown(&row);
            let mut p_values = equal.clone();
            p_values[function] = Some(self.p(&self.tests.setting.variations.self_, &row));
            for &caller in &callers {
                let mut row = self.counts.total.samples_by_run(caller);
                for ((count, below), kept) in row.iter_mut().zip(below).zip(&kept) {
                    *count -= (below[caller] as f64 * (1.0 - kept)).round();
                }
                has_grown |= caller == function && self.has_grown(&row);
                p_values[functions + caller] =
                    Some(self.p(&self.tests.setting.variations.total, &row));
            }
            let q = benjamini_hochberg(&p_values);
            let is_significant =
                |ix: usize| q[ix].is_some_and(|q| q <= self.tests.setting.options.alpha);
            has_grown && (is_significant(function) || is_significant(functions + function))
        };
        if !is_found(LARGEST) {
            return None;
        }
        let (mut missed, mut found) = (0.0, LARGEST.ln());
        for _ in 0..STEPS {
            let middle = (missed + found) / 2.0;
            if is_found(f64::exp(middle)) {
                found = middle;
            } else {
                missed = middle;
            }
        }
        Some(found.exp())
    }

    fn p(&self, variation: &Variation, row: &[f64]) -> f64 {
        let fit = variation.fit(row, &self.tests.setting.design);
        variation.p_value(&fit, row, &self.tests.setting.design)
    }

    /// Whether a count is large enough, and grew enough, to be reported.
    fn has_grown(&self, row: &[f64]) -> bool {
        let TestParameters {
            options,
            sizes,
            samples,
            ..
        } = self.tests.setting;
        let (baseline, candidate) = row.split_at(self.counts.attributed.split);
        let sum = |side: &[f64]| side.iter().sum::<f64>() as u64;
        let sums = Pair::new(sum(baseline), sum(candidate));
        let share = sums.candidate as f64 / samples.candidate as f64;
        let grown = direction(sizes.means(sums), options.min_effect) == Some(Direction::Up);
        grown && share >= options.min_share
    }
}

/// Returns the remaining count if each sample is kept with this probability: a binomial number
/// computed from a normal deviate, so that it decreases with the probability.
fn thinned(count: f64, chance: f64, deviate: f64) -> f64 {
    let spread = (count * chance * (1.0 - chance)).sqrt();
    (count * chance + deviate * spread)
        .round()
        .clamp(0.0, count)
}
