//! Uniform grids of time slices, and resampling of series to them.

use std::ops::Range;
use sto_core::model::{MetricKind, MetricSeries};
use sto_core::tree::SliceGrid;
use sto_core::units::Nanoseconds;

/// Nanoseconds per second.
const SECOND: f64 = 1e9;

/// A range of time divided into equal slices, in nanoseconds since the run's first sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    from: f64,
    to: f64,
    count: usize,
}

impl Grid {
    /// Creates a grid of `count` slices. Returns `None` if the range is empty or not finite, or if `count` is 0.
    pub fn new(from: f64, to: f64, count: usize) -> Option<Grid> {
        let is_some = from < to && from.is_finite() && to.is_finite() && count > 0;
        is_some.then_some(Grid { from, to, count })
    }

    /// Creates the grid of a range of a run's slices. The run ends a nanosecond after its last sample.
    pub(super) fn from_slices(slices: SliceGrid, taken: &Range<u32>) -> Grid {
        let slice = slices.duration().0 as f64 / f64::from(slices.count().get());
        Grid {
            from: f64::from(taken.start) * slice,
            to: f64::from(taken.end) * slice,
            count: taken.len(),
        }
    }

    /// Returns a grid of the same time with at most `count` slices, and at least one.
    #[must_use]
    pub fn with_max_slices(self, count: usize) -> Grid {
        Grid {
            count: self.count.min(count.max(1)),
            ..self
        }
    }

    /// Start of the first slice, in nanoseconds since the run's first sample.
    pub fn from(self) -> f64 {
        self.from
    }

    /// End of the last slice, in nanoseconds since the run's first sample.
    pub fn to(self) -> f64 {
        self.to
    }

    /// Number of slices.
    pub fn count(self) -> usize {
        self.count
    }

    /// Length of a slice in seconds.
    pub fn step(self) -> f64 {
        (self.to - self.from) / self.count as f64 / SECOND
    }

    /// Middle of each slice, in seconds since the run's first sample.
    pub fn times(self) -> Vec<f64> {
        let half = self.step() / 2.0;
        let begins = (0..self.count).map(|slice| self.border(slice) / SECOND);
        begins.map(|begin| begin + half).collect()
    }

    /// Returns the start of a slice; for the number of slices, the end of the last one.
    fn border(self, slice: usize) -> f64 {
        let part = slice as f64 / self.count as f64;
        self.from * (1.0 - part) + self.to * part
    }

    /// Returns the start and end of each slice.
    fn slices(self) -> impl Iterator<Item = (f64, f64)> {
        (0..self.count).map(move |slice| (self.border(slice), self.border(slice + 1)))
    }
}

/// Resamples costs by slice to another grid. Each cost is spread evenly over its slice, so the sum over all of the
/// time is preserved.
///
/// # Panics
///
/// Panics if the number of costs differs from the number of slices.
pub(crate) fn resample(costs: &[f64], own: Grid, grid: Grid) -> Vec<f64> {
    assert_eq!(costs.len(), own.count, "one cost a slice");
    if own == grid {
        return costs.to_vec();
    }
    let count = own.count as f64;
    // Position of a time, in slices.
    let place = |time: f64| ((time - own.from) / (own.to - own.from) * count).clamp(0.0, count);
    let sum = |(begin, end): (f64, f64)| {
        let (begin, end) = (place(begin), place(end));
        let overlapped = begin as usize..(end.ceil() as usize).min(own.count);
        let parts = overlapped.map(|slice| {
            let length = end.min((slice + 1) as f64) - begin.max(slice as f64);
            costs[slice] * length.max(0.0)
        });
        parts.sum()
    };
    grid.slices().map(sum).collect()
}

/// Like [`resample`], per second of the overlap with the own grid; NaN without overlap.
pub(super) fn rates(costs: &[f64], own: Grid, grid: Grid) -> Vec<f64> {
    let seconds = grid.slices().map(|(begin, end)| {
        match begin >= own.from && end <= own.to {
            // The same divisor for all of them, so that equal costs stay equal.
            true => grid.step(),
            false => (end.min(own.to) - begin.max(own.from)) / SECOND,
        }
    });
    let costs = resample(costs, own, grid).into_iter();
    let rate = |(cost, seconds): (f64, f64)| {
        if seconds > 0.0 {
            cost / seconds
        } else {
            f64::NAN
        }
    };
    costs.zip(seconds).map(rate).collect()
}

/// Resamples a metric to slices, where the run begins at time `first`; NaN before its first point and after its last.
///
/// For a count, the value is the rise of the cumulative count, interpolated linearly, per second of overlap. For a
/// level, it is the mean of the points in the slice, or without any, the interpolated value at the middle of the
/// slice.
pub(super) fn resample_metric(series: &MetricSeries, first: Nanoseconds, grid: Grid) -> Vec<f64> {
    let times = series.times().iter();
    let times: Vec<f64> = times
        .map(|time| (i128::from(time.0) - i128::from(first.0)) as f64)
        .collect();
    match series.kind() {
        MetricKind::Count => rises(&times, series.values(), grid),
        MetricKind::Level => levels(&times, series.values(), grid),
    }
}

fn rises(times: &[f64], counts: &[f64], grid: Grid) -> Vec<f64> {
    let [first, .., last] = times else {
        return vec![f64::NAN; grid.count];
    };
    // The first point that may rise in or after the slice.
    let mut next = 1;
    let rise = |(begin, end): (f64, f64)| {
        while next + 1 < times.len() && times[next] <= begin {
            next += 1;
        }
        let length = end.min(*last) - begin.max(*first);
        if length <= 0.0 {
            return f64::NAN;
        }
        let mut sum = 0.0;
        for point in next..times.len() {
            let (before, at) = (times[point - 1], times[point]);
            if before >= end {
                break;
            }
            sum += counts[point] * (end.min(at) - begin.max(before)).max(0.0) / (at - before);
        }
        sum / (length / SECOND)
    };
    grid.slices().map(rise).collect()
}

fn levels(times: &[f64], levels: &[f64], grid: Grid) -> Vec<f64> {
    let mut next = 0;
    let level = |(begin, end): (f64, f64)| {
        while times.get(next).is_some_and(|&time| time < begin) {
            next += 1;
        }
        let within = times[next..].iter().take_while(|&&time| time < end).count();
        if within > 0 {
            return levels[next..next + within].iter().sum::<f64>() / within as f64;
        }
        let middle = (begin + end) / 2.0;
        match (next.checked_sub(1), times.get(next)) {
            (Some(before), Some(after)) => {
                let part = (middle - times[before]) / (after - times[before]);
                levels[before] * (1.0 - part) + levels[next] * part
            }
            _ => f64::NAN,
        }
    };
    grid.slices().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn series(kind: MetricKind, points: &[(u64, f64)]) -> MetricSeries {
        let times: Arc<[Nanoseconds]> = points.iter().map(|&(time, _)| Nanoseconds(time)).collect();
        let values = points.iter().map(|&(_, value)| value).collect();
        MetricSeries::new("m", kind, times, values).expect("the points are a series")
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let is_same = found.is_nan() && expected.is_nan();
            assert!(
                is_same || (found - expected).abs() <= 1e-9 * expected.abs() + 1e-12,
                "{found} for {expected}"
            );
        }
    }

    #[test]
    fn counts_become_rates_per_second() {
        // 10 per second from 1 s to 3 s, then 20 within the next second.
        let second = SECOND as u64;
        let count = [(second, 0.0), (3 * second, 20.0), (4 * second, 40.0)];
        let count = series(MetricKind::Count, &count);
        let grid = Grid::new(0.0, 5e9, 5).expect("it is one");
        let expected = [f64::NAN, 10.0, 10.0, 40.0, f64::NAN];
        assert_near(&resample_metric(&count, Nanoseconds(0), grid), &expected);
        // A partially covered slice has the rate of the covered part; and the run may begin later.
        let grid = Grid::new(0.0, 4e9, 2).expect("it is one");
        assert_near(
            &resample_metric(&count, Nanoseconds(0), grid),
            &[10.0, 25.0],
        );
        let expected = [25.0, f64::NAN];
        assert_near(
            &resample_metric(&count, Nanoseconds(2 * second), grid),
            &expected,
        );
        let one = series(MetricKind::Count, &[(second, 0.0)]);
        assert!(
            resample_metric(&one, Nanoseconds(0), grid)
                .iter()
                .all(|value| value.is_nan())
        );
    }

    #[test]
    fn levels_are_averaged_or_interpolated() {
        let level = [(10, 1.0), (12, 3.0), (40, 10.0), (60, 30.0)];
        let level = series(MetricKind::Level, &level);
        let grid = Grid::new(0.0, 80.0, 8).expect("it is one");
        let between = |time: f64| 3.0 + (time - 12.0) / 28.0 * 7.0;
        let expected = [
            f64::NAN,
            2.0,
            between(25.0),
            between(35.0),
            10.0,
            25.0,
            30.0,
            f64::NAN,
        ];
        let mut expected = expected;
        expected[5] = 10.0 + (55.0 - 40.0) / 20.0 * 20.0;
        assert_near(&resample_metric(&level, Nanoseconds(0), grid), &expected);
    }

    #[test]
    fn values_outside_of_the_run_are_missing() {
        let own = Grid::new(0.0, 2e9, 2).expect("it is one");
        let grid = Grid::new(-1e9, 4e9, 5).expect("it is one");
        let none = f64::NAN;
        assert_near(
            &rates(&[3.0, 5.0], own, grid),
            &[none, 3.0, 5.0, none, none],
        );
        assert_near(
            &resample(&[3.0, 5.0], own, grid),
            &[0.0, 3.0, 5.0, 0.0, 0.0],
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn resampling_preserves_the_sum_of_costs(
            costs in prop::collection::vec(0.0..1e12, 1..200),
            count in 1usize..400,
            length in 1u64..1 << 40,
        ) {
            let own = Grid { from: 0.0, to: length as f64, count: costs.len() };
            let grid = Grid { count, ..own };
            let moved = resample(&costs, own, grid);
            let (before, after) = (costs.iter().sum::<f64>(), moved.iter().sum::<f64>());
            prop_assert!((before - after).abs() <= 1e-9 * before, "{before} {after}");
            prop_assert!(moved.iter().all(|cost| *cost >= 0.0));
        }

        #[test]
        fn resampling_to_finer_slices_preserves_sums(
            costs in prop::collection::vec(0.0..1e12, 1..100),
            count in 1usize..50,
            parts in 1usize..8,
            ends in (0.0..1e9f64, 1.0..1e9f64),
        ) {
            let own = Grid { from: 0.0, to: 1e9, count: costs.len() };
            let grid = Grid { from: ends.0, to: ends.0 + ends.1, count };
            let fine = resample(&costs, own, Grid { count: count * parts, ..grid });
            let whole: f64 = costs.iter().sum();
            for (coarse, fine) in resample(&costs, own, grid).iter().zip(fine.chunks(parts)) {
                let sum: f64 = fine.iter().sum();
                prop_assert!((coarse - sum).abs() <= 1e-9 * whole, "{coarse} {sum}");
            }
        }

        #[test]
        fn resampling_preserves_the_sum_of_counts(
            steps in prop::collection::vec((1u64..1_000_000, 0.0..1e6), 1..60),
            count in 1usize..100,
        ) {
            let mut time = 0;
            let mut points = vec![(0, 0.0)];
            for &(step, value) in &steps {
                time += step;
                points.push((time, value));
            }
            let grid = Grid { from: 0.0, to: time as f64, count };
            let rates = resample_metric(&series(MetricKind::Count, &points), Nanoseconds(0), grid);
            let sum: f64 = rates.iter().map(|rate| rate * grid.step()).sum();
            let whole: f64 = steps.iter().map(|(_, value)| value).sum();
            prop_assert!((sum - whole).abs() <= 1e-6 * whole + 1e-9, "{sum} {whole}");
        }
    }
}
