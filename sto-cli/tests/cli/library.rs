//! The JSON of each command is the result of one call of the library with a plain data structure.

use crate::support::{Run, Sandbox, repository};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use sto_core::store::Store;
use sto_query::questions::{
    AnyAnswer, AnyQuestion, ExportRequest, annotate, ask, average, explain_match, export_store,
    merge, prune, tag,
};
use sto_query::render;
use sto_query::render::flame::{FlameOptions, Widths, diff_svg};
use sto_query::results::{self, Answer, InStore};
use sto_query::sources::{Context, EVENT, Sources};

const FUNCTION: &str = "pulldown_cmark::firstpass::FirstPass::parse_footnote";

/// A request from JSON; missing fields have their defaults.
fn request<R: DeserializeOwned>(request: Value) -> R {
    serde_json::from_value(request).unwrap()
}

/// The answer to a question in JSON, as a server would ask it.
fn answer(store: &Path, question: Value) -> AnyAnswer {
    let question: AnyQuestion = request(question);
    ask(&Sources::from_folder(store), &question, &Context::default()).unwrap()
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

/// Checks that the command prints the answer to a question.
#[track_caller]
fn assert_answers(store: &Path, args: &[&str], question: Value) {
    let printed = printed(store, &[args, &["--format", "json"]].concat());
    let answer = serde_json::to_string_pretty(&answer(store, question)).unwrap();
    assert_eq!(printed, answer + "\n", "{args:?}");
}

#[test]
fn library_agrees_with_commands_on_stacks() {
    let sandbox = Sandbox::with_two_builds();
    let store = &sandbox.path("store");
    let v1 = |question| json!({"question": question, "named": {"selector": "v1"}});
    let asked: [(&[&str], Value); 8] = [
        (&["top", "v1"], v1("top")),
        (
            &["top", "v2", "--by", "total", "-n", "2", "--inlined"],
            json!({"question": "top", "named": {"selector": "v2"}, "order": "total", "limit": 2,
                "inlined": true}),
        ),
        (&["tree", "v1"], v1("tree")),
        (&["show", "v1"], v1("show")),
        (
            &["potential", "v1", "v2", "--degree", "2"],
            json!({"question": "potential", "named": [{"selector": "v1"}, {"selector": "v2"}],
                "degree": 2}),
        ),
        (
            &["source", "doLogging", "v1"],
            json!({"question": "source", "function": "doLogging", "named": {"selector": "v1"}}),
        ),
        (&["calibrate", "v1"], v1("calibrate")),
        (&["ls"], json!({"question": "builds"})),
    ];
    for (args, question) in asked {
        assert_answers(store, args, question);
    }
    let newest = json!({"question": "runs", "limit": 1});
    assert_answers(store, &["runs", "-n", "1"], newest);
    let args = ["explain-match", "parse.cold", "parse.part.0"];
    assert_same(
        store,
        &args,
        &explain_match("parse.cold", "parse.part.0", request(json!({}))),
    );
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

    let AnyAnswer::Flame(stacks) = answer(store, v1("flame")) else {
        panic!("another answer");
    };
    let options = FlameOptions::default();
    let drawing = render::flame::svg((&stacks.view, EVENT), &options).unwrap();
    assert_eq!(printed(store, &["flame", "v1"]), drawing);
    let question = json!({"question": "diff", "baseline": {"selector": "v1"},
        "candidate": {"selector": "v2"}});
    let AnyAnswer::Diff(stacks) = answer(store, question) else {
        panic!("another answer");
    };
    let [baseline, candidate] = stacks.views.each_ref().map(|view| (view, EVENT));
    let options = FlameOptions {
        growth: stacks.comparison.normalised_growth(),
        ..FlameOptions::default()
    };
    let drawing = diff_svg(baseline, candidate, Widths::default(), &options).unwrap();
    assert_eq!(printed(store, &["diff", "v1", "v2"]), drawing);
    let speedscope = json!({"named": {"selector": "v1"}, "format": "speedscope"});
    let speedscope: ExportRequest = request(speedscope);
    let sources = Sources::from_folder(store);
    let exported = ask(&sources, &speedscope, &Context::default()).unwrap();
    let args = ["export", "v1", "--format", "speedscope"];
    let mut bytes = Vec::new();
    render::export::write(&exported, false, &mut bytes).unwrap();
    assert_eq!(printed(store, &args).as_bytes(), bytes);
}

#[test]
fn library_agrees_with_commands_on_a_history() {
    let store = &repository().join("testdata/history/history.sto");
    let asked: [(&str, Value); 5] = [
        (
            "where FUNCTION --over 15",
            json!({"question": "occurrences", "function": FUNCTION, "over": 0.15}),
        ),
        (
            "series FUNCTION --by build --window 5",
            json!({"question": "series", "function": FUNCTION, "by": "build", "window": 5}),
        ),
        (
            "regressions-over-time --window 7 --min-score 1 -n 5",
            json!({"question": "regressions-over-time", "judged": {"window": 7}, "min_score": 1.0,
                "limit": 5}),
        ),
        (
            "bottlenecks --metric seconds --measure spearman --by total",
            json!({"question": "bottlenecks",
                "options": {"metric": "seconds", "measure": "spearman", "of_self": false}}),
        ),
        (
            "expand FUNCTION --direction callees --method correlation --metric seconds --max-depth 3 --max-breadth 2",
            json!({"question": "expand", "function": FUNCTION, "direction": "callees",
                "method": "correlation", "metric": "seconds",
                "reach": {"max_depth": 3, "max_breadth": 2}}),
        ),
    ];
    for (args, question) in asked {
        let args: Vec<&str> = args
            .split(' ')
            .map(|arg| if arg == "FUNCTION" { FUNCTION } else { arg })
            .collect();
        assert_answers(store, &args, question);
    }

    // The library does not suggest commands.
    let question = json!({"question": "check", "baseline": {"any": {"selector": "0.9.6"}},
        "candidate": {"selector": "0.10.0"}});
    let AnyAnswer::Check(found) = answer(store, question) else {
        panic!("another answer");
    };
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

    let asked = json!({"set": {"build": "v1", "name": "good", "may_move": false}});
    let tagged = tag(store, &(), &request(asked)).unwrap();
    assert_same(&["tag", "v1", "good"], results::json(&tagged).unwrap());
    let listed = tag(store, &(), &request(json!("list"))).unwrap();
    assert_same(&["tag"], results::json(&listed).unwrap());
    let gone = tag(store, &(), &request(json!({"delete": {"name": "good"}}))).unwrap();
    assert_same(&["tag", "--delete", "good"], results::json(&gone).unwrap());

    let table = "build,seconds\nv1,2\nv2,3\n";
    let file = by_command.write("metrics.csv", table);
    let annotated = annotate(store, &(), &request(json!({"table": table}))).unwrap();
    assert_same(
        &["annotate", file.to_str().unwrap()],
        results::json(&annotated).unwrap(),
    );

    let asked = json!({"selectors": ["v1", "v2"], "build": "mean"});
    let mean = average(store, &(), &request(asked)).unwrap();
    assert_same(
        &["average", "v1", "v2", "--build", "mean"],
        results::json(&mean).unwrap(),
    );

    let asked = json!({"selectors": ["v2"], "file": by_library.path("v2.sto")});
    let exported = export_store(&Sources::from_folder(folder), &request(asked)).unwrap();
    let file = by_command.path("v2.sto");
    let file = file.to_str().unwrap();
    assert_same(
        &["export-store", "v2", "-o", file],
        results::json(&exported).unwrap(),
    );

    let asked = json!({"only": ["v2"], "keep": ["mean"]});
    let pruned = prune(store, &(), &request(asked)).unwrap();
    assert_same(
        &["prune", "v2", "--keep", "mean"],
        results::json(&pruned).unwrap(),
    );

    let asked = json!({"others": [by_library.path("v2.sto")]});
    let merged = InStore {
        store: folder.display().to_string(),
        answer: merge(store, &request(asked), &mut |_, _| {}).unwrap(),
    };
    assert_same(&["merge", file], results::json(&merged).unwrap());
    let left = serde_json::to_string_pretty(&answer(folder, json!({"question": "builds"})));
    assert_same(&["ls"], left.unwrap() + "\n");
}
