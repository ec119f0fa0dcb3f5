//! Verdicts over several benchmarks, cost per metric, and ignored findings.

use super::support::{compare, view};
use crate::views::assert_golden;
use sto_core::units::UnixSeconds;
use sto_query::check::{Benchmarks, Check};
use sto_query::error::CompareError;
use sto_query::questions::{CompareOptions, Ignored, IgnoredFunction, NormalisationMethod};
use sto_query::render::{Detail, check_text};
use sto_query::results::{Comparison, FindingKind, Verdict, View, json};
use sto_query::text::Date;

const BEFORE: &str = "main;parse 3000\nmain;compute 5000\nmain;log 400\nmain;render 1600";
const SLOW_LOG: &str = "main;parse 3010\nmain;compute 4990\nmain;log 1900\nmain;render 1610";
const TOO_FEW: &str = "main;parse 30\nmain;compute 50\nmain;render 16";

fn compared_by(baseline: &View, candidate: &View, options: &CompareOptions) -> Comparison {
    compare(baseline, candidate, options).expect("the options are in range")
}

fn ignoring(function: &str, module: Option<&str>) -> CompareOptions {
    let known = Ignored::new("known", Date::from_time(UnixSeconds(1_800_000_000)));
    let mut ignored = IgnoredFunction::new(function, known);
    ignored.module = module.map(str::to_owned);
    with!(CompareOptions {
        ignored: vec![ignored],
    })
}

fn of_benchmark(name: &str, old: &str, new: &str, options: &CompareOptions) -> Comparison {
    let mut comparison = compared_by(&view("v1", &[old]), &view("v2", &[new]), options);
    comparison.benchmark = Some(name.to_owned());
    comparison
}

#[test]
fn verdict_over_several_benchmarks_is_the_worst() {
    let options = CompareOptions::default();
    let clean = || of_benchmark("clean", BEFORE, BEFORE, &options);
    let slow = || of_benchmark("slow", BEFORE, SLOW_LOG, &options);
    let small = || of_benchmark("small", TOO_FEW, TOO_FEW, &options);
    let verdict = |comparisons| Check::new(comparisons).verdict;
    assert_eq!(verdict(vec![clean(), clean()]), Verdict::Clean);
    assert_eq!(verdict(vec![clean(), small()]), Verdict::Insufficient);
    assert_eq!(verdict(vec![slow(), small(), clean()]), Verdict::Regression);
    assert_eq!(verdict(vec![clean(), small(), slow()]), Verdict::Regression);
    assert_eq!(verdict(vec![]), Verdict::Insufficient);
    let check = Check::new(vec![slow(), small(), clean()]);
    assert_eq!(check.reason, "1 of 3 benchmarks got slower: slow");
    let check = Check::new(vec![small(), clean()]);
    let reason = "1 of 2 benchmarks have too little data, and none got slower: small";
    assert_eq!(check.reason, reason);
}

#[test]
fn shows_one_line_per_benchmark_and_then_details() {
    let ignoring = ignoring("log", None);
    let mut known = of_benchmark("known", BEFORE, SLOW_LOG, &ignoring);
    known.policy = Some("sto.toml".to_owned());
    let options = CompareOptions::default();
    let check = Check::new(vec![
        of_benchmark("slow", BEFORE, SLOW_LOG, &options),
        of_benchmark(
            "\x1b[31m of a very long name that is cut",
            TOO_FEW,
            TOO_FEW,
            &options,
        ),
        known,
    ]);
    assert_golden(
        "check.txt",
        &check_text(&check, crate::words::plain(), Detail::Short),
    );
    let json: serde_json::Value = serde_json::from_str(&json(&check).unwrap()).unwrap();
    assert_eq!(json["schema"], "sto.check/1");
    assert_eq!(json["verdict"], "regression");
    assert_eq!(json["comparisons"][0]["schema"], "sto.find-regressions/1");
    assert_eq!(json["comparisons"][0]["benchmark"], "slow");
    assert_eq!(json["comparisons"][0]["policy"], serde_json::Value::Null);
    assert_eq!(json["comparisons"][2]["policy"], "sto.toml");
    let ignored = &json["comparisons"][2]["findings"][0]["ignored"];
    assert_eq!(ignored["reason"], "known");
    assert_eq!(ignored["expires"], "2027-01-15");
}

#[test]
fn ignored_finding_is_listed_and_does_not_count() {
    let compare = |options| compared_by(&view("v1", &[BEFORE]), &view("v2", &[SLOW_LOG]), &options);
    for options in [ignoring("log", None), ignoring("log", Some("app"))] {
        let comparison = compare(options);
        assert_eq!(comparison.verdict, Verdict::Clean);
        assert!(
            comparison
                .reason
                .starts_with("but for 1 that is ignored, no function")
        );
        let finding = &comparison.findings[0];
        assert_eq!(
            (finding.function.as_str(), finding.kind),
            ("log", FindingKind::Regression)
        );
        assert_eq!(finding.ignored.as_ref().unwrap().reason, "known");
    }
    // A symbol as a compiler may write it.
    assert_eq!(
        compare(ignoring("log.constprop.0", None)).verdict,
        Verdict::Clean
    );
    for options in [ignoring("lo", None), ignoring("log", Some("libc.so.6"))] {
        let comparison = compare(options);
        assert_eq!(comparison.verdict, Verdict::Regression);
        assert_eq!(comparison.findings[0].ignored, None);
    }
}

#[test]
fn ignored_findings_come_last_and_others_count() {
    let both = "main;parse 9000\nmain;compute 4990\nmain;log 900\nmain;render 1610";
    let options = ignoring("parse", None);
    let comparison = compared_by(&view("v1", &[BEFORE]), &view("v2", &[both]), &options);
    assert_eq!(comparison.verdict, Verdict::Regression);
    let ignored: Vec<bool> = comparison
        .findings
        .iter()
        .map(|f| f.ignored.is_some())
        .collect();
    assert_eq!(ignored, [false, true]);
    assert!(
        comparison.reason.starts_with("log "),
        "{}",
        comparison.reason
    );
}

/// Returns a view whose runs have these benchmarks.
fn of_benchmarks(version: &str, benchmarks: &[Option<&str>]) -> View {
    let mut view = view(version, &vec![BEFORE; benchmarks.len()]);
    for (stored, name) in view.selection.profiles.iter_mut().zip(benchmarks) {
        stored.profile.benchmark = name.map(str::to_owned);
    }
    view
}

#[test]
fn compares_shared_benchmarks_one_by_one() {
    let (a, b, c) = (Some("a"), Some("b"), Some("c"));
    let of = |old: &[Option<&str>], new: &[Option<&str>], named: &[&str]| {
        let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
        let (old, new) = (of_benchmarks("v1", old), of_benchmarks("v2", new));
        Benchmarks::new(&old.selection, &new.selection, &named)
    };
    let named = |names: &[Option<&str>]| -> Vec<Option<String>> {
        names.iter().map(|name| name.map(str::to_owned)).collect()
    };
    // With one benchmark per side, all runs are compared, with a warning if the benchmarks differ.
    assert_eq!(of(&[a, a], &[a], &[]).compared, []);
    assert_eq!(of(&[None], &[None], &[]).compared, []);
    assert_eq!(of(&[a], &[b], &[]).compared, []);
    // Without benchmarks in common, each is compared with a side without runs.
    let nothing = of(&[b, a], &[c], &[]);
    assert_eq!(nothing.compared, named(&[a, b, c]));
    assert_eq!(
        nothing.warnings,
        [
            "The sides have no benchmark in common, so nothing can be compared: the baseline has runs of a, b, \
             the candidate of c."
        ]
    );
    assert_eq!(of(&[None], &[a, b], &[]).compared, named(&[None, a, b]));
    assert_eq!(of(&[b, a], &[a, b], &[]).compared, named(&[a, b]));
    assert_eq!(of(&[None, a], &[a, None], &[]).compared, named(&[None, a]));
    let left_out = of(&[a, b, None], &[a, c], &[]);
    assert_eq!(left_out.compared, named(&[a]));
    assert_eq!(
        left_out.warnings,
        [
            "Only the baseline has runs of these benchmarks, which are left out: (none), b.",
            "Only the candidate has runs of these benchmarks, which are left out: c.",
        ]
    );
    let asked = of(&[a], &[a, b], &["b", "a", "b"]);
    assert_eq!(asked.compared, named(&[b, a]));
    assert_eq!(
        asked.warnings,
        ["The baseline has no runs of b; it has runs of these benchmarks: a."]
    );
}

#[test]
fn side_without_runs_is_insufficient() {
    let (mut none, some) = (view("v1", &[]), view("v2", &[BEFORE]));
    // No run measured anything.
    none.sample_types.clear();
    for (old, new, reason) in [
        (
            &none,
            &some,
            "the baseline does not have any runs to compare",
        ),
        (
            &some,
            &none,
            "the candidate does not have any runs to compare",
        ),
        (&none, &none, "neither side has any runs to compare"),
    ] {
        let comparison = compared_by(old, new, &CompareOptions::default());
        assert_eq!(comparison.verdict, Verdict::Insufficient);
        assert_eq!(comparison.reason, reason);
    }
}

#[test]
fn warns_of_mixed_benchmarks() {
    let mixed = of_benchmarks("v1", &[Some("a"), None]);
    let plain = of_benchmarks("v2", &[Some("c")]);
    let comparison = compared_by(&mixed, &plain, &CompareOptions::default());
    let expected = "The baseline mixes runs of different benchmarks: none, a.";
    assert!(
        comparison.warnings.iter().any(|w| w == expected),
        "{:?}",
        comparison.warnings
    );
}

#[test]
fn names_different_labels_in_one_warning() {
    let label = |view: &mut View, run: usize, key: &str, value: &str| {
        let labels = &mut view.selection.profiles[run].profile.labels;
        labels.insert(key.to_owned(), value.to_owned());
    };
    let (mut old, mut new) = (view("v1", &[BEFORE; 2]), view("v2", &[BEFORE; 2]));
    for run in 0..2 {
        label(&mut old, run, "governor", "performance");
        label(&mut old, run, "data", "large");
        label(&mut new, run, "data", "large");
    }
    label(&mut new, 0, "governor", "powersave");
    label(&mut new, 1, "turbo", "off");
    let comparison = compared_by(&old, &new, &CompareOptions::default());
    assert_eq!(
        comparison.warnings,
        [
            "The sides have different labels: governor (performance against nothing, powersave), \
          turbo (nothing against nothing, off)."
        ]
    );
}

fn with_metric(mut view: View, requests: &[f64]) -> View {
    for (stored, &requests) in view.selection.profiles.iter_mut().zip(requests) {
        let metrics = &mut stored.profile.metrics;
        metrics.insert("requests".to_owned(), requests);
    }
    view
}

fn per_request() -> CompareOptions {
    with!(CompareOptions {
        normalisation: Some(NormalisationMethod::PerMetric("requests".to_owned())),
    })
}

/// All functions cost twice as much per request, so shares and the majority of functions do not
/// change.
#[test]
fn cost_per_metric_detects_overall_slowdown() {
    let (half, same) = (
        "main;parse 3000\nmain;compute 5000\nmain;render 1600",
        "main;parse 3010\nmain;compute 4990\nmain;render 1610",
    );
    let baseline = with_metric(view("v1", &[half; 3]), &[1000.0, 1000.0, 1000.0]);
    let candidate = with_metric(view("v2", &[same; 3]), &[500.0, 500.0, 500.0]);
    let by_shares = compared_by(&baseline, &candidate, &CompareOptions::default());
    assert_eq!(by_shares.verdict, Verdict::Clean);
    let comparison = compared_by(&baseline, &candidate, &per_request());
    assert_eq!(comparison.verdict, Verdict::Regression);
    // No single function explains the change.
    let [main] = &comparison.findings[..] else {
        panic!("{:?}", comparison.findings)
    };
    assert_eq!(main.function, "main");
    let change = main.total.change.unwrap();
    assert!(
        (change / (2.0 * 9610.0 / 9600.0) - 1.0).abs() < 1e-5,
        "{change}"
    );
    let normalisation = &comparison.statistics.as_ref().unwrap().normalisation;
    assert_eq!(normalisation.candidate_size, 0.5);
    let json = serde_json::to_value(normalisation).unwrap();
    assert_eq!(
        (&json["method"], &json["metric"]),
        (&"per-metric".into(), &"requests".into())
    );
}

#[test]
fn cost_per_metric_ignores_length_of_runs() {
    let long = "main;parse 6000\nmain;compute 10000\nmain;render 3200";
    let short = "main;parse 3000\nmain;compute 5000\nmain;render 1600";
    let baseline = with_metric(view("v1", &[long, short]), &[200.0, 100.0]);
    let candidate = with_metric(view("v2", &[short, long]), &[100.0, 200.0]);
    let comparison = compared_by(&baseline, &candidate, &per_request());
    assert_eq!(
        (comparison.verdict, &*comparison.findings),
        (Verdict::Clean, &[][..])
    );
    let dispersion = &comparison.statistics.as_ref().unwrap().dispersion;
    assert!(dispersion.self_ < 0.001, "{dispersion:?}");
}

#[test]
fn names_profiles_without_metric() {
    let baseline = with_metric(view("v1", &[BEFORE; 2]), &[100.0]);
    let candidate = with_metric(view("v2", &[BEFORE; 3]), &[0.0, -3.5, f64::NAN]);
    let error = compare(&baseline, &candidate, &per_request()).unwrap_err();
    let CompareError::Metric {
        metric, profiles, ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(metric, "requests");
    let id = |view: &View, run: usize| view.selection.profiles[run].id.to_string()[..12].to_owned();
    assert_eq!(
        *profiles,
        [
            format!("missing in {} of app@v1", id(&baseline, 1)),
            format!("0 in {} of app@v2", id(&candidate, 0)),
            format!("-3.5 in {} of app@v2", id(&candidate, 1)),
            format!("NaN in {} of app@v2", id(&candidate, 2)),
        ]
    );
    let more = with_metric(view("v3", &[BEFORE; 9]), &[0.0; 9]);
    let error = compare(&baseline, &more, &per_request()).unwrap_err();
    let named = format!("0 in {} of app@v3 and so in 6 more", id(&more, 2));
    assert!(error.to_string().ends_with(&named), "{error}");
}
