//! Which store a command uses.

use crate::support::{BEFORE, Run, Sandbox};
use std::path::Path;
use std::process::Command;

const INGEST: [&str; 6] = ["ingest", "a.folded", "--build", "v1", "--exe", "demo"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox
}

/// Runs the command and asserts that the store is made in this folder.
#[track_caller]
fn makes(command: &mut Command, store: &Path) -> Run {
    assert!(!store.join("store.redb").exists());
    let run = Run::new(command).succeeds();
    assert!(store.join("store.redb").exists(), "{run:?}");
    run
}

#[test]
fn the_option_comes_before_the_variable() {
    let sandbox = sandbox();
    makes(
        sandbox.command(&INGEST).args(["--store", "mine"]),
        &sandbox.path("mine"),
    );
    assert!(!sandbox.path("store").exists());
}

#[test]
fn the_variable_comes_before_the_nearest_folder() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path(".sto")).unwrap();
    makes(&mut sandbox.command(&INGEST), &sandbox.path("store"));
}

#[test]
fn the_nearest_folder_above_comes_before_the_users() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path(".sto")).unwrap();
    sandbox.write("deep/down/a.folded", BEFORE);
    let mut command = sandbox.bare_command(&INGEST);
    makes(
        command.current_dir(sandbox.path("deep/down")),
        &sandbox.path(".sto"),
    );
}

#[test]
fn the_users_data_folder_is_the_last_choice_and_told_once() {
    let sandbox = sandbox();
    let data = sandbox.path("data");
    let store = data.join("sto");
    let run = makes(
        sandbox.bare_command(&INGEST).env("XDG_DATA_HOME", &data),
        &store,
    );
    assert!(run.stderr.contains(store.to_str().unwrap()), "{run:?}");
    let run = Run::new(sandbox.bare_command(&INGEST).env("XDG_DATA_HOME", &data)).succeeds();
    assert_eq!(run.stderr, "");
}

#[test]
fn without_an_xdg_folder_it_is_in_the_home_folder() {
    let sandbox = sandbox();
    makes(
        &mut sandbox.bare_command(&INGEST),
        &sandbox.path("home/.local/share/sto"),
    );
}

#[test]
fn without_a_home_folder_the_store_must_be_named() {
    let sandbox = sandbox();
    let run = Run::new(sandbox.bare_command(&INGEST).env_remove("HOME"));
    let run = run.fails_with(&["HOME is not set"]);
    assert!(run.stderr.contains("--store PATH"), "{run:?}");
}
