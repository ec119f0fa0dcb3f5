//! Windows of time and phases: options, output and errors.

use crate::support::{Run, Sandbox, repository};

fn testdata(file: &str) -> String {
    let path = repository().join("testdata").join(file);
    path.to_str().unwrap().to_owned()
}

fn sto(sandbox: &Sandbox, args: &[&str]) -> Run {
    let args: Vec<String> = args
        .iter()
        .map(|arg| match arg.strip_prefix("@") {
            Some(file) => testdata(file),
            None => (*arg).to_owned(),
        })
        .collect();
    sandbox.sto(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

impl Run {
    /// Checks that the command failed with status 2 and an error that has these parts.
    pub(crate) fn refused(self, parts: &[&str]) {
        assert_eq!((self.status, &*self.stdout), (Some(2), ""), "{self:?}");
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "`{part}` is missing in {self:?}"
            );
        }
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
    }
}

const PHASES: &str = "@phases/phases.perf.data.gz";

#[test]
fn commands_name_the_window_below_their_header() {
    let sandbox = Sandbox::new();
    for command in ["top", "tree", "potential"] {
        let run = sto(
            &sandbox,
            &[command, PHASES, "--from", "400ms", "--to", "1.4"],
        )
        .succeeds();
        let line = run.stdout.lines().nth(1).unwrap();
        assert_eq!(line, "400 ms to 1.400 s of 2.000 s", "{run:?}");
        assert!(run.stdout.contains("sort_down"), "{run:?}");
        assert!(!run.stdout.contains("hash"), "{run:?}");
    }
    let run = sto(&sandbox, &["top", PHASES, "--phase", "3", "-n", "1"]).succeeds();
    assert!(run.stdout.contains("hash"), "{run:?}");
    let folded = sto(
        &sandbox,
        &["export", PHASES, "--to", "300ms", "--format", "folded"],
    )
    .succeeds();
    assert!(
        folded.stdout.contains("format") && !folded.stdout.contains("hash"),
        "{folded:?}"
    );
}

#[test]
fn phases_are_listed_with_their_differences() {
    let sandbox = Sandbox::new();
    let run = sto(&sandbox, &["phases", PHASES]).succeeds();
    let rows: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.contains("  more "))
        .collect();
    assert_eq!(rows.len(), 2, "{run:?}");
    assert!(
        rows[0].contains("sort_down") && rows[1].contains("hash"),
        "{run:?}"
    );
    let one = sto(&sandbox, &["phases", PHASES, "-n", "1"]).succeeds();
    assert!(one.stdout.contains("2 more phases not shown"), "{one:?}");
    let cycle = sto(&sandbox, &["phases", "@phases/cycle.perf.data.gz"]).succeeds();
    let third = cycle.stdout.lines().nth(2).unwrap();
    assert!(
        third.starts_with("It repeats itself about every 50.0 ms, 50 times"),
        "{cycle:?}"
    );
}

#[test]
fn compares_two_windows_and_repeats_their_options() {
    let sandbox = Sandbox::new();
    let parts = ["--window", "1.5s..2s", "--against", "500ms..1.3s"];
    let run = sto(
        &sandbox,
        &[&["find-regressions", PHASES][..], &parts].concat(),
    );
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(
        run.stdout.starts_with("REGRESSION") && run.stdout.contains("hash is new"),
        "{run:?}"
    );
    assert!(run.stdout.contains("500 ms to 1.300 s of 2.000"), "{run:?}");
    assert!(run.stdout.contains("--window 1.5s..2s"), "{run:?}");
    let steady = [
        "find-regressions",
        "@phases/steady.perf.data.gz",
        "--window",
        "1s..",
    ];
    let run = sto(&sandbox, &steady);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(
        run.stdout.contains("all but 1.000 s to 2.000 s of"),
        "{run:?}"
    );
    let run = sto(
        &sandbox,
        &[&["diff", PHASES, "-o", "diff.svg"][..], &parts].concat(),
    )
    .succeeds();
    assert!(
        run.stdout.contains("500 ms to 1.300 s of 2.000 s"),
        "{run:?}"
    );
    let drawn = std::fs::read_to_string(sandbox.path("diff.svg")).unwrap();
    assert!(drawn.contains("500 ms to 1.300 s of 2.000 s"));
}

#[test]
fn invalid_windows_are_errors_with_the_reason() {
    let sandbox = Sandbox::new();
    let refused: &[(&[&str], &[&str])] = &[
        (&["--from", "-1s"], &["'-1s'", "such as 2.5s or 800ms"]),
        (&["--from", "soon"], &["'soon'", "such as 2.5s or 800ms"]),
        (
            &["--from", "1s", "--to", "1s"],
            &["must end after it begins"],
        ),
        (
            &["--from", "3s"],
            &["ends after 2.000 s", "nothing from 3 s on"],
        ),
        (&["--from", "1", "--to", "1.0001"], &["slices of 2.00 ms"]),
        (&["--phase", "4"], &["has 3 phases", "no phase 4"]),
        (&["--phase", "0"], &["no phase 0"]),
        (&["--phase", "1", "--from", "1s"], &["cannot be used with"]),
    ];
    for (args, expected) in refused {
        sto(&sandbox, &[&["top", PHASES][..], args].concat()).refused(expected);
    }
    for (args, expected) in [
        (&["--window", "5s"][..], &["expected FROM..TO"][..]),
        (&["--window", "5s..2s"], &["ends before it begins"]),
        (&["--against", "1s..2s"], &["--window <FROM..TO>"]),
        (
            &["--window", "0s.."],
            &["leaves nothing to compare it with"],
        ),
    ] {
        for command in ["find-regressions", "diff"] {
            let line = [&[command, PHASES][..], args].concat();
            let line = match command {
                "diff" => [&line[..], &["-o", "diff.svg"]].concat(),
                _ => line,
            };
            sto(&sandbox, &line).refused(expected);
        }
    }
    let folded = "@folded/async-profiler.folded";
    sto(&sandbox, &["top", folded, "--from", "1s"]).fails_with(&["its samples have no times"]);
    sto(&sandbox, &["phases", folded]).fails_with(&["no times"]);
    sto(&sandbox, &["ingest", PHASES, "--build", "v1"]).succeeds();
    for args in [
        &["top", "v1", "--from", "1s"][..],
        &["phases", "v1"],
        &["top", "v1", "--phase", "1"],
    ] {
        sto(&sandbox, args).fails_with(&["without slices of its time", "--slices 1000"]);
    }
}
