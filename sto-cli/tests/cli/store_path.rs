//! The location of the store.

use crate::support::{BEFORE, Run, Sandbox};
use std::path::Path;
use std::process::Command;

const INGEST: [&str; 6] = ["ingest", "a.folded", "--build", "v1", "--exe", "demo"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox
}

/// Runs the command and checks that it creates the store in this folder.
#[track_caller]
fn creates_store_in(command: &mut Command, store: &Path) -> Run {
    assert!(!store.join("store.redb").exists());
    let run = Run::new(command).succeeds();
    assert!(store.join("store.redb").exists(), "{run:?}");
    run
}

#[test]
fn option_precedes_environment_variable() {
    let sandbox = sandbox();
    creates_store_in(
        sandbox.command(&INGEST).args(["--store", "mine"]),
        &sandbox.path("mine"),
    );
    assert!(!sandbox.path("store").exists());
}

#[test]
fn environment_variable_precedes_nearest_folder() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path(".sto")).unwrap();
    creates_store_in(&mut sandbox.command(&INGEST), &sandbox.path("store"));
}

#[test]
fn nearest_folder_precedes_the_users_store() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path(".sto")).unwrap();
    sandbox.write("deep/down/a.folded", BEFORE);
    let mut command = sandbox.bare_command(&INGEST);
    creates_store_in(
        command.current_dir(sandbox.path("deep/down")),
        &sandbox.path(".sto"),
    );
}

#[test]
fn users_data_folder_is_the_fallback_and_printed_once() {
    let sandbox = sandbox();
    let data = sandbox.path("data");
    let store = data.join("sto");
    let run = creates_store_in(
        sandbox.bare_command(&INGEST).env("XDG_DATA_HOME", &data),
        &store,
    );
    assert!(run.stderr.contains(store.to_str().unwrap()), "{run:?}");
    let run = Run::new(sandbox.bare_command(&INGEST).env("XDG_DATA_HOME", &data)).succeeds();
    assert_eq!(run.stderr, "");
}

#[test]
fn default_data_folder_is_in_the_home_folder() {
    let sandbox = sandbox();
    creates_store_in(
        &mut sandbox.bare_command(&INGEST),
        &sandbox.path("home/.local/share/sto"),
    );
}

#[test]
fn missing_home_folder_requires_an_explicit_store() {
    let sandbox = sandbox();
    let run = Run::new(sandbox.bare_command(&INGEST).env_remove("HOME"));
    let run = run.fails_with(&["HOME is not set"]);
    assert!(run.stderr.contains("--store PATH"), "{run:?}");
}
