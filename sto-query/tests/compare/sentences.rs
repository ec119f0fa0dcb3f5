//! Reasons of verdicts that do not rest on a function.

use super::support::{sample_type, view};
use sto_core::model::Quality;
use sto_core::units::UnixSeconds;
use sto_query::internal::compare::compare;
use sto_query::questions::{CompareOptions, Ignored, IgnoredFunction, WorseIf};
use sto_query::results::{Comparison, Verdict, View};
use sto_query::text::Date;

const BEFORE: &str = "main;parse 3000\nmain;compute 5000\nmain;log 400\nmain;render 1600";
const SLOW: &str = "main;parse 3010\nmain;compute 4990\nmain;log 1900\nmain;render 4610";

fn verdict_and_reason(
    baseline: &View,
    candidate: &View,
    options: &CompareOptions,
) -> (Verdict, String) {
    let comparison = compared(baseline, candidate, options);
    (comparison.verdict, comparison.reason)
}

fn compared(baseline: &View, candidate: &View, options: &CompareOptions) -> Comparison {
    compare(baseline, candidate, options).expect("the options are in range")
}

#[test]
fn says_once_which_side_lacks_symbols_of_a_module() {
    let addresses = "main;[kernel]![kernel+0x10];[kernel]![kernel+0x20] 900\nmain;libx.so![libx.so+0x1] 2\nmain;compute 3000";
    let names =
        "main;[kernel]!do_syscall;[kernel]!copy_page 910\nmain;libx.so!rare 2\nmain;compute 3000";
    let sides = [addresses, names].map(|folded| view("v", &[folded, folded]));
    let warning = |baseline, candidate| {
        let comparison = compared(baseline, candidate, &CompareOptions::default());
        assert_eq!(comparison.findings.len(), 0, "{:?}", comparison.findings);
        let warnings = comparison.warnings.into_iter();
        let warnings = warnings.filter(|warning| warning.contains("symbols"));
        warnings.collect::<Vec<_>>()
    };
    let said = |side: &str| {
        [format!(
            "2 functions of [kernel] cannot be compared, as the {side} has no symbols of that code; it counts as \
             one function of each module."
        )]
    };
    assert_eq!(warning(&sides[0], &sides[1]), said("baseline"));
    assert_eq!(warning(&sides[1], &sides[0]), said("candidate"));
}

#[test]
fn names_untrustworthy_side_and_remedy() {
    let quality = Quality {
        samples: 10_000,
        ..Quality::default()
    };
    for (quality, reason) in [
        (
            Quality {
                unresolved: 6_000,
                ..quality
            },
            "60% of the candidate's samples have no symbol; ingest them with the folders of \
             binaries that have symbols",
        ),
        (
            Quality {
                truncated: 7_000,
                ..quality
            },
            "70% of the candidate's stacks are truncated; record with frame pointers, or \
             with a larger `--call-graph dwarf,SIZE`",
        ),
        (
            Quality {
                lost: 30_000,
                ..quality
            },
            "75% of the candidate's events were lost while recording; record at a lower frequency",
        ),
    ] {
        let mut candidate = view("v2", &[SLOW]);
        candidate.selection.profiles[0].profile.quality = quality;
        let found = verdict_and_reason(
            &view("v1", &[BEFORE]),
            &candidate,
            &CompareOptions::default(),
        );
        assert_eq!(found.1, reason);
    }
}

#[test]
fn names_different_events_and_remedy() {
    let mut candidate = view("v2", &[SLOW]);
    candidate.sample_types = vec![sample_type("page-faults")];
    let found = verdict_and_reason(
        &view("v1", &[BEFORE]),
        &candidate,
        &CompareOptions::default(),
    );
    assert_eq!(found.0, Verdict::Insufficient);
    assert_eq!(
        found.1,
        "the sides share no event: the baseline measured cpu-clock, the candidate page-faults; record \
         both with the same one"
    );
}

#[test]
fn counts_ignored_findings_if_nothing_else_got_worse() {
    let known = Ignored::new("known", Date::from_time(UnixSeconds(1_800_000_000)));
    let ignored = |function| IgnoredFunction::new(function, known.clone());
    let options = with!(CompareOptions {
        ignored: vec![ignored("log"), ignored("render")],
    });
    let found = verdict_and_reason(&view("v1", &[BEFORE]), &view("v2", &[SLOW]), &options);
    assert_eq!(found.0, Verdict::Clean);
    assert_eq!(
        found.1,
        "but for 2 that are ignored, no function got slower by 10% or more that holds 0.5% of all"
    );
}

#[test]
fn warns_of_missing_metric() {
    let options = with!(CompareOptions {
        worse_if: [("requests".to_owned(), WorseIf::Lower)].into(),
    });
    let comparison = compared(&view("v1", &[BEFORE]), &view("v2", &[BEFORE]), &options);
    let expected = "The metric requests should count, but not every side has it.";
    assert!(
        comparison
            .warnings
            .iter()
            .any(|warning| warning == expected),
        "{:?}",
        comparison.warnings
    );
}
