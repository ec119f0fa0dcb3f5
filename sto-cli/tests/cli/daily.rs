//! The configuration file, completion, and the browser.

use crate::support::{Run, Sandbox};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use sto_test_support::missing;

fn with_config(sandbox: &Sandbox, config: &str, args: &[&str]) -> Command {
    let file = sandbox.write("config.toml", config);
    let mut command = sandbox.command(args);
    command.env("STO_CONFIG", file);
    command
}

#[test]
fn configuration_sets_defaults_and_aliases() {
    let sandbox = Sandbox::with_two_builds();
    let config = "[top]\nlimit = 1\n[alias]\nworst = 'top --by total'\n";
    let run = |args: &[&str]| {
        Run::new(&mut with_config(&sandbox, config, args))
            .succeeds()
            .stdout
    };
    let one = run(&["top", "v1"]);
    assert!(one.contains("compute"), "{one}");
    assert!(one.contains(" more functions not shown"), "{one}");
    assert!(!run(&["top", "v1", "-n", "0"]).contains("not shown"));
    let worst = run(&["worst", "v1"]);
    assert!(worst.contains("  main"), "{worst}");
}

#[test]
fn an_invalid_configuration_is_an_error_with_its_line() {
    let sandbox = Sandbox::with_two_builds();
    let broken = Run::new(&mut with_config(&sandbox, "\n[top]\nlimt = 1\n", &["ls"]));
    broken.fails_with(&["config.toml, line 3: `sto top` has no option `--limt`"]);
    let mut missing = sandbox.command(&["ls"]);
    Run::new(missing.env("STO_CONFIG", "nosuch.toml")).fails_with(&["cannot read nosuch.toml"]);
    Run::new(sandbox.command(&["ls"]).env("STO_CONFIG", "")).succeeds();
    Run::new(sandbox.command(&["ls"]).env_remove("HOME")).succeeds();
}

#[test]
fn configuration_sets_colours() {
    let sandbox = Sandbox::with_two_builds();
    let config = "[colors]\nregression = 'bold 208'\nheading = 'none'\n";
    let compare = ["find-regressions", "v1", "v2", "--color", "always"];
    let compared = Run::new(&mut with_config(&sandbox, config, &compare)).stdout;
    assert!(
        compared.starts_with("\x1b[1;38;5;208mREGRESSION\x1b[0m"),
        "{compared}"
    );
    assert!(!compared.contains("\x1b[1m"), "{compared}");
    let shown = Run::new(&mut with_config(
        &sandbox,
        config,
        &["config", "--color=always"],
    ));
    let shown = shown.succeeds().stdout;
    assert!(
        shown.contains("config.toml\nheading, \x1b[2mdim\x1b[0m, "),
        "{shown}"
    );
    let wrong = "[colors]\nheading = 'blurple'\n";
    Run::new(&mut with_config(&sandbox, wrong, &["ls"]))
        .fails_with(&["config.toml, line 2: `heading`: `blurple` is not a colour: expected black"]);
    let nothing = Run::new(sandbox.command(&["config"]).env("STO_CONFIG", ""));
    assert_eq!(nothing.succeeds().stdout, "no configuration file\n");
}

/// Returns the completions after these words.
fn completions_after(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let mut command = sandbox.command(&[&["--", "sto"], words].concat());
    let run = Run::new(command.env("COMPLETE", "fish"));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
    let name = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    run.stdout.lines().map(name).collect()
}

#[test]
fn completion_offers_names_in_the_store() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.sto(&["tag", "v1", "last-good"]).succeeds();
    assert_eq!(completions_after(&sandbox, &["top", "v"]), ["v1", "v2"]);
    assert_eq!(
        completions_after(&sandbox, &["top", "demo@n"]),
        ["demo@newest"]
    );
    assert_eq!(
        completions_after(&sandbox, &["tag", "--delete", "l"]),
        ["last-good"]
    );
    assert_eq!(completions_after(&sandbox, &["where", "do"]), ["doLogging"]);
    assert_eq!(
        completions_after(&sandbox, &["diff", "v1", "v2", "--focus", "comp"]),
        ["compute"]
    );
    assert_eq!(
        completions_after(&sandbox, &["find-r"]),
        ["find-regressions"]
    );
}

#[test]
fn completion_is_silent_if_there_is_nothing_to_offer() {
    let sandbox = Sandbox::new();
    assert!(completions_after(&sandbox, &["where", "do"]).is_empty());
    sandbox.write("store/store.redb", "no store at all");
    assert!(completions_after(&sandbox, &["where", "do"]).is_empty());
    sandbox.write("home/.config/sto/config.toml", "[broken");
    assert!(completions_after(&sandbox, &["where", "do"]).is_empty());
}

#[test]
fn bash_completions_are_quoted() {
    if missing(&["bash"]) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.folded",
        "main;run$(touch owned);x* 5\nmain;a\u{1b}[31m 2\n",
    );
    let ingest = ["ingest", "a.folded", "--exe", "demo", "--build", "v1"];
    sandbox.sto(&ingest).succeeds();
    let script = "eval \"$(\"$0\" completions bash)\"\n\
                  COMP_LINE='sto where r' COMP_POINT=11 COMP_WORDBREAKS=$' \\n@:'\n\
                  _sto_complete sto r where\n\
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut shell = sandbox.program("bash", &["-c", script, env!("CARGO_BIN_EXE_sto")]);
    let run = Run::new(shell.env("STO_STORE", sandbox.path("store"))).succeeds();
    assert_eq!(run.stdout, "run\\$\\(touch\\ owned\\)\n");
    assert!(completions_after(&sandbox, &["where", "a"]).is_empty());
    assert!(!sandbox.path("owned").exists());
}

#[test]
fn open_writes_a_private_file_and_starts_the_browser() {
    let sandbox = Sandbox::with_two_builds();
    let browser = sandbox.write(
        "browser",
        "#!/bin/sh\ncp \"$1\" shown\necho \"$1\" > path\n",
    );
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    let open = |args: &[&str]| {
        let mut command = sandbox.command(&[&["open"], args].concat());
        command
            .env("BROWSER", &browser)
            .env("TMPDIR", sandbox.path("home"));
        Run::new(&mut command).succeeds();
        std::fs::read_to_string(sandbox.path("shown")).unwrap()
    };
    assert!(open(&["v1"]).starts_with("<?xml"));
    let path = std::fs::read_to_string(sandbox.path("path")).unwrap();
    let folder = std::path::Path::new(path.trim()).parent().unwrap();
    assert!(folder.starts_with(sandbox.path("home")), "{path}");
    let mode = folder.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let page = open(&["v1", "v2", "--min-effect", "10"]);
    assert!(page.to_lowercase().starts_with("<!doctype html>"), "{page}");
    for [args, missing_or_wrong] in [
        [&["open", "v1", "--alpha", "0.1"][..], &["<CANDIDATE>"]],
        [&["open", "v1", "--policy", "sto.toml"], &["<CANDIDATE>"]],
        [&["open", "v1", "--exact-symbols"], &["<CANDIDATE>"]],
        [&["open", "v1", "v2", "--inverted"], &["--inverted"]],
    ] {
        let run = sandbox.sto(args);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(missing_or_wrong[0]), "{run:?}");
    }
}

#[test]
fn open_names_the_file_if_there_is_no_browser() {
    let sandbox = Sandbox::with_two_builds();
    let mut command = sandbox.command(&["open", "v1"]);
    command
        .env("BROWSER", "no-such-browser")
        .env("TMPDIR", sandbox.path("home"));
    let run = Run::new(&mut command);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("found no browser to open"), "{run:?}");
    assert!(run.stderr.contains("flame.svg"), "{run:?}");
    let failed = sandbox.sto(&["open", "nosuch"]);
    failed.fails_with(&["no build or profile is called `nosuch`"]);
}
