//! Models of the time of calls as a function of their arguments.

use crate::export::written;
use crate::{ask, of_function};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_query::questions::{
    CompareModelsRequest, ExportFormat, ExportRequest, ModelRequest, Order,
};
use sto_query::results::{CostModel, Verdict};
use sto_query::sources::{BuildRef, Sources};
use sto_query::statistics::models::ModelKind;
use sto_query::text::Style;
use sto_query::{QueryError, render};

/// A trace of `halve`, which calls itself with half of `n` and has a self time of `n` µs, and of `search`, whose end
/// event has the number `found`; its time is `found` to the power of `power`.
fn trace(power: u32) -> String {
    let mut events = Vec::new();
    let mut now = 0;
    for run in 0..3 {
        for n in [64, 128, 256, 512, 1024] {
            let mut took = 0;
            let mut open = Vec::new();
            let mut size = n;
            while size >= 16 {
                open.push((size, took));
                took += size / 2;
                size /= 2;
            }
            // Each call begins in the middle of its caller's self time; the other half follows when all end.
            let total: u64 = open.iter().map(|(size, _)| size).sum();
            let mut ends = now + total;
            for (size, after) in open {
                events.push(format!(
                    r#"{{"ph":"X","name":"halve","pid":1,"tid":1,"ts":{},"dur":{},"args":{{"n":{size}}}}}"#,
                    now + after,
                    ends - now - after,
                ));
                ends -= size - size / 2;
            }
            now += total + 1;
            let found = n / 8 + run;
            events.push(format!(
                r#"{{"ph":"B","name":"search","pid":1,"tid":1,"ts":{now}}}"#
            ));
            now += 10 + u64::pow(found, power);
            events.push(format!(
                r#"{{"ph":"E","pid":1,"tid":1,"ts":{now},"args":{{"found":"{}","in":"all"}}}}"#,
                n / 8
            ));
            now += 1;
        }
    }
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

fn sources(keep_calls: bool) -> Sources {
    let store = Store::in_memory().unwrap();
    for (build, power) in [("v1", 1), ("v2", 2)] {
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some(build.to_owned()),
            keep_calls,
            ..IngestOptions::default()
        };
        let path = Path::new("trace.json");
        let recording = read_bytes(path, trace(power).as_bytes(), &options.read_options()).unwrap();
        ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn modelled(function: &str, x: &str, cost: Order) -> Result<CostModel, QueryError> {
    let mut request = ModelRequest::default();
    request.named = BuildRef::from("app@v1");
    request.x = x.to_owned();
    request.cost = cost;
    ask(&sources(x == "order"), &of_function(&request, function))
}

fn slope(found: &CostModel) -> f64 {
    let best = &found.function.models[0];
    assert_eq!(best.kind, ModelKind::Linear, "{best:?}");
    best.coefficients[1].value
}

#[test]
fn each_recursive_call_is_a_point() {
    let found = modelled("halve", "n", Order::SelfCost).unwrap();
    assert_eq!(found.function.points.len(), 75);
    assert!((slope(&found) - 1000.0).abs() < 1.0, "{found:?}");
    let found = modelled("halve", "n", Order::Total).unwrap();
    assert!((slope(&found) - 2000.0).abs() < 1.0, "{found:?}");
    let text = render::models::text(&found, Style::default(), false);
    let head = "halve: total wall of each call by n, 75 points of 1 run of app@v1\n";
    assert!(text.starts_with(head), "{text}");
}

#[test]
fn arguments_of_end_events_are_used() {
    let found = modelled("search", "found", Order::Total).unwrap();
    assert_eq!(found.function.points.len(), 15);
    assert!((slope(&found) - 1000.0).abs() < 1.0, "{found:?}");
}

#[test]
fn models_by_call_order_need_all_calls() {
    let found = modelled("search", "order", Order::Total).unwrap();
    let numbers = found.function.points.iter().map(|point| point.x);
    assert!(numbers.eq((1..=15).map(f64::from)));
    let mut request = ModelRequest::default();
    request.named = BuildRef::from("app@v1");
    request.x = "order".to_owned();
    let error = ask(&sources(false), &of_function(&request, "search")).unwrap_err();
    assert!(error.to_string().contains("were merged"), "{error}");
    assert_eq!(error.hint(), Some(sto_core::Hint::KeepCalls));
}

#[test]
fn unknown_argument_lists_existing_ones() {
    let error = modelled("halve", "m", Order::Total).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no run of app@v1 has a metric or a label `m` that is a number; calls have found, n"
    );
}

#[test]
fn function_without_argument_lists_its_own() {
    let error = modelled("halve", "found", Order::Total).unwrap_err();
    let message =
        "no call of `halve` in app@v1 has a number `found`, but n; those of search have it";
    assert_eq!(error.to_string(), message);
    let mut request = CompareModelsRequest::default();
    request.named = ["app@v1", "app@v2"].map(BuildRef::from);
    request.x = "found".to_owned();
    request.function = Some("halve".to_owned());
    let error = ask(&sources(false), &request).unwrap_err();
    assert_eq!(error.to_string(), message.replace("v1", "v2"));
}

#[test]
fn lists_call_order_if_all_calls_were_kept() {
    let mut request = ModelRequest::default();
    request.named = BuildRef::from("app@v1");
    request.x = "rows".to_owned();
    let error = ask(&sources(true), &of_function(&request, "halve")).unwrap_err();
    let error = error.to_string();
    assert!(error.ends_with("; calls have found, n, order"), "{error}");
}

#[test]
fn calls_of_two_builds_are_compared_by_their_arguments() {
    let compared = |x: &str, builds: [&str; 2]| {
        let mut request = CompareModelsRequest::default();
        request.named = builds.map(BuildRef::from);
        request.x = x.to_owned();
        ask(&sources(false), &request).unwrap()
    };
    let changes = compared("found", ["app@v1", "app@v2"]);
    assert_eq!(changes.verdict, Verdict::Regression);
    assert_eq!(changes.functions[0].function, "search");
    assert_eq!(compared("n", ["app@v1", "app@v2"]).verdict, Verdict::Clean);
}

#[test]
fn exported_perun_profile_round_trips() {
    let mut request = ExportRequest::default();
    request.named = BuildRef::from("app@v1");
    request.format = ExportFormat::Perun;
    request.x = "found".to_owned();
    let exported = written(&ask(&sources(false), &request).unwrap());
    let profile: Value = serde_json::from_slice(&exported).unwrap();
    let curves = profile["models"].as_array().unwrap();
    let names: BTreeSet<&str> = curves
        .iter()
        .map(|curve| curve["model"].as_str().unwrap())
        .collect();
    let known = [
        "constant",
        "exponential",
        "linear",
        "logarithmic",
        "power",
        "quadratic",
    ];
    assert!(names.iter().copied().eq(known), "{names:?}");
    for curve in curves {
        assert_eq!(curve["uid"], "search");
        assert!(curve["coeffs"].as_array().unwrap().len() >= 2, "{curve}");
    }
    assert_eq!(
        profile["header"]["units"],
        serde_json::json!({"mixed(time delta)": "us"})
    );
    // `search` takes 10 µs plus 1 µs per item found.
    let coefficients = |kind: &str| {
        let curve = curves.iter().find(|curve| curve["model"] == kind);
        let of = &curve.unwrap()["coeffs"];
        [0, 1].map(|ix| of[ix]["value"].as_f64().unwrap())
    };
    let [constant, slope] = coefficients("linear");
    assert!(
        (constant - 11.0).abs() < 0.1 && (slope - 1.0).abs() < 0.01,
        "{constant} {slope}"
    );
    let [_, base] = coefficients("exponential");
    assert!((1.0..1.1).contains(&base), "{base}");
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        executable: Some("app".to_owned()),
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let path = Path::new("app.perf");
    let recording = read_bytes(path, &exported, &options.read_options()).unwrap();
    ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    let mut request = ModelRequest::default();
    request.named = BuildRef::from("app@v1");
    request.x = "structure-unit-size".to_owned();
    let read = Sources::from_snapshot(store.snapshot().unwrap());
    let read = ask(&read, &of_function(&request, "search")).unwrap();
    let whole = modelled("search", "found", Order::Total).unwrap();
    assert_eq!(read.function, whole.function);
}
