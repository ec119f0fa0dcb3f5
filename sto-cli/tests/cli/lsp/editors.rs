//! Hints and hovers in real editors.

use super::session::{ingest, with_demo};
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_test_support::missing;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cli/lsp")
        .join(name)
}

/// Runs an editor on the demo, and checks the hints and the hover that it prints.
fn shows_hints_and_hover(arguments: &[&str]) {
    let sandbox = with_demo();
    ingest(&sandbox, "v2");
    let mut editor: Command = sandbox.program(arguments[0], &arguments[1..]);
    editor.env("STO", env!("CARGO_BIN_EXE_sto"));
    editor.env("STO_STORE", sandbox.path("store"));
    let run = editor.output().unwrap();
    let message = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{message}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let shares = sandbox.sto(&["source", "count_rules", "v2", "--source-dir", "src"]);
    let of_function = shares.succeeds().stdout;
    let own = of_function
        .lines()
        .find(|line| line.starts_with("self "))
        .unwrap();
    let own: f64 = own[5..own.find('%').unwrap()].parse().unwrap();
    let words = format!("{own:.1}").trim_end_matches(".0").to_owned();
    assert!(
        message.contains(&format!("123: {words} % self")),
        "{words}: {message}"
    );
    assert!(message.contains("127: "), "{message}");
    assert!(message.contains("count_rules"), "{message}");
    assert!(
        message.contains("2 builds, `v1` to `v2`") || message.contains("2 builds, v1 to v2"),
        "{message}"
    );
}

#[test]
fn neovim_shows_hints_and_hover() {
    if missing(&["nvim"]) {
        return;
    }
    let script = script("neovim.lua");
    let source = format!("luafile {}", script.display());
    shows_hints_and_hover(&["nvim", "--headless", "--clean", "-c", &source]);
}

#[test]
fn emacs_shows_hints_and_hover() {
    if missing(&["emacs eglot"]) {
        return;
    }
    let script = script("emacs.el");
    shows_hints_and_hover(&["emacs", "--batch", "--load", script.to_str().unwrap()]);
}
