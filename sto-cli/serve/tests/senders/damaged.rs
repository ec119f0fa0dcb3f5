//! Damaged requests of every endpoint: each is refused with a clear status, or accepted; nothing panics, and nothing of a
//! refused one is stored.

use crate::support::{Response, Server, read};
use serde_json::Value;
use sto_test_support::{Random, damage};

/// Endpoints, content types, and files of test data that are damaged and sent. `{}` is the number of the request.
const REQUESTS: &[(&str, &str, &str)] = &[
    (
        "/api/v1/profiles?program=demo{}&build=v1",
        "",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/api/v1/profiles?program=demo{}&build=v1",
        "",
        "jfr/async-profiler.jfr",
    ),
    (
        "/api/v1/profiles?program=demo{}&build=v1",
        "",
        "otlp/v1.9.otlp",
    ),
    (
        "/ingest?name=demo{}&format=pprof",
        "",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/ingest?name=demo{}&format=jfr",
        "",
        "jfr/async-profiler.jfr",
    ),
    (
        "/ingest?name=demo{}&format=speedscope",
        "",
        "speedscope/py-spy.json",
    ),
    (
        "/ingest?name=demo{}&format=trie",
        "",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/ingest?name=demo{}&format=tree",
        "",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/ingest?name=demo{}",
        "text/plain",
        "folded/async-profiler.folded",
    ),
    (
        "/ingest?name=demo{}",
        "multipart/form-data; boundary=demo",
        "folded/async-profiler.folded",
    ),
    (
        "/push.v1.PusherService/Push",
        "application/proto",
        "otlp/v1.10.otlp",
    ),
    (
        "/push.v1.PusherService/Push",
        "application/json",
        "otlp/v1.10.json",
    ),
    (
        "/push.v1.PusherService/Push",
        "application/grpc",
        "otlp/v1.10.otlp",
    ),
    (
        "/v1development/profiles",
        "application/x-protobuf",
        "otlp/v1.9.otlp",
    ),
    (
        "/v1development/profiles",
        "application/x-protobuf",
        "otlp/v1.10.otlp",
    ),
    (
        "/v1development/profiles",
        "application/json",
        "otlp/v1.10.json",
    ),
    (
        "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
        "application/grpc",
        "otlp/v1.10.otlp",
    ),
];

/// How often each file is damaged in another way.
const ROUNDS: u64 = 8;

/// Frames a message of gRPC, and puts a form around other bodies that need it.
fn wrapped(content_type: &str, body: Vec<u8>) -> Vec<u8> {
    if content_type.starts_with("application/grpc") {
        let length = body.len() as u64;
        let length = [length >> 24, length >> 16, length >> 8, length].map(|byte| byte as u8);
        return [&[0][..], &length, &body].concat();
    }
    if content_type.starts_with("multipart/") {
        let head = b"--demo\r\nContent-Disposition: form-data; name=\"profile\"\r\n\r\n";
        return [&head[..], &body, b"\r\n--demo--\r\n"].concat();
    }
    body
}

/// Number of continuous profiles that were acknowledged.
fn acknowledged(server: &Server) -> u64 {
    let status = server.get("/api/v1/status", &[]);
    let status: Value = serde_json::from_slice(&status.body).unwrap();
    let intake = &status["intake"];
    intake["accepted"].as_u64().unwrap() + intake["repeated"].as_u64().unwrap()
}

/// Asserts that a refusal has a reason in the form of its protocol.
fn assert_says_why(response: &Response, path: &str) {
    let content_type = response.header("content-type");
    if content_type.starts_with("application/grpc") {
        assert!(!response.header("grpc-message").is_empty(), "{path}");
        return;
    }
    // `google.rpc.Status`
    if content_type == "application/x-protobuf" {
        assert!(response.body.len() > 2, "{path}");
        return;
    }
    let json = serde_json::from_slice::<Value>(&response.body);
    let json = json.unwrap_or_else(|_| panic!("{path} {content_type}: {}", response.text()));
    let reason = match content_type {
        "application/problem+json" => &json["detail"],
        _ => &json["message"],
    };
    assert!(
        reason.as_str().is_some_and(|reason| !reason.is_empty()),
        "{path}: {json}"
    );
}

#[test]
fn damaged_bodies_are_refused_or_read() {
    let server = Server::start();
    let (mut refused, mut number) = (Vec::new(), 0);
    for &(path, content_type, file) in REQUESTS {
        let whole = wrapped(content_type, read(file));
        for round in 0..ROUNDS {
            number += 1;
            let mut body = whole.clone();
            damage(&mut body, &mut Random::new(round));
            let path = path.replace("{}", &number.to_string());
            let before = acknowledged(&server);
            let response = server.post(&path, &[("Content-Type", content_type)], &body);
            let grpc = response.header("grpc-status");
            assert!(
                response.status < 500 && grpc != "13",
                "{path} {file} {round}: {}",
                response.text()
            );
            if response.status >= 400 || !["", "0"].contains(&grpc) {
                assert_says_why(&response, &path);
                assert_eq!(acknowledged(&server), before, "{path} {file} {round}");
                refused.push(format!("demo{number}@"));
            }
        }
    }
    assert!(
        refused.len() > 50,
        "few bodies are damaged enough: {}",
        refused.len()
    );
    let end = server.post("/ingest?name=end", &[], b"a 1\n");
    assert_eq!(end.status, 200);
    let stored =
        server.wait_until(|profiles| profiles.iter().any(|found| found.starts_with("end@")));
    for name in refused {
        assert!(
            !stored.iter().any(|found| found.starts_with(&name)),
            "{name}: {stored:?}"
        );
    }
}
