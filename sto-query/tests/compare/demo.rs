//! The example of the documentation: logging that costs ten times as much.

use super::support::{compared, set_build_ids, summary, view};
use sto_query::questions::NormalisationMethod;
use sto_query::results::Verdict;

const BASELINE: &str = "
    _start;libc.so.6!__libc_start_main;main 12
    _start;libc.so.6!__libc_start_main;main;parse 1600
    _start;libc.so.6!__libc_start_main;main;compute 2900
    _start;libc.so.6!__libc_start_main;main;doLogging 9
    _start;libc.so.6!__libc_start_main;main;doLogging;libc.so.6!fprintf;libc.so.6!vfprintf 181
    _start;libc.so.6!__libc_start_main;main;doLogging;libc.so.6!fprintf;libc.so.6!write;[kernel]!ksys_write;[kernel]!vfs_write 308
";
const CANDIDATE: &str = "
    _start;libc.so.6!__libc_start_main;main 15
    _start;libc.so.6!__libc_start_main;main;parse 1630
    _start;libc.so.6!__libc_start_main;main;compute 2870
    _start;libc.so.6!__libc_start_main;main;doLogging 104
    _start;libc.so.6!__libc_start_main;main;doLogging;libc.so.6!fprintf;libc.so.6!vfprintf 1790
    _start;libc.so.6!__libc_start_main;main;doLogging;libc.so.6!fprintf;libc.so.6!write;[kernel]!ksys_write;[kernel]!vfs_write 3105
";

#[test]
fn blames_logger_instead_of_library() {
    let (mut baseline, mut candidate) = (view("v1", &[BASELINE]), view("v2", &[CANDIDATE]));
    set_build_ids(
        &mut baseline,
        &[("app", 1), ("libc.so.6", 7), ("[kernel]", 8)],
    );
    set_build_ids(
        &mut candidate,
        &[("app", 2), ("libc.so.6", 7), ("[kernel]", 8)],
    );
    let comparison = compared(&baseline, &candidate);

    assert_eq!(comparison.verdict, Verdict::Regression);
    assert_eq!(summary(&comparison), "regression doLogging <- main\n");
    let finding = &comparison.findings[0];
    let change = finding.total.change.expect("both sides have samples");
    assert!((9.5..10.5).contains(&change), "{change}");
    assert_eq!(
        (
            finding.self_.baseline_samples,
            finding.self_.candidate_samples
        ),
        (9, 104)
    );
    assert_eq!(finding.attributed_self.candidate_samples, 104 + 1790 + 3105);
    assert!(
        finding
            .reason
            .ends_with("mostly in what it calls: [kernel] and fprintf (libc.so.6)")
    );
    assert_eq!(finding.file.as_deref(), Some("app.c"));
    assert_eq!(comparison.unchanged_modules, ["[kernel]", "libc.so.6"]);
}

#[test]
fn blames_logger_without_build_ids() {
    let comparison = compared(&view("v1", &[BASELINE]), &view("v2", &[CANDIDATE]));
    assert_eq!(summary(&comparison), "regression doLogging <- main\n");
    let reason = &comparison.findings[0].reason;
    assert!(reason.ends_with("it calls vfs_write more"), "{reason}");
}

#[test]
fn finds_growth_in_program_of_two_functions() {
    let comparison = compared(
        &view("v1", &["main;compute 900\n main;doLogging 100"]),
        &view("v2", &["main;compute 905\n main;doLogging 1010"]),
    );
    assert_eq!(summary(&comparison), "regression doLogging <- main\n");
    let statistics = comparison.statistics.expect("both sides have samples");
    assert_eq!(statistics.normalisation.method, NormalisationMethod::PerRun);
    assert_eq!(statistics.normalisation.candidate_size, 1.0);
}

#[test]
fn finds_tenfold_change_in_few_hundred_samples() {
    let comparison = compared(
        &view(
            "v1",
            &["main;parse 40\n main;compute 60\n main;doLogging 6"],
        ),
        &view(
            "v2",
            &["main;parse 43\n main;compute 57\n main;doLogging 60"],
        ),
    );
    assert_eq!(summary(&comparison), "regression doLogging <- main\n");
    assert_eq!(comparison.verdict, Verdict::Regression);
    assert!(comparison.weak);
}

#[test]
fn matches_worked_example_of_documentation() {
    let comparison = compared(
        &view(
            "v1",
            &["main;parse 400\n main;compute 600\n main;render 300\n main;doLogging 20"],
        ),
        &view(
            "v2",
            &["main;parse 412\n main;compute 588\n main;render 310\n main;doLogging 205"],
        ),
    );
    assert_eq!(summary(&comparison), "regression doLogging <- main\n");
    let change = comparison.findings[0].attributed_self;
    assert_eq!(change.change, Some(10.25));
    assert_eq!(change.change_low, Some(5.76308));
    assert_eq!(change.change_high, Some(18.2198));
    assert_eq!(
        format!("{:.2e}", change.p.expect("it was tested")),
        "2.48e-19"
    );
    assert_eq!(
        format!("{:.2e}", change.q.expect("it was tested")),
        "1.12e-18"
    );
    let statistics = comparison.statistics.expect("both sides have samples");
    assert_eq!(statistics.normalisation.candidate_size, 1.0);
    assert_eq!(statistics.normalisation.candidate_cost, 1.14773);
    assert_eq!((statistics.tested.self_, statistics.tested.total), (4, 5));
}
