//! How much a function may have changed, by what its counts can show.

/// The changes that a test would not refuse: candidate divided by baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// 0 where the candidate may have none of it.
    pub low: f64,
    /// Infinite where the baseline may have none of it.
    pub high: f64,
}

/// No change is looked for beyond this factor.
const FARTHEST: f64 = 1e12;

impl Interval {
    /// All ratios whose p-value exceeds `alpha`, around an `estimate` whose p-value does.
    ///
    /// `p` must fall on both sides of the estimate.
    pub(super) fn around(estimate: f64, alpha: f64, p: impl Fn(f64) -> f64) -> Interval {
        let excess = |log: f64| p(log.exp()).max(f64::MIN_POSITIVE).ln() - alpha.ln();
        let farthest = FARTHEST.ln();
        let centre = estimate.ln().clamp(-farthest, farthest);
        let low = edge(centre, -0.1, farthest, excess);
        let high = edge(centre, 0.1, farthest, excess);
        Interval {
            low: low.map_or(0.0, f64::exp),
            high: high.map_or(f64::INFINITY, f64::exp),
        }
    }
}

/// Where `excess` falls below zero, going from `inside` by steps that grow; `None` where it does
/// not within reach.
fn edge(inside: f64, step: f64, reach: f64, excess: impl Fn(f64) -> f64) -> Option<f64> {
    let mut a = (inside, excess(inside));
    let mut step = step;
    let mut b = loop {
        let at = a.0 + step;
        if at.abs() > 2.0 * reach {
            return None;
        }
        let end = (at, excess(at));
        if end.1 < 0.0 {
            break end;
        }
        a = end;
        step *= 2.0;
    };
    // Regula falsi with the Illinois rule (M. Dowell and P. Jarratt, BIT 11:168, 1971).
    for _ in 0..60 {
        if (b.0 - a.0).abs() < 1e-9 {
            break;
        }
        let at = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
        let next = (at, excess(at));
        if next.1 == 0.0 {
            return Some(at);
        }
        if next.1.signum() == b.1.signum() {
            a.1 /= 2.0;
        } else {
            a = b;
        }
        b = next;
    }
    Some(b.0)
}
