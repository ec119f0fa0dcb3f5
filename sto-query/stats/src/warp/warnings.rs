//! Reasons why the best warp path may not align the points that belong together.

use super::{Path, Side};
use std::ops::Range;

/// Minimum number of points matched to a single point of the other series for a warning, in units of the ratio of
/// lengths.
const MANY: f64 = 4.0;
/// Share of a series' range within which a stretch is nearly constant.
const FLAT: f64 = 0.25;
/// Minimum length of a nearly constant stretch, in the same units. Shorter ones occur in noise.
const LONG: f64 = 8.0;
/// Share of a nearly constant stretch that is matched to a single point.
const STUCK: f64 = 0.25;
/// Minimum autocorrelation of a repetitive series one period later; higher if few points overlap.
const REPETITIVE: f64 = 0.5;

/// A reason not to trust an alignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A large part of a nearly constant stretch is matched to one point. Noise decides which, so the alignment
    /// within the stretch and at its ends is arbitrary (section 4.2.1, figure 4).
    NearlyConstant {
        /// The indices in a of the stretch.
        a: Range<usize>,
        /// The indices in b of the stretch.
        b: Range<usize>,
        /// The series with several points matched to one point of the other.
        many: Side,
        /// Maximum number of such points.
        points: usize,
    },
    /// A series repeats itself, and the path is farther than half a period from the line between the ends, so it may
    /// match different repetitions (section 4.2.2, figure 5).
    Repetitive {
        /// The repetitive series; `A` if both are.
        series: Side,
        /// Its period in points.
        period: usize,
        /// Maximum distance of the path from the line, in points of the series, up or down.
        shift: usize,
        /// Range of indices in a in which the path is farther than half a period from the line.
        a: Range<usize>,
        /// Range of indices in b in which the path is farther than half a period from the line.
        b: Range<usize>,
    },
}

/// Returns the reasons not to trust a path: nearly constant stretches in order, then repetitions where the path is
/// farthest from the line.
///
/// The time is proportional to the number of points of both series times the path's distance from the line.
pub fn warnings(a: &[f64], b: &[f64], path: &Path) -> Vec<Warning> {
    let mut warnings = nearly_constant(a, b, path);
    warnings.extend(repetitive(a, b, path));
    warnings
}

fn nearly_constant(a: &[f64], b: &[f64], path: &Path) -> Vec<Warning> {
    let mut stretches = [Stretches::new(a), Stretches::new(b)];
    // Runs of points of a, and of b, matched to one point of the other series.
    let on_b = path.pairs.chunk_by(|x, y| x.1 == y.1);
    let on_a = path.pairs.chunk_by(|x, y| x.0 == y.0);
    let mut runs: Vec<(&[(usize, usize)], Side)> = on_b
        .map(|run| (run, Side::A))
        .chain(on_a.map(|run| (run, Side::B)))
        .collect();
    let asked = |many: Side| match many {
        Side::A => (a.len() as f64 / b.len() as f64).max(1.0),
        Side::B => (b.len() as f64 / a.len() as f64).max(1.0),
    };
    runs.retain(|&(run, many)| run.len() as f64 >= MANY * asked(many));
    runs.sort_by_key(|(run, _)| run[0]);

    let mut warnings: Vec<Warning> = Vec::new();
    for (run, side) in runs {
        let (first, last) = (run[0], run[run.len() - 1]);
        let [of_a, of_b] = &mut stretches;
        let (Some(of_a), Some(of_b)) = (
            of_a.around(first.0..last.0 + 1),
            of_b.around(first.1..last.1 + 1),
        ) else {
            continue;
        };
        let length = if side == Side::A {
            of_a.len()
        } else {
            of_b.len()
        } as f64;
        if length < LONG * asked(side) || (run.len() as f64) < STUCK * length {
            continue;
        }
        if let Some(Warning::NearlyConstant { a, b, many, points }) = warnings.last_mut()
            && a.contains(&first.0)
            && b.contains(&first.1)
        {
            if run.len() > *points {
                (*many, *points) = (side, run.len());
            }
            continue;
        }
        let is_noisy = |values: &[f64]| values.iter().any(|value| *value != values[0]);
        if is_noisy(&a[of_a.clone()]) || is_noisy(&b[of_b.clone()]) {
            warnings.push(Warning::NearlyConstant {
                a: of_a,
                b: of_b,
                many: side,
                points: run.len(),
            });
        }
    }
    warnings
}

/// Nearly constant stretches of a series.
struct Stretches<'a> {
    values: &'a [f64],
    /// Maximum range of the values.
    height: f64,
    /// The stretch found last.
    last: Range<usize>,
}

impl<'a> Stretches<'a> {
    fn new(values: &'a [f64]) -> Self {
        let (low, high) = span(values);
        // Halves, because the difference of two numbers may overflow.
        let height = FLAT * (high / 2.0 - low / 2.0) * 2.0;
        Stretches {
            values,
            height,
            last: 0..0,
        }
    }

    /// Returns the longest stretch that contains these points, extended first backwards and then forwards; `None` if
    /// they vary.
    fn around(&mut self, points: Range<usize>) -> Option<Range<usize>> {
        if self.last.start <= points.start && points.end <= self.last.end {
            return Some(self.last.clone());
        }
        let (mut low, mut high) = span(&self.values[points.clone()]);
        let mut fits = |value: f64| {
            let wider = (low.min(value), high.max(value));
            let fits = wider.1 - wider.0 <= self.height;
            if fits {
                (low, high) = wider;
            }
            fits
        };
        if !fits(self.values[points.start]) {
            return None;
        }
        let back = self.values[..points.start]
            .iter()
            .rev()
            .take_while(|value| fits(**value))
            .count();
        let on = self.values[points.end..]
            .iter()
            .take_while(|value| fits(**value))
            .count();
        self.last = points.start - back..points.end + on;
        Some(self.last.clone())
    }
}

fn span(values: &[f64]) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(ends, |(low, high), &value| {
        (low.min(value), high.max(value))
    })
}

fn repetitive(a: &[f64], b: &[f64], path: &Path) -> Option<Warning> {
    let (last_a, last_b) = (a.len() as f64 - 1.0, b.len() as f64 - 1.0);
    [Side::A, Side::B].into_iter().find_map(|series| {
        let shift = |&(i, j): &(usize, usize)| match series {
            Side::A => (i as f64 - j as f64 * last_a / last_b.max(1.0)).abs(),
            Side::B => (j as f64 - i as f64 * last_b / last_a.max(1.0)).abs(),
        };
        let (farthest, most) = path
            .pairs
            .iter()
            .map(shift)
            .enumerate()
            .max_by(|x, y| x.1.total_cmp(&y.1))?;
        let values = if series == Side::A { a } else { b };
        let period = period(values, (2.0 * most) as usize)?;
        let is_far = |pair: &&(usize, usize)| shift(pair) > period as f64 / 2.0;
        let (before, after) = path.pairs.split_at(farthest);
        let back = before.iter().rev().take_while(is_far).count();
        let on = after.iter().take_while(is_far).count();
        let far = &path.pairs[farthest - back..farthest + on];
        let (first, last) = (far.first()?, far.last()?);
        let shift = most.round() as usize;
        let (a, b) = (first.0..last.0 + 1, first.1..last.1 + 1);
        Some(Warning::Repetitive {
            series,
            period,
            shift,
            a,
            b,
        })
    })
}

/// Returns the lag up to `longest` at which a series is most similar to itself, if it is similar enough.
///
/// Similarity is Pearson's correlation of the overlapping values without their linear trend. Lags before the first
/// negative coefficient are not periods; of the lags within a tenth of the highest coefficient, the first wins.
fn period(values: &[f64], longest: usize) -> Option<usize> {
    let values = without_trend(values)?;
    let sums = |of: fn(f64) -> f64| {
        let mut sum = 0.0;
        let sums = values.iter().map(|&value| {
            sum += of(value);
            sum
        });
        [0.0].into_iter().chain(sums).collect::<Vec<f64>>()
    };
    let (sums, squares) = (sums(|x| x), sums(|x| x * x));
    let count = values.len();
    let coefficient = |lag: usize| {
        let overlap = (count - lag) as f64;
        let (sum_x, sum_y) = (sums[count - lag], sums[count] - sums[lag]);
        let (xx, yy) = (squares[count - lag], squares[count] - squares[lag]);
        let variances = (xx - sum_x * sum_x / overlap) * (yy - sum_y * sum_y / overlap);
        let both = product(&values[..count - lag], &values[lag..]) - sum_x * sum_y / overlap;
        if variances > 0.0 {
            both / variances.sqrt()
        } else {
            0.0
        }
    };
    let coefficients: Vec<f64> = (0..=longest.min(count / 2)).map(coefficient).collect();
    let falls = coefficients.iter().position(|&r| r < 0.0)?;
    let highest = coefficients[falls..].iter().copied().fold(0.0, f64::max);
    let near = falls
        + coefficients[falls..]
            .iter()
            .position(|&r| r >= 0.9 * highest)?;
    let rise = coefficients[near..]
        .windows(2)
        .take_while(|pair| pair[0] < pair[1])
        .count();
    let period = near + rise;
    // Three standard errors of a coefficient of zero.
    let by_chance = 3.0 / ((count - period) as f64).sqrt();
    (coefficients[period] >= REPETITIVE.max(by_chance)).then_some(period)
}

/// Returns the residuals of the linear trend, scaled to at most 1; `None` if they are all zero.
fn without_trend(values: &[f64]) -> Option<Vec<f64>> {
    let largest = values
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let values: Vec<f64> = values.iter().map(|value| value / largest).collect();
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let times = || (0..values.len()).map(|ix| ix as f64 - middle);
    let slope = times()
        .zip(&values)
        .map(|(time, value)| time * value)
        .sum::<f64>()
        / times().map(|time| time * time).sum::<f64>();
    let left: Vec<f64> = times()
        .zip(&values)
        .map(|(time, value)| value - mean - slope * time)
        .collect();
    let (low, high) = span(&left);
    // Smaller differences are rounding errors.
    let varies = high - low > 1e-12;
    varies.then_some(left)
}

/// Returns the sum of products, with eight independent partial sums.
fn product(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, y) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = x
        .remainder()
        .iter()
        .zip(y.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in x.zip(y) {
        for ix in 0..8 {
            sums[ix] += x[ix] * y[ix];
        }
    }
    sums.iter().sum::<f64>() + rest
}
