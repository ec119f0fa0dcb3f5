//! Requests as Grafana's data source sends them.

use crate::messages::*;
use crate::runs::{BEGIN, server};
use crate::support::{Response, Server, gzip, read};
use prost::Message;
use serde_json::{Value, json};
use sto_core::formats::read_bytes;

const CPU: &str = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
const SHOP: &str = r#"{service_name="shop"}"#;
const MS: i64 = 1_000_000;

fn call(server: &Server, method: &str, content_type: &str, body: &[u8]) -> Response {
    let path = format!("/querier.v1.QuerierService/{method}");
    let headers = [
        ("Content-Type", content_type),
        ("Connect-Protocol-Version", "1"),
        ("Accept", "*/*"),
    ];
    server.post(&path, &headers, body)
}

/// Sends a message in Protocol Buffers, as connect-go does, and returns the answer.
fn ask<Answer: Message + Default>(server: &Server, method: &str, request: &impl Message) -> Answer {
    let response = call(
        server,
        method,
        "application/proto",
        &request.encode_to_vec(),
    );
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("content-type"), "application/proto");
    Answer::decode(&*response.body).unwrap()
}

fn ask_json(server: &Server, method: &str, request: &Value) -> Value {
    let body = serde_json::to_vec(request).unwrap();
    let response = call(server, method, "application/json", &body);
    assert_eq!(response.status, 200, "{}", response.text());
    serde_json::from_slice(&response.body).unwrap()
}

fn milliseconds(time: u64) -> i64 {
    i64::try_from(time * 1000).unwrap()
}

fn stacktraces(labels: &str) -> Stacktraces {
    Stacktraces {
        profile_type: CPU.to_owned(),
        label_selector: labels.to_owned(),
        start: milliseconds(BEGIN),
        end: milliseconds(BEGIN + 3600),
        ..Stacktraces::default()
    }
}

#[test]
fn save_and_test_lists_profile_types() {
    let server = server();
    let types: ProfileTypesResponse = ask(&server, "ProfileTypes", &ProfileTypesRequest::default());
    let ids: Vec<&str> = types.profile_types.iter().map(|known| &*known.id).collect();
    assert_eq!(ids, [CPU, "process_cpu:samples:count:cpu:nanoseconds"]);
    let cpu = &types.profile_types[0];
    assert_eq!(
        [
            &cpu.name,
            &cpu.sample_type,
            &cpu.sample_unit,
            &cpu.period_type,
            &cpu.period_unit
        ],
        ["process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds"]
    );
    // The runs do not tell their duration, which may be up to a day.
    let later = ProfileTypesRequest {
        start: milliseconds(BEGIN + 2 * 86_400),
        end: milliseconds(BEGIN + 3 * 86_400),
    };
    let none: ProfileTypesResponse = ask(&server, "ProfileTypes", &later);
    assert!(none.profile_types.is_empty());
}

#[test]
fn labels_are_listed_for_a_selector() {
    let server = server();
    let request = LabelNamesRequest {
        matchers: vec![SHOP.to_owned()],
        ..LabelNamesRequest::default()
    };
    let names: Names = ask(&server, "LabelNames", &request);
    assert_eq!(
        names.names,
        ["__profile_type__", "service_name", "version", "zone"]
    );
    let request = LabelValuesRequest {
        name: "version".to_owned(),
        matchers: vec![r#"{service_name=~"sh.*", zone!="a"}"#.to_owned()],
        ..LabelValuesRequest::default()
    };
    let names: Names = ask(&server, "LabelValues", &request);
    assert_eq!(names.names, ["v2"]);
    let request = LabelValuesRequest {
        name: "service_name".to_owned(),
        matchers: vec![format!("{{__profile_type__=\"{CPU}\"}}")],
        ..LabelValuesRequest::default()
    };
    let names: Names = ask(&server, "LabelValues", &request);
    assert_eq!(names.names, ["api", "shop"]);
}

#[test]
fn names_with_dots_are_for_clients_that_know_them() {
    let server = server();
    for (accept, expected) in [
        (
            "*/*",
            &["__profile_type__", "service_name", "version", "zone"][..],
        ),
        (
            "*/*;allow-utf8-labelnames=true",
            &[
                "__profile_type__",
                "cloud.zone",
                "service_name",
                "version",
                "zone",
            ],
        ),
    ] {
        let headers = [("Content-Type", "application/proto"), ("Accept", accept)];
        let response = server.post("/querier.v1.QuerierService/LabelNames", &headers, b"");
        assert_eq!(Names::decode(&*response.body).unwrap().names, expected);
    }
    let graph: Flame = ask(
        &server,
        "SelectMergeStacktraces",
        &stacktraces(r#"{"cloud.zone"="a"}"#),
    );
    assert_eq!(graph.flamegraph.unwrap().total, 10 * MS);
}

#[test]
fn series_are_distinct_sets_of_the_wanted_labels() {
    let request = SeriesRequest {
        matchers: vec!["{}".to_owned()],
        label_names: ["service_name", "__profile_type__"]
            .map(str::to_owned)
            .into(),
    };
    let series: SeriesResponse = ask(&server(), "Series", &request);
    assert_eq!(series.labels_set.len(), 4);
    assert!(series.labels_set.iter().all(|set| set.labels.len() == 2));
}

#[test]
fn select_series_sums_each_step_and_groups_by_labels() {
    let server = server();
    let request = SelectSeriesRequest {
        profile_type: CPU.to_owned(),
        label_selector: SHOP.to_owned(),
        start: milliseconds(BEGIN),
        end: milliseconds(BEGIN + 120),
        group_by: vec!["version".to_owned()],
        step: 15.0,
        limit: None,
    };
    let answer: SelectSeriesResponse = ask(&server, "SelectSeries", &request);
    let [first, second] = &answer.series[..] else {
        panic!("{answer:?}")
    };
    assert_eq!(first.labels[0].value, "v1");
    let sum = |series: &Series| series.points.iter().map(|point| point.value).sum::<f64>();
    assert_eq!([sum(first), sum(second)], [450e6, 700e6]);
    // 1,700,000,000 is 5 s after the begin of a step of 15 s.
    assert_eq!(first.points.len(), 1);
    assert_eq!(first.points[0].timestamp, milliseconds(BEGIN - 5));
    let limited = SelectSeriesRequest {
        limit: Some(1),
        ..request.clone()
    };
    let answer: SelectSeriesResponse = ask(&server, "SelectSeries", &limited);
    assert_eq!(answer.series[0].labels[0].value, "v2");
    let counted = SelectSeriesRequest {
        profile_type: "process_cpu:samples:count:cpu:nanoseconds".to_owned(),
        group_by: Vec::new(),
        ..request
    };
    let answer: SelectSeriesResponse = ask(&server, "SelectSeries", &counted);
    assert_eq!(sum(&answer.series[0]), 50.0);
}

/// Checks that boxes nest as Grafana demands, and returns the self values by stack.
fn stacks(graph: &FlameGraph) -> Vec<(String, i64)> {
    assert_eq!(graph.names[0], "total");
    let mut found = Vec::new();
    let mut parents = vec![(0, graph.total, String::new())];
    for level in &graph.levels {
        let mut boxes = Vec::new();
        let mut end = 0;
        for group in level.values.chunks_exact(4) {
            let (start, total) = (end + group[0], group[1]);
            end = start + total;
            let parent = parents
                .iter()
                .find(|(from, of, _)| *from <= start && end <= from + of);
            let (_, _, path) = parent.expect("children nest inside parents");
            let name = &graph.names[usize::try_from(group[3]).unwrap()];
            let path = format!("{path};{name}");
            if group[2] > 0 {
                found.push((path.clone(), group[2]));
            }
            boxes.push((start, total, path));
        }
        parents = boxes;
    }
    found.sort();
    found
}

#[test]
fn flame_graph_sums_builds_and_nests() {
    let server = server();
    let answer: Flame = ask(&server, "SelectMergeStacktraces", &stacktraces(SHOP));
    let graph = answer.flamegraph.unwrap();
    assert_eq!(graph.total, 1150 * MS);
    assert_eq!(graph.max_self, 900 * MS);
    assert_eq!(
        stacks(&graph),
        [
            (";total;main;parse".to_owned(), 900 * MS),
            (";total;main;render".to_owned(), 50 * MS),
            (";total;main;render;draw".to_owned(), 200 * MS),
        ]
    );
}

#[test]
fn what_max_nodes_leaves_out_is_a_box() {
    let request = Stacktraces {
        max_nodes: Some(2),
        ..stacktraces(SHOP)
    };
    let answer: Flame = ask(&server(), "SelectMergeStacktraces", &request);
    assert_eq!(
        stacks(&answer.flamegraph.unwrap()),
        [
            (";total;main;other".to_owned(), 250 * MS),
            (";total;main;parse".to_owned(), 900 * MS),
        ]
    );
}

#[test]
fn a_part_of_the_time_has_the_slices_in_it() {
    let request = Stacktraces {
        start: milliseconds(BEGIN + 2),
        end: milliseconds(BEGIN + 5),
        ..stacktraces(SHOP)
    };
    let answer: Flame = ask(&server(), "SelectMergeStacktraces", &request);
    assert_eq!(answer.flamegraph.unwrap().total, 3 * 45 * MS);
}

#[test]
fn no_data_is_no_flame_graph() {
    let server = server();
    let later = Stacktraces {
        start: milliseconds(BEGIN + 7200),
        end: milliseconds(BEGIN + 7300),
        ..stacktraces(SHOP)
    };
    let other_type = Stacktraces {
        profile_type: "memory:inuse_space:bytes:space:bytes".to_owned(),
        ..stacktraces(SHOP)
    };
    for request in [later, other_type, stacktraces(r#"{service_name="none"}"#)] {
        let answer: Flame = ask(&server, "SelectMergeStacktraces", &request);
        assert_eq!(answer.flamegraph, None);
        let pprof = call(
            &server,
            "SelectMergeProfile",
            "application/proto",
            &request.encode_to_vec(),
        );
        assert_eq!((pprof.status, pprof.body.len()), (200, 0));
    }
}

#[test]
fn merged_pprof_has_the_same_cost() {
    let response = call(
        &server(),
        "SelectMergeProfile",
        "application/proto",
        &stacktraces(SHOP).encode_to_vec(),
    );
    assert_eq!(response.status, 200);
    let read = read_bytes("x.pb".as_ref(), &response.body, &Default::default());
    assert_eq!(read.unwrap().format.name(), "pprof");
}

#[test]
fn diff_has_both_sides() {
    let request = DiffRequest {
        left: Some(stacktraces(r#"{service_name="shop", version="v1"}"#)),
        right: Some(stacktraces(r#"{service_name="shop", version="v2"}"#)),
    };
    let answer: Flame = ask(&server(), "Diff", &request);
    let graph = answer.flamegraph.unwrap();
    assert_eq!([graph.left_ticks, graph.right_ticks], [450 * MS, 700 * MS]);
    assert!(graph.levels.iter().all(|level| level.values.len() % 7 == 0));
}

#[test]
fn json_writes_long_integers_as_text() {
    let server = server();
    let request = json!({
        "profileTypeID": CPU,
        "labelSelector": SHOP,
        "start": milliseconds(BEGIN).to_string(),
        "end": milliseconds(BEGIN + 3600),
        "maxNodes": "100",
    });
    let answer = ask_json(&server, "SelectMergeStacktraces", &request);
    assert_eq!(answer["flamegraph"]["total"], "1150000000");
    assert_eq!(answer["flamegraph"]["levels"][0]["values"][1], "1150000000");
    let pprof = ask_json(&server, "SelectMergeProfile", &request);
    assert_eq!(pprof["stringTable"][0], "");
    assert!(pprof["sample"].as_array().unwrap().len() >= 3);
    let types = ask_json(&server, "ProfileTypes", &json!({}));
    assert_eq!(types["profileTypes"][0]["ID"], CPU);
}

#[test]
fn compressed_requests_are_read() {
    let body = gzip(&stacktraces(SHOP).encode_to_vec());
    let headers = [
        ("Content-Type", "application/proto"),
        ("Content-Encoding", "gzip"),
    ];
    let path = "/querier.v1.QuerierService/SelectMergeStacktraces";
    let response = server().post(path, &headers, &body);
    let answer = Flame::decode(&*response.body).unwrap();
    assert_eq!(answer.flamegraph.unwrap().total, 1150 * MS);
}

#[test]
fn a_recorded_profile_of_go_is_shown() {
    let server = Server::start();
    let path = "/api/v1/profiles?program=shop&build=v1";
    let sent = server.post(path, &[], &read("pprof/go-cpu.pb.gz"));
    assert!(sent.status < 300, "{}", sent.text());
    let request = Stacktraces {
        start: 0,
        end: 0,
        ..stacktraces(SHOP)
    };
    let answer: Flame = ask(&server, "SelectMergeStacktraces", &request);
    let graph = answer.flamegraph.unwrap();
    assert_eq!(
        stacks(&graph).iter().map(|(_, own)| own).sum::<i64>(),
        graph.total
    );
}

fn refused(server: &Server, method: &str, body: &[u8], status: u16, code: &str) {
    let response = call(server, method, "application/proto", body);
    assert_eq!(response.status, status, "{}", response.text());
    let error: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(error["code"], code, "{error}");
    assert!(!error["message"].as_str().unwrap().is_empty());
}

#[test]
fn bad_requests_are_errors_of_connect() {
    let server = server();
    let bad_selector = stacktraces("{service_name=shop}").encode_to_vec();
    refused(
        &server,
        "SelectMergeStacktraces",
        &bad_selector,
        400,
        "invalid_argument",
    );
    let bad_type = Stacktraces {
        profile_type: "cpu".to_owned(),
        ..stacktraces(SHOP)
    };
    let bad_type = bad_type.encode_to_vec();
    refused(
        &server,
        "SelectMergeStacktraces",
        &bad_type,
        400,
        "invalid_argument",
    );
    let no_step = SelectSeriesRequest::default().encode_to_vec();
    refused(&server, "SelectSeries", &no_step, 400, "invalid_argument");
    let one_profile = Stacktraces {
        profile_id_selector: vec!["7c9e6679-7425-40de-944b-e07fc1f90ae7".to_owned()],
        ..stacktraces(SHOP)
    };
    let one_profile = one_profile.encode_to_vec();
    refused(
        &server,
        "SelectMergeStacktraces",
        &one_profile,
        501,
        "unimplemented",
    );
    refused(&server, "Unknown", b"", 501, "unimplemented");
    refused(&server, "Diff", b"", 400, "invalid_argument");
}

#[test]
fn damaged_messages_are_refused_without_harm() {
    let server = server();
    let whole = stacktraces(SHOP).encode_to_vec();
    for method in [
        "ProfileTypes",
        "LabelNames",
        "LabelValues",
        "Series",
        "SelectSeries",
        "SelectMergeStacktraces",
        "SelectMergeProfile",
        "Diff",
    ] {
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            for body in [&damaged[..], &whole[..at]] {
                let status = call(&server, method, "application/proto", body).status;
                assert!([200, 400, 501].contains(&status), "{method}: {status}");
            }
        }
        for body in [
            "",
            "{",
            "[]",
            "{\"start\":\"x\"}",
            "{\"step\":1e999}",
            "null",
        ] {
            let status = call(&server, method, "application/json", body.as_bytes()).status;
            assert!([200, 400].contains(&status), "{method} {body}: {status}");
        }
    }
}
