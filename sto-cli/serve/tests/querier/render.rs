//! Flame graphs for scripts.

use crate::runs::{BEGIN, Run, add, server};
use crate::support::Server;
use serde_json::Value;

const QUERY: &str =
    "process_cpu%3Acpu%3Ananoseconds%3Acpu%3Ananoseconds%7Bservice_name%3D%22shop%22%7D";

fn get(server: &Server, query: &str) -> Value {
    let response = server.get(&format!("/pyroscope/{query}"), &[]);
    assert_eq!(response.status, 200, "{}", response.text());
    serde_json::from_slice(&response.body).unwrap()
}

#[test]
fn render_has_a_flame_graph_and_a_timeline() {
    let until = BEGIN + 100;
    let shown = get(
        &server(),
        &format!("render?query={QUERY}&from={BEGIN}&until={until}&format=json"),
    );
    assert_eq!(shown["version"], 1);
    assert_eq!(shown["metadata"]["format"], "single");
    assert_eq!(shown["metadata"]["units"], "nanoseconds");
    assert_eq!(shown["flamebearer"]["numTicks"], 1_150_000_000);
    assert_eq!(shown["flamebearer"]["names"][0], "total");
    let timeline = &shown["timeline"];
    assert_eq!(timeline["startTime"], BEGIN);
    assert_eq!(timeline["durationDelta"], 10);
    let samples = timeline["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 10);
    assert_eq!([&samples[0], &samples[6]], [450_000_000, 700_000_000]);
}

#[test]
fn render_without_data_is_an_empty_flame_graph() {
    let shown = get(&server(), &format!("render?query={QUERY}&from=now-1h"));
    assert_eq!(shown["flamebearer"]["numTicks"], 0);
    assert_eq!(shown["timeline"], Value::Null);
}

#[test]
fn hostile_names_are_inert_in_dot() {
    let server = server();
    let run = Run {
        program: "evil",
        build: "v1",
        labels: &[],
        recorded: BEGIN,
        stacks: &[("main;\u{1b}[2J\"]\n\u{202e}evil\\", 10)],
    };
    add(&server.store, &run);
    let query = QUERY.replace("shop", "evil");
    let until = BEGIN + 100;
    let path = format!("/pyroscope/render?query={query}&from={BEGIN}&until={until}&format=dot");
    let dot = server.get(&path, &[]).text();
    let label = r#"[label="\\u{1b}[2J\"]\\u{a}\\u{202e}evil\\\n100000000 of 100000000 (100.00%)"]"#;
    assert!(dot.contains(label), "{dot}");
}

#[test]
fn render_writes_pprof_and_dot() {
    let server = server();
    let query = format!(
        "/pyroscope/render?query={QUERY}&from={BEGIN}&until={}",
        BEGIN + 100
    );
    let pprof = server.get(&format!("{query}&format=pprof"), &[]);
    assert_eq!(&pprof.body[..2], [0x1f, 0x8b]);
    let dot = server.get(&format!("{query}&format=dot"), &[]).text();
    assert!(dot.starts_with("digraph"), "{dot}");
    assert!(
        dot.contains("parse\\n900000000 of 900000000 (78.26%)"),
        "{dot}"
    );
    server
        .get(&format!("{query}&format=png"), &[])
        .assert_problem(400, "expected json, pprof or dot");
}

#[test]
fn render_diff_has_both_sides() {
    let side = |side: &str, begin: u64| {
        format!(
            "{side}Query={QUERY}&{side}From={begin}&{side}Until={}",
            begin + 30
        )
    };
    let query = format!(
        "render-diff?{}&{}",
        side("left", BEGIN),
        side("right", BEGIN + 60)
    );
    let shown = get(&server(), &query);
    assert_eq!(shown["metadata"]["format"], "double");
    assert_eq!(shown["leftTicks"], 450_000_000);
    assert_eq!(shown["rightTicks"], 700_000_000);
}
