//! Damaged requests of every endpoint: each is refused with a clear status, or accepted; nothing panics, and nothing of a
//! refused one is stored.

use crate::support::{Server, read};
use sto_test_support::{Random, damage};

/// Endpoints with a valid body.
const REQUESTS: &[(&str, &str, &str)] = &[
    (
        "/api/v1/profiles?program=demo&build=v1",
        "application/octet-stream",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/api/v1/profiles?program=demo&build=v1",
        "application/octet-stream",
        "jfr/async-profiler.jfr",
    ),
    (
        "/ingest?name=demo&format=pprof",
        "application/octet-stream",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/ingest?name=demo&format=jfr",
        "application/octet-stream",
        "jfr/async-profiler.jfr",
    ),
    (
        "/ingest?name=demo&format=trie",
        "application/octet-stream",
        "pprof/go-labels-cpu.pb.gz",
    ),
    ("/ingest?name=demo", "text/plain", "folded/README.md"),
    (
        "/ingest?name=demo",
        "multipart/form-data; boundary=sto",
        "pprof/go-labels-cpu.pb.gz",
    ),
    (
        "/push.v1.PusherService/Push",
        "application/proto",
        "pprof/go-labels-cpu.pb.gz",
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
];

const ROUNDS: u64 = 8;

#[test]
fn damaged_bodies_are_refused_or_read() {
    let server = Server::start();
    for &(path, content_type, file) in REQUESTS {
        let whole = read(file);
        for round in 0..ROUNDS {
            let mut body = whole.clone();
            damage(&mut body, &mut Random::new(round));
            let before = server.profiles().len();
            let response = server.post(path, &[("Content-Type", content_type)], &body);
            let is_refused = (400..500).contains(&response.status)
                || !["", "0"].contains(&response.header("grpc-status"));
            assert!(
                response.status < 500,
                "{path} {file} {round}: {}",
                response.text()
            );
            if is_refused {
                assert_eq!(server.profiles().len(), before, "{path} {file} {round}");
            }
        }
    }
}
