//! Alignments agree with the paper and with other implementations. `testdata/warp/README.md` describes the data.

use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;
use std::f64::consts::TAU;
use sto_stats::warp::{Path, Side, Warning, WarpError, distance, path, warnings};

#[derive(Deserialize)]
struct Case {
    series: String,
    a: Vec<f64>,
    b: Vec<f64>,
    answers: Vec<Answer>,
}

/// The distance and the error of the path in each other implementation.
#[derive(Deserialize)]
struct Answer {
    band: Option<usize>,
    dtw_python: (f64, f64),
    dtaidistance: Option<(f64, f64)>,
}

#[test]
fn errors_agree_with_dtw_python_and_dtaidistance() {
    let cases = include_str!("../../../testdata/warp/warp.json");
    let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 18);
    for case in &cases {
        let (a, b) = (&case.a, &case.b);
        for answer in &case.answers {
            let found = path(a, b, answer.band).unwrap();
            let distance = distance(a, b, answer.band).unwrap();
            for (theirs, of_path) in [Some(answer.dtw_python), answer.dtaidistance]
                .into_iter()
                .flatten()
            {
                for (ours, theirs) in [(distance, theirs), (found.error, of_path)] {
                    assert!(
                        (ours - theirs).abs() <= 1e-12 * theirs,
                        "{} of {} and {} points, band {:?}: {ours}, expected {theirs}",
                        case.series,
                        a.len(),
                        b.len(),
                        answer.band
                    );
                }
            }
        }
    }
}

/// Section 5.2.2 of the paper: events that occur later or take longer.
#[test]
fn delayed_and_longer_events_are_near() {
    let event = [0.0, 100.0, 0.0, 0.0];
    for like in [[0.0, 0.0, 100.0, 0.0], [0.0, 100.0, 100.0, 0.0]] {
        assert_eq!(distance(&event, &like, None), Ok(0.0));
        let manhattan: f64 = event.iter().zip(&like).map(|(x, y)| (x - y).abs()).sum();
        assert!(manhattan >= 100.0);
    }
    assert_eq!(distance(&event, &[100.0, 0.0, 0.0, 0.0], None), Ok(100.0));
}

#[test]
fn ties_prefer_diagonal_then_a_then_b() {
    let pairs = |a: &[f64], b: &[f64]| path(a, b, None).unwrap().pairs;
    assert_eq!(
        pairs(&[7.0; 2], &[7.0; 4]),
        [(0, 0), (0, 1), (0, 2), (1, 3)]
    );
    // (1, 1) can be reached without error from (0, 1) and from (1, 0), but not from (0, 0).
    assert_eq!(
        pairs(&[0.0, 1.0, 0.0, 1.0], &[1.0, 0.0, 1.0]),
        [(0, 0), (1, 0), (2, 1), (3, 2)]
    );
}

#[test]
fn band_without_a_path_is_widened() {
    let a = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(
        distance(&a, &[1.0, 3.0, 5.0], Some(0)),
        distance(&a, &[1.0, 3.0, 5.0], Some(1))
    );
    assert_eq!(distance(&a, &[2.0, 3.0, 4.0, 5.0, 6.0], Some(0)), Ok(5.0));
    assert_eq!(distance(&a, &[3.0], Some(0)), Ok(6.0));
}

#[test]
fn rejects_series_that_cannot_be_aligned() {
    let good = [1.0, 2.0];
    let both = |a: &[f64], b: &[f64]| {
        let error = distance(a, b, None).unwrap_err();
        assert_eq!(
            path(a, b, Some(1)).unwrap_err().to_string(),
            error.to_string()
        );
        error
    };
    assert_eq!(both(&[], &good), WarpError::Empty { series: Side::A });
    assert_eq!(both(&good, &[]), WarpError::Empty { series: Side::B });
    assert_eq!(
        both(&good, &[0.0, f64::INFINITY]),
        WarpError::NotFinite {
            series: Side::B,
            index: 1,
            value: f64::INFINITY
        }
    );
    assert_eq!(
        both(&[f64::NAN], &good).to_string(),
        "series a has NaN at index 0; only finite numbers can be aligned"
    );
    assert_eq!(both(&[f64::MAX; 3], &[f64::MIN; 2]), WarpError::Overflow);
}

/// Returns a series that has each level for the given number of points.
fn levels(levels: &[(usize, f64)]) -> Vec<f64> {
    levels
        .iter()
        .flat_map(|&(points, level)| vec![level; points])
        .collect()
}

fn warned(a: &[f64], b: &[f64]) -> Vec<Warning> {
    warnings(a, b, &path(a, b, None).unwrap())
}

/// Figure 4: each high stretch has an outlier, and the path matches the outliers to each other.
#[test]
fn warns_of_noise_in_nearly_constant_stretches() {
    let a = levels(&[
        (8, 0.0),
        (2, 10.0),
        (1, 8.5),
        (9, 10.0),
        (8, 0.0),
        (12, 10.0),
        (8, 0.0),
    ]);
    let b = levels(&[
        (8, 0.0),
        (9, 10.0),
        (1, 8.0),
        (2, 10.0),
        (8, 0.0),
        (12, 10.0),
        (8, 0.0),
    ]);
    let clean = levels(&[(8, 0.0), (12, 10.0), (8, 0.0), (12, 10.0), (8, 0.0)]);
    let found = path(&a, &b, None).unwrap();
    assert!(
        found.pairs.contains(&(10, 17)),
        "the paper's fault is there"
    );
    let stretch = 8..20;
    assert_eq!(
        warnings(&a, &b, &found),
        [Warning::NearlyConstant {
            a: stretch.clone(),
            b: stretch,
            many: Side::B,
            points: 8
        }]
    );
    assert_eq!(warned(&a, &clean), []);
    assert_eq!(warned(&clean, &clean), []);
    // "If the values were constant in the two sequences, there would be no local errors."
    let short = levels(&[(8, 0.0), (12, 10.0), (8, 0.0)]);
    let long = levels(&[(8, 0.0), (40, 10.0), (8, 0.0)]);
    assert_eq!(warned(&short, &long), []);
}

/// Figure 5: a single high point between two periods of `a` is matched to the second period of `b`.
#[test]
fn warns_of_path_between_different_periods() {
    let (low, high) = ((8, 0.0), (8, 10.0));
    let noise = [(4, 0.0), (1, 9.0), (3, 0.0)];
    let mut a = levels(&[low, high]);
    a.extend(levels(&noise));
    a.extend(levels(&[high, low, low, low]));
    let b = levels(&[low, high, low, high, low, high, low]);
    let found = path(&a, &b, None).unwrap();
    assert!(
        found.pairs.contains(&(20, 28)),
        "the point is on the second period"
    );
    assert!(
        found.pairs.contains(&(28, 44)),
        "the second period is on the third"
    );
    let warning = |series, a, b| {
        [Warning::Repetitive {
            series,
            period: 16,
            shift: 16,
            a,
            b,
        }]
    };
    assert_eq!(warnings(&a, &b, &found), warning(Side::A, 20..40, 29..49));
    assert_eq!(warned(&b, &a), warning(Side::A, 29..49, 20..40));
    assert_eq!(warned(&b, &b), []);
    let later = levels(&[(12, 0.0), high, low, high, low, high, (4, 0.0)]);
    assert_eq!(warned(&b, &later), []);
}

/// The signal is waves on a slope, with noise, sampled at uneven times.
#[test]
fn ordinary_signal_has_no_warnings() {
    let mut seed = 1u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        0.02 * f64::from(seed) / f64::from(u32::MAX)
    };
    let signal = |x: f64| (31.0 * x).sin() + 0.5 * (14.0 * x + 1.0).sin() + 2.0 * x;
    let mut sampled = |points: usize, uneven: f64| -> Vec<f64> {
        let times = (0..points).map(|ix| ix as f64 / points as f64);
        let run = times.map(|time| signal(time + uneven * (TAU * time).sin()) + noise());
        run.collect()
    };
    let a = sampled(400, 0.0);
    for uneven in [-0.04, -0.02, 0.0, 0.02, 0.04] {
        for points in [400, 300, 900] {
            assert_eq!(
                warned(&a, &sampled(points, uneven)),
                [],
                "{points} {uneven}"
            );
        }
    }
}

/// Returns the least error by plain recursion, over the pairs for which `within` returns `true`.
fn recursion(a: &[f64], b: &[f64], within: &dyn Fn(usize, usize) -> bool) -> f64 {
    let (i, j) = (a.len() - 1, b.len() - 1);
    if !within(i, j) {
        return f64::INFINITY;
    }
    let before = match (i, j) {
        (0, 0) => 0.0,
        (_, 0) => recursion(&a[..i], b, within),
        (0, _) => recursion(a, &b[..j], within),
        _ => recursion(&a[..i], &b[..j], within)
            .min(recursion(&a[..i], b, within))
            .min(recursion(a, &b[..j], within)),
    };
    before + (a[i] - b[j]).abs()
}

#[track_caller]
fn assert_sound(a: &[f64], b: &[f64], band: usize, Path { pairs, error }: &Path) {
    assert_eq!(pairs[0], (0, 0));
    assert_eq!(pairs[pairs.len() - 1], (a.len() - 1, b.len() - 1));
    for step in pairs.windows(2) {
        let (up_a, up_b) = (step[1].0 - step[0].0, step[1].1 - step[0].1);
        assert!(matches!((up_a, up_b), (0, 1) | (1, 0) | (1, 1)), "{step:?}");
    }
    if a.len() == b.len() {
        assert!(pairs.iter().all(|&(i, j)| i.abs_diff(j) <= band));
    }
    let sum = pairs
        .iter()
        .fold(0.0, |sum, &(i, j)| sum + (a[i] - b[j]).abs());
    assert_eq!(sum, *error);
}

/// Generates series of few different values, so that errors are often equal, or of many.
fn points(length: usize) -> impl Strategy<Value = Vec<f64>> {
    let few = (0..3i32).prop_map(f64::from);
    prop_oneof![vec(few, 1..length), vec(-1e3..1e3, 1..length)]
}

proptest! {
    #[test]
    fn error_agrees_with_recursion((a, b) in (points(8), points(8)), band in 0usize..9) {
        prop_assert_eq!(distance(&a, &b, None), Ok(recursion(&a, &b, &|_, _| true)));
        let (last_a, last_b) = (a.len() - 1, b.len() - 1);
        let width = band.max(usize::from(last_a != last_b)) * last_a.max(last_b);
        let within = |i: usize, j: usize| (j * last_a).abs_diff(i * last_b) <= width;
        prop_assert_eq!(distance(&a, &b, Some(band)), Ok(recursion(&a, &b, &within)));
    }

    #[test]
    fn path_is_complete_and_has_the_minimum_error(
        (a, b) in (points(90), points(90)),
        band in prop_oneof![Just(None), (0usize..90).prop_map(Some)],
    ) {
        let found = path(&a, &b, band).unwrap();
        assert_sound(&a, &b, band.unwrap_or(usize::MAX), &found);
        let of = |x: &[f64], y: &[f64]| distance(x, y, band).unwrap().to_bits();
        prop_assert_eq!(of(&a, &b), found.error.to_bits());
        prop_assert_eq!(of(&b, &a), of(&a, &b));
    }

    #[test]
    fn warnings_refer_to_existing_points((a, b) in (points(60), points(90))) {
        for warning in warned(&a, &b) {
            let (Warning::NearlyConstant { a: of_a, b: of_b, .. }
            | Warning::Repetitive { a: of_a, b: of_b, .. }) = warning;
            prop_assert!(of_a.start < of_a.end && of_a.end <= a.len());
            prop_assert!(of_b.start < of_b.end && of_b.end <= b.len());
        }
    }

    #[test]
    fn alignment_with_itself_is_the_diagonal(a in points(90), band in 0usize..90) {
        let found = path(&a, &a, Some(band)).unwrap();
        prop_assert_eq!(found.error, 0.0);
        prop_assert_eq!(found.pairs, (0..a.len()).map(|i| (i, i)).collect::<Vec<_>>());
    }

    #[test]
    fn wider_bands_are_no_worse((a, b) in (points(60), points(60))) {
        let longer = a.len().max(b.len());
        let errors: Vec<f64> = (0..=longer).map(|band| distance(&a, &b, Some(band)).unwrap()).collect();
        prop_assert!(errors.is_sorted_by(|narrow, wide| narrow >= wide), "{:?}", errors);
        for band in [longer, usize::MAX] {
            prop_assert_eq!(path(&a, &b, Some(band)), path(&a, &b, None));
        }
    }
}
