//! The page of comparisons: its content, and its behaviour in a browser.

use super::support::{compare, view};
use crate::browser::{self, Seen};
use crate::views::assert_golden;
use crate::views::lines;
use crate::words::html;
use serde_json::{Value, json};
use std::path::Path;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_query::questions::CompareOptions;
use sto_query::results::{Comparison, View};
use sto_query::select::Selection;

/// Compares as `--format html` does.
fn drawn(baseline: &View, candidate: &View) -> Comparison {
    let options = with!(CompareOptions { stacks: true });
    compare(baseline, candidate, &options).expect("the options are in range")
}

/// Opens the page of these comparisons in a window of this width.
fn open(comparisons: &[Comparison], width: u32) -> Seen {
    browser::open(&html(comparisons), include_str!("facts.js"), width)
}

/// Reads a recording of `testdata/demo`.
fn demo(version: &str) -> View {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = repository.join(format!("testdata/demo/{version}.perf.data"));
    let store = Store::in_memory().expect("a store in memory");
    let mut options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some(version.to_owned()),
        ..IngestOptions::default()
    };
    options.symbols.symbol_dirs = vec![repository.join("testdata/demo")];
    ingest(&store, &file, &options, &mut |_| ()).expect("the recording can be read");
    let build = store
        .snapshot()
        .unwrap()
        .builds()
        .expect("the store can be read")
        .remove(0);
    let selection = Selection::new(build.build, build.profiles);
    View::load(&store.snapshot().unwrap(), selection).expect("the store can be read")
}

/// Three runs of a baseline and two of a candidate in which this function got slower, and others
/// call it.
fn with_runs(slow: &str) -> Comparison {
    let run = |slow_samples: u64, others: [u64; 4]| {
        let [parse, compute, render, write] = others;
        format!(
            "main;serve;parse {parse}\nmain;serve;{slow} {slow_samples}\nmain;compute {compute}\n\
             main;render {render}\nmain;write {write}"
        )
    };
    let before = [
        run(300, [800, 2500, 900, 400]),
        run(310, [790, 2450, 920, 410]),
        run(296, [810, 2520, 890, 395]),
    ];
    let after = [
        run(905, [805, 2490, 905, 402]),
        run(930, [798, 2510, 896, 399]),
    ];
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
    drawn(&view("v1", &before), &view("v2", &after))
}

fn frame<'a>(graph: &'a Value, name: &str) -> &'a Value {
    let frames = graph["frames"].as_array().expect("a list of frames");
    let is_it = |frame: &&Value| {
        let label = frame["label"].as_str().expect("a label");
        label.starts_with(&format!("{name} [")) || label.starts_with(&format!("{name} ("))
    };
    let found = frames.iter().find(is_it);
    found.unwrap_or_else(|| panic!("{name} is not among {graph:#}"))
}

fn share(graph: &Value, name: &str) -> f64 {
    frame(graph, name)["share"].as_f64().expect("a number")
}

#[test]
fn page_matches_golden_file() {
    assert_golden("find-regressions.html", &lines(&html(&[with_runs("log")])));
}

#[test]
fn demo_can_be_read_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let comparison = drawn(&demo("v1"), &demo("v2"));
    let Seen { facts, console } = open(&[comparison], 1200);
    assert_eq!(facts["error"], Value::Null, "{facts:#}");

    assert_eq!(facts["title"], "Regression: demo: v1 → v2");
    assert_eq!(facts["verdict"], "Regression weak evidence");
    let reason = facts["reason"].as_str().expect("a sentence");
    assert!(
        reason.starts_with("doLogging with what it calls costs 9.6 times as much"),
        "{reason}"
    );
    assert_eq!(facts["sides"], json!(["Baseline", "Candidate"]));
    assert_eq!(facts["builds"], json!(["demo@v1", "demo@v2"]));
    let finding = &facts["findings"][0];
    assert_eq!(finding["heading"], "1. doLogging regression");
    assert_eq!(finding["points"], json!({"baseline": 1, "candidate": 1}));
    assert_eq!(finding["callers"][0], "serve");
    assert_eq!(finding["folded"], true);

    let graph = &facts["graph"];
    assert_eq!(share(graph, "all"), 1.0);
    assert_eq!(frame(graph, "doLogging")["color"], "w5");
    assert_eq!(frame(graph, "compress")["color"], "n");
    let label = frame(graph, "doLogging")["label"]
        .as_str()
        .expect("a label");
    assert!(
        label.contains("9.6x") && label.ends_with("198 → 1,904 samples)"),
        "{label}"
    );
    // The candidate's share of its own samples, like in the table.
    assert!(
        (share(graph, "doLogging") - 0.4248).abs() < 0.005,
        "{label}"
    );
    assert!(
        (share(&facts["by_baseline"], "doLogging") - 0.0729).abs() < 0.005,
        "{label}"
    );

    // From the finding to its stacks, and back.
    let found = &facts["found"];
    assert_eq!(frame(found, "doLogging")["match"], true);
    assert_eq!(frame(found, "compress")["match"], false);
    assert_eq!(
        found["status"],
        "Stacks with “doLogging”: 7.29% → 70.1% of a baseline run (9.6x)"
    );
    assert_eq!(share(&facts["zoomed"], "doLogging"), 1.0);
    assert_eq!(
        share(&facts["zoomed"], "main"),
        1.0,
        "its callers stay above it"
    );
    assert_eq!(facts["reset"]["frames"], graph["frames"]);

    // With the keyboard only.
    let walk: Vec<&str> = facts["walk"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let names: Vec<&str> = walk
        .iter()
        .filter_map(|label| label.split([' ', ':']).next())
        .collect();
    // What calls `main` has a name where this machine has that library's symbols.
    assert_eq!(names[1..], ["main", names[0], "main", "main"]);
    assert_eq!(share(&facts["entered"], "main"), 1.0);
    assert_eq!(facts["left"]["frames"], graph["frames"]);

    assert_only_smuggled_script_is_refused(&facts, &console);
}

#[test]
fn every_run_is_a_point_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let Seen { facts, console } = open(&[with_runs("log")], 1200);
    let finding = &facts["findings"][0];
    assert_eq!(finding["heading"], "1. log regression");
    assert_eq!(finding["points"], json!({"baseline": 3, "candidate": 2}));
    let tooltips = finding["tooltips"].as_array().expect("a list");
    let first = tooltips[0].as_str().expect("a text");
    assert!(first.starts_with("run 1 of 3: "), "{first}");
    assert!(
        first.contains("300 of 4,900 samples") && first.contains("recorded 2025-"),
        "{first}"
    );
    assert_eq!(
        finding["rows"].as_array().map(Vec::len),
        Some(2),
        "self and total"
    );
    assert_only_smuggled_script_is_refused(&facts, &console);
}

#[test]
fn hostile_name_stays_text_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let name = "<script>alert(1)</script></script><img src=x onerror=alert(1)>\"><svg onload=alert(1)>\u{202e}";
    let scripts = html(&[with_runs("log")]).matches("<script").count();
    let Seen { facts, console } = open(&[with_runs(name)], 1200);
    let shown = name.replace('\u{202e}', "\\u{202e}");
    assert_eq!(
        facts["findings"][0]["heading"],
        format!("1. {shown} regression")
    );
    assert_eq!(frame(&facts["graph"], &shown)["color"], "w5");
    assert_eq!(frame(&facts["found"], &shown)["match"], true);
    assert_eq!(facts["scripts"], scripts, "no more than any page has");
    assert_eq!(facts["images"], 0);
    assert_only_smuggled_script_is_refused(&facts, &console);
}

#[test]
fn page_fits_a_phone() {
    if browser::is_missing() {
        return;
    }
    let long =
        "std::map<std::string, std::vector<Token>>::find(std::string const&) const".repeat(9);
    let Seen { facts, .. } = open(&[with_runs(&long)], 390);
    assert_eq!(facts["overflow"], 0, "the page scrolls in one direction");
    let plot = facts["findings"][0]["plot"].as_f64().expect("a width");
    assert!((300.0..390.0).contains(&plot), "{plot}");
}

/// The probe tries to run a script that is not the page's own; nothing else may be wrong.
fn assert_only_smuggled_script_is_refused(facts: &Value, console: &[String]) {
    assert_eq!(facts["smuggled"], "did not run");
    assert_eq!(console.len(), 1, "{console:#?}");
    assert!(
        console[0].contains("Content Security Policy"),
        "{console:#?}"
    );
}

#[test]
fn several_comparisons_have_one_verdict_and_separate_sections() {
    let mut slower = with_runs("log");
    slower.benchmark = Some("requests".to_owned());
    let same = view("v1", &["main;a 4000\nmain;b 4000\nmain;c 2000"]);
    let mut clean = drawn(&same, &same);
    clean.benchmark = Some("startup".to_owned());
    let page = html(&[clean, slower]);
    assert!(page.contains("<h1><span class=\"verdict worse\">Regression</span>"));
    assert!(page.contains("1 of 2 benchmarks got slower"));
    for id in [
        "comparison-1",
        "comparison-2",
        "graph-1",
        "graph-2",
        "finding-2-1",
    ] {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn page_of_many_deep_stacks_stays_small() {
    let deep = (0..3000)
        .map(|ix| format!("f{ix}"))
        .collect::<Vec<_>>()
        .join(";");
    let mut stacks = format!("{deep} 9000\n");
    for ix in 0..30_000 {
        stacks += &format!("main;{}{ix} 10\n", "long_name_".repeat(50));
    }
    let page = html(&[drawn(&view("v1", &[&stacks]), &view("v2", &[&stacks]))]);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains(", in the outermost 500 levels of calls."));
    assert!(page.contains(" of 33,001 stacks are drawn: those that cost at least"));
}
