//! Call paths of a finding, the line to look at first, and the command for details.

use super::support::{compared, set_build_ids, view};
use sto_core::model::{Frame, FrameKind, FrameTable};
use sto_core::tree::LineCost;
use sto_core::units::Cost;
use sto_query::internal::compare::Lines;
use sto_query::results::{CallPath, Finding, FindingKind};

fn path(path: &CallPath) -> String {
    let names: Vec<&str> = path.stack.iter().map(|f| f.function.as_str()).collect();
    names.join(";")
}

fn finding<'a>(findings: &'a [Finding], function: &str) -> &'a Finding {
    let found = findings.iter().find(|finding| finding.function == function);
    found.expect("the function is a finding")
}

#[test]
fn paths_are_sorted_by_change() {
    let before = "main;read;log 100\n main;write;log 200\n main;sync;log 50\n main;send;log 60
        main;idle;log 90\n main;parse 5000\n main;compute 5000\n main;render 5000";
    let after = "main;read;log 900\n main;write;log 1500\n main;sync;log 450\n main;send;log 500
        main;idle;log 90\n main;parse 5000\n main;compute 5000\n main;render 5000";
    let comparison = compared(&view("v1", &[before]), &view("v2", &[after]));
    let log = finding(&comparison.findings, "log");
    let paths: Vec<String> = log.call_paths.iter().map(path).collect();
    assert_eq!(paths, ["main;write;log", "main;read;log", "main;send;log"]);
    assert_eq!(log.more_call_paths, 1, "idle did not change");
    let first = &log.call_paths[0];
    assert_eq!(
        (first.baseline_samples, first.candidate_samples),
        (200, 1500)
    );
    assert!(
        (7.0..8.0).contains(&first.change.expect("both sides have it")),
        "{first:?}"
    );
}

#[test]
fn recursion_is_one_path_and_paths_add_up() {
    let before = "main;walk 100\n main;walk;walk 100\n main;walk;walk;walk 100\n main;run;walk 10
        main;parse 5000\n main;compute 5000\n main;render 5000";
    let after = "main;walk 500\n main;walk;walk 500\n main;walk;walk;walk 500\n main;run;walk 60
        main;parse 5000\n main;compute 5000\n main;render 5000";
    let comparison = compared(&view("v1", &[before]), &view("v2", &[after]));
    let walk = finding(&comparison.findings, "walk");
    let paths: Vec<String> = walk.call_paths.iter().map(path).collect();
    assert_eq!(paths, ["main;walk", "main;run;walk"]);
    let samples = |count: fn(&CallPath) -> u64| walk.call_paths.iter().map(count).sum::<u64>();
    assert_eq!(
        samples(|path| path.baseline_samples),
        walk.attributed_self.baseline_samples
    );
    assert_eq!(
        samples(|path| path.candidate_samples),
        walk.attributed_self.candidate_samples
    );
}

#[test]
fn cost_of_unchanged_library_counts_for_path_of_caller() {
    let stacks =
        |write| format!("main;log;libc.so.6!write {write}\n main;parse 5000\n main;run 5000");
    let (mut before, mut after) = (view("v1", &[&stacks(100)]), view("v2", &[&stacks(2000)]));
    set_build_ids(&mut before, &[("app", 1), ("libc.so.6", 7)]);
    set_build_ids(&mut after, &[("app", 2), ("libc.so.6", 7)]);
    let comparison = compared(&before, &after);
    let log = finding(&comparison.findings, "log");
    assert_eq!(path(&log.call_paths[0]), "main;log");
    assert_eq!(log.call_paths[0].candidate_samples, 2000);
}

#[test]
fn deep_path_names_both_ends() {
    let deep: String = (0..1000).map(|level| format!("level_{level};")).collect();
    let stacks =
        |log| format!("{deep}log {log}\n main;parse 5000\n main;compute 5000\n main;run 5000");
    let comparison = compared(&view("v1", &[&stacks(100)]), &view("v2", &[&stacks(2000)]));
    let log = finding(&comparison.findings, "log");
    let CallPath { stack, omitted, .. } = &log.call_paths[0];
    assert_eq!((stack.len(), *omitted), (64, 1001 - 64));
    let name = |ix: usize| stack[ix].function.as_str();
    assert_eq!(
        [name(0), name(31), name(32), name(63)],
        ["level_0", "level_31", "level_969", "log"]
    );
}

#[test]
fn improvement_lists_paths_that_shrank() {
    let stacks = |[read, write, send]: [u64; 3]| {
        format!(
            "main;read;log {read}\n main;write;log {write}\n main;send;log {send}
            main;parse 5000\n main;run 5000\n main;compute 5000"
        )
    };
    let (before, after) = (stacks([900, 1500, 800]), stacks([100, 1600, 90]));
    let comparison = compared(&view("v1", &[&before]), &view("v2", &[&after]));
    let log = finding(&comparison.findings, "log");
    assert_eq!(log.kind, FindingKind::Improvement);
    let paths: Vec<String> = log.call_paths.iter().map(path).collect();
    assert_eq!(paths, ["main;read;log", "main;send;log"]);
    assert_eq!(log.more_call_paths, 0, "write grew");
}

#[test]
fn line_is_most_expensive_in_functions_file() {
    let stacks =
        |log| format!("main;log {log}\n main;parse 5000\n main;compute 5000\n main;run 5000");
    let mut comparison = compared(&view("v1", &[&stacks(100)]), &view("v2", &[&stacks(2000)]));
    let mut frames = FrameTable::new();
    let mut frame = |symbol, file| {
        frames.insert(Frame {
            module: "app",
            symbol,
            kind: FrameKind::User,
            file,
            line: 0,
        })
    };
    let (log, elsewhere, clone) = (
        frame("log", "app.c"),
        frame("log", "other.h"),
        frame("log.constprop.0", "app.c"),
    );
    let cost = |samples| Cost {
        samples,
        value: samples,
    };
    let line = |frame, line, own, total| LineCost {
        frame,
        line,
        self_cost: cost(own),
        total: cost(total),
    };
    let costs = vec![
        line(log, 7, 10, 900),
        line(log, 8, 500, 500),
        line(clone, 9, 300, 300),
        line(log, 9, 300, 300),
        line(elsewhere, 3, 5000, 5000),
    ];
    comparison.set_lines(&with!(Lines { frames, costs }), false);
    let log = finding(&comparison.findings, "log");
    assert_eq!(log.line, Some(9));
    assert_eq!(log.location().as_deref(), Some("app.c:9"));
}
