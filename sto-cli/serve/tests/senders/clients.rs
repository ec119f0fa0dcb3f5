//! Pyroscope's SDKs, unchanged.

use crate::support::{Server, python};
use std::process::Command;
use sto_test_support::missing;

/// Runs a client, which ends after it has sent a profile.
fn run(mut client: Command) {
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_python_sdk_sends_profiles_by_program_build_and_labels() {
    let Some(mut client) = python(&["pyroscope"]) else {
        return;
    };
    let server = Server::start();
    let script = r#"
import hashlib, sys, time, pyroscope
pyroscope.configure(
    application_name="shop", server_address=sys.argv[1], sample_rate=100,
    tags={"version": "v1", "region": "eu"}, tenant_id="team",
)
def checkout():
    hashlib.sha256(b"x" * 1000).hexdigest()
end = time.process_time() + 1
while time.process_time() < end:
    checkout()
pyroscope.shutdown()
"#;
    client.args(["-c", script, server.url()]);
    run(client);
    let profiles = server.wait_for(1);
    let profile = &profiles[0];
    assert!(profile.starts_with("shop@v1 "), "{profile}");
    for label in [
        " profile=process_cpu ",
        " region=eu ",
        " tenant=team ",
        " cpu",
    ] {
        assert!(profile.contains(label), "{label}: {profile}");
    }
    assert!(!profile.contains("session_id"), "{profile}");
    assert!(server.top("shop@v1").contains("checkout"));
}

#[test]
fn the_node_sdk_sends_profiles_by_program_build_and_labels() {
    if missing(&["node", "node @pyroscope/nodejs"]) {
        return;
    }
    let server = Server::start();
    let script = r#"
const Pyroscope = require("@pyroscope/nodejs");
Pyroscope.init({
    serverAddress: process.argv[1], appName: "shop", tags: { version: "v1", region: "eu" },
    wall: { collectCpuTime: true },
});
Pyroscope.start();
function checkout() {
    let sum = 0;
    for (let i = 0; i < 1e6; i++) sum += Math.sqrt(i);
    return sum;
}
const end = process.cpuUsage().user + 1e6;
while (process.cpuUsage().user < end) checkout();
Pyroscope.stop().then(() => process.exit(0));
"#;
    let mut client = Command::new("node");
    client.args(["-e", script, server.url()]);
    run(client);
    let profiles = server.wait_for(1);
    assert!(
        profiles
            .iter()
            .all(|profile| profile.starts_with("shop@v1 ")),
        "{profiles:?}"
    );
    assert!(profiles[0].contains(" region=eu "), "{profiles:?}");
    assert!(server.top("shop@v1").contains("checkout"));
}
