//! Sides that are equal, empty, tiny or broken.

use super::support::{Order, compared, sample_type, set_build_ids, summary, view, view_in_order};
use proptest::prelude::*;
use sto_query::error::CompareError;
use sto_query::internal::compare::compare;
use sto_query::questions::CompareOptions;
use sto_query::render::{Detail, findings_text};
use sto_query::results::{Comparison, Finding, FindingKind, Verdict, View, json};

const STEADY: &str = "
    main;parse 400
    main;compute;inner 2500
    main;compute;inner;compute 100
    main;write 300
";

/// No report may contain NaN or infinity.
fn assert_no_nan(comparison: &Comparison) {
    let json = json(comparison).expect("reports have no keys but strings");
    let value: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
    let is_number = |pointer: &str| value.pointer(pointer).is_none_or(|v| v.is_number());
    // serde_json writes NaN and infinities as null.
    for pointer in [
        "/baseline/unresolved_share",
        "/candidate/lost_share",
        "/statistics/normalisation/candidate_size",
        "/statistics/normalisation/candidate_cost",
        "/statistics/dispersion/self",
        "/statistics/dispersion/total",
        "/findings/0/total/baseline_share",
        "/findings/0/total/candidate_share",
    ] {
        assert!(is_number(pointer), "{pointer} in {json}");
    }
    let text = findings_text(comparison, crate::words::plain(), Detail::Full);
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
}

#[test]
fn equal_sides_are_clean() {
    for runs in [&[STEADY] as &[&str], &[STEADY; 3]] {
        let comparison = compared(&view("v1", runs), &view("v2", runs));
        assert_eq!(comparison.verdict, Verdict::Clean);
        assert_eq!(summary(&comparison), "");
        assert_no_nan(&comparison);
    }
}

#[test]
fn same_profile_on_both_sides_is_clean_with_warning() {
    let side = view("v1", &[STEADY]);
    let comparison = compared(&side, &side);
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(comparison.warnings, ["The same profile is on both sides."]);
}

#[test]
fn side_without_samples_is_insufficient() {
    let full = view("v1", &[STEADY]);
    let no_runs = view("none", &[]);
    let empty_run = view("empty", &[""]);
    for (baseline, candidate, name) in [
        (&full, &no_runs, "candidate"),
        (&no_runs, &full, "baseline"),
        (&full, &empty_run, "candidate"),
        (&empty_run, &full, "baseline"),
        (&empty_run, &empty_run, "baseline"),
    ] {
        let comparison = compared(baseline, candidate);
        assert_eq!(comparison.verdict, Verdict::Insufficient);
        assert_eq!(comparison.reason, format!("the {name} has no samples"));
        assert_eq!(comparison.findings, []);
        assert_no_nan(&comparison);
    }
}

#[test]
fn leaves_out_run_without_samples() {
    let comparison = compared(&view("v1", &[STEADY, ""]), &view("v2", &[STEADY]));
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert_eq!(comparison.baseline.runs, 1);
    assert_eq!(
        comparison.warnings,
        ["1 of the baseline's 2 runs have no samples of the event; left out."]
    );
}

#[test]
fn different_events_are_insufficient() {
    let mut candidate = view("v2", &[STEADY]);
    candidate.sample_types = vec![sample_type("page-faults")];
    let comparison = compared(&view("v1", &[STEADY]), &candidate);
    assert_eq!(comparison.verdict, Verdict::Insufficient);
    assert!(
        comparison.reason.contains("cpu-clock"),
        "{}",
        comparison.reason
    );
    assert!(
        comparison.reason.contains("page-faults"),
        "{}",
        comparison.reason
    );
    assert_no_nan(&comparison);
}

#[test]
fn few_samples_without_finding_are_insufficient() {
    let few = "main;parse 60\n main;compute 90\n main;write 20";
    let comparison = compared(&view("v1", &[STEADY]), &view("v2", &[few]));
    assert_eq!(comparison.verdict, Verdict::Insufficient);
    assert!(
        comparison.reason.contains("170 samples"),
        "{}",
        comparison.reason
    );
    assert!(
        comparison.reason.contains("samples and"),
        "{}",
        comparison.reason
    );
}

type Spoil = fn(&mut View);

#[test]
fn untrustworthy_data_are_insufficient_even_with_findings() {
    let spoilt: [(Spoil, &str); 3] = [
        (
            |v| v.selection.profiles[0].profile.quality.unresolved = 600,
            "60% of the candidate's samples have no symbol",
        ),
        (
            |v| v.selection.profiles[0].profile.quality.truncated = 510,
            "51% of the candidate's stacks are truncated",
        ),
        (
            |v| v.selection.profiles[0].profile.quality.lost = 3000,
            "75% of the candidate's events were lost",
        ),
    ];
    for (spoil, reason) in spoilt {
        let mut candidate = view("v2", &[&format!("{STEADY}\n main;slow 3000")]);
        spoil(&mut candidate);
        let comparison = compared(&view("v1", &[STEADY]), &candidate);
        assert_eq!(comparison.verdict, Verdict::Insufficient);
        assert!(
            comparison.reason.starts_with(reason),
            "{}",
            comparison.reason
        );
        assert_eq!(comparison.findings.len(), 1, "it is shown all the same");
    }
}

#[test]
fn warns_of_all_differences_besides_code() {
    let mut candidate = view("v2", &[STEADY]);
    let profile = &mut candidate.selection.profiles[0].profile;
    profile.origin.host = Some("laptop".to_owned());
    profile.quality.truncated = 300;
    profile.quality.lost = 100;
    for costs in &mut candidate.runs[0] {
        costs.iter_mut().for_each(|(_, cost)| cost.value *= 2);
    }
    let comparison = compared(&view("v1", &[STEADY]), &candidate);
    let expected = [
        "different hosts: bench1 against laptop",
        "candidate lost 9%",
        "The shares of truncated stacks differ: 0% of the baseline's and 30%",
        "different rates: a sample stands for 1000000 ns in the baseline and 2000000 ns",
        "Most functions cost 2.0 times as much",
    ];
    assert_eq!(
        comparison.warnings.len(),
        expected.len(),
        "{:#?}",
        comparison.warnings
    );
    for (warning, expected) in comparison.warnings.iter().zip(expected) {
        assert!(warning.contains(expected), "{warning}");
    }
}

#[test]
fn rejects_thresholds_out_of_range() {
    let side = view("v1", &[STEADY]);
    let defaults = CompareOptions::default();
    for (options, name) in [
        (
            with!(CompareOptions {
                alpha: 0.0,
                ..defaults.clone()
            }),
            "alpha",
        ),
        (
            with!(CompareOptions {
                alpha: f64::NAN,
                ..defaults.clone()
            }),
            "alpha",
        ),
        (
            with!(CompareOptions {
                min_effect: -0.1,
                ..defaults.clone()
            }),
            "min_effect",
        ),
        (
            with!(CompareOptions {
                min_share: 1.0,
                ..defaults.clone()
            }),
            "min_share",
        ),
    ] {
        let Err(CompareError::Threshold { name: found, .. }) = compare(&side, &side, &options)
        else {
            panic!("{options:?} was taken");
        };
        assert_eq!(found, name);
    }
}

#[test]
fn largest_counts_do_not_overflow() {
    let huge = format!(
        "main;parse {0}\n main;compute {0}\n main;write {0}",
        u64::MAX / 4
    );
    let mut sides = [view("v1", &["main 1"]), view("v2", &["main 1"])];
    for side in &mut sides {
        let text = huge.replace(&(u64::MAX / 4).to_string(), "1");
        *side = view(&side.selection.build.version.clone(), &[&text, &text]);
        for run in side.runs.iter_mut().flatten() {
            run.iter_mut()
                .for_each(|(_, cost)| cost.samples = u64::MAX / 2);
        }
    }
    assert_no_nan(&compared(&sides[0], &sides[1]));
}

#[test]
fn result_does_not_depend_on_order_of_frames_and_stacks() {
    let old = "main;a;b 500\n main;a;c 400\n main;d;b 300\n main;e 200\n zeta;b 50\n";
    let new = "main;a;b 1500\n main;a;c 390\n main;f 310\n main;e 100\n zeta;b 55\n";
    let report = |baseline, candidate| {
        let sides = [("v1", old, baseline), ("v2", new, candidate)];
        let [mut old, mut new] =
            sides.map(|(v, text, order)| view_in_order(v, &[text, text], order));
        set_build_ids(&mut old, &[("app", 1)]);
        set_build_ids(&mut new, &[("app", 2)]);
        json(&compared(&old, &new)).expect("reports have no keys but strings")
    };
    let expected = report(Order::Forward, Order::Forward);
    for (a, b) in [
        (Order::Forward, Order::Backward),
        (Order::Backward, Order::Forward),
        (Order::Backward, Order::Backward),
    ] {
        assert_eq!(report(a, b), expected);
    }
}

fn folded() -> impl Strategy<Value = String> {
    let stack = (prop::collection::vec("[a-d]", 1..5), 0..400_u64);
    prop::collection::vec(stack, 0..12).prop_map(|stacks| {
        let line =
            |(frames, samples): (Vec<String>, u64)| format!("{} {samples}\n", frames.join(";"));
        stacks.into_iter().map(line).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_two_sides_compare_without_panic_or_nan(
        old in prop::collection::vec(folded(), 1..4),
        new in prop::collection::vec(folded(), 1..4),
    ) {
        let runs = |texts: &[String], version| {
            view(version, &texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (old, new) = (runs(&old, "v1"), runs(&new, "v2"));
        let comparison = compared(&old, &new);
        assert_no_nan(&comparison);
        for finding in &comparison.findings {
            for change in [finding.self_, finding.attributed_self, finding.total] {
                prop_assert!((0.0..=1.0).contains(&change.baseline_share));
                prop_assert!((0.0..=1.0).contains(&change.candidate_share));
                prop_assert!(change.change.is_none_or(f64::is_finite));
                prop_assert!(change.p.is_none_or(|p| p > 0.0 && p <= 1.0));
                prop_assert!(change.q >= change.p);
            }
        }
    }

    #[test]
    fn swapped_regression_is_an_improvement(
        old in folded(),
        new in folded(),
    ) {
        let (old, new) = (view("v1", &[&old]), view("v2", &[&new]));
        let (there, back) = (compared(&old, &new), compared(&new, &old));
        // A renamed function has the first of both names here.
        let names = |comparison: &Comparison, baseline: &View| -> Vec<String> {
            let name = |finding: &Finding| {
                let mut frames = baseline.frames.iter();
                let has_name = frames.any(|(_, frame)| frame.symbol == finding.function);
                let is_renamed = !has_name && finding.total.baseline_samples > 0;
                let old = finding.moved_from.as_ref().filter(|_| is_renamed);
                let old = old.map_or(&finding.function, |old| &old.function);
                old.min(&finding.function).clone()
            };
            comparison.findings.iter().map(name).collect()
        };
        let (mut there, mut back) = (names(&there, &old), names(&back, &new));
        there.sort();
        back.sort();
        prop_assert_eq!(there, back);
    }
}

#[test]
fn finds_renamed_function_among_thousands_of_new_and_gone() {
    let side = |name: &str, hash: &str| {
        let small = (0..3000).map(|f| format!("main;app::{name}_{f} 1\n"));
        let large = format!("main;{hash}\nmain;compute 2500\nmain;parse 800\nmain;write 600\n");
        small.chain([large]).collect::<String>()
    };
    let old = view("v1", &[&side("old", "app::hash_v1 2000")]);
    let new = view("v2", &[&side("new", "app::hash_v2 4000")]);
    let comparison = compared(&old, &new);
    let hash = &comparison.findings[0];
    assert_eq!(hash.function, "app::hash_v2");
    let was = hash.moved_from.as_ref().map(|old| &*old.function);
    assert_eq!(
        (hash.kind, was),
        (FindingKind::Regression, Some("app::hash_v1"))
    );
}

#[test]
fn different_programs_are_not_clean() {
    let server = view("v1", &["main;serve 3000\nmain;parse 900\nmain;log 100"]);
    let other = view("v2", &["main;render 2500\nmain;layout 1000\nmain;log 100"]);
    let comparison = compared(&server, &other);
    assert_eq!(comparison.verdict, Verdict::Insufficient);
    assert!(
        comparison.reason.contains("hardly a function in common"),
        "{}",
        comparison.reason
    );
}

#[test]
fn mostly_replaced_and_slower_is_regression_of_callers() {
    let old = view(
        "v1",
        &["main;run;serve 3000\nmain;run;parse 900\nmain;log 100"],
    );
    let new = view(
        "v2",
        &["main;run;render 3500\nmain;run;layout 2000\nmain;log 100"],
    );
    let comparison = compared(&old, &new);
    assert_eq!(comparison.verdict, Verdict::Regression);
    let reason = &comparison.reason;
    assert!(
        reason.starts_with("most functions were replaced: those that both sides have hold 2.5%"),
        "{reason}"
    );
    assert!(
        reason.ends_with("of what both have, main costs 40% more"),
        "{reason}"
    );
}

#[test]
fn verdict_never_contradicts_findings() {
    // From most functions in common to hardly any, and from faster to slower.
    for kept in [0, 500, 2000, 6000] {
        for new in [900, 3000, 4000, 9000] {
            let old = format!("main;serve 3000\nmain;parse 900\nmain;log {}", kept + 10);
            let now = format!("main;render {new}\nmain;layout 700\nmain;log {}", kept + 10);
            let comparison = compared(&view("v1", &[&old]), &view("v2", &[&now]));
            let has_worse = comparison.findings.iter().any(|f| f.is_regression());
            assert_eq!(
                comparison.verdict == Verdict::Regression,
                has_worse,
                "{kept} {new}: {}",
                comparison.reason
            );
        }
    }
}
