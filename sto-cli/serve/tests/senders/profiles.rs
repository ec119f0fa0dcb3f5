//! `POST /api/v1/profiles`.

use crate::support::{Server, gzip, testdata};
use serde_json::Value;
use std::process::Command;
use sto_core::units::UnixSeconds;
use sto_test_support::missing;

const FOLDED: &[u8] = b"main;work 90\nmain;idle 10\n";

#[test]
fn stores_a_run_with_all_parameters() {
    let server = Server::start();
    let query = "program=demo&build=v1&revision=abc&benchmark=start%20up&label.cpu=7950x&metric.seconds=1.5\
                 &recorded=2026-03-01T12:00&slices=1&format=folded";
    let response = server.post(&format!("/api/v1/profiles?{query}"), &[], FOLDED);
    assert_eq!(response.status, 201, "{}", response.text());
    assert_eq!(response.header("content-type"), "application/json");
    let json: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(json["schema"], "sto.ingest/1");
    let profile = &json["recordings"][0]["profiles"][0];
    assert_eq!(profile["executable"], "demo");
    assert_eq!(profile["version"], "v1");
    let builds = server.store.snapshot().unwrap().builds().unwrap();
    let stored = &builds[0].profiles[0];
    assert_eq!(profile["id"], stored.id.to_string());
    assert_eq!(stored.revision.as_deref(), Some("abc"));
    assert_eq!(stored.profile.benchmark.as_deref(), Some("start up"));
    assert_eq!(stored.profile.labels["cpu"], "7950x");
    assert_eq!(stored.profile.metrics["seconds"], 1.5);
    assert_eq!(stored.profile.origin.recorded.unwrap().0, 1_772_366_400);
}

#[test]
fn curl_sends_any_format() {
    if missing(&["curl"]) {
        return;
    }
    let server = Server::start();
    for file in [
        "pprof/go-cpu.pb.gz",
        "jfr/async-profiler.jfr",
        "otlp/v1.10.otlp",
        "perf-data/threads.perf.data",
    ] {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--fail-with-body", "--data-binary"]);
        curl.arg(format!("@{}", testdata(file).display()));
        curl.arg(format!(
            "{}/api/v1/profiles?program=demo&build={file}",
            server.url()
        ));
        let output = curl.output().unwrap();
        assert!(
            output.status.success(),
            "{file}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    assert_eq!(server.profiles().len(), 4);
}

#[test]
fn compressed_bodies_are_the_same_profile() {
    let server = Server::start();
    let send = |headers: &[(&str, &str)], body: &[u8]| {
        let response = server.post("/api/v1/profiles?program=demo&build=v1", headers, body);
        assert_eq!(response.status, 201, "{}", response.text());
        let json: Value = serde_json::from_slice(&response.body).unwrap();
        json["recordings"][0]["profiles"][0]["added"]
            .as_bool()
            .unwrap()
    };
    assert!(send(&[], FOLDED));
    assert!(!send(&[("Content-Encoding", "gzip")], &gzip(FOLDED)));
    assert_eq!(server.profiles().len(), 1);
}

#[test]
fn a_run_without_a_time_has_the_time_of_its_arrival() {
    let server = Server::start();
    let response = server.post("/api/v1/profiles?program=demo&build=v1", &[], FOLDED);
    assert_eq!(response.status, 201, "{}", response.text());
    let builds = server.store.snapshot().unwrap().builds().unwrap();
    let recorded = builds[0].profiles[0].profile.recorded;
    assert!(recorded > Some(UnixSeconds(1_790_000_000)), "{recorded:?}");
}

#[test]
fn unknown_and_invalid_parameters_are_errors() {
    let server = Server::start();
    for (query, part) in [
        (
            "biuld=v1",
            "`biuld` is not a parameter; expected program, build,",
        ),
        ("label.=v1", "`label.` is not a parameter"),
        ("build=v1&build=v2", "`build` is given twice"),
        ("build=v1&metric.seconds=fast", "metric.seconds=fast"),
        ("build=v1&metric.seconds=inf", "expected a finite number"),
        ("build=v1&recorded=yesterday", "recorded=yesterday"),
        ("build=v1&slices=0", "expected a whole number from 1"),
        ("build=v1&format=word", "format=word: expected one of"),
    ] {
        let response = server.post(&format!("/api/v1/profiles?{query}"), &[], FOLDED);
        response.assert_problem(400, part);
    }
    server
        .post("/api/v1/profiles?program=demo", &[], FOLDED)
        .assert_problem(422, "build");
    server
        .post("/api/v1/profiles?build=v1", &[], b"")
        .assert_problem(422, "empty");
    assert!(server.profiles().is_empty());
}
