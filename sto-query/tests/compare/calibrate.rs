//! Calibrations, checked against comparisons that are made one by one.

use super::calibration::Benchmark;
use super::support::{Random, compared};
use crate::views::assert_golden;
use crate::words::WORDS;
use rayon::prelude::*;
use sto_core::{CancelToken, Cancelled};
use sto_query::error::CompareError;
use sto_query::internal::compare::calibrate;
use sto_query::questions::CalibrateOptions;
use sto_query::render::calibrate::text;
use sto_query::results::{Calibration, View};
use sto_query::text::Style;

const STEADY: Benchmark = Benchmark {
    functions: 40,
    runs: 24,
    dispersion: 0.01,
    erratic: false,
};

fn calibrated(view: &View, options: &CalibrateOptions) -> Calibration {
    calibrate(view, 0, options).expect("the options are in range")
}

/// A view with some runs of another one.
fn some_runs(view: &View, indices: &[usize]) -> View {
    let mut some = view.clone();
    let profile = |&index: &usize| view.selection.profiles[index].clone();
    some.selection.profiles = indices.iter().map(profile).collect();
    some.runs = indices
        .iter()
        .map(|&index| view.runs[index].clone())
        .collect();
    some
}

#[test]
fn calibration_can_be_cancelled() {
    let view = STEADY.side(&mut Random::new(1), "v1", 1.0);
    let mut options = with!(CalibrateOptions { splits: 100_000 });
    let cancel = options.compare.cancel.clone();
    let ended = std::thread::scope(|scope| {
        let work = scope.spawn(|| calibrate(&view, 0, &options));
        cancel.cancel();
        work.join().unwrap()
    });
    assert_eq!(ended, Err(CompareError::Cancelled(Cancelled)));
    options.compare.cancel = CancelToken::default();
    options.splits = 2;
    assert_eq!(calibrated(&view, &options).runs, STEADY.runs);
}

#[test]
fn counts_comparisons_with_reports() {
    let mut all_reports = 0;
    for seed in 0..6 {
        // With one erratic function in eight and two runs per side, many comparisons report
        // something.
        let benchmark = Benchmark {
            runs: 5,
            erratic: true,
            ..STEADY
        };
        let view = benchmark.side(&mut Random::new(seed), "v1", 1.0);
        let options = with!(CalibrateOptions { runs: Some(1) });
        let calibration = calibrated(&view, &options);

        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        let (mut pairs_made, mut reports) = (0, 0);
        for (a, b) in pairs {
            let comparison = compared(&some_runs(&view, &[a]), &some_runs(&view, &[b]));
            pairs_made += 1;
            reports += usize::from(!comparison.findings.is_empty());
        }
        let found = calibration.false_reports.expect("five runs are enough");
        assert_eq!((found.comparisons, found.reports), (pairs_made, reports));
        all_reports += reports;
    }
    assert!(all_reports > 0, "nothing was there to be counted");
}

#[test]
fn text_fits_terminals_of_any_width() {
    let benchmark = Benchmark {
        functions: 12,
        runs: 6,
        erratic: true,
        ..STEADY
    };
    let view = benchmark.side(&mut Random::new(1), "v1", 1.0);
    let calibration = calibrated(&view, &CalibrateOptions::default());
    for width in [40, 80, 200] {
        let style = Style {
            width: Some(width),
            colors: None,
            full_names: false,
            words: WORDS,
        };
        let text = text(&calibration, style);
        let is_within = |line: &str| line.chars().count() <= width;
        assert!(text.lines().all(is_within), "{text}");
        assert_golden(&format!("calibrate-width{width}.txt"), &text);
    }
}

#[test]
fn reports_equal_builds_in_at_most_5_percent_of_splits() {
    let counts: Vec<(usize, usize)> = (0..6_u64)
        .into_par_iter()
        .map(|seed| {
            let view = STEADY.side(&mut Random::new(100 + seed), "v1", 1.0);
            let options = with!(CalibrateOptions { splits: 40 });
            let found = calibrated(&view, &options).false_reports;
            let found = found.expect("24 runs are enough");
            assert!(found.low <= found.share && found.share <= found.high);
            (found.reports, found.comparisons)
        })
        .collect();
    let (reports, comparisons) = counts
        .iter()
        .fold((0, 0), |sum, found| (sum.0 + found.0, sum.1 + found.1));
    assert_eq!(comparisons, 240);
    assert!(reports * 20 <= comparisons, "{reports} of {comparisons}");
}

#[test]
fn smallest_visible_change_is_found_in_9_of_10_comparisons() {
    // The required growth of the first function, which has 5 %, over several builds.
    let changes: Vec<f64> = (0..4_u64)
        .into_par_iter()
        .map(|seed| {
            let view = STEADY.side(&mut Random::new(200 + seed), "v1", 1.0);
            let options = with!(CalibrateOptions { splits: 60 });
            let calibration = calibrated(&view, &options);
            let first = calibration.visible.iter().find(|v| v.function == "f0");
            first
                .expect("it is one of the largest")
                .change
                .expect("a large change is found")
        })
        .collect();
    let change = changes.iter().sum::<f64>() / changes.len() as f64;
    assert!(1.15 < change && change < 1.4, "{changes:?}");

    let a_side = Benchmark { runs: 12, ..STEADY };
    let comparisons = 150;
    let found = (0..comparisons).into_par_iter().filter(|seed| {
        let mut random = Random::new(1000 + seed);
        let baseline = a_side.side(&mut random, "v1", 1.0);
        let candidate = a_side.side(&mut random, "v2", change);
        let findings = compared(&baseline, &candidate).findings;
        findings.iter().any(|finding| finding.function == "f0")
    });
    let found = found.count() as u64;
    assert!(
        (comparisons * 80 / 100..=comparisons * 98 / 100).contains(&found),
        "{found} of {comparisons} at {change}"
    );
}

#[test]
fn smaller_changes_are_visible_in_larger_functions() {
    // Counts only vary by chance; otherwise, the variation of single functions would matter more.
    let benchmark = Benchmark {
        dispersion: 0.0,
        ..STEADY
    };
    let view = benchmark.side(&mut Random::new(1), "v1", 1.0);
    let options = with!(CalibrateOptions { splits: 40 });
    let visible = calibrated(&view, &options).visible;
    assert_eq!(visible.len(), 10);
    assert!(visible.is_sorted_by(|a, b| a.share >= b.share));
    let change = |index: usize| visible[index].change.expect("a large change is found");
    assert!(change(0) < change(9), "{visible:?}");
}

#[test]
fn smaller_changes_are_visible_with_more_runs() {
    let view = STEADY.side(&mut Random::new(1), "v1", 1.0);
    let smallest = |runs| {
        let options = with!(CalibrateOptions {
            splits: 40,
            runs: Some(runs),
        });
        let calibration = calibrated(&view, &options);
        assert_eq!(calibration.runs_a_side, runs);
        calibration.visible[0].change.expect("it is found")
    };
    assert!(smallest(12) < smallest(6) && smallest(6) < smallest(3));
}

#[test]
fn counts_comparisons_in_which_a_metric_changed() {
    let mut view = Benchmark { runs: 4, ..STEADY }.side(&mut Random::new(5), "v1", 1.0);
    // The first two runs, or the last two, differ from the others: in one of three comparisons.
    let seconds = [1.0, 1.01, 2.0, 2.01];
    for (stored, seconds) in view.selection.profiles.iter_mut().zip(seconds) {
        stored.profile.metrics.insert("seconds".to_owned(), seconds);
        stored
            .profile
            .metrics
            .insert("requests".to_owned(), seconds);
    }
    let calibration = calibrated(&view, &CalibrateOptions::default());
    let found = |name: &str| {
        let mut metrics = calibration.metrics.iter();
        let metric = metrics.find(|metric| metric.name == name)?;
        Some((
            metric.false_reports.reports,
            metric.false_reports.comparisons,
        ))
    };
    assert_eq!(found("seconds"), Some((1, 3)));
    assert_eq!(found("total-cost"), Some((0, 3)));
    assert_eq!(found("requests"), None, "it does not count for the verdict");
}

#[test]
fn result_does_not_depend_on_order_of_runs() {
    let benchmark = Benchmark { runs: 8, ..STEADY };
    let view = benchmark.side(&mut Random::new(3), "v1", 1.0);
    let other = some_runs(&view, &[5, 2, 7, 0, 1, 6, 4, 3]);
    let options = CalibrateOptions::default();
    let (one, mut two) = (calibrated(&view, &options), calibrated(&other, &options));
    two.subject.profiles.clone_from(&one.subject.profiles);
    assert_eq!(one, two);
    // 8! / (4! 4!) / 2
    let found = one.false_reports.expect("eight runs are enough");
    assert_eq!(found.comparisons, 35);
}

#[test]
fn too_few_runs_report_required_number() {
    for (there, a_side, needed) in [
        (1, None, 4),
        (3, None, 4),
        (3, Some(1), 4),
        (8, Some(5), 10),
    ] {
        let benchmark = Benchmark {
            runs: there,
            ..STEADY
        };
        let view = benchmark.side(&mut Random::new(3), "v1", 1.0);
        let options = with!(CalibrateOptions { runs: a_side });
        let calibration = calibrated(&view, &options);
        assert_eq!(calibration.runs, there);
        assert_eq!(calibration.runs_needed, needed);
        assert_eq!(calibration.false_reports, None);
        assert!(calibration.visible.is_empty());
    }
}

#[test]
fn view_without_samples_has_no_figures() {
    let view = Benchmark { runs: 1, ..STEADY }.side(&mut Random::new(3), "v1", 1.0);
    let empty = some_runs(&view, &[]);
    let options = CalibrateOptions::default();
    assert_eq!(calibrated(&empty, &options).runs, 0);
    let nowhere = calibrate(&view, 7, &options).expect("an unknown function is not an error");
    assert_eq!(nowhere.false_reports, None);
}

#[test]
fn rejects_zero_splits_and_zero_runs() {
    let view = Benchmark { runs: 4, ..STEADY }.side(&mut Random::new(3), "v1", 1.0);
    for (name, splits, runs) in [("splits", 0, None), ("runs", 9, Some(0))] {
        let options = with!(CalibrateOptions { splits, runs });
        let refused = calibrate(&view, 0, &options);
        assert!(
            matches!(refused, Err(CompareError::Threshold { name: n, .. }) if n == name),
            "{refused:?}"
        );
    }
}
