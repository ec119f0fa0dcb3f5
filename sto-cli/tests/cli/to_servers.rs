//! `sto push`, `sto pull`, and `--to` of other commands, with a server.

use crate::by_server::Served;
use crate::record::record;
use crate::support::{Run, Sandbox};

/// The builds in a sandbox's store, sorted.
fn builds(sandbox: &Sandbox) -> Vec<String> {
    let ls = sandbox.json(&["ls"]);
    let builds = ls["builds"].as_array().unwrap().iter();
    let versions = builds.map(|build| build["version"].as_str().unwrap().to_owned());
    let mut versions: Vec<String> = versions.collect();
    versions.sort();
    versions
}

/// A server with an empty store that wants a token, and the token.
fn with_token(sandbox: &Sandbox) -> (Served, String) {
    let run = sandbox.sto(&["serve", "--new-token", "ci"]).succeeds();
    let token = run.stderr.trim().rsplit(' ').next().unwrap().to_owned();
    let config = sandbox.write("server.toml", &run.stdout);
    let served = Served::start(sandbox, &["--config", config.to_str().unwrap()]);
    (served, token)
}

#[test]
fn stores_exchange_profiles_through_a_server() {
    let (local, central, other) = (Sandbox::with_two_builds(), Sandbox::new(), Sandbox::new());
    let served = Served::start(&central, &[]);
    let run = local.sto(&["push", &served.url, "v1"]).succeeds();
    assert!(run.stdout.contains(&served.url), "{run:?}");
    assert_eq!(builds(&central), ["v1"]);
    local.sto(&["push", &served.url]).succeeds();
    other.sto(&["pull", &served.url]).succeeds();
    assert_eq!(builds(&other), builds(&local));
    let top = ["top", "v1", "--format", "json"];
    assert_eq!(other.sto(&top).stdout, local.sto(&top).stdout);
}

#[test]
fn a_token_is_needed_and_never_on_the_command_line() {
    let (local, central) = (Sandbox::with_two_builds(), Sandbox::new());
    let (served, token) = with_token(&central);
    let push = ["push", &served.url];
    local
        .sto(&push)
        .fails_with(&["cannot read manifest.json", "STO_TOKEN"]);
    Run::new(local.command(&push).env("STO_TOKEN", "wrong"))
        .fails_with(&["does not know the token"]);
    Run::new(local.command(&push).env("STO_TOKEN", &token)).succeeds();
    let file = local.write("token", format!("{token}\n"));
    let ingest = [
        "ingest",
        "a.folded",
        "--exe",
        "demo",
        "--build",
        "v3",
        "--to",
        &served.url,
    ];
    local.sto(&ingest).fails_with(&["STO_TOKEN"]);
    Run::new(local.command(&ingest).env("STO_TOKEN_FILE", file)).succeeds();
    assert_eq!(builds(&central), ["v1", "v2", "v3"]);
    let far = Run::new(
        local
            .command(&["push", "http://192.0.2.1"])
            .env("STO_TOKEN", &token),
    );
    far.fails_with(&["would be sent unencrypted"]);
    local
        .sto(&["push", "http://token@127.0.0.1"])
        .fails_with(&["STO_TOKEN"]);
}

#[test]
fn recordings_are_sent_to_a_server_with_their_symbols() {
    let (local, central) = (Sandbox::new(), Sandbox::new());
    let served = Served::start(&central, &[]);
    let work = [
        "--build",
        "v1",
        "--to",
        &served.url,
        "--",
        "sh",
        "-c",
        "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done",
    ];
    if record(&local, &work).is_none() {
        return;
    }
    assert_eq!(builds(&central), ["v1"]);
    assert!(!local.path("store").exists(), "no store is made");
}

#[test]
fn an_address_without_a_scheme_is_no_folder() {
    let local = Sandbox::with_two_builds();
    let ingest = ["ingest", "a.folded", "--build", "v1", "--to"];
    for args in [
        &[&ingest[..], &["localhost:4940"]].concat()[..],
        &["push", "localhost:4940"],
        &["find-regressions", "v1", "v2", "--server", "localhost:4940"],
    ] {
        local
            .sto(args)
            .fails_with(&["expected http://localhost:4940"]);
    }
    assert!(!local.path("localhost:4940").exists());
}

#[test]
fn a_refused_request_is_explained_by_the_server() {
    let (local, central) = (Sandbox::with_two_builds(), Sandbox::new());
    let made = central.sto(&["serve", "--new-token", "ci"]).succeeds();
    let token = made.stderr.trim().rsplit(' ').next().unwrap().to_owned();
    let config = made.stdout.replace(r#"["read", "write"]"#, r#"["write"]"#);
    let config = central.write("server.toml", config);
    let served = Served::start(&central, &["--config", config.to_str().unwrap()]);
    let check = ["find-regressions", "v1", "v2", "--server", &served.url];
    let refused = Run::new(local.command(&check).env("STO_TOKEN", &token))
        .fails_with(&["the server refuses it", "lacks the scope `read`"]);
    assert!(!refused.stderr.contains("permission"), "{refused:?}");

    let reader = Sandbox::with_two_builds();
    let served = Served::start(&reader, &["--read-only"]);
    local
        .sto(&["ingest", "a.folded", "--build", "v9", "--to", &served.url])
        .fails_with(&["the server refuses it", "this server is read-only"]);
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let local = Sandbox::with_two_builds();
    let port = sto_test_support::servers::free_port();
    let url = format!("http://127.0.0.1:{port}");
    local
        .sto(&["push", &url])
        .fails_with(&[&url, "the machine does not respond"]);
    local
        .sto(&["ingest", "a.folded", "--build", "v1", "--to", &url])
        .fails_with(&[&url]);
}

#[test]
fn a_profile_of_a_known_recording_is_left_out_and_named() {
    let (local, central) = (Sandbox::with_two_builds(), Sandbox::new());
    let served = Served::start(&central, &[]);
    let ingest = [
        "ingest",
        "a.folded",
        "--exe",
        "demo",
        "--build",
        "v1",
        "--label",
        "host=other",
    ];
    local
        .sto(&[&ingest[..], &["--to", &served.url]].concat())
        .succeeds();
    let run = local.sto(&["push", &served.url]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stdout.contains("another profile of the same recording"),
        "{run:?}"
    );
    assert_eq!(builds(&central), ["v1", "v2"]);
}
