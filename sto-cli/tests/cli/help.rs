//! Help and manual pages.

use crate::support::{Run, Sandbox};

#[test]
fn help_is_wrapped_to_the_terminal_width() {
    let sandbox = Sandbox::new();
    let pages: [&[&str]; 4] = [
        &["--help"],
        &["record", "--help"],
        &["help", "find-regressions"],
        &["help", "config"],
    ];
    for width in [40, 80, 200] {
        for page in pages {
            let mut command = sandbox.command(page);
            let help = Run::new(command.env("COLUMNS", width.to_string())).succeeds();
            for line in help.stdout.lines() {
                let is_one_word = line.split_whitespace().count() < 2;
                let columns = line.chars().count();
                assert!(columns <= width || is_one_word, "{width}: {line}");
            }
        }
    }
}

#[test]
fn argument_errors_respect_width_and_colour() {
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| Run::new(sandbox.command(args).env("COLUMNS", "40"));
    let missing = run(&["find-regressions"]);
    assert_eq!(missing.status, Some(2), "{missing:?}");
    let usage = "Usage: sto find-regressions [OPTIONS]\n         [BASELINE] <CANDIDATE>\n";
    assert!(missing.stderr.contains(usage), "{missing:?}");
    assert!(!missing.stderr.contains('\x1b'), "{missing:?}");
    let colored = run(&["find-regressions", "--color", "always"]);
    assert!(colored.stderr.contains("\x1b["), "{colored:?}");
    let help = run(&["--color=always", "--help"]).succeeds();
    assert!(help.stdout.contains("\x1b["), "{help:?}");
    let mut plain = sandbox.command(&["--nosuch", "--color", "never"]);
    let plain = Run::new(plain.env("CLICOLOR_FORCE", "1"));
    assert!(!plain.stderr.contains('\x1b'), "{plain:?}");
}

#[test]
fn help_has_the_commands_in_groups_and_no_colour_in_a_pipe() {
    let help = Sandbox::new().sto(&["--help"]).succeeds().stdout;
    let headings = [
        "Record and import:",
        "Look:",
        "Compare:",
        "Over time:",
        "Keep:",
        "Other:",
        "Options:",
    ];
    let offsets: Vec<_> = headings.iter().map(|heading| help.find(heading)).collect();
    assert!(offsets.iter().all(Option::is_some), "{help}");
    assert!(offsets.is_sorted(), "{help}");
    assert!(!help.contains('\x1b'));
}

#[test]
fn manual_pages_have_the_sections_of_man_pages_in_their_order() {
    let sandbox = Sandbox::new();
    sandbox.sto(&["man", "pages"]).succeeds();
    let page = |name: &str| std::fs::read_to_string(sandbox.path("pages").join(name)).unwrap();
    let sections = |name: &str| -> Vec<String> {
        let page = page(name);
        let headings = page.lines().filter_map(|line| line.strip_prefix(".SH "));
        headings
            .map(|heading| heading.trim_matches('"').to_owned())
            .collect()
    };
    assert_eq!(
        sections("sto.1"),
        [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "COMMANDS",
            "OPTIONS",
            "EXIT STATUS",
            "ENVIRONMENT",
            "FILES",
            "EXAMPLES",
            "SEE ALSO"
        ]
    );
    assert_eq!(
        sections("sto-find-regressions.1"),
        [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXIT STATUS",
            "EXAMPLES",
            "SEE ALSO"
        ]
    );
    let page = page("sto-find-regressions.1");
    assert!(
        page.starts_with(".TH STO-FIND-REGRESSIONS 1 \"\" \"sto "),
        "{page}"
    );
    assert!(
        page.contains("\\fBsto\\fR \\fBfind\\-regressions\\fR [\\fIoptions\\fR] [\\fIbaseline\\fR] <\\fIcandidate\\fR>"),
        "{page}"
    );
}

#[test]
fn the_colour_option_applies_to_all_output() {
    let sandbox = Sandbox::with_two_builds();
    let run = |args: &[&str]| sandbox.sto(args).succeeds().stdout;
    assert!(run(&["top", "v1", "--color", "always"]).contains("\x1b["));
    assert!(!run(&["top", "v1"]).contains('\x1b'));
    let forced = Run::new(
        sandbox
            .command(&["--color=never", "top", "v1"])
            .env("CLICOLOR_FORCE", "1"),
    );
    assert!(!forced.succeeds().stdout.contains('\x1b'));
}
