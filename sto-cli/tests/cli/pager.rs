//! Paging of text that is longer than the terminal.

use crate::support::{Run, Sandbox};

/// Runs `sto` on a terminal of ten lines.
fn on_terminal(sandbox: &Sandbox, arguments: &str, variables: &[(&str, &str)]) -> Run {
    let line = format!(
        "stty rows 10 cols 80; exec '{}' {arguments}",
        env!("CARGO_BIN_EXE_sto")
    );
    // `script` of util-linux is the only common program that runs a command on a terminal.
    let mut script = sandbox.program("script", &["-qec", &line, "/dev/null"]);
    script
        .env("STO_STORE", sandbox.path("store"))
        .env_remove("PAGER")
        .env_remove("STO_PAGER")
        .env_remove("LESS")
        .env("TERM", "xterm");
    script.envs(variables.iter().copied());
    Run::new(&mut script)
}

const COMPARE: &str = "find-regressions v1 v2";

#[test]
fn long_text_is_paged_and_keeps_the_exit_status() {
    let sandbox = Sandbox::with_two_builds();
    let pager = [("PAGER", "sed 's/^/paged: /'")];
    let run = on_terminal(&sandbox, COMPARE, &pager);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(
        run.stdout
            .contains("paged: \u{1b}[1;31mREGRESSION\u{1b}[0m"),
        "{run:?}"
    );
    assert!(
        run.stdout.lines().all(|line| line.starts_with("paged: ")),
        "{run:?}"
    );
    // A pager that ends early is not an error.
    let run = on_terminal(&sandbox, COMPARE, &[("PAGER", "head -n 1")]);
    assert_eq!(
        (run.status, run.stdout.lines().count()),
        (Some(1), 1),
        "{run:?}"
    );
    let own = [pager[0], ("STO_PAGER", "sed 's/^/own: /'")];
    let run = on_terminal(&sandbox, COMPARE, &own);
    assert!(run.stdout.starts_with("own: "), "{run:?}");
}

#[test]
fn less_keeps_colours_and_exits_if_the_text_fits() {
    let sandbox = Sandbox::with_two_builds();
    let options = [("PAGER", "env | grep ^LESS=")];
    let run = on_terminal(&sandbox, COMPARE, &options);
    assert_eq!(run.stdout.trim(), "LESS=FRX", "{run:?}");
    let named = [options[0], ("LESS", "R")];
    assert_eq!(
        on_terminal(&sandbox, COMPARE, &named).stdout.trim(),
        "LESS=R"
    );
}

#[test]
fn pager_is_not_run_if_disabled_or_unnecessary() {
    let sandbox = Sandbox::with_two_builds();
    let pager = ("PAGER", "sed 's/^/paged: /'");
    for (arguments, variables) in [
        ("--no-pager find-regressions v1 v2", &[pager][..]),
        (COMPARE, &[("PAGER", "")]),
        (COMPARE, &[("PAGER", "cat")]),
        (COMPARE, &[pager, ("STO_PAGER", "")]),
        (COMPARE, &[pager, ("TERM", "dumb")]),
        (COMPARE, &[("PAGER", "no-such-pager-anywhere 2>/dev/null")]),
        ("top v1 -n 2", &[pager]),
        ("find-regressions v1 v2 --format json", &[pager]),
    ] {
        let run = on_terminal(&sandbox, arguments, variables);
        assert!(
            !run.stdout.contains("paged: "),
            "{arguments} {variables:?} {run:?}"
        );
        assert!(
            run.stdout.contains("compute") || run.stdout.contains("doLogging"),
            "{run:?}"
        );
    }
    let mut piped = sandbox.command(&["find-regressions", "v1", "v2"]);
    let run = Run::new(piped.envs([pager]));
    assert!(!run.stdout.contains("paged: "), "{run:?}");
}
