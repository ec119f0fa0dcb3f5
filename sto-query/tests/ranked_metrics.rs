//! Ranking of metrics over time by how well they explain a target.

use crate::views::{assert_fits, assert_golden};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use sto_query::error::CorrelateError;
use sto_query::internal::correlate::{pearson, spearman};
use sto_query::questions::{CorrelateTableRequest, Correlator, correlate_columns};
use sto_query::render;
use sto_query::results::{RankedMetric, RankedMetrics, Sign, WhyLeftOut, json};
use sto_query::statistics::ranks;
use sto_query::statistics::warp::distance;
use sto_query::text::Style;

const METRICS: &str = include_str!("../../testdata/correlation/metrics.csv");

fn request(table: &str, target: &str) -> CorrelateTableRequest {
    let mut request = CorrelateTableRequest::default();
    request.table = table.to_owned();
    request.options.target = target.to_owned();
    request
}

fn ranked(table: &str, by: Option<Correlator>) -> RankedMetrics {
    let mut request = request(table, "target");
    request.options.by = by;
    correlate_columns(&request).unwrap()
}

fn error(table: &str) -> String {
    correlate_columns(&request(table, "target"))
        .unwrap_err()
        .to_string()
}

/// Formats a table of these columns after a column of times.
fn table(columns: &[(&str, &[f64])]) -> String {
    let mut text = "time".to_owned();
    columns
        .iter()
        .for_each(|(name, _)| text += &format!(",{name}"));
    for row in 0..columns[0].1.len() {
        let _ = write!(text, "\n{row}");
        columns
            .iter()
            .for_each(|(_, values)| text += &format!(",{}", values[row]));
    }
    text
}

fn named<'r>(ranked: &'r RankedMetrics, name: &str) -> &'r RankedMetric {
    ranked
        .metrics
        .iter()
        .find(|metric| metric.name == name)
        .unwrap()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let near = (found - expected).abs() <= 1e-7 * expected.abs();
    assert!(near, "{what}: {found}, expected {expected}");
}

#[derive(Deserialize)]
struct Reference {
    splits: usize,
    pattern: Vec<(f64, f64)>,
    metrics: BTreeMap<String, Expected>,
}

#[derive(Deserialize)]
struct Expected {
    scores: BTreeMap<Correlator, f64>,
    p: f64,
    lag: f64,
}

#[test]
fn all_eight_correlators_agree_with_scipy_numpy_and_dtw_python() {
    let reference = include_str!("../../testdata/correlation/metrics.json");
    let reference: Reference = serde_json::from_str(reference).unwrap();
    let mut request = request(METRICS, "target");
    request.options.by = Some(Correlator::Pearson);
    request.options.splits = Some(reference.splits);
    request.options.pattern = reference.pattern;
    let ranked = correlate_columns(&request).unwrap();
    assert_eq!(ranked.metrics.len(), 5);
    assert_eq!(ranked.splits, reference.splits);
    for (name, expected) in &reference.metrics {
        let found = named(&ranked, name);
        assert_eq!(expected.scores.len(), 8);
        assert!(found.scores.keys().eq(expected.scores.keys()));
        for (by, score) in &expected.scores {
            assert_close(
                found.scores[by],
                *score,
                &format!("{name} by {}", by.name()),
            );
        }
        assert_close(found.p.unwrap(), expected.p, name);
        assert_eq!(found.lag, Some(expected.lag), "{name}");
    }
    assert_eq!(named(&ranked, "against").sign, Some(Sign::Contravaries));
    assert_eq!(named(&ranked, "follows").sign, Some(Sign::Covaries));
}

#[test]
fn reproduces_numbers_of_the_paper() {
    assert_eq!(ranks(&[10.0, 15.0, 9.0]), [2.0, 3.0, 1.0]);
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let powers = x.map(|x| 10_f64.powf(x));
    assert_eq!(
        format!("{:.3}", pearson(&x, &powers).unwrap().coefficient),
        "0.707"
    );
    assert_eq!(spearman(&x, &powers).unwrap().coefficient, 1.0);
    let powers = ranked(&table(&[("target", &x), ("powers", &powers)]), None);
    assert_close(
        powers.metrics[0].scores[&Correlator::Spearman],
        1.0,
        "by ranks",
    );

    // Only dynamic time warping matches events that are delayed or stretched.
    let columns: [(&str, &[f64]); 3] = [
        ("target", &[0.0, 100.0, 0.0, 0.0]),
        ("later", &[0.0, 0.0, 100.0, 0.0]),
        ("longer", &[0.0, 100.0, 100.0, 0.0]),
    ];
    let events = ranked(&table(&columns), Some(Correlator::Dtw));
    let names: Vec<&str> = events.metrics.iter().map(|metric| &*metric.name).collect();
    assert_eq!(names, ["later", "longer"]);
    assert_eq!(events.metrics[0].scores[&Correlator::Dtw], f64::MAX);
    assert_eq!(events.metrics[0].lag, Some(-1.0));
    for (_, raw) in &columns[1..] {
        assert_eq!(distance(columns[0].1, raw, Some(1)), Ok(0.0));
    }
    for by in [
        Correlator::Pearson,
        Correlator::Euclidean,
        Correlator::Manhattan,
    ] {
        let last = ranked(&table(&columns), Some(by));
        assert_eq!(last.metrics[1].name, "later", "{by:?}");
    }
}

#[test]
fn negative_correlation_counts_like_positive() {
    let x = [1.0, 5.0, 2.0, 8.0, 3.0, 9.0, 9.0, 1.0];
    let against = x.map(|x| 1e-9 * (7.0 - 2.0 * x));
    let found = ranked(
        &table(&[("target", &x), ("with", &x), ("against", &against)]),
        None,
    );
    assert_eq!(named(&found, "with").scores.len(), 7);
    for by in &Correlator::ALL[..7] {
        let [with, against] = ["with", "against"].map(|name| named(&found, name).scores[by]);
        assert_close(against, with, by.name());
        let signs = ranked(
            &table(&[("target", &x), ("against", &negated(&x))]),
            Some(*by),
        );
        assert_eq!(signs.metrics[0].sign, Some(Sign::Contravaries), "{by:?}");
    }
}

fn negated(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| -x).collect()
}

#[test]
fn chance_explains_walk_and_noise_but_not_correlated_metric() {
    let found = ranked(METRICS, None);
    let names: Vec<&str> = found.metrics.iter().map(|metric| &*metric.name).collect();
    assert_eq!(names[3..], ["walk", "noise"]);
    for metric in &found.metrics {
        let (p, q) = (metric.p.unwrap(), metric.q.unwrap());
        assert!(p <= q, "{metric:?}");
        assert_eq!(
            q < 0.05,
            !["walk", "noise"].contains(&&*metric.name),
            "{metric:?}"
        );
    }
    for by in Correlator::ALL[..7].iter().map(|&by| Some(by)) {
        let found = ranked(METRICS, by);
        assert!(named(&found, "noise").p > Some(0.05), "{by:?}");
        assert!(named(&found, "against").p < Some(0.05), "{by:?}");
    }
}

/// Returns random numbers from 0 to 1.
fn noise(seed: u64) -> Vec<f64> {
    let mut state = seed + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..120).map(|_| next()).collect()
}

#[test]
fn explaining_metric_stands_out_among_hundreds() {
    let names: Vec<String> = (0..200).map(|ix| format!("noise{ix}")).collect();
    let mut false_alarms = 0;
    for seed in 0..10 {
        let columns: Vec<Vec<f64>> = (0..200).map(|ix| noise(1000 * seed + ix)).collect();
        let target = noise(1000 * seed + 900);
        let cause: Vec<f64> = target.iter().zip(&columns[0]).map(|(t, n)| t + n).collect();
        let mut all: Vec<(&str, &[f64])> = vec![("target", &target)];
        all.extend(
            names
                .iter()
                .zip(&columns)
                .map(|(name, column)| (&**name, &**column)),
        );
        let first = &ranked(&table(&all), None).metrics[0];
        false_alarms += usize::from(first.q.unwrap() <= 0.05);
        all.push(("cause", &cause));
        let first = &ranked(&table(&all), None).metrics[0];
        assert_eq!(
            (&*first.name, first.q.unwrap() <= 0.05),
            ("cause", true),
            "{first:?}"
        );
    }
    assert!(false_alarms <= 2, "{false_alarms} of 10");
}

#[test]
fn incomparable_columns_are_left_out_or_last() {
    let text = "name,time,target,constant,gap,gaps,huge\n\
        a,0,1,5,1,,-1e308\nb,1,2,5,,,1e308\nc,2.5,4,5,nan,1,1\nd,3,3,5,4,2,1e300\ne,4,1,5,1,<not counted>,2\n";
    let found = ranked(text, None);
    assert_eq!(found.time.as_deref(), Some("time"));
    let left_out: Vec<_> = found
        .left_out
        .iter()
        .map(|out| (&*out.name, out.why))
        .collect();
    assert_eq!(
        left_out,
        [("name", WhyLeftOut::Text), ("gaps", WhyLeftOut::Gaps)]
    );
    let last = found.metrics.last().unwrap();
    assert_eq!(
        (&*last.name, last.score, last.sign, last.p),
        ("constant", 0.0, None, None)
    );
    // 1 at time 0 and 4 at 3: linear interpolation gives 2 at 1 and 3.5 at 2.5.
    let filled = "time,target,gap\n0,1,1\n1,2,2\n2.5,4,3.5\n3,3,4\n4,1,1\n";
    let filled = ranked(filled, None);
    let scores = |found: &RankedMetrics| named(found, "gap").scores[&Correlator::Pearson];
    assert_eq!(scores(&found), scores(&filled));
}

#[test]
fn finds_time_column_by_name_or_growth() {
    let time = |header: &str| {
        let text = format!("{header}\n1,9,3\n2,3,1\n3,4,1\n4,8,5\n");
        correlate_columns(&request(&text, "target")).unwrap().time
    };
    assert_eq!(time("Seconds,x,target").as_deref(), Some("Seconds"));
    assert_eq!(time("id,x,target").as_deref(), Some("id"));
    // A target that only grows, such as progress, is not taken as the time.
    assert_eq!(time("target,x,y"), None);
}

#[test]
fn window_selects_rows_by_time() {
    let mut request = request(METRICS, "target");
    request.options.windows = vec![(Some(20.0), Some(40.0))];
    let found = correlate_columns(&request).unwrap();
    assert_eq!((found.rows, found.from, found.to), (41, 20.0, 40.0));
    request.options.windows = vec![(Some(500.0), None)];
    let found = correlate_columns(&request).unwrap();
    assert_eq!((found.rows, found.metrics.len()), (0, 0));
}

/// Rows are half a second apart, so the second window begins at 40.5 if nothing is between the windows.
#[test]
fn several_windows_are_compared_as_one_series() {
    let mut joined = String::new();
    for line in METRICS.lines() {
        let (time, values) = line.split_once(',').unwrap();
        let time = match time.parse::<f64>() {
            Ok(time @ 20.0..=40.0) => time.to_string(),
            Ok(time @ 60.0..=80.0) => (time - 19.5).to_string(),
            Ok(_) => continue,
            Err(_) => time.to_owned(),
        };
        joined += &format!("{time},{values}\n");
    }
    let expected = correlate_columns(&request(&joined, "target")).unwrap();
    let mut request = request(METRICS, "target");
    request.options.windows = vec![(Some(60.0), Some(80.0)), (Some(20.0), Some(40.0))];
    let found = correlate_columns(&request).unwrap();
    assert_eq!((found.rows, found.from, found.to), (82, 20.0, 80.0));
    assert_eq!(found.windows, [[20.0, 40.0], [60.0, 80.0]]);
    assert_eq!(found.metrics, expected.metrics);
    let text = render::correlate::text(&found, Style::default());
    assert!(
        text.contains("82 rows in 2 windows, time from 20 to 80."),
        "{text}"
    );
}

#[test]
fn rows_in_overlapping_windows_count_once() {
    let mut request = request(METRICS, "target");
    request.options.windows = vec![(Some(20.0), Some(40.0))];
    let expected = correlate_columns(&request).unwrap();
    request.options.windows = vec![(Some(20.0), Some(35.0)), (Some(30.0), Some(40.0))];
    assert_eq!(correlate_columns(&request).unwrap(), expected);
}

#[test]
fn rejects_invalid_tables() {
    assert!(error("").contains("it is empty"));
    assert!(error("1,2\n3,4\n").contains("only numbers"));
    assert!(error("time,x\n1,2\n").contains("no column is called `target`"));
    let close = error("time,targets\n1,2\n");
    assert!(close.contains("the closest is `targets`"), "{close}");
    let back = error("time,target\n1,2\n1,3\n");
    assert!(
        back.contains("line 3: expected a time above 1 in `time`, found 1"),
        "{back}"
    );
    let none = error("time,target\n1,2\n,3\n");
    assert!(
        none.contains("line 3: expected a number in `time`"),
        "{none}"
    );
    let long = error("time,target\n1,2\n2,3,4\n");
    assert!(long.contains("line 3: expected at most 2 fields"), "{long}");
    assert!(error("target,target\n1,2\n").contains("2 columns are called `target`"));
    assert!(error("t,target\n1,a\n").contains("are not numbers"));
    assert!(error("t,target,x\n1,\n2,\n3,1\n4,2\n").contains("half of the rows"));
    assert!(error("t,target,x\n1,5,1\n2,5,2\n3,5,1\n4,5,2\n").contains("is constant"));
    let mut wrong = request(METRICS, "target");
    wrong.options.by = Some(Correlator::LinearPattern);
    assert!(matches!(
        correlate_columns(&wrong),
        Err(CorrelateError::NoPattern)
    ));
    for points in [
        &[(0.0, 1.0)][..],
        &[(1.0, 1.0), (0.0, 2.0)],
        &[(0.0, 1.0), (1.0, 1.0)],
    ] {
        wrong.options.pattern = points.to_vec();
        assert!(
            matches!(correlate_columns(&wrong), Err(CorrelateError::Pattern(_))),
            "{points:?}"
        );
    }
}

#[test]
fn ranks_tables_of_few_rows_and_many_columns() {
    let one = ranked("time,target,x\n1,2,3\n", None);
    assert_eq!((one.rows, one.metrics.len()), (1, 0));
    let alone = ranked("time,target\n1,2\n2,3\n3,5\n4,1\n", None);
    assert_eq!((alone.rows, alone.metrics.len()), (4, 0));
    let columns = 20_000;
    let mut wide = "time,target".to_owned();
    (0..columns).for_each(|ix| wide += &format!(",m{ix}"));
    for row in 0..4 {
        wide += &format!("\n{row},{}", row * row);
        (0..columns).for_each(|ix| wide += &format!(",{}", (ix * (row + 3)) % 7));
    }
    let metrics = ranked(&wide, None).metrics;
    let same: usize = metrics.iter().map(|metric| metric.same.len()).sum();
    assert_eq!((metrics.len() + same, metrics.len()), (columns, 7));
}

#[test]
fn metrics_with_equal_values_share_a_row() {
    let x = [1.0, 5.0, 2.0, 8.0];
    let columns = [
        ("target", &x[..]),
        ("a", &[3.0, 4.0, 5.0, 9.0]),
        ("b", &[9.0, 1.0, 1.0, 1.0]),
    ];
    let twice = [
        columns[0],
        columns[1],
        columns[2],
        ("again", columns[1].1),
        ("yet again", columns[1].1),
    ];
    let [alone, twice] = [&columns[..], &twice].map(|columns| ranked(&table(columns), None));
    let a = named(&twice, "a");
    assert_eq!(a.same, ["again", "yet again"]);
    assert_eq!(twice.metrics.len(), 2);
    assert_eq!((a.p, a.q, &a.ranks), {
        let alone = named(&alone, "a");
        (alone.p, alone.q, &alone.ranks)
    });
    let text = render::correlate::text(&twice, crate::words::plain());
    assert!(text.contains("a, and 2 others"), "{text}");
}

#[test]
fn report_fits_terminals_and_matches_golden_json() {
    let hostile = METRICS.replacen("follows", "\"\x1b[31mfollows \u{202e}<b>\"", 1);
    let found = ranked(&hostile, None);
    assert_fits("correlate", |style| render::correlate::text(&found, style));
    assert_golden("correlate.json", &json(&found).unwrap());
    let by = ranked(METRICS, Some(Correlator::SameSplits));
    assert_fits("correlate-by", |style| render::correlate::text(&by, style));
    let one = ranked("time,target,x\n1,2,3\n", None);
    assert!(render::correlate::text(&one, crate::words::plain()).contains("1 row of target"));
}
