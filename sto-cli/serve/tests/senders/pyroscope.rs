//! Pyroscope's endpoints, as its SDKs use them.

use crate::support::{Server, gzip, read};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use sto_core::formats::MessageWriter;

fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, content) in parts {
        let head = format!(
            "--xyz\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\n\r\n"
        );
        form.extend([head.as_bytes(), content, b"\r\n"].concat());
    }
    form.extend(b"--xyz--\r\n");
    form
}

const FORM: (&str, &str) = ("Content-Type", "multipart/form-data; boundary=xyz");

type Labels<'a> = &'a [(&'a str, &'a str)];

/// A request of `push.v1.PusherService` with series of labels and samples.
fn push(series: &[(Labels<'_>, &[&[u8]])]) -> Vec<u8> {
    let mut request = MessageWriter::default();
    for (labels, samples) in series {
        let mut message = MessageWriter::default();
        for (name, value) in *labels {
            let mut label = MessageWriter::default();
            label.bytes(1, name.as_bytes());
            label.bytes(2, value.as_bytes());
            message.message(1, &label);
        }
        for profile in *samples {
            let mut sample = MessageWriter::default();
            sample.bytes(1, profile);
            sample.bytes(2, b"00000000-0000-0000-0000-000000000000");
            message.message(2, &sample);
        }
        request.message(1, &message);
    }
    request.bytes
}

const PUSH: &str = "/push.v1.PusherService/Push";

#[test]
fn ingest_takes_each_documented_encoding() {
    let server = Server::start();
    let pprof = read("pprof/go-cpu.pb.gz");
    let jfr = read("jfr/async-profiler.jfr");
    let trie = b"\0\0\x01\x05a;b;c\x07\0";
    let types = br#"{"contentions":{"display-name":"mutex_count"}}"#;
    let mutex = form(&[
        ("profile", &read("pprof/go-mutex.pb.gz")),
        ("sample_type_config", types),
    ]);
    for (query, headers, body) in [
        (
            "name=a.cpu{version=v1,env=x}&from=1615709120&until=1615709130",
            &[][..],
            &b"foo;bar 100\nfoo;baz 200\n"[..],
        ),
        (
            "name=b{version=v1}&format=lines",
            &[],
            b"foo;bar\nfoo;bar\n",
        ),
        ("name=c{version=v1}&format=trie&units=objects", &[], trie),
        (
            "name=d{version=v1}&format=pprof&spyName=nodespy",
            &[],
            &pprof,
        ),
        (
            "name=e{version=v1}&from=1615709120000000000&until=1615709130000000000",
            &[FORM],
            &mutex,
        ),
        (
            "name=f{version=v1}&format=jfr",
            &[FORM],
            &form(&[("jfr", &gzip(&jfr)), ("labels", b"")]),
        ),
        ("name=g{version=v1}&format=jfr", &[], &jfr),
        (
            "name=h{service_name=other}",
            &[("X-Scope-OrgID", "team")],
            b"foo;bar 1\n",
        ),
    ] {
        let response = server.post(&format!("/ingest?{query}"), headers, body);
        assert_eq!(
            (response.status, response.text()),
            (200, String::new()),
            "{query}"
        );
    }
    let profiles = server.wait_for(8);
    let begins = |text: &str| {
        assert!(
            profiles.iter().any(|found| found.starts_with(text)),
            "{text}: {profiles:#?}"
        );
    };
    begins("a@v1 env=x profile=cpu samples");
    begins("b@v1 samples");
    begins("c@v1 profile=objects samples");
    begins("d@v1 pyroscope_spy=nodespy ");
    begins("e@v1 profile=mutex delay contentions");
    begins("f@v1 ");
    begins("g@v1 ");
    begins("other@unversioned tenant=team samples");
}

#[test]
fn ingest_says_what_is_wrong() {
    let server = Server::start();
    let pprof = read("pprof/go-cpu.pb.gz");
    for (query, headers, body, status, part) in [
        ("", &[][..], &b"a 1\n"[..], 400, "name"),
        ("name=a%7Bb", &[], b"a 1\n", 400, "expected APP"),
        ("name=a&format=other", &[], b"a 1\n", 400, "expected folded"),
        (
            "name=a&from=now&until=now",
            &[],
            b"a 1\n",
            400,
            "from=now: expected the seconds",
        ),
        ("name=a", &[], b"no count", 422, "line 1"),
        ("name=a&format=pprof", &[], b"no pprof", 422, "byte"),
        ("name=a", &[FORM], b"--xyz\r\n", 400, "ends within a part"),
        (
            "name=a",
            &[FORM],
            &form(&[("jfr", b"")]),
            400,
            "without the part `profile`; found jfr",
        ),
        (
            "name=a",
            &[FORM],
            &form(&[
                ("profile", &pprof),
                ("sample_type_config", br#"{"cpu":{"cumulative":true}}"#),
            ]),
            400,
            "without the part `prev_profile`",
        ),
        (
            "name=a",
            &[FORM],
            &form(&[("profile", &pprof), ("sample_type_config", b"{")]),
            400,
            "sample_type_config",
        ),
    ] {
        let response = server.post(&format!("/ingest?{query}"), headers, body);
        assert_eq!(response.status, status, "{query}: {}", response.text());
        assert!(
            response.text().contains(part),
            "{query}: {}",
            response.text()
        );
    }
    assert!(server.profiles().is_empty());
}

#[test]
fn the_profile_before_a_cumulative_one_is_subtracted() {
    let server = Server::start();
    let heap = read("pprof/go-heap.pb.gz");
    let body = form(&[("profile", &heap), ("prev_profile", &heap)]);
    let response = server.post("/ingest?name=unchanged", &[FORM], &body);
    assert_eq!(response.status, 200, "{}", response.text());
    let body = form(&[("profile", &heap), ("prev_profile", b"")]);
    let response = server.post("/ingest?name=first", &[FORM], &body);
    assert_eq!(response.status, 200, "{}", response.text());
    let profiles = server.wait_for(1);
    assert!(profiles[0].starts_with("first@"), "{profiles:?}");
}

#[test]
fn push_takes_several_series() {
    let server = Server::start();
    let (cpu, mutex) = (read("pprof/go-cpu.pb.gz"), read("pprof/go-mutex.pb.gz"));
    let labels: [Labels<'_>; 2] = [
        &[
            ("__name__", "process_cpu"),
            ("service_name", "shop"),
            ("version", "v1"),
            ("__session_id__", "1"),
        ],
        &[
            ("__name__", "mutex"),
            ("service_name", "shop"),
            ("service_git_ref", "abc"),
            ("region", "eu"),
        ],
    ];
    let request = push(&[(labels[0], &[&cpu]), (labels[1], &[&mutex])]);
    let headers = [
        ("Content-Type", "application/proto"),
        ("Content-Encoding", "gzip"),
    ];
    let response = server.post(PUSH, &headers, &gzip(&request));
    assert_eq!((response.status, response.text()), (200, String::new()));
    assert_eq!(response.header("content-type"), "application/proto");
    let profiles = server.wait_for(2);
    assert!(
        profiles[0].starts_with("shop@abc profile=mutex region=eu "),
        "{profiles:?}"
    );
    assert!(
        profiles[1].starts_with("shop@v1 profile=process_cpu "),
        "{profiles:?}"
    );
}

#[test]
fn push_takes_json() {
    let server = Server::start();
    let request = json!({"series": [{
        "labels": [{"name": "service_name", "value": "shop"}],
        "samples": [{"rawProfile": BASE64_STANDARD.encode(read("pprof/go-cpu.pb.gz")), "ID": "x"}],
    }]});
    let response = server.post(
        PUSH,
        &[("Content-Type", "application/json")],
        request.to_string().as_bytes(),
    );
    assert_eq!((response.status, response.text()), (200, "{}".to_owned()));
    assert!(server.wait_for(1)[0].starts_with("shop@"));
}

#[test]
fn a_push_is_stored_completely_or_not_at_all() {
    let server = Server::start();
    let request = push(&[(
        &[("service_name", "shop")],
        &[&read("pprof/go-cpu.pb.gz"), b"no pprof"],
    )]);
    let response = server.post(PUSH, &[("Content-Type", "application/proto")], &request);
    assert_eq!(response.status, 422);
    assert!(
        response
            .text()
            .starts_with(r#"{"code":"invalid_argument","message":"#),
        "{}",
        response.text()
    );
    let response = server.post(PUSH, &[("Content-Type", "text/plain")], &request);
    response.assert_problem(415, "application/proto");
    assert!(server.profiles().is_empty());
}
