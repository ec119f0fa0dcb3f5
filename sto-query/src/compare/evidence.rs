//! The test of every function, for one kind of count.

use super::counts::{Counts, FunctionCounts};
use super::dispersion::Dispersions;
use super::normalise::Sizes;
use super::options::CompareOptions;
use super::pair::Pair;
use super::report::Change;
use super::significance::{Design, benjamini_hochberg};

/// Everything a test needs but the counts.
pub(super) struct Setting<'a> {
    pub(super) options: &'a CompareOptions,
    pub(super) sizes: &'a Sizes,
    pub(super) design: Design,
    /// Samples of each side.
    pub(super) samples: Pair<u64>,
}

/// Which way a count changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Up,
    Down,
}

/// What is known of one function's count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) samples: Pair<u64>,
    /// Samples in a run of size 1.
    pub(super) means: Pair<f64>,
    pub(super) share: Pair<f64>,
    pub(super) p: Option<f64>,
    pub(super) q: Option<f64>,
    /// Which way it differs by more than `min_effect` and `min_share`.
    pub(super) shifted: Option<Direction>,
    /// Which way it changed: shifted, and significantly so.
    pub(super) changed: Option<Direction>,
}

impl Evidence {
    /// What the candidate has more in a run of size 1.
    pub(super) fn difference(&self) -> f64 {
        self.means.candidate - self.means.baseline
    }
}

/// What is known of every function's counts, by function.
pub(super) struct Tests {
    pub(super) self_: Vec<Evidence>,
    pub(super) attributed: Vec<Evidence>,
    pub(super) total: Vec<Evidence>,
}

impl Tests {
    /// Tests every function, and adjusts for the number of tests.
    ///
    /// Findings rest on attributed self and on total counts, so these are adjusted for together: of
    /// equal builds, a share of at most `alpha` shows any finding. Self counts are only shown; they
    /// are adjusted as if they stood for attributed ones.
    pub(super) fn of(
        counts: &FunctionCounts,
        self_dispersions: &Dispersions,
        total_dispersions: &Dispersions,
        setting: &Setting,
    ) -> Tests {
        let mut tests = Tests {
            self_: test(&counts.self_, self_dispersions, setting),
            attributed: test(&counts.attributed, self_dispersions, setting),
            total: test(&counts.total, total_dispersions, setting),
        };
        adjust(&mut tests.self_, &mut tests.total, setting.options.alpha);
        adjust(
            &mut tests.attributed,
            &mut tests.total,
            setting.options.alpha,
        );
        tests
    }
}

/// Tests every function that could pass `min_share`.
///
/// A function with `min_share` on one side has half of it on average; that average, unlike the
/// larger side, is independent of the test if nothing changed, so choosing by it keeps the
/// adjustment for many tests right (R. Bourgon et al., PNAS 107:9546, 2010).
fn test(counts: &Counts, dispersions: &Dispersions, setting: &Setting) -> Vec<Evidence> {
    let functions = counts.runs.first().map_or(0, Vec::len);
    let test = |function: usize| {
        let mut evidence = untested(counts.sums(function), setting);
        let Evidence { samples, share, .. } = evidence;
        let is_seen = samples.baseline > 0 || samples.candidate > 0;
        if is_seen && share.baseline + share.candidate >= setting.options.min_share {
            evidence.p = Some(setting.design.p_value(samples, dispersions.get(function)));
        }
        evidence
    };
    (0..functions).map(test).collect()
}

fn adjust(own: &mut [Evidence], total: &mut [Evidence], alpha: f64) {
    let p_values: Vec<Option<f64>> = own.iter().chain(&*total).map(|e| e.p).collect();
    for (e, q) in own
        .iter_mut()
        .chain(total)
        .zip(benjamini_hochberg(&p_values))
    {
        e.q = q;
        e.changed = e.shifted.filter(|_| q.is_some_and(|q| q <= alpha));
    }
}

fn untested(samples: Pair<u64>, setting: &Setting) -> Evidence {
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
        p: None,
        q: None,
        shifted: direction(means, options.min_effect).filter(|_| is_large),
        changed: None,
    }
}

/// Which way a mean changed by at least `min_effect` of the smaller side.
pub(super) fn direction(means: Pair<f64>, min_effect: f64) -> Option<Direction> {
    if means.candidate > means.baseline * (1.0 + min_effect) {
        Some(Direction::Up)
    } else if means.baseline > means.candidate * (1.0 + min_effect) {
        Some(Direction::Down)
    } else {
        None
    }
}

impl From<&Evidence> for Change {
    fn from(evidence: &Evidence) -> Change {
        let Evidence {
            samples,
            means,
            share,
            p,
            q,
            ..
        } = *evidence;
        Change {
            baseline_share: rounded(share.baseline),
            candidate_share: rounded(share.candidate),
            baseline_samples: samples.baseline,
            candidate_samples: samples.candidate,
            change: (samples.baseline > 0).then(|| rounded(means.candidate / means.baseline)),
            p: p.map(rounded),
            q: q.map(rounded),
        }
    }
}

/// Six significant digits: more would only show how this machine's logarithm rounds.
pub(super) fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
