//! Questions and answers in JSON, as a server passes them on.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use sto_core::ingest::{IngestOptions, Input, ingest};
use sto_core::store::Store;
use sto_core::units::Bytes;
use sto_query::QueryError;
use sto_query::error::ErrorClass;
use sto_query::questions::{AnyAnswer, AnyQuestion};
use sto_query::sources::{Context, Sources};

/// Two builds of `app` with runs of two benchmarks: `v1` spends 3 of 10 samples in `parse`, `v2` 5 of 12.
fn sources() -> Sources {
    let store = Store::in_memory().unwrap();
    let runs = [
        ("v1", "load", "main;read 6\nmain;parse 3\nmain 1\n"),
        ("v2", "load", "main;read 6\nmain;parse 5\nmain 1\n"),
        ("v2", "save", "main;write 4\n"),
    ];
    for (build, benchmark, stacks) in runs {
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some(build.to_owned()),
            benchmark: Some(benchmark.to_owned()),
            labels: [("os".to_owned(), format!("{build}-os"))].into(),
            metrics: [("requests".to_owned(), stacks.len() as f64)].into(),
            ..IngestOptions::default()
        };
        let input = Input::Bytes {
            name: Path::new("stacks.folded"),
            bytes: stacks.as_bytes(),
        };
        ingest(&store, input, &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn ask(question: Value) -> Result<Value, QueryError> {
    let question: AnyQuestion = serde_json::from_value(question).unwrap();
    let answer = crate::ask(&sources(), &question)?;
    Ok(serde_json::to_value(answer).unwrap())
}

fn names(answer: &Value, list: &str, name: &str) -> Vec<String> {
    let items = answer[list].as_array().unwrap().iter();
    items
        .map(|item| item[name].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn flame_graph_is_an_answer_with_columns() {
    let flame = ask(json!({"question": "flame", "named": {"selector": "v1"}})).unwrap();
    assert_eq!(flame["schema"], "sto.flame-stacks/1");
    assert_eq!(
        names(&flame, "frames", "function"),
        ["main", "parse", "read"]
    );
    assert_eq!(flame["parent"], json!([null, 0, 0]));
    assert_eq!(flame["frame"], json!([0, 1, 2]));
    assert_eq!(flame["self"], json!([1, 3, 6]));
    assert_eq!(flame["total"], json!([10, 3, 6]));

    let focused = json!({"question": "flame", "named": {"selector": "v1"},
        "stacks": {"focus": "parse"}});
    assert_eq!(ask(focused).unwrap()["total"], json!([3, 3, 0]));
}

#[test]
fn difference_is_an_answer_with_columns_of_both_sides_and_tests() {
    let diff = ask(json!({"question": "diff", "baseline": {"selector": "v1"},
        "candidate": {"selector": "v2"}, "filter": {"benchmarks": ["load"]}}))
    .unwrap();
    let comparison = &diff["comparison"];
    let stacks = &comparison["stacks"];
    let symbols = names(stacks, "functions", "function");
    let function = |ix: usize| &*symbols[stacks["function"][ix].as_u64().unwrap() as usize];
    assert_eq!([0, 1, 2].map(function), ["main", "parse", "read"]);
    assert_eq!(stacks["parent"], json!([null, 0, 0]));
    assert_eq!(stacks["baseline_self"], json!([1, 3, 6]));
    assert_eq!(stacks["candidate_self"], json!([1, 5, 6]));
    assert_eq!(stacks["candidate_total"], json!([12, 5, 6]));
    let focused = ask(json!({"question": "diff", "baseline": {"selector": "v1"},
        "candidate": {"selector": "v2"}, "filter": {"benchmarks": ["load"]},
        "stacks": {"focus": "parse"}}))
    .unwrap();
    let stacks = &focused["comparison"]["stacks"];
    assert_eq!(stacks["candidate_self"], json!([0, 5, 0]));
    assert_eq!(stacks["candidate_total"], json!([5, 5, 0]));
    let tested: BTreeSet<String> = names(comparison, "functions", "function")
        .into_iter()
        .collect();
    assert_eq!(tested, symbols.into_iter().collect());
}

#[test]
fn lists_have_pages_and_filters() {
    let versions = |filter: Value| {
        let mut question = json!({"question": "runs"});
        question
            .as_object_mut()
            .unwrap()
            .extend(filter.as_object().unwrap().clone());
        names(&ask(question).unwrap(), "runs", "build")
    };
    let all = versions(json!({}));
    assert_eq!(all.len(), 3);
    assert_eq!(versions(json!({"offset": 1})), all[1..]);
    assert_eq!(versions(json!({"offset": 1, "limit": 1})), all[1..2]);
    assert_eq!(versions(json!({"offset": 9})), [""; 0]);
    assert_eq!(versions(json!({"labels": {"os": "v1-os"}})), ["v1"]);
    assert_eq!(versions(json!({"text": "SAV"})), ["v2"]);
    let error = ask(json!({"question": "builds", "text": "nowhere"})).unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);

    let labels = ask(json!({"question": "labels"})).unwrap();
    assert_eq!(labels["executables"], json!({"app": 3}));
    assert_eq!(labels["benchmarks"], json!({"load": 2, "save": 1}));
    assert_eq!(labels["labels"], json!({"os": {"v1-os": 1, "v2-os": 2}}));
    assert_eq!(
        labels["metrics"]["requests"],
        json!({"runs": 3, "min": 13.0, "max": 32.0})
    );
}

#[test]
fn functions_are_searched_and_focused() {
    let top = |more: Value| {
        let mut question = json!({"question": "top", "named": {"selector": "v1"}});
        question
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ask(question).unwrap()
    };
    let functions = |more| names(&top(more), "functions", "function");
    assert_eq!(functions(json!({})), ["read", "parse", "main"]);
    assert_eq!(functions(json!({"search": "A"})), ["read", "parse", "main"]);
    assert_eq!(functions(json!({"search": "PAR"})), ["parse"]);
    assert_eq!(functions(json!({"offset": 1, "limit": 1})), ["parse"]);
    let focused = top(json!({"focus": "parse", "order": "total"}));
    assert_eq!(focused["value"], 3);
    assert_eq!(names(&focused, "functions", "function"), ["parse", "main"]);
}

#[test]
fn file_that_was_replaced_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.folded");
    let sources = Sources::from_folder(folder.path());
    let question = json!({"question": "top", "named": {"file": path}});
    let question: AnyQuestion = serde_json::from_value(question).unwrap();
    for (stacks, expected) in [
        ("main;parse 1\n", "parse"),
        ("main;serialize 1\n", "serialize"),
    ] {
        fs::write(&path, stacks).unwrap();
        let answer = serde_json::to_value(crate::ask(&sources, &question).unwrap()).unwrap();
        assert_eq!(answer["functions"][0]["function"], expected);
    }
}

#[test]
fn answers_are_the_same_with_a_cache() {
    let sources = sources();
    let cached = sources.clone().with_cache(Bytes(1 << 20));
    let tiny = sources.clone().with_cache(Bytes(1));
    let asked = |sources: &Sources, build: &str, inlined: bool| {
        let question = json!({"question": "top", "named": {"selector": build},
            "filter": {"benchmarks": ["load"]}, "inlined": inlined});
        let question: AnyQuestion = serde_json::from_value(question).unwrap();
        serde_json::to_string(&crate::ask(sources, &question).unwrap()).unwrap()
    };
    for _ in 0..2 {
        for (build, inlined) in [("v1", false), ("v2", false), ("v1", true)] {
            let expected = asked(&sources, build, inlined);
            assert_eq!(asked(&cached, build, inlined), expected);
            assert_eq!(asked(&tiny, build, inlined), expected);
        }
    }
    let view = || cached.view(&"v1".into(), &Default::default()).unwrap();
    assert!(Arc::ptr_eq(&view(), &view()));
}

#[test]
fn cancelled_question_is_an_error_whatever_is_asked() {
    let context = Context::default();
    context.cancel.cancel();
    for question in [
        "top",
        "tree",
        "flame",
        "show",
        "builds",
        "runs",
        "regressions-over-time",
    ] {
        let question = json!({"question": question});
        let question: AnyQuestion = serde_json::from_value(question).unwrap();
        let error = sto_query::ask(&sources(), &question, &context).unwrap_err();
        assert!(
            matches!(error, QueryError::Cancelled(_)),
            "{question:?}: {error}"
        );
        assert_eq!(error.class(), ErrorClass::Cancelled);
    }
}

#[test]
fn progress_of_a_check_has_a_step_for_each_benchmark() {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&steps);
    let context = with!(Context {
        on_step: Some(Arc::new(move |done, all| seen
            .lock()
            .unwrap()
            .push((done, all)))),
    });
    let question = json!({"question": "check", "baseline": {"any": {"selector": "v2"}},
        "candidate": {"selector": "v2"}});
    let question: AnyQuestion = serde_json::from_value(question).unwrap();
    sto_query::ask(&sources(), &question, &context).unwrap();
    assert_eq!(*steps.lock().unwrap(), [(0, 2), (1, 2)]);
}

#[test]
fn errors_have_classes() {
    let class = |question: Value| ask(question).unwrap_err().class();
    let top = |selector: &str| json!({"question": "top", "named": {"selector": selector}});
    assert_eq!(class(top("v9")), ErrorClass::NotFound);
    assert_eq!(class(top("v2")), ErrorClass::Invalid); // Two benchmarks.
    let event = json!({"question": "top", "named": {"selector": "v1"}, "filter": {"event": "x"}});
    assert_eq!(class(event), ErrorClass::NotFound);
    let function =
        json!({"question": "series", "function": "nowhere", "history": {"benchmarks": ["load"]}});
    assert_eq!(class(function), ErrorClass::NotFound);

    let nowhere = Sources::from_folder(Path::new("/nowhere"));
    let question: AnyQuestion = serde_json::from_value(json!({"question": "builds"})).unwrap();
    let error = crate::ask(&nowhere, &question).unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
}

#[test]
fn text_stands_for_a_selector_and_unknown_fields_are_errors() {
    let parse = |question: Value| serde_json::from_value::<AnyQuestion>(question);
    let long = json!({"question": "check", "candidate": {"selector": "v2"}, "baseline": {"of_candidate": "v1"}});
    let short = json!({"question": "check", "candidate": "v2", "baseline": "v1"});
    assert_eq!(parse(short).unwrap(), parse(long).unwrap());
    let named = json!({"question": "top", "named": "v1"});
    let selector = json!({"question": "top", "selector": "v1"});
    assert_eq!(parse(named).unwrap(), parse(selector).unwrap());
    let error = parse(json!({"question": "top", "selector": 1})).unwrap_err();
    assert!(
        error.to_string().contains("a selector, or an object"),
        "{error}"
    );
    let error = parse(json!({"question": "top", "limits": 1})).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("unknown field `limits`, expected one of"),
        "{error}"
    );
}

/// Every question that a server may be asked has a schema, and so has every answer.
#[test]
fn every_question_and_answer_has_a_schema() {
    let questions = AnyQuestion::schema().to_value();
    let names: BTreeSet<&str> = questions["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| {
            question["properties"]["question"]["const"]
                .as_str()
                .unwrap()
        })
        .collect();
    assert!(names.is_superset(&["top", "check", "regressions-over-time", "labels"].into()));
    let answers = AnyAnswer::schemas();
    assert_eq!(answers["sto.top/1"].get("title"), Some(&json!("sto.top/1")));
    assert_eq!(answers.len(), names.len());
}
