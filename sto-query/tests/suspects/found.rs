//! Suspects and their scores, stacks and reasons.

use super::{slow, suspects};
use crate::words::suspects_html as html;
use sto_query::render::suspects::text;
use sto_query::results::{Status, Suspect};

fn named<'a>(found: &'a [Suspect], name: &str) -> &'a Suspect {
    let is_it = |found: &&Suspect| found.score.function.function == name;
    found.iter().find(is_it).unwrap()
}

#[test]
fn causes_come_first_then_what_costs_more_and_gone_functions_last() {
    let found = suspects(&slow("log"));
    let names: Vec<&str> = found
        .suspects
        .iter()
        .map(|found| found.score.function.function.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "handle", "log", "serve", "format", "connect", "retry", "cache"
        ]
    );
    // `find-regressions` has the same two, in this order.
    let causes = found.suspects.iter().filter(|found| found.score.is_cause);
    assert_eq!(causes.count(), 2);
    let differences = found.suspects[2..].windows(2);
    assert!(
        differences
            .clone()
            .all(|pair| pair[0].score.difference >= pair[1].score.difference)
    );
    assert_eq!(named(&found.suspects, "retry").score.status, Status::New);
    assert_eq!(named(&found.suspects, "cache").score.status, Status::Gone);
}

#[test]
fn difference_is_split_into_self_and_callees() {
    let found = suspects(&slow("log"));
    let log = named(&found.suspects, "log");
    // 480 samples, a quarter of them in `format`, and 50 more under `idle`.
    assert_eq!(log.score.actual, 530.0);
    assert_eq!(log.self_actual, 360.0);
    let serve = named(&found.suspects, "serve");
    assert_eq!((serve.self_expected, serve.self_actual), (0.0, 0.0));
}

#[test]
fn contexts_without_a_tenth_of_the_difference_are_left_out() {
    let found = suspects(&slow("log"));
    let callers = named(&found.suspects, "log").callers.as_ref().unwrap();
    let names: Vec<&str> = callers
        .contexts
        .iter()
        .map(|context| context.function.function.as_str())
        .collect();
    assert_eq!(names, ["log", "handle", "serve", "main"], "and not idle");
    assert!(named(&found.suspects, "cache").callers.is_none());
}

#[test]
fn earlier_step_is_reported_but_is_no_suspect() {
    let found = suspects(&slow("log"));
    let changed: Vec<&str> = found
        .changed
        .iter()
        .map(|score| score.function.function.as_str())
        .collect();
    assert_eq!(changed, ["load"]);
    assert_eq!(found.changed[0].changes[0].at, 7);
}

#[test]
fn costs_of_stacks_are_relative_to_an_average_run() {
    let stacks = suspects(&slow("log")).stacks.unwrap();
    let outermost = stacks.nodes.iter().filter(|node| node.depth == 0);
    let cost: f64 = outermost
        .map(|node| node.baseline_samples as f64 * stacks.baseline_cost)
        .sum();
    assert!((cost - 1.0).abs() < 1e-12, "{cost}");
    // The baseline is the average of thirteen runs, so its samples weigh a thirteenth.
    assert!((stacks.candidate_cost / stacks.baseline_cost - 13.0).abs() < 1e-9);
}

#[test]
fn first_run_has_no_expectation() {
    let found = suspects(&slow("log")[..1]);
    assert!(found.suspects.is_empty() && found.stacks.is_none());
    let page = html(&found);
    assert!(page.contains("<span class=\"verdict unsure\">Nothing to expect</span>"));
    assert!(text(&found, crate::words::plain()).starts_with("Nothing to expect: app, startup\n"));
}

#[test]
fn unchanged_runs_are_as_expected() {
    let page = html(&suspects(&slow("log")[..13]));
    assert!(page.contains("<span class=\"verdict fine\">As expected</span>"));
    assert!(page.contains("No function has a score of 2 or more that chance hardly explains."));
}
