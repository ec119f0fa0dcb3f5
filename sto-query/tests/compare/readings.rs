//! Which assumptions about the work of the runs a comparison makes, and what holds under them.

use super::support::{compared, summary, view};
use sto_query::internal::compare::SECONDS;
use sto_query::questions::NormalisationMethod;
use sto_query::results::{Comparison, Verdict, View};

/// Three runs of twelve functions with 400 samples each, and of `solve`. Counts are multiplied by
/// `factor`, and vary from run to run by a few percent.
fn runs(version: &str, solve: f64, factor: impl Fn(usize) -> f64) -> View {
    let run = |run: usize| {
        let count = |function: usize, samples: f64| {
            let variation = ((run * 7 + function * 5) % 5) as f64 / 100.0;
            (samples * (0.98 + variation)).round()
        };
        let functions = (0..12).map(|f| format!("main;f{f} {}\n", count(f, 400.0 * factor(f))));
        functions.collect::<String>() + &format!("main;solve {}", count(12, 1200.0 * solve))
    };
    let texts = [0, 1, 2].map(run);
    view(version, &texts.each_ref().map(|text| &**text))
}

/// As if `sto record` had run the program with these arguments.
fn recorded(mut view: View, arguments: &str) -> View {
    for stored in &mut view.selection.profiles {
        let profile = &mut stored.profile;
        profile.metrics.insert(SECONDS.to_owned(), 6.0);
        let version = &view.selection.build.version;
        profile.origin.command = Some(format!("perf record -F 999 -- ./{version}/app {arguments}"));
    }
    view
}

/// The undecided functions, with the method that found them.
fn undecided(comparison: &Comparison) -> Vec<(NormalisationMethod, &str)> {
    let undecided = comparison.undecided.iter();
    undecided
        .map(|of| (of.method.clone(), &*of.finding.function))
        .collect()
}

#[test]
fn counts_a_change_per_run_and_relative_to_most_functions() {
    let comparison = compared(&runs("v1", 1.0, |_| 1.0), &runs("v2", 3.0, |_| 1.0));
    assert_eq!(summary(&comparison), "regression solve <- main\n");
    assert_eq!(undecided(&comparison), []);
}

#[test]
fn a_constant_cost_is_undecided_if_most_functions_got_faster() {
    let faster = |function| if function < 10 { 0.5 } else { 1.0 };
    let comparison = compared(&runs("v1", 0.1, |_| 1.0), &runs("v2", 0.1, faster));
    assert_eq!(comparison.verdict, Verdict::Clean);
    let worse: Vec<_> = undecided(&comparison)
        .into_iter()
        .filter(|(method, _)| *method == NormalisationMethod::Tmm)
        .map(|(_, function)| function)
        .collect();
    assert_eq!(worse, ["f10", "f11", "solve"]);
    assert!(
        comparison
            .reason
            .ends_with("; whether 3 functions did depends on how much work the runs did"),
        "{}",
        comparison.reason
    );
}

#[test]
fn counts_a_slower_function_of_a_longer_recording() {
    let comparison = compared(&runs("v1", 1.0, |_| 1.0), &runs("v2", 6.0, |_| 2.0));
    assert_eq!(summary(&comparison), "regression solve <- main\n");
    let cost = &comparison.findings[0].total;
    assert!(
        (cost.change.unwrap() - 6.0).abs() < 0.1,
        "of a run: {cost:?}"
    );
}

#[test]
fn a_slower_function_of_a_shorter_recording_is_undecided() {
    let comparison = compared(&runs("v1", 1.0, |_| 1.0), &runs("v2", 0.9, |_| 0.3));
    assert_eq!(comparison.verdict, Verdict::Clean);
    assert!(undecided(&comparison).contains(&(NormalisationMethod::Tmm, "solve")));
}

#[test]
fn recordings_of_the_same_command_are_compared_per_run() {
    let (before, after) = (runs("v1", 1.0, |_| 1.0), runs("v2", 1.5, |_| 1.5));
    let comparison = compared(
        &recorded(before.clone(), "20"),
        &recorded(after.clone(), "20"),
    );
    assert_eq!(comparison.verdict, Verdict::Regression);
    let statistics = comparison.statistics.as_ref().expect("there are samples");
    assert!(statistics.normalisation.is_same_work);
    assert_eq!(undecided(&comparison), []);
    // With other arguments, the work may differ.
    let comparison = compared(&recorded(before, "20"), &recorded(after, "30"));
    assert_eq!(summary(&comparison), "");
    assert!(!undecided(&comparison).is_empty());
}

#[test]
fn runs_of_different_lengths_did_different_work() {
    let mut lengths = [1.0, 2.0, 4.0].into_iter().cycle();
    let mut side = |version, solve: f64| {
        let texts = [(); 3].map(|()| {
            let length = lengths.next().expect("it never ends");
            let functions = (0..12).map(|f| format!("main;f{f} {}\n", 400.0 * length));
            functions.collect::<String>() + &format!("main;solve {}", 1200.0 * solve * length)
        });
        view(version, &texts.each_ref().map(|text| &**text))
    };
    let comparison = compared(&side("v1", 1.0), &side("v2", 2.0));
    assert_eq!(summary(&comparison), "regression solve <- main\n");
    let statistics = comparison.statistics.as_ref().expect("there are samples");
    assert!(!statistics.normalisation.also_per_run);
}
