//! Models of what calls took by what they were called with.

use crate::export::written;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_query::questions::{
    CompareModelsRequest, ExportFormat, ExportRequest, ModelRequest, Order, compare_models, export,
    model,
};
use sto_query::results::{CostModel, Verdict};
use sto_query::sources::{Named, Sources};
use sto_query::statistics::models::ModelKind;
use sto_query::text::Style;
use sto_query::{QueryError, render};

/// A trace of `halve`, which calls itself with half of `n` and takes `n` µs by itself, and of `search`, which says at
/// its end how many it `found`, and takes this to the power of `power`.
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
            // Each begins in the middle of its caller's own time, and all end together with what is left of that.
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
    Sources::of_snapshot(store.snapshot().unwrap())
}

fn modelled(function: &str, x: &str, cost: Order) -> Result<CostModel, QueryError> {
    let mut request = ModelRequest::default();
    request.named = Named::from("app@v1");
    request.x = x.to_owned();
    request.cost = cost;
    model(&sources(x == "order"), &request, function)
}

fn slope(found: &CostModel) -> f64 {
    let best = &found.function.models[0];
    assert_eq!(best.kind, ModelKind::Linear, "{best:?}");
    best.coefficients[1].value
}

#[test]
fn each_call_of_a_recursive_function_is_a_point_by_its_own_argument() {
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
fn what_a_call_is_known_to_be_of_at_its_end_is_its_argument_too() {
    let found = modelled("search", "found", Order::Total).unwrap();
    assert_eq!(found.function.points.len(), 15);
    assert!((slope(&found) - 1000.0).abs() < 1.0, "{found:?}");
}

#[test]
fn calls_by_their_order_need_all_calls() {
    let found = modelled("search", "order", Order::Total).unwrap();
    let numbers = found.function.points.iter().map(|point| point.x);
    assert!(numbers.eq((1..=15).map(f64::from)));
    let mut request = ModelRequest::default();
    request.named = Named::from("app@v1");
    request.x = "order".to_owned();
    let error = model(&sources(false), &request, "search").unwrap_err();
    assert!(error.to_string().contains("were merged"), "{error}");
    assert_eq!(error.hint(), Some(sto_core::Hint::KeepCalls));
}

#[test]
fn arguments_that_calls_have_are_named_where_none_has_what_is_asked_for() {
    let error = modelled("halve", "m", Order::Total).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no run of app@v1 has a metric or a label `m` that is a number; calls have found, n"
    );
}

#[test]
fn a_function_whose_calls_lack_x_is_named_with_what_they_have() {
    let error = modelled("halve", "found", Order::Total).unwrap_err();
    let said = "no call of `halve` in app@v1 has a number `found`, but n; those of search have it";
    assert_eq!(error.to_string(), said);
    let mut request = CompareModelsRequest::default();
    request.named = ["app@v1", "app@v2"].map(Named::from);
    request.x = "found".to_owned();
    request.function = Some("halve".to_owned());
    let error = compare_models(&sources(false), &request).unwrap_err();
    assert_eq!(error.to_string(), said.replace("v1", "v2"));
}

#[test]
fn where_all_calls_were_kept_their_order_is_named_too() {
    let mut request = ModelRequest::default();
    request.named = Named::from("app@v1");
    request.x = "rows".to_owned();
    let error = model(&sources(true), &request, "halve").unwrap_err();
    let error = error.to_string();
    assert!(error.ends_with("; calls have found, n, order"), "{error}");
}

#[test]
fn calls_of_two_builds_are_compared_by_their_arguments() {
    let compared = |x: &str, builds: [&str; 2]| {
        let mut request = CompareModelsRequest::default();
        request.named = builds.map(Named::from);
        request.x = x.to_owned();
        compare_models(&sources(false), &request).unwrap()
    };
    let changes = compared("found", ["app@v1", "app@v2"]);
    assert_eq!(changes.verdict, Verdict::Regression);
    assert_eq!(changes.functions[0].function, "search");
    assert_eq!(compared("n", ["app@v1", "app@v2"]).verdict, Verdict::Clean);
}

#[test]
fn what_is_exported_for_perun_has_its_curves_and_is_read_back_with_the_same() {
    let mut request = ExportRequest::default();
    request.named = Named::from("app@v1");
    request.format = ExportFormat::Perun;
    request.x = "found".to_owned();
    let exported = written(&export(&sources(false), &request).unwrap());
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
    // It takes 10 µs and one more for each that is found; two to the power of n is no unit.
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
    request.named = Named::from("app@v1");
    request.x = "structure-unit-size".to_owned();
    let read = Sources::of_snapshot(store.snapshot().unwrap());
    let read = model(&read, &request, "search").unwrap();
    let whole = modelled("search", "found", Order::Total).unwrap();
    assert_eq!(read.function, whole.function);
}
