//! Piecewise linear segmentation by greedy top-down splitting (section 5.3 of the paper).

use std::cmp::Reverse;
use std::ops::Range;

/// Minimum number of points in a segment, because a line fits any two points.
const LEAST: usize = 2;
/// Share of a series' variance below which an error is a rounding error.
const ROUNDING: f64 = 1e-9;

/// The times of a series, and their cumulative sums.
pub(super) struct Times {
    /// The original times.
    pub(super) all: Vec<f64>,
    /// Cumulative sums of the time, centred and relative to the whole, and of its square.
    sums: Vec<[f64; 2]>,
    scale: [f64; 2],
}

impl Times {
    /// Creates the sums of ascending times.
    pub(super) fn new(all: Vec<f64>) -> Times {
        let first = all.first().copied().unwrap_or(0.0);
        let span = all.last().map_or(1.0, |last| last - first);
        let mut times = Times {
            sums: Vec::with_capacity(all.len() + 1),
            scale: [first + span / 2.0, span],
            all,
        };
        let mut sum = [0.0; 2];
        times.sums.push(sum);
        for ix in 0..times.all.len() {
            let t = times.scaled(ix);
            sum = [sum[0] + t, sum[1] + t * t];
            times.sums.push(sum);
        }
        times
    }

    fn scaled(&self, ix: usize) -> f64 {
        (self.all[ix] - self.scale[0]) / self.scale[1]
    }

    /// Time from the first point to the last.
    pub(super) fn span(&self) -> f64 {
        self.scale[1]
    }
}

/// Cumulative sums of a normalised series, from which the regression error of any stretch follows directly.
pub(super) struct Sums<'t> {
    times: &'t Times,
    /// Cumulative sums of the value, of its square, and of its product with the time.
    sums: Vec<[f64; 3]>,
}

/// First points of all segments except the first, in order.
pub(super) type Boundaries = Vec<usize>;

impl Sums<'_> {
    /// Creates the sums of one value for each time.
    pub(super) fn new(times: &Times, values: impl Iterator<Item = f64>) -> Sums<'_> {
        let mut sums = Vec::with_capacity(times.sums.len());
        let mut sum = [0.0; 3];
        sums.push(sum);
        for (ix, y) in values.enumerate() {
            sum = [sum[0] + y, sum[1] + y * y, sum[2] + y * times.scaled(ix)];
            sums.push(sum);
        }
        Sums { times, sums }
    }

    /// Returns the sum of squared residuals of the linear regression on a stretch.
    fn error(&self, stretch: Range<usize>) -> f64 {
        let count = stretch.len() as f64;
        let [t, tt] = difference(&self.times.sums, &stretch);
        let [y, yy, ty] = difference(&self.sums, &stretch);
        let (tt, yy, ty) = (tt - t * t / count, yy - y * y / count, ty - t * y / count);
        let explained = if tt > 0.0 { ty * ty / tt } else { 0.0 };
        (yy - explained).max(0.0)
    }

    /// Returns the total error of the segments with these boundaries; 0 if it is a rounding error.
    pub(super) fn error_of(&self, boundaries: &[usize]) -> f64 {
        let points = self.sums.len() - 1;
        let error: f64 = self.segments(boundaries).map(|of| self.error(of)).sum();
        if error > ROUNDING * points as f64 {
            error
        } else {
            0.0
        }
    }

    /// Returns the regression line of each segment, as its ends: time and value.
    pub(super) fn lines(&self, boundaries: &[usize]) -> Vec<[(f64, f64); 2]> {
        let segments = self.segments(boundaries);
        segments.map(|segment| self.line(&segment)).collect()
    }

    fn line(&self, stretch: &Range<usize>) -> [(f64, f64); 2] {
        let count = stretch.len() as f64;
        let [t, tt] = difference(&self.times.sums, stretch);
        let [y, _, ty] = difference(&self.sums, stretch);
        let (tt, ty) = (tt - t * t / count, ty - t * y / count);
        let slope = if tt > 0.0 { ty / tt } else { 0.0 };
        [stretch.start, stretch.end - 1].map(|ix| {
            let value = y / count + slope * (self.times.scaled(ix) - t / count);
            (self.times.all[ix], value)
        })
    }

    fn segments(&self, boundaries: &[usize]) -> impl Iterator<Item = Range<usize>> {
        let firsts = std::iter::once(&0).chain(boundaries);
        let ends = boundaries.iter().copied().chain([self.sums.len() - 1]);
        firsts.zip(ends).map(|(&first, end)| first..end)
    }

    /// Splits the series greedily into at most `most` segments, and stops early if nothing is gained. Returns the
    /// position of each split and the error after it.
    fn splits(&self, most: usize) -> Vec<(usize, f64)> {
        let points = self.sums.len() - 1;
        let mut error = self.error(0..points);
        let mut open: Vec<Split> = self.best(0..points).into_iter().collect();
        let mut made = Vec::new();
        while made.len() + 1 < most {
            let gains = open.iter().enumerate();
            let best = gains.max_by(|(_, a), (_, b)| {
                let first = |split: &Split| Reverse(split.at);
                a.gain.total_cmp(&b.gain).then(first(a).cmp(&first(b)))
            });
            let Some((ix, _)) = best.filter(|(_, best)| best.gain > ROUNDING * points as f64)
            else {
                break;
            };
            let Split { stretch, at, gain } = open.swap_remove(ix);
            error -= gain;
            made.push((at, error.max(0.0)));
            open.extend(self.best(stretch.start..at));
            open.extend(self.best(at..stretch.end));
        }
        made
    }

    /// Returns the best split of a stretch, if it has enough points for two segments.
    fn best(&self, stretch: Range<usize>) -> Option<Split> {
        let places = stretch.start + LEAST..(stretch.end + 1).saturating_sub(LEAST);
        let error = |at| self.error(stretch.start..at) + self.error(at..stretch.end);
        let mut best: Option<(f64, usize)> = None;
        for at in places {
            let error = error(at);
            if best.is_none_or(|(least, _)| error < least) {
                best = Some((error, at));
            }
        }
        let (error, at) = best?;
        let gain = self.error(stretch.clone()) - error;
        Some(Split { stretch, at, gain })
    }

    /// Returns the boundaries of at most `segments` segments.
    pub(super) fn boundaries(&self, segments: usize) -> Boundaries {
        let splits = self.splits(segments);
        let mut boundaries: Boundaries = splits.into_iter().map(|(at, _)| at).collect();
        boundaries.sort_unstable();
        boundaries
    }

    /// Returns the number of segments from 2 to `most` with the least Schwarz criterion (Annals of Statistics 6:461,
    /// 1978); each segment has a slope, an intercept and a boundary.
    pub(super) fn best_number(&self, most: usize) -> usize {
        let points = (self.sums.len() - 1) as f64;
        let criterion = |(segments, error): (usize, f64)| {
            let error = error.max(ROUNDING * points);
            points * (error / points).ln() + 3.0 * segments as f64 * points.ln()
        };
        let errors = self.splits(most).into_iter().map(|(_, error)| error);
        let best = (2..)
            .zip(errors)
            .min_by(|&a, &b| criterion(a).total_cmp(&criterion(b)));
        best.map_or(2, |(segments, _)| segments)
    }
}

struct Split {
    stretch: Range<usize>,
    at: usize,
    gain: f64,
}

fn difference<const N: usize>(sums: &[[f64; N]], stretch: &Range<usize>) -> [f64; N] {
    let (from, to) = (&sums[stretch.start], &sums[stretch.end]);
    std::array::from_fn(|ix| to[ix] - from[ix])
}

/// Returns the summed distance of corresponding boundaries in time; a boundary without a counterpart counts as the
/// whole time.
pub(super) fn distance(times: &Times, a: &[usize], b: &[usize]) -> f64 {
    let pairs = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| (times.all[a] - times.all[b]).abs());
    pairs.sum::<f64>() + a.len().abs_diff(b.len()) as f64 * times.span()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For 0 0 9 9, the line has slope 3.6 and leaves 16.2. For 0 0 0 9 9 9 4 4 4, the split at 3 leaves 8.57 (all of
    /// it on its right side), and the split at 6 leaves 27.8.
    #[test]
    fn finds_segments_calculated_by_hand() {
        let times = Times::new((0..9).map(f64::from).collect());
        let steps = [0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 4.0, 4.0, 4.0];
        let sums = Sums::new(&times, steps.into_iter());
        assert!((sums.error(1..5) - 16.2).abs() < 1e-12);
        assert!((sums.error_of(&[3]) - (37.5 - 22.5 * 22.5 / 17.5)).abs() < 1e-12);
        assert!(sums.boundaries(1).is_empty());
        assert_eq!(sums.boundaries(2), [3]);
        // The line of 9 9 9 4 4 4 falls by 22.5 / 17.5 for each step.
        let [flat, [(3.0, first), (8.0, last)]] = sums.lines(&[3])[..] else {
            panic!("{:?}", sums.lines(&[3]));
        };
        assert_eq!(flat, [(0.0, 0.0), (2.0, 0.0)]);
        let half = 2.5 * 22.5 / 17.5;
        assert!((first - 6.5 - half).abs() < 1e-12 && (last - 6.5 + half).abs() < 1e-12);
        assert_eq!(sums.boundaries(9), [3, 6], "nothing is left to gain");
        assert_eq!(distance(&times, &[3, 6], &[4, 4]), 3.0);
        assert_eq!(distance(&times, &[4], &[]), 8.0);
    }
}
