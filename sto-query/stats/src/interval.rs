//! Confidence interval of the change of a function.

/// Interval of the ratios candidate / baseline that the test does not reject.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// Lower bound; 0 if the candidate may not contain the function at all.
    pub low: f64,
    /// Upper bound; infinite if the baseline may not contain the function at all.
    pub high: f64,
}

/// Largest ratio, in either direction, that is searched for a bound.
const FARTHEST: f64 = 1e12;

impl Interval {
    /// Finds the ratios whose p-value exceeds `alpha`, around an `estimate` whose p-value does.
    ///
    /// `p` must decrease on both sides of the estimate.
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

/// Returns the point at which `excess` falls below zero, searching from `inside` in growing steps; `None` if there is
/// no such point within `reach`.
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
