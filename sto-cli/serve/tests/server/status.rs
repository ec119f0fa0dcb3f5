//! Health, metrics, and the log.

use crate::support::Server;

#[test]
fn metrics_count_requests_by_route_and_status() {
    let server = Server::start().with_builds();
    server.get("/healthz");
    server.get("/nowhere/1");
    server.get("/nowhere/2");
    let metrics = server.get("/metrics").text;
    let count = |labels: &str| format!("sto_http_request_duration_seconds_count{{{labels}}}");
    for line in [
        format!(
            "{} 1\n",
            count(r#"method="GET",route="/healthz",status="200""#)
        ),
        format!("{} 2\n", count(r#"method="GET",route="none",status="404""#)),
        "sto_store_builds 2\n".to_owned(),
    ] {
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
}

#[test]
fn metrics_count_profiles_by_sender_and_reason() {
    let server = Server::with_config("limits.body-mib = 1");
    let profiles = "/api/v1/profiles?program=app&build=v4";
    assert_eq!(server.post(profiles, "main 1\n").status, 201);
    server.post(profiles, "no profile").problem(422);
    server.post(profiles, vec![b' '; 2 << 20]).problem(413);
    let as_proto = ("content-type", "application/proto");
    let large = vec![0; 2 << 20];
    let pushed = server.send("POST", "/push.v1.PusherService/Push", &[as_proto], large);
    assert_eq!(pushed.status, 413);
    let metrics = server.get("/metrics").text;
    for line in [
        "sto_profiles_accepted_total{sender=\"api/v1/profiles\"} 1\n",
        "sto_received_bytes_total{sender=\"api/v1/profiles\"} 7\n",
        "sto_profiles_refused_total{sender=\"api/v1/profiles\",reason=\"invalid\"} 1\n",
        "sto_profiles_refused_total{sender=\"api/v1/profiles\",reason=\"too_large\"} 1\n",
        "sto_profiles_refused_total{sender=\"pyroscope push\",reason=\"too_large\"} 1\n",
        "sto_intake_spool_bytes 0\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
}

#[test]
fn status_lists_senders_and_health_needs_nothing() {
    let server = Server::start().with_builds();
    server.post("/api/v1/profiles?program=app&build=v4", "main 1\n");
    let status = server.get("/api/v1/status").json();
    assert_eq!(status["read_only"], false);
    assert!(status["senders"].is_object());
    assert_eq!(server.get("/readyz").text, "ok\n");
}

#[test]
fn a_server_ends_after_the_requests_that_have_begun() {
    let mut server = Server::start();
    assert_eq!(server.get("/healthz").status, 200);
    server.stop().unwrap();
    let log = server.log.lock().unwrap();
    assert_eq!(log.first(), Some(&format!("listening on {}", server.url)));
    assert_eq!(log.last().map(String::as_str), Some("stopped"));
}
