//! OTLP over HTTP and gRPC.

use crate::support::{Server, gzip, python, read};
use prost::Message;
use serde_json::{Value, json};
use sto_test_support::otlp::{
    AnyValue, Attribute, Function, KeyValue, Line, Location, Mapping, Profile, ProfilesData,
    Resource, ResourceProfiles, Sample, ScopeProfiles, Stack, Value as OtlpValue, ValueType,
};

const PATH: &str = "/v1development/profiles";
const PROTOBUF: (&str, &str) = ("Content-Type", "application/x-protobuf");
const JSON: (&str, &str) = ("Content-Type", "application/json");

#[test]
fn every_version_and_encoding_is_stored() {
    for (file, content_type) in [
        ("v1.10.otlp", PROTOBUF),
        ("v1.9.otlp", PROTOBUF),
        ("v1.10.json", JSON),
    ] {
        let server = Server::start();
        let body = read(&format!("otlp/{file}"));
        let response = server.post(
            PATH,
            &[content_type, ("Content-Encoding", "gzip")],
            &gzip(&body),
        );
        let expected = if content_type == JSON { "{}" } else { "" };
        assert_eq!(
            (response.status, &*response.text()),
            (200, expected),
            "{file}"
        );
        assert_eq!(response.header("content-type"), content_type.1);
        assert!(!server.wait_for(1).is_empty(), "{file}");
    }
}

#[test]
fn a_version_that_is_not_known_is_refused() {
    let server = Server::start();
    let body = read("otlp/v1.10.otlp");
    let version = "OTLP-Profiles-Development-Version";
    assert_eq!(
        server.post(PATH, &[PROTOBUF, (version, "1")], &body).status,
        200
    );
    server.wait_for(1);
    for versions in [&["2"][..], &["1, 2"], &[""], &["1", "1"]] {
        let headers = versions.iter().map(|&found| (version, found));
        let headers: Vec<_> = [JSON].into_iter().chain(headers).collect();
        let response = server.post(PATH, &headers, &body);
        let status: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(
            (response.status, &status["code"]),
            (400, &json!(3)),
            "{status}"
        );
        assert!(
            status["message"]
                .as_str()
                .unwrap()
                .contains("this server reads version 1"),
            "{status}"
        );
    }
    // An export without a dictionary, and one whose attributes have texts as keys.
    for body in [
        read("otlp/v1.7.otlp"),
        read("otlp/v1.10.otlp")[..0].to_vec(),
    ] {
        let response = server.post(PATH, &[PROTOBUF], &body);
        let is_empty = body.is_empty();
        assert_eq!(response.status, if is_empty { 200 } else { 400 });
        assert_eq!(
            response.text().contains("before version 1.8"),
            !is_empty,
            "{}",
            response.text()
        );
    }
    server
        .post(PATH, &[("Content-Type", "text/plain")], &body)
        .assert_problem(415, "application/x-protobuf");
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(OtlpValue::Text(value.to_owned())),
        }),
        key_strindex: 0,
    }
}

/// An export with a resource for each list of attributes, which has a profile of one sample with the stack of its number.
fn export(resources: &[Vec<KeyValue>]) -> ProfilesData {
    let mut export = ProfilesData::default();
    let dictionary = export.dictionary.get_or_insert_default();
    dictionary.string_table = ["", "cpu", "nanoseconds"].map(str::to_owned).to_vec();
    dictionary.mapping_table = vec![Mapping::default()];
    dictionary.attribute_table = vec![Attribute::default()];
    dictionary.location_table = vec![Location::default()];
    dictionary.function_table = vec![Function::default()];
    dictionary.stack_table = vec![Stack::default()];
    for (ix, attributes) in (1..).zip(resources) {
        dictionary.string_table.push(format!("function{ix}"));
        dictionary.function_table.push(Function {
            name_strindex: ix + 2,
            ..Function::default()
        });
        let lines = vec![Line {
            function_index: ix,
            line: 0,
        }];
        dictionary.location_table.push(Location {
            lines,
            ..Location::default()
        });
        dictionary.stack_table.push(Stack {
            location_indices: vec![ix],
        });
        let profile = Profile {
            sample_type: Some(ValueType {
                type_strindex: 1,
                unit_strindex: 2,
            }),
            samples: vec![Sample {
                stack_index: ix,
                values: vec![100],
                ..Sample::default()
            }],
            time_unix_nano: 1_700_000_000_000_000_000,
            duration_nano: 5_000_000_000,
            ..Profile::default()
        };
        export.resource_profiles.push(ResourceProfiles {
            resource: Some(Resource {
                attributes: attributes.clone(),
            }),
            scope_profiles: vec![ScopeProfiles {
                profiles: vec![profile],
            }],
        });
    }
    export
}

fn four_resources() -> ProfilesData {
    export(&[
        vec![
            attribute("service.name", "shop"),
            attribute("service.version", "v1"),
            attribute("process.pid", "1"),
        ],
        vec![
            attribute("service.name", "shop"),
            attribute("service.version", "v1"),
            attribute("process.pid", "2"),
        ],
        vec![
            attribute("process.executable.path", "/usr/bin/redis"),
            attribute("host.name", "a"),
        ],
        vec![
            attribute("service.name", "shop"),
            attribute("vcs.ref.head.revision", "abc"),
        ],
    ])
}

const FOUR: [&str; 3] = [
    "redis@unversioned host.name=a cpu",
    "shop@abc cpu",
    "shop@v1 cpu",
];

#[test]
fn each_program_of_a_request_has_its_own_profile() {
    let export = four_resources();
    for (content_type, body) in [
        (PROTOBUF, export.encode_to_vec()),
        (JSON, serde_json::to_vec(&export).unwrap()),
    ] {
        let server = Server::start();
        let response = server.post(PATH, &[content_type], &body);
        assert_eq!(response.status, 200, "{}", response.text());
        assert_eq!(server.wait_for(3), FOUR);
    }
}

#[test]
fn a_program_that_cannot_be_read_does_not_spoil_the_others() {
    let mut export = four_resources();
    export.resource_profiles[3].scope_profiles[0].profiles[0].samples[0].stack_index = 99;
    let server = Server::start();
    let response = server.post(PATH, &[JSON], &serde_json::to_vec(&export).unwrap());
    assert_eq!(response.status, 200, "{}", response.text());
    let answer: Value = serde_json::from_slice(&response.body).unwrap();
    let partial = &answer["partialSuccess"];
    assert_eq!(partial["rejectedProfiles"], "1");
    assert!(
        partial["errorMessage"]
            .as_str()
            .unwrap()
            .contains("the stack 99"),
        "{answer}"
    );
    assert_eq!(server.wait_for(2), [FOUR[0], FOUR[2]]);
}

#[test]
fn opentelemetrys_python_client_exports_by_grpc() {
    let Some(mut client) = python(&[
        "grpc",
        "opentelemetry.proto.collector.profiles.v1development",
    ]) else {
        return;
    };
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export");
    std::fs::write(&file, four_resources().encode_to_vec()).unwrap();
    let script = r"
import sys, grpc
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as messages
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2_grpc import ProfilesServiceStub
request = messages.ExportProfilesServiceRequest.FromString(open(sys.argv[2], 'rb').read())
for compression in grpc.Compression.NoCompression, grpc.Compression.Gzip:
    channel = grpc.insecure_channel(sys.argv[1], compression=compression)
    answer = ProfilesServiceStub(channel).Export(request, timeout=30)
    assert not answer.HasField('partial_success'), answer
    try:
        ProfilesServiceStub(channel).Export(request, timeout=30, metadata=[('otlp-profiles-development-version', '2')])
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
        assert 'this server reads version 1' in error.details(), error
    else:
        sys.exit('an unknown version was accepted')
";
    client.args(["-c", script, server.address()]).arg(&file);
    let output = client.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(server.wait_for(3), FOUR);
}
