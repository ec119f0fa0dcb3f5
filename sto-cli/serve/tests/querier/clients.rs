//! Public clients of Connect and gRPC.

use crate::runs::server;
use crate::support::python;
use std::process::Command;
use sto_test_support::missing;

const CPU: &str = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
const SHOP: &str = r#"{service_name="shop",version="v1"}"#;

/// Runs a client, and returns the lines that it prints.
fn lines_of(mut client: Command) -> Vec<String> {
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn connects_node_client_reads_a_flame_graph() {
    if missing(&[
        "node",
        "node @connectrpc/connect-node",
        "node @bufbuild/protobuf",
    ]) {
        return;
    }
    let server = server();
    let mut client = Command::new("node");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/querier/clients.js");
    client.args([script, server.url(), CPU, SHOP]);
    let lines = lines_of(client);
    // 3 is the code of an invalid argument.
    let expected = "total main parse render draw 450000000 3";
    assert_eq!(lines, [expected; 3]);
}

#[test]
fn grpcs_python_client_reads_a_flame_graph() {
    let Some(mut client) = python(&["grpc"]) else {
        return;
    };
    let server = server();
    let script = r#"
import grpc, sys
address, profile_type, labels = sys.argv[1:]
def message(labels):
    fields = [(1, profile_type), (2, labels)]
    return b"".join(bytes([number << 3 | 2, len(text)]) + text.encode() for number, text in fields)
for compression in grpc.Compression.NoCompression, grpc.Compression.Gzip:
    channel = grpc.insecure_channel(address, compression=compression)
    call = channel.unary_unary("/querier.v1.QuerierService/SelectMergeStacktraces")
    assert b"parse" in call(message(labels))
    try:
        call(message("{"))
    except grpc.RpcError as error:
        print(error.code().name, error.details())
"#;
    client.args(["-c", script, server.address(), CPU, SHOP]);
    let lines = lines_of(client);
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(
            line.starts_with("INVALID_ARGUMENT `{` is no list of label matchers"),
            "{line}"
        );
    }
}
