//! Metrics over time, made of points and spans in any order.

use sto_model::limits::{MAX_RECORDED_METRIC_POINTS, MAX_USER_STRING, truncate_text};
use sto_model::units::Nanoseconds;
use sto_model::{MetricKind, MetricSeries};

/// An amount counted at an even pace between two times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) from: Nanoseconds,
    pub(crate) to: Nanoseconds,
    pub(crate) amount: f64,
}

/// Makes a metric of values at points in time. If several have the same time, the last one counts.
/// Returns `None` without values.
pub(crate) fn level_metric(
    name: &str,
    mut points: Vec<(Nanoseconds, f64)>,
) -> Option<MetricSeries> {
    points.retain(|(_, value)| value.is_finite());
    points.sort_by_key(|&(time, _)| time);
    points.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            kept.1 = later.1;
        }
        is_same
    });
    series(name, MetricKind::Level, points)
}

/// Makes a metric that counts events of given amounts, from the first time of the recording to its
/// last. Returns `None` without events.
pub(crate) fn event_metric(
    name: &str,
    (first, last): (Nanoseconds, Nanoseconds),
    mut points: Vec<(Nanoseconds, f64)>,
) -> Option<MetricSeries> {
    points.retain(|(_, amount)| is_amount(*amount));
    if points.is_empty() {
        return None;
    }
    points.push((last, 0.0));
    points.sort_by_key(|&(time, _)| time);
    let begin = points[0].0.min(first);
    // A count needs a time span: the first event counts one nanosecond later.
    let second = Nanoseconds(begin.0.checked_add(1)?);
    let mut counted = vec![(begin, 0.0)];
    for (time, amount) in points {
        let time = time.max(second);
        match counted.last_mut() {
            Some(last) if last.0 == time => last.1 += amount,
            _ => counted.push((time, amount)),
        }
    }
    series(name, MetricKind::Count, counted)
}

/// Makes a metric that sums spans, which may overlap. Returns `None` without spans.
pub(crate) fn span_metric(
    name: &str,
    spans: impl IntoIterator<Item = Span>,
) -> Option<MetricSeries> {
    let counts = |span: &Span| is_amount(span.amount) && (span.from < span.to || span.amount > 0.0);
    let spans: Vec<Span> = spans.into_iter().filter(counts).collect();
    // Sum integers, so that a span that ends leaves no remainder and the order does not matter. The
    // unit is so small that the total is nearly 2^125.
    let total: f64 = spans.iter().map(|span| span.amount).sum();
    let one = (124.0 - total.max(1.0).log2().ceil()).exp2();
    let mut edges = Vec::new();
    for &Span { from, to, amount } in &spans {
        let (from, to) = if from < to {
            (from.0, to.0)
        } else {
            (to.0.saturating_sub(1), to.0.max(1))
        };
        let amount = (amount * one) as i128;
        let took = i128::from(to - from);
        let (pace, rest) = (amount / took, amount % took);
        edges.push((from, pace, 0));
        edges.push((to, -pace, rest));
    }
    edges.sort_unstable_by_key(|&(time, ..)| time);
    // Keep whole amounts whole; they take less space.
    let is_whole = spans.iter().all(|span| span.amount.fract() == 0.0);
    let whole = |total: i128| (total as f64 / one).round();
    let mut points: Vec<(Nanoseconds, f64)> = Vec::new();
    let (mut pace, mut before, mut total) = (0, 0, 0);
    for at_once in edges.chunk_by(|(a, ..), (b, ..)| a == b) {
        let time = at_once[0].0;
        let total_before = total;
        total += pace * i128::from(time - before);
        for (_, more, rest) in at_once {
            pace += more;
            total += rest;
        }
        let amount = if is_whole {
            whole(total) - whole(total_before)
        } else {
            (total - total_before) as f64 / one
        };
        points.push((Nanoseconds(time), amount));
        before = time;
    }
    series(name, MetricKind::Count, points)
}

fn is_amount(amount: f64) -> bool {
    amount.is_finite() && amount >= 0.0
}

/// Makes a series of points in order of time. If there are more than [`MAX_RECORDED_METRIC_POINTS`],
/// adjacent ones are merged.
fn series(name: &str, kind: MetricKind, points: Vec<(Nanoseconds, f64)>) -> Option<MetricSeries> {
    if points.is_empty() {
        return None;
    }
    let mut name = match name {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    };
    truncate_text(&mut name, MAX_USER_STRING);
    let one = |several: &[(Nanoseconds, f64)]| {
        let sum: f64 = several.iter().map(|(_, value)| value).sum();
        let (first, last) = (several[0].0, several[several.len() - 1].0);
        match kind {
            MetricKind::Count => (last, sum),
            MetricKind::Level => {
                let middle = first.0 + (last.0 - first.0) / 2;
                (Nanoseconds(middle), sum / several.len() as f64)
            }
        }
    };
    // A count begins at its first point, so that is never merged.
    let kept = match kind {
        MetricKind::Count => 1,
        MetricKind::Level => 0,
    };
    let (first, rest) = points.split_at(kept);
    let at_once = rest
        .len()
        .div_ceil(MAX_RECORDED_METRIC_POINTS - kept)
        .max(1);
    let merged = first.chunks(1).chain(rest.chunks(at_once)).map(one);
    let (times, values): (Vec<_>, Vec<_>) = merged.unzip();
    // The sum of finite values may be infinite.
    MetricSeries::new(name, kind, times.into(), values).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(series: &MetricSeries) -> Vec<(u64, f64)> {
        let times = series.times().iter().map(|time| time.0);
        times.zip(series.values().iter().copied()).collect()
    }

    fn span(from: u64, to: u64, amount: f64) -> Span {
        let (from, to) = (Nanoseconds(from), Nanoseconds(to));
        Span { from, to, amount }
    }

    fn at(points: &[(u64, f64)]) -> Vec<(Nanoseconds, f64)> {
        let points = points.iter();
        points
            .map(|&(time, value)| (Nanoseconds(time), value))
            .collect()
    }

    #[test]
    fn sums_overlapping_spans() {
        let both = span_metric(
            "busy",
            [span(10, 30, 20.0), span(20, 30, 10.0), span(50, 52, 2.0)],
        );
        let expected = [(10, 0.0), (20, 10.0), (30, 20.0), (50, 0.0), (52, 2.0)];
        assert_eq!(points(&both.unwrap()), expected);
    }

    #[test]
    fn counts_empty_span_in_the_nanosecond_before() {
        let once = span_metric("busy", [span(10, 10, 3.0), span(9, 2, 1.0)]);
        let expected = [(1, 0.0), (2, 1.0), (9, 0.0), (10, 3.0)];
        assert_eq!(points(&once.unwrap()), expected);
        let at_zero = span_metric("busy", [span(0, 0, 3.0)]);
        assert_eq!(points(&at_zero.unwrap()), [(0, 0.0), (1, 3.0)]);
    }

    #[test]
    fn events_cover_the_whole_recording() {
        let faults = |first, last, of: &[(u64, f64)]| {
            let faults = event_metric("faults", (Nanoseconds(first), Nanoseconds(last)), at(of));
            points(&faults.unwrap())
        };
        let once = faults(3, 12, &[(9, 2.0), (5, 1.0), (9, 4.0)]);
        assert_eq!(once, [(3, 0.0), (5, 1.0), (9, 6.0), (12, 0.0)]);
        let at_once = [(5, 1.0), (6, 2.0)];
        assert_eq!(faults(7, 7, &at_once), [(5, 0.0), (6, 3.0), (7, 0.0)]);
        assert_eq!(faults(0, 6, &at_once), [(0, 0.0), (5, 1.0), (6, 2.0)]);
    }

    #[test]
    fn last_level_of_one_time_counts() {
        let heap = level_metric("heap", at(&[(9, 2.0), (5, 1.0), (9, f64::NAN), (5, -3.0)]));
        assert_eq!(points(&heap.unwrap()), [(5, -3.0), (9, 2.0)]);
    }

    #[test]
    fn skips_non_finite_and_negative_amounts() {
        let wrong = [f64::NAN, f64::INFINITY, -1.0];
        let none = wrong.map(|wrong| (Nanoseconds(4), wrong)).to_vec();
        assert_eq!(level_metric("a", at(&[(4, f64::NAN)])), None);
        let all = (Nanoseconds(0), Nanoseconds(u64::MAX));
        assert_eq!(event_metric("a", all, none), None);
        assert_eq!(span_metric("a", wrong.map(|wrong| span(1, 2, wrong))), None);
        let end = (Nanoseconds(u64::MAX), Nanoseconds(u64::MAX));
        assert_eq!(event_metric("a", end, at(&[(u64::MAX, 1.0)])), None);
        assert_eq!(
            span_metric("a", [span(0, 1, f64::MAX), span(0, 9, f64::MAX)]),
            None
        );
        let huge = span_metric("a", [span(0, 2, f64::MAX / 4.0), span(1, u64::MAX, 1e300)]);
        let sum: f64 = huge.unwrap().values().iter().sum();
        assert!((sum / (f64::MAX / 4.0) - 1.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn cuts_long_names_and_replaces_empty_ones() {
        let long = level_metric(&"é".repeat(4096), at(&[(1, 1.0)])).unwrap();
        assert!(long.name().len() <= MAX_USER_STRING && long.name().ends_with("é…"));
        assert_eq!(level_metric("", at(&[(1, 1.0)])).unwrap().name(), "unnamed");
    }

    #[test]
    fn merging_points_keeps_sum_and_mean() {
        let count = 3 * MAX_RECORDED_METRIC_POINTS as u64 + 7;
        let of = |value: f64| (0..count).map(|time| (Nanoseconds(time), value)).collect();
        let events = event_metric("faults", (Nanoseconds(0), Nanoseconds(0)), of(2.0)).unwrap();
        assert!(
            (MAX_RECORDED_METRIC_POINTS / 2..=MAX_RECORDED_METRIC_POINTS)
                .contains(&events.values().len())
        );
        assert_eq!(events.values().iter().sum::<f64>(), 2.0 * count as f64);
        assert_eq!(events.times().last(), Some(&Nanoseconds(count - 1)));
        let levels = level_metric("heap", of(5.0)).unwrap();
        assert!(levels.values().len() <= MAX_RECORDED_METRIC_POINTS);
        assert!(levels.values().iter().all(|&level| level == 5.0));
    }

    proptest! {
        #[test]
        fn span_order_does_not_change_the_total(
            counts in prop::collection::vec((0u64..200, 0u64..200, 0u32..1000), 1..60),
        ) {
            let total: f64 = counts.iter().map(|&(.., amount)| f64::from(amount)).sum();
            let each = |&(from, to, amount): &(u64, u64, u32)| span(from, to, amount.into());
            let summed = span_metric("a", counts.iter().map(each)).unwrap();
            let back = span_metric("a", counts.iter().rev().map(each)).unwrap();
            prop_assert_eq!(&summed, &back);
            let sum: f64 = summed.values().iter().sum();
            prop_assert_eq!(sum, total);
            // The expected value at each point is the sum of all spans up to it.
            let mut counted = 0.0;
            for (time, value) in points(&summed) {
                counted += value;
                let part = |&(from, to, amount): &(u64, u64, u32)| {
                    let (from, to) = if from < to { (from, to) } else { (to.saturating_sub(1), to.max(1)) };
                    let done = time.clamp(from, to) - from;
                    f64::from(amount) * done as f64 / (to - from) as f64
                };
                let expected: f64 = counts.iter().map(part).sum();
                prop_assert!((counted - expected).abs() <= 0.5 + 1e-6, "{}: {} {}", time, counted, expected);
            }
            let once = counts.iter().map(|&(time, _, amount)| (Nanoseconds(time), amount.into()));
            let events = event_metric("a", (Nanoseconds(100), Nanoseconds(150)), once.collect()).unwrap();
            prop_assert_eq!(events.values().iter().sum::<f64>(), total);
        }
    }
}
