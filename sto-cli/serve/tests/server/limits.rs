//! Large, slow and damaged requests.

use crate::support::Server;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::net::TcpStream;

const PROFILES: &str = "/api/v1/profiles?program=app&build=v1";

#[test]
fn large_bodies_are_refused() {
    let server = Server::with_config("limits.body-mib = 1\nlimits.decoded-mib = 1");
    let large = vec![b' '; (1 << 20) + 1];
    assert!(
        server
            .post(PROFILES, &large)
            .problem(413)
            .contains("1.0 MiB")
    );
    assert!(
        server
            .post("/api/v1/sql", &large)
            .problem(413)
            .contains("1.0 MiB")
    );
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(&large).unwrap();
    let bomb = bomb.finish().unwrap();
    let gzip = ("content-encoding", "gzip");
    let refused = server.send("POST", PROFILES, &[gzip], &bomb);
    assert!(refused.problem(413).contains("expands to more than"));
    server
        .send("POST", PROFILES, &[gzip], "no gzip")
        .problem(400);
    server
        .send("POST", PROFILES, &[("content-encoding", "br")], "x")
        .problem(415);
    assert!(
        server
            .store
            .snapshot()
            .unwrap()
            .builds()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn bodies_share_their_memory() {
    let server = Server::with_config("limits.bodies-mib = 1");
    let refused = server.post(PROFILES, vec![b' '; 2 << 20]);
    refused.problem(429);
    assert!(
        refused.headers.contains("retry-after: 5\n"),
        "{}",
        refused.headers
    );
    assert_eq!(server.post(PROFILES, "main 1\n").status, 201);
}

#[test]
fn an_endless_body_ends_with_a_problem() {
    let server = Server::with_config("limits.request-seconds = 1");
    let head = format!(
        "POST {PROFILES} HTTP/1.1\r\nhost: {}\r\ncontent-length: 9\r\n\r\nmain",
        server.host()
    );
    let answer = server.send_raw(head.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[test]
fn idle_connections_are_closed() {
    let server = Server::with_config("limits.idle-seconds = 1");
    assert_eq!(server.send_raw(b""), "");
    assert_eq!(server.send_raw(b"PRI * HTT"), "");
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", server.host());
    assert!(server.send_raw(request.as_bytes()).ends_with("ok\n"));
}

#[test]
fn further_connections_are_refused_and_accepted_later() {
    let server = Server::with_config("limits.connections = 2");
    let held: Vec<TcpStream> = (0..2)
        .map(|_| TcpStream::connect(server.host()).unwrap())
        .collect();
    // A closed connection answers nothing.
    assert_eq!(server.send_raw(b"GET /healthz HTTP/1.1\r\n\r\n"), "");
    drop(held);
    let accepted = |_| {
        let request = format!(
            "GET /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            server.host()
        );
        server
            .send_raw(request.as_bytes())
            .starts_with("HTTP/1.1 200")
    };
    assert!((0..1000).any(accepted));
}

#[test]
fn damaged_requests_end_with_a_client_error() {
    let server = Server::start();
    for path in [
        "/../../etc/passwd",
        "/assets/x/../../Cargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//evil.example",
    ] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            server.host()
        );
        let answer = server.send_raw(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    let no_host = "GET / HTTP/1.1\r\nconnection: close\r\n\r\n";
    let two_hosts = "GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil\r\nconnection: close\r\n\r\n";
    let mut long = b"GET / HTTP/1.1\r\nx: ".to_vec();
    long.resize(1 << 20, b'x');
    for request in [
        no_host.as_bytes(),
        two_hosts.as_bytes(),
        &long,
        b"\0\xff\r\n\r\n",
    ] {
        let answer = server.send_raw(request);
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}
