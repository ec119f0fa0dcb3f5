//! Measurements of whole runs, and runs that failed.

use super::support::{Random, view};
use sto_core::units::UnixSeconds;
use sto_query::internal::compare::{SECONDS, TOTAL_COST, compare};
use sto_query::questions::{
    CompareOptions, Ignored, IgnoredFunction, NormalisationMethod, WorseIf,
};
use sto_query::results::{Comparison, MetricChange, MetricOutcome, Verdict, View};
use sto_query::statistics::{holm, welch};
use sto_query::text::Date;

const STACKS: &str = "
    main;parse 4000
    main;hash 3000
    main;write 2000
    main;sort 1000
";

/// Returns runs of the same stacks, with these values of a metric.
fn runs(version: &str, metric: &str, numbers: &[f64]) -> View {
    let mut view = view(version, &vec![STACKS; numbers.len()]);
    set(&mut view, metric, numbers);
    view
}

fn set(view: &mut View, metric: &str, numbers: &[f64]) {
    for (stored, &number) in view.selection.profiles.iter_mut().zip(numbers) {
        stored.profile.metrics.insert(metric.to_owned(), number);
    }
}

fn compared(baseline: &View, candidate: &View, options: &CompareOptions) -> Comparison {
    compare(baseline, candidate, options).expect("the options are in range")
}

fn found<'a>(comparison: &'a Comparison, name: &str) -> &'a MetricChange {
    let mut metrics = comparison.metrics.iter();
    metrics.find(|m| m.name == name).expect("it is there")
}

const SLOW: [f64; 5] = [1.25, 1.31, 1.15, 1.30, 1.22];
const FAST: [f64; 5] = [0.91, 0.88, 1.02, 0.79, 0.95];

#[test]
fn longer_run_without_slower_function_is_regression() {
    let (v1, v2) = (runs("v1", SECONDS, &FAST), runs("v2", SECONDS, &SLOW));
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Regression);
    assert!(comparison.findings.is_empty());
    assert_eq!(
        comparison.reason,
        "a run takes 37% more time; but no function got slower by 10% or more that holds 0.5% of all"
    );
    let seconds = &comparison.metrics[0];
    assert_eq!(seconds.name, SECONDS);
    assert_eq!(
        (seconds.baseline.mean, seconds.baseline.deviation),
        (0.91, Some(0.0851469))
    );
    assert_eq!(seconds.candidate.mean, 1.246);
    assert_eq!(seconds.change, Some(1.36923));
    assert_eq!(seconds.p, Some(0.000_516_681));
    assert_eq!(
        seconds.q,
        Some(0.001_033_36),
        "total cost is the other that counts"
    );
    assert_eq!(seconds.outcome, MetricOutcome::Worse);
    assert_eq!(found(&comparison, TOTAL_COST).outcome, MetricOutcome::Same);

    let comparison = compared(&v2, &v1, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(comparison.metrics[0].outcome, MetricOutcome::Better);
}

#[test]
fn longer_run_is_regression_if_functions_cannot_be_judged() {
    let (mut v1, mut v2) = (runs("v1", SECONDS, &FAST), runs("v2", SECONDS, &SLOW));
    for view in [&mut v1, &mut v2] {
        for stored in &mut view.selection.profiles {
            stored.profile.quality.unresolved = 900;
        }
    }
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Regression);
    assert!(
        comparison.reason.starts_with(
            "a run takes 37% more time; in which functions is unknown: 90% of the baseline's samples"
        ),
        "{}",
        comparison.reason
    );
}

#[test]
fn policy_sets_direction_of_metrics() {
    let (v1, v2) = (runs("v1", SECONDS, &FAST), runs("v2", SECONDS, &SLOW));
    let options = |name: &str, worse_if| {
        with!(CompareOptions {
            worse_if: [(name.to_owned(), worse_if)].into(),
        })
    };
    let comparison = compared(&v1, &v2, &options(SECONDS, WorseIf::Never));
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(comparison.metrics[0].outcome, MetricOutcome::Changed);
    assert_eq!(comparison.metrics[0].q, None);

    let (v1, v2) = (runs("v1", "requests", &SLOW), runs("v2", "requests", &FAST));
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(
        found(&comparison, "requests").outcome,
        MetricOutcome::Changed
    );
    let comparison = compared(&v1, &v2, &options("requests", WorseIf::Lower));
    assert_eq!(comparison.verdict, Verdict::Regression);
    assert!(
        comparison
            .reason
            .starts_with("the metric requests is 27% less;")
    );
    let comparison = compared(&v1, &v2, &options("requests", WorseIf::Higher));
    assert_eq!(comparison.verdict, Verdict::Clean);
    let comparison = compared(&v1, &v2, &options("latency", WorseIf::Higher));
    assert!(comparison.warnings[0].starts_with("The metric latency should count"));
}

#[test]
fn single_runs_are_not_tested() {
    let (v1, v2) = (runs("v1", SECONDS, &[1.0]), runs("v2", SECONDS, &[5.0]));
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Clean);
    let seconds = &comparison.metrics[0];
    assert_eq!((seconds.p, seconds.change), (None, Some(5.0)));
    assert_eq!(seconds.outcome, MetricOutcome::Untested);
    // The other side shows how much runs vary.
    let v1 = runs("v1", SECONDS, &[1.0, 1.1, 0.9, 1.05]);
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.metrics[0].outcome, MetricOutcome::Worse);
}

#[test]
fn cost_per_metric_divides_time_and_cost() {
    let mut v1 = runs("v1", SECONDS, &[1.0, 1.1, 0.9, 1.0, 1.05]);
    let mut v2 = runs("v2", SECONDS, &[2.0, 2.2, 1.8, 2.0, 2.1]);
    set(&mut v1, "requests", &[100.0; 5]);
    set(&mut v2, "requests", &[200.0; 5]);
    let options = with!(CompareOptions {
        normalisation: Some(NormalisationMethod::PerMetric("requests".to_owned())),
    });
    let comparison = compared(&v1, &v2, &options);
    let seconds = &comparison.metrics[0];
    assert_eq!(seconds.per.as_deref(), Some("requests"));
    assert_eq!((seconds.baseline.mean, seconds.change), (0.0101, Some(1.0)));
    assert_eq!(
        comparison.metrics[1].change,
        Some(0.5),
        "the same samples for twice the work"
    );
    assert_eq!(comparison.verdict, Verdict::Clean);
}

#[test]
fn longer_recording_is_regression_only_for_same_work() {
    let v1 = view("v1", &[STACKS; 5]);
    let twice: String = STACKS
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(stack, count)| format!("{stack} {}\n", 2 * count.parse::<u64>().unwrap()))
        .collect();
    let v2 = view("v2", &[&twice[..]; 5]);
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    let method = |method| {
        with!(CompareOptions {
            normalisation: Some(method),
        })
    };
    // None of the four functions is stable, so all are references.
    assert_eq!(found(&comparison, TOTAL_COST).change, Some(2.0));
    assert_eq!(found(&comparison, TOTAL_COST).worse_if, WorseIf::Never);
    assert_eq!(comparison.verdict, Verdict::Clean);
    let comparison = compared(&v1, &v2, &method(NormalisationMethod::Total));
    assert_eq!(comparison.verdict, Verdict::Clean);
    let comparison = compared(&v1, &v2, &method(NormalisationMethod::PerRun));
    assert_eq!(found(&comparison, TOTAL_COST).outcome, MetricOutcome::Worse);
    assert_eq!(comparison.verdict, Verdict::Regression);
}

#[test]
fn leaves_out_failed_runs() {
    let mut v1 = runs("v1", SECONDS, &[1.0, 1.1, 0.9, 1.0, 1.05]);
    let mut v2 = runs("v2", SECONDS, &[1.0, 1.1, 0.9, 0.01, 1.05]);
    set(&mut v1, "exit_status", &[0.0; 5]);
    set(&mut v2, "exit_status", &[0.0, 0.0, 0.0, 139.0, 0.0]);
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(
        (comparison.baseline.runs, comparison.candidate.runs),
        (5, 4)
    );
    assert_eq!(comparison.metrics[0].candidate.runs, 4);
    assert_eq!(
        comparison.warnings[0],
        "1 of the candidate's 5 runs failed, and is left out: status 139."
    );
    assert!(
        comparison
            .metrics
            .iter()
            .all(|metric| metric.name != "exit_status")
    );
}

#[test]
fn side_of_failed_runs_is_clean_only_if_other_failed_too() {
    let mut v1 = runs("v1", SECONDS, &[1.0, 1.1, 0.9]);
    let mut v2 = runs("v2", SECONDS, &[1.0, 1.1, 0.9]);
    set(&mut v1, "exit_status", &[0.0; 3]);
    set(&mut v2, "exit_status", &[1.0; 3]);
    for (a, b, message) in [
        (
            &v1,
            &v2,
            "none of the baseline failed, all 3 of the candidate failed (status 1)",
        ),
        (
            &v2,
            &v1,
            "all 3 of the baseline failed (status 1), none of the candidate failed",
        ),
    ] {
        let comparison = compared(a, b, &CompareOptions::default());
        assert_eq!(comparison.verdict, Verdict::Insufficient);
        assert!(comparison.reason.contains(message), "{}", comparison.reason);
        assert!(
            comparison.warnings[0].contains(message),
            "{:?}",
            comparison.warnings
        );
    }
    set(&mut v1, "exit_status", &[1.0; 3]);
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(
        comparison.warnings[0],
        "All runs of both sides ended with status 1."
    );
}

/// scipy 1.11: `ttest_ind(a, b, equal_var=False)`, of the logarithms for the first.
#[test]
fn welch_agrees_with_scipy() {
    let p = welch(&FAST, &SLOW, 0.0).unwrap();
    assert!((p - 0.000_516_680_663_268).abs() < 1e-9, "{p}");
    let p = welch(&[-1.0, 0.5, 2.0], &[3.0, 2.5], 0.0).unwrap();
    assert!((p - 0.112_938_341_485).abs() < 1e-9, "{p}");
}

#[test]
fn equal_values_have_a_minimum_variance() {
    assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0], 0.02), Some(1.0));
    assert!(welch(&[1.0, 1.0], &[1.05, 1.05], 0.02).unwrap() > 0.05);
    assert!(welch(&[1.0; 5], &[1.2; 5], 0.02).unwrap() < 1e-4);
    assert_eq!(welch(&[1.0], &[2.0], 0.02), None);
}

#[test]
fn adjusts_for_many_metrics_by_holm() {
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    let expected = [0.03, 0.06, 0.06, 0.02];
    for (q, expected) in adjusted.iter().zip(expected) {
        assert!((q - expected).abs() < 1e-12, "{adjusted:?}");
    }
}

#[test]
fn few_equal_builds_are_reported_as_slower() {
    let mut random = Random::new(14);
    for (runs, deviation) in [(2, 0.3), (2, 0.05), (3, 0.3), (5, 0.3)] {
        let mut number = || (deviation * random.normal()).exp();
        let mut draw = || (0..runs).map(|_| number()).collect::<Vec<f64>>();
        let (mut reports, comparisons) = (0, 4000);
        for _ in 0..comparisons {
            let (a, b) = (draw(), draw());
            reports += u32::from(welch(&a, &b, 0.02).unwrap() <= 0.05);
        }
        let share = f64::from(reports) / f64::from(comparisons);
        assert!(
            share < 0.06,
            "{runs} runs that vary by {deviation}: {share}"
        );
    }
}

#[test]
fn ignored_function_is_ignored_in_run_time() {
    let slower = STACKS.replace("hash 3000", "hash 6000");
    let mut v1 = view("v1", &[STACKS; 5]);
    let mut v2 = view("v2", &[&slower[..]; 5]);
    set(&mut v1, SECONDS, &[1.0, 1.01, 0.99, 1.0, 1.0]);
    set(&mut v2, SECONDS, &[1.3, 1.31, 1.29, 1.3, 1.3]);
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Regression);
    let start = "a run takes 30% more time and costs 30% more; hash costs 2.0 times as much";
    assert!(
        comparison.reason.starts_with(start),
        "{}",
        comparison.reason
    );
    let known = Ignored::new("known", Date::from_time(UnixSeconds(32_000_000_000)));
    let options = with!(CompareOptions {
        ignored: vec![IgnoredFunction::new("hash", known)],
    });
    let comparison = compared(&v1, &v2, &options);
    assert_eq!(comparison.verdict, Verdict::Clean, "{}", comparison.reason);
    assert_eq!(comparison.metrics[0].outcome, MetricOutcome::Ignored);
    set(&mut v2, SECONDS, &[1.5, 1.51, 1.49, 1.5, 1.5]);
    let comparison = compared(&v1, &v2, &options);
    assert_eq!(
        comparison.verdict,
        Verdict::Regression,
        "it takes more than that"
    );
}

#[test]
fn compares_events_that_differ_only_in_precision() {
    let v1 = view("v1", &[STACKS; 5]);
    let mut v2 = view("v2", &[STACKS; 5]);
    v2.sample_types[0].event = "cpu-clock:ppp".to_owned();
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert!(comparison.warnings.is_empty(), "{:?}", comparison.warnings);
    v2.sample_types[0].event = "cpu-clock:u".to_owned();
    let comparison = compared(&v1, &v2, &CompareOptions::default());
    assert_eq!(comparison.verdict, Verdict::Insufficient);
}
