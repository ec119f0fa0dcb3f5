//! The test of every function, for one kind of count.

use super::counts::Counts;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Which way it changed: significantly, and by more than the thresholds.
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

/// Tests every function that could pass `min_share`.
///
/// A function with `min_share` on one side has half of it on average; that average, unlike the
/// larger side, is independent of the test if nothing changed, so choosing by it keeps the
/// adjustment for many tests right (R. Bourgon et al., PNAS 107:9546, 2010).
pub(super) fn test(counts: &Counts, dispersions: &Dispersions, setting: &Setting) -> Vec<Evidence> {
    let functions = counts.runs.first().map_or(0, Vec::len);
    let mut evidence: Vec<Evidence> = (0..functions)
        .map(|function| untested(counts.sums(function), setting))
        .collect();
    let mut p_values = vec![None; functions];
    for (function, (e, p)) in evidence.iter().zip(&mut p_values).enumerate() {
        let is_seen = e.samples.baseline > 0 || e.samples.candidate > 0;
        if is_seen && e.share.baseline + e.share.candidate >= setting.options.min_share {
            *p = Some(setting.design.p_value(e.samples, dispersions.get(function)));
        }
    }
    let q_values = benjamini_hochberg(&p_values);
    for (e, (p, q)) in evidence.iter_mut().zip(p_values.into_iter().zip(q_values)) {
        (e.p, e.q) = (p, q);
        e.changed = changed(e, setting.options);
    }
    evidence
}

fn untested(samples: Pair<u64>, setting: &Setting) -> Evidence {
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    Evidence {
        samples,
        means: setting.sizes.means(samples),
        share: Pair::new(
            share(samples.baseline, setting.samples.baseline),
            share(samples.candidate, setting.samples.candidate),
        ),
        p: None,
        q: None,
        changed: None,
    }
}

fn changed(evidence: &Evidence, options: &CompareOptions) -> Option<Direction> {
    let is_significant = evidence.q.is_some_and(|q| q <= options.alpha);
    let is_large = evidence.share.baseline.max(evidence.share.candidate) >= options.min_share;
    (is_significant && is_large)
        .then(|| direction(evidence.means, options.min_effect))
        .flatten()
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
