//! The JSON of each command is the result of one call of the library with a plain data structure.

use crate::support::{Run, Sandbox, repository};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use sto_core::store::Store;
use sto_query::check::check;
use sto_query::questions::{
    annotate, average, bottlenecks, calibrate, diff, expand, explain_match, export, export_store,
    flame, ls, merge, occurrences, potential, prune, regressions_over_time, runs, series, show,
    source, tag, top, tree,
};
use sto_query::render;
use sto_query::render::flame::{FlameOptions, Widths, diff_svg};
use sto_query::results::{self, Answer, InStore};
use sto_query::sources::{EVENT, Sources};

const FUNCTION: &str = "pulldown_cmark::firstpass::FirstPass::parse_footnote";

/// A request from JSON; missing fields have their defaults.
fn ask<R: DeserializeOwned>(request: Value) -> R {
    serde_json::from_value(request).unwrap()
}

fn printed(store: &Path, args: &[&str]) -> String {
    let store = ["--store", store.to_str().unwrap()];
    let run = Run::new(&mut Sandbox::new().bare_command(&[&store, args].concat()));
    // Status 3 means too little data.
    assert!(matches!(run.status, Some(0 | 1 | 3)), "{args:?}: {run:?}");
    run.stdout
}

#[track_caller]
fn assert_same<A: Answer>(store: &Path, args: &[&str], answer: &A) {
    let printed = printed(store, &[args, &["--format", "json"]].concat());
    assert_eq!(printed, results::json(answer).unwrap(), "{args:?}");
}

#[test]
fn library_agrees_with_commands_on_stacks() {
    let sandbox = Sandbox::with_two_builds();
    let store = &sandbox.path("store");
    let sources = &Sources::from_folder(store);
    let v1 = || json!({"named": {"selector": "v1"}});

    assert_same(store, &["top", "v1"], &top(sources, &ask(v1())).unwrap());
    let request =
        json!({"named": {"selector": "v2"}, "order": "total", "limit": 2, "inlined": true});
    let args = ["top", "v2", "--by", "total", "-n", "2", "--inlined"];
    assert_same(store, &args, &top(sources, &ask(request)).unwrap());
    assert_same(store, &["tree", "v1"], &tree(sources, &ask(v1())).unwrap());
    assert_same(store, &["show", "v1"], &show(sources, &ask(v1())).unwrap());
    let request = json!({"named": [{"selector": "v1"}, {"selector": "v2"}], "degree": 2});
    let args = ["potential", "v1", "v2", "--degree", "2"];
    assert_same(store, &args, &potential(sources, &ask(request)).unwrap());
    let request = json!({"function": "doLogging", "named": {"selector": "v1"}});
    let args = ["source", "doLogging", "v1"];
    assert_same(store, &args, &source(sources, &ask(request)).unwrap());
    let args = ["calibrate", "v1"];
    assert_same(store, &args, &calibrate(sources, &ask(v1())).unwrap());
    let args = ["explain-match", "parse.cold", "parse.part.0"];
    assert_same(
        store,
        &args,
        &explain_match("parse.cold", "parse.part.0", ask(json!({}))),
    );
    assert_same(store, &["ls"], &ls(sources, &ask(json!({}))).unwrap());
    let newest = runs(sources, &ask(json!({"limit": 1}))).unwrap();
    assert_same(store, &["runs", "-n", "1"], &newest);
    assert_same(
        store,
        &["stats"],
        &Store::open(store).unwrap().stats().unwrap(),
    );
    let verified = InStore {
        store: store.display().to_string(),
        answer: Store::verify(store, None, &mut |_| Ok(())).unwrap(),
    };
    assert_same(store, &["verify"], &verified);

    let stacks = flame(sources, &ask(v1())).unwrap();
    let options = FlameOptions::default();
    let drawing = render::flame::svg((&stacks.view, EVENT), &options).unwrap();
    assert_eq!(printed(store, &["flame", "v1"]), drawing);
    let request = json!({"baseline": {"selector": "v1"}, "candidate": {"selector": "v2"}});
    let stacks = diff(sources, &ask(request)).unwrap();
    let [baseline, candidate] = stacks.views.each_ref().map(|view| (view, EVENT));
    let options = FlameOptions {
        growth: stacks.growth,
        ..FlameOptions::default()
    };
    let drawing = diff_svg(baseline, candidate, Widths::default(), &options).unwrap();
    assert_eq!(printed(store, &["diff", "v1", "v2"]), drawing);
    let request = json!({"named": {"selector": "v1"}, "format": "speedscope"});
    let exported = export(sources, &ask(request)).unwrap();
    let args = ["export", "v1", "--format", "speedscope"];
    let mut bytes = Vec::new();
    render::export::write(&exported, false, &mut bytes).unwrap();
    assert_eq!(printed(store, &args).as_bytes(), bytes);
}

#[test]
fn library_agrees_with_commands_on_a_history() {
    let store = &repository().join("testdata/history/history.sto");
    let sources = &Sources::from_folder(store);
    let request = json!({"function": FUNCTION, "over": 0.15});
    let found = occurrences(sources, &ask(request)).unwrap();
    assert_same(store, &["where", FUNCTION, "--over", "15"], &found);
    let request = json!({"function": FUNCTION, "by": "build", "window": 5});
    let found = series(sources, &ask(request)).unwrap();
    let args = ["series", FUNCTION, "--by", "build", "--window", "5"];
    assert_same(store, &args, &found);
    let request = json!({"judged": {"window": 7}, "min_score": 1.0, "limit": 5});
    let found = regressions_over_time(sources, &ask(request)).unwrap();
    let args = ["--window", "7", "--min-score", "1", "-n", "5"];
    assert_same(
        store,
        &[&["regressions-over-time"], &args[..]].concat(),
        &found,
    );
    let request =
        json!({"options": {"metric": "seconds", "measure": "spearman", "of_self": false}});
    let found = bottlenecks(sources, &ask(request)).unwrap();
    let args = [
        "--metric",
        "seconds",
        "--measure",
        "spearman",
        "--by",
        "total",
    ];
    assert_same(store, &[&["bottlenecks"], &args[..]].concat(), &found);
    let request = json!({"function": FUNCTION, "direction": "callees", "method": "correlation",
        "metric": "seconds", "reach": {"max_depth": 3, "max_breadth": 2}});
    let found = expand(sources, &ask(request)).unwrap();
    let args =
        "--direction callees --method correlation --metric seconds --max-depth 3 --max-breadth 2";
    let args: Vec<&str> = args.split(' ').collect();
    assert_same(store, &[&["expand", FUNCTION], &args[..]].concat(), &found);

    // The library does not suggest commands.
    let request =
        json!({"baseline": {"any": {"selector": "0.9.6"}}, "candidate": {"selector": "0.10.0"}});
    let found = check(sources, &ask(request)).unwrap();
    let args = ["find-regressions", "0.9.6", "0.10.0", "--format", "json"];
    let mut printed: Value = serde_json::from_str(&printed(store, &args)).unwrap();
    let answer = results::json(&found.comparisons[0]).unwrap();
    let mut answer: Value = serde_json::from_str(&answer).unwrap();
    for comparison in [&mut printed, &mut answer] {
        without_commands(comparison);
    }
    assert_eq!(printed, answer);
}

fn without_commands(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            fields.remove("command");
            fields.values_mut().for_each(without_commands);
        }
        Value::Array(items) => items.iter_mut().for_each(without_commands),
        _ => {}
    }
}

#[test]
fn library_changes_a_store_like_its_commands() {
    let [by_command, by_library] = [(); 2].map(|()| Sandbox::with_two_builds());
    let assert_same = |args: &[&str], answer: String| {
        let printed = printed(
            &by_command.path("store"),
            &[args, &["--format", "json"]].concat(),
        );
        let [here, there] =
            [&by_library, &by_command].map(|sandbox| sandbox.path("").display().to_string());
        assert_eq!(printed.replace(&there, &here), answer, "{args:?}");
    };
    let folder = &by_library.path("store");
    let store = &Store::open(folder).unwrap();

    let request = json!({"set": {"build": "v1", "name": "good", "may_move": false}});
    let tagged = tag(store, &(), &ask(request)).unwrap();
    assert_same(&["tag", "v1", "good"], results::json(&tagged).unwrap());
    let listed = tag(store, &(), &ask(json!("list"))).unwrap();
    assert_same(&["tag"], results::json(&listed).unwrap());
    let gone = tag(store, &(), &ask(json!({"delete": {"name": "good"}}))).unwrap();
    assert_same(&["tag", "--delete", "good"], results::json(&gone).unwrap());

    let table = "build,seconds\nv1,2\nv2,3\n";
    let file = by_command.write("metrics.csv", table);
    let annotated = annotate(store, &(), &ask(json!({"table": table}))).unwrap();
    assert_same(
        &["annotate", file.to_str().unwrap()],
        results::json(&annotated).unwrap(),
    );

    let request = json!({"selectors": ["v1", "v2"], "build": "mean"});
    let mean = average(store, &(), &ask(request)).unwrap();
    assert_same(
        &["average", "v1", "v2", "--build", "mean"],
        results::json(&mean).unwrap(),
    );

    let request = json!({"selectors": ["v2"], "file": by_library.path("v2.sto")});
    let exported = export_store(&Sources::from_folder(folder), &ask(request)).unwrap();
    let file = by_command.path("v2.sto");
    let file = file.to_str().unwrap();
    assert_same(
        &["export-store", "v2", "-o", file],
        results::json(&exported).unwrap(),
    );

    let request = json!({"only": ["v2"], "keep": ["mean"]});
    let pruned = prune(store, &(), &ask(request)).unwrap();
    assert_same(
        &["prune", "v2", "--keep", "mean"],
        results::json(&pruned).unwrap(),
    );

    let request = json!({"others": [by_library.path("v2.sto")]});
    let merged = InStore {
        store: folder.display().to_string(),
        answer: merge(store, &ask(request), &mut |_, _| {}).unwrap(),
    };
    assert_same(&["merge", file], results::json(&merged).unwrap());
    let left = ls(&Sources::from_folder(folder), &ask(json!({}))).unwrap();
    assert_same(&["ls"], results::json(&left).unwrap());
}
