//! Tests every function, for each kind of count.

use super::counts::{Counts, FunctionCounts};
use super::functions::FunctionIx;
use super::normalise::SizeFactors;
use super::pair::Pair;
use super::result::{Basis, Change, CompareOptions, RunCost, RunCosts, round_for_output};
use super::variation::Variations;
use rayon::prelude::*;
use sto_core::units::Unit;
use sto_stats::{Design, Fit, Variation, benjamini_hochberg};

/// The parameters of the tests, besides the counts.
pub(super) struct TestParameters<'a> {
    pub(super) options: &'a CompareOptions,
    pub(super) sizes: SizeFactors,
    pub(super) design: Design,
    pub(super) variations: Variations,
    /// Samples of each side.
    pub(super) samples: Pair<u64>,
    /// The event's unit.
    pub(super) unit: Unit,
    /// Whether the sides are parts of the same runs. Their code is then the same, so nothing moved
    /// or was replaced.
    pub(super) within_runs: bool,
    /// Whether stacks are known, or only counts of functions.
    pub(super) has_stacks: bool,
}

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Up,
    Down,
}

/// The evidence for a change of one function's count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) samples: Pair<u64>,
    /// Samples in a run of size 1.
    pub(super) means: Pair<f64>,
    pub(super) share: Pair<f64>,
    /// The result of the test, if the function was tested.
    pub(super) tested: Option<TestResult>,
    pub(super) q: Option<f64>,
    /// Direction of a difference above `min_effect`, if the share is above `min_share`.
    pub(super) shifted: Option<Direction>,
    /// Direction of a significant shift.
    pub(super) changed: Option<Direction>,
}

/// The result of the test of a function's count.
#[derive(Clone, Copy, Debug)]
pub(super) struct TestResult {
    pub(super) p: f64,
    pub(super) fit: Fit,
}

impl Evidence {
    /// Returns how much more the candidate has, as samples in a run of size 1.
    pub(super) fn difference(&self) -> f64 {
        self.means.candidate - self.means.baseline
    }

    /// Whether both sides have samples of the function.
    pub(super) fn is_on_both_sides(&self) -> bool {
        self.samples.baseline > 0 && self.samples.candidate > 0
    }
}

/// The evidence for every function and count, by function.
pub(super) struct Tests<'a> {
    pub(super) counts: &'a FunctionCounts,
    pub(super) setting: &'a TestParameters<'a>,
    pub(super) self_: Vec<Evidence>,
    pub(super) attributed: Vec<Evidence>,
    pub(super) total: Vec<Evidence>,
}

impl<'a> Tests<'a> {
    /// Tests every function, and adjusts for the number of tests.
    ///
    /// Findings rest on attributed self and on total counts, which are adjusted together: at most a
    /// share of `alpha` of comparisons of equal builds has any finding. Self counts are only shown,
    /// and adjusted as if they were attributed ones.
    pub(super) fn new(counts: &'a FunctionCounts, setting: &'a TestParameters<'a>) -> Tests<'a> {
        let variations = &setting.variations;
        let mut tests = Tests {
            counts,
            setting,
            self_: test(&counts.self_, &variations.self_, setting),
            attributed: test(&counts.attributed, &variations.self_, setting),
            total: test(&counts.total, &variations.total, setting),
        };
        adjust(&mut tests.self_, &mut tests.total, setting.options.alpha);
        adjust(
            &mut tests.attributed,
            &mut tests.total,
            setting.options.alpha,
        );
        tests
    }

    /// Returns the direction in which the count that a finding with this basis rests on changed.
    pub(super) fn changed(&self, basis: Basis, function: FunctionIx) -> Option<Direction> {
        let tests = match basis {
            Basis::AttributedSelf => &self.attributed,
            Basis::Total | Basis::Calls => &self.total,
        };
        tests[function.get()].changed
    }

    /// Whether a change that was found under another assumption is also one here. The callers that
    /// blame moved to only need to have shifted.
    pub(super) fn agree(&self, basis: Basis, function: FunctionIx, direction: Direction) -> bool {
        let changed = match basis {
            Basis::Calls => self.total[function.get()].shifted,
            Basis::AttributedSelf | Basis::Total => self.changed(basis, function),
        };
        changed == Some(direction)
    }

    /// Returns the changes of a function's self, attributed self and total counts.
    pub(super) fn changes(&self, function: usize) -> [Change; 3] {
        let (counts, variations) = (self.counts, &self.setting.variations);
        [
            (&self.self_, &counts.self_, &variations.self_),
            (&self.attributed, &counts.attributed, &variations.self_),
            (&self.total, &counts.total, &variations.total),
        ]
        .map(|(evidence, counts, variation)| {
            self.change(
                &evidence[function],
                &counts.samples_by_run(function),
                variation,
            )
        })
    }

    /// Returns the count that a finding rests on for each run.
    pub(super) fn run_costs(&self, basis: Basis, function: usize) -> RunCosts {
        let counts = match basis {
            Basis::AttributedSelf => &self.counts.attributed,
            Basis::Total | Basis::Calls => &self.counts.total,
        };
        let TestParameters { sizes, samples, .. } = self.setting;
        let whole = sizes.means(*samples).baseline;
        let cost = |(samples, size): (u64, &f64)| RunCost {
            samples,
            cost: round_for_output(samples as f64 / size / whole),
        };
        let (runs, sizes) = (counts.samples_by_side(function), sizes.sides());
        RunCosts {
            baseline: runs.baseline.zip(sizes.baseline).map(cost).collect(),
            candidate: runs.candidate.zip(sizes.candidate).map(cost).collect(),
        }
    }

    fn change(&self, evidence: &Evidence, row: &[f64], variation: &Variation) -> Change {
        let Evidence {
            samples,
            means,
            share,
            tested,
            q,
            ..
        } = *evidence;
        let TestParameters {
            options,
            design,
            sizes,
            ..
        } = self.setting;
        let interval =
            tested.map(|tested| variation.interval(&tested.fit, row, design, options.alpha));
        Change {
            baseline_share: round_for_output(share.baseline),
            candidate_share: round_for_output(share.candidate),
            baseline_samples: samples.baseline,
            candidate_samples: samples.candidate,
            baseline_cost: sizes.cost(means.baseline),
            candidate_cost: sizes.cost(means.candidate),
            change: (samples.baseline > 0)
                .then(|| round_for_output(means.candidate / means.baseline)),
            change_low: interval.map(|interval| round_for_output(interval.low)),
            change_high: interval
                .map(|interval| round_for_output(interval.high))
                .filter(|high| high.is_finite()),
            p: tested.map(|tested| round_for_output(tested.p)),
            q: q.map(round_for_output),
        }
    }
}

/// Tests every function that could pass `min_share`.
///
/// A function with `min_share` on one side has at least half of it on average. Unlike the larger
/// share, this average is independent of the test if nothing changed, so selecting by it keeps the
/// adjustment for many tests valid (R. Bourgon et al., PNAS 107:9546, 2010).
pub(super) fn test(
    counts: &Counts,
    variation: &Variation,
    setting: &TestParameters,
) -> Vec<Evidence> {
    let test = |function: usize| {
        let mut evidence = untested(counts.sums(function), setting);
        let Evidence { samples, share, .. } = evidence;
        let is_seen = samples.baseline > 0 || samples.candidate > 0;
        if is_seen && share.baseline + share.candidate >= setting.options.min_share {
            let (row, design) = (counts.samples_by_run(function), &setting.design);
            let fit = variation.fit(&row, design);
            evidence.tested = Some(TestResult {
                p: variation.p_value(&fit, &row, design),
                fit,
            });
        }
        evidence
    };
    (0..counts.functions()).into_par_iter().map(test).collect()
}

/// Adjusts both kinds of tests together, and decides which changes are significant.
pub(super) fn adjust(own: &mut [Evidence], total: &mut [Evidence], alpha: f64) {
    let p = |evidence: &Evidence| evidence.tested.map(|tested| tested.p);
    let p_values: Vec<Option<f64>> = own.iter().chain(&*total).map(p).collect();
    for (e, q) in own
        .iter_mut()
        .chain(total)
        .zip(benjamini_hochberg(&p_values))
    {
        e.q = q;
        e.changed = e.shifted.filter(|_| q.is_some_and(|q| q <= alpha));
    }
}

fn untested(samples: Pair<u64>, setting: &TestParameters) -> Evidence {
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    let share = Pair::new(
        share(samples.baseline, setting.samples.baseline),
        share(samples.candidate, setting.samples.candidate),
    );
    let means = setting.sizes.means(samples);
    let options = setting.options;
    let is_large = share.baseline.max(share.candidate) >= options.min_share;
    Evidence {
        samples,
        means,
        share,
        tested: None,
        q: None,
        shifted: direction(means, options.min_effect).filter(|_| is_large),
        changed: None,
    }
}

/// Returns the direction of a change of the mean by more than `min_effect` of the smaller side.
pub(super) fn direction(means: Pair<f64>, min_effect: f64) -> Option<Direction> {
    if means.candidate > means.baseline * (1.0 + min_effect) {
        Some(Direction::Up)
    } else if means.baseline > means.candidate * (1.0 + min_effect) {
        Some(Direction::Down)
    } else {
        None
    }
}
