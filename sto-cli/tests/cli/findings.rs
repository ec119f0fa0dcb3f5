//! Findings in the formats of CI systems, and the commands they suggest.

use crate::support::{AFTER, BEFORE, Run, Sandbox, repository};
use sto_test_support::missing;

#[test]
fn every_format_contains_the_finding_and_has_the_same_exit_status() {
    let sandbox = Sandbox::with_two_builds();
    for (format, start) in [
        ("text", "REGRESSION"),
        ("json", "{"),
        ("md", "## sto: REGRESSION"),
        ("github", "::warning title=sto"),
        ("junit", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"),
        ("sarif", "{"),
    ] {
        let run = sandbox.sto(&["find-regressions", "v1", "v2", "--format", format]);
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stdout.starts_with(start), "{run:?}");
        assert!(run.stdout.contains("doLogging"), "{run:?}");
        let too_little = ["find-regressions", "v1", "v1", "--min-samples", "1000000"];
        let run = sandbox.sto(&[&too_little[..], &["--format", format]].concat());
        assert_eq!(run.status, Some(3), "{run:?}");
    }
}

#[test]
fn runs_whose_functions_do_not_agree_are_compared_by_their_cost() {
    let sandbox = Sandbox::new();
    for run in 1..=6 {
        for program in ["calc", "calc2"] {
            let file = repository().join(format!("testdata/readings/{program}-{run}.pb.gz"));
            let file = file.to_str().unwrap();
            let ingest = ["ingest", file, "--exe", program, "--build", program];
            sandbox.sto(&ingest).succeeds();
        }
    }
    let run = sandbox.sto(&["find-regressions", "calc@calc", "calc2@calc2"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    let expected = "main costs 41% more: 148 ms a run before, 210";
    assert!(run.stdout.contains(expected), "{run:?}");
}

#[test]
fn a_change_that_depends_on_the_work_of_runs_names_the_option_that_decides() {
    let sandbox = Sandbox::new();
    let stacks = |most: u32| -> String {
        let costs = (0..12).map(|f| (f, if f < 10 { most } else { 2000 }));
        costs
            .map(|(f, cost)| format!("main;f{f} {cost}\n"))
            .collect()
    };
    sandbox.write("a.folded", stacks(2000));
    sandbox.write("b.folded", stacks(1000));
    let compare = |more: &[&str]| {
        let sides = ["find-regressions", "a.folded", "b.folded"];
        sandbox.sto(&[&sides[..], more].concat())
    };
    let both = compare(&[]);
    assert_eq!(both.status, Some(0), "{both:?}");
    assert!(
        both.stdout
            .contains("Not counted: 2 functions changed if the runs"),
        "{both:?}"
    );
    assert!(both.stdout.contains("(--unequal-work):"), "{both:?}");
    let unequal = compare(&["--unequal-work"]);
    assert_eq!(unequal.status, Some(1), "{unequal:?}");
    assert!(!unequal.stdout.contains("Not counted"), "{unequal:?}");
    assert_eq!(compare(&["--per-run"]).status, Some(0));
}

#[test]
fn junit_has_a_test_case_for_each_tested_function() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["find-regressions", "v1", "v2", "--format", "junit"]);
    for function in ["main", "work", "compute", "idle"] {
        let passed = format!("<testcase name=\"{function}\" classname=\"demo\"></testcase>");
        assert!(run.stdout.contains(&passed), "{run:?}");
    }
    assert_eq!(run.stdout.matches("<failure").count(), 1, "{run:?}");
}

#[test]
fn writes_findings_to_a_file_and_the_verdict_to_standard_output() {
    let sandbox = Sandbox::with_two_builds();
    let find = ["find-regressions", "v1", "v2", "--format", "md"];
    let whole = sandbox.sto(&find).stdout;
    let run = sandbox.sto(&[&find[..], &["-o", "summary.md"]].concat());
    assert_eq!(run.status, Some(1), "{run:?}");
    assert_eq!(
        std::fs::read_to_string(sandbox.path("summary.md")).unwrap(),
        whole
    );
    assert!(
        run.stdout
            .starts_with("REGRESSION (weak evidence): doLogging"),
        "{run:?}"
    );
    assert!(run.stdout.ends_with("wrote summary.md\n"), "{run:?}");
    let to_stdout = sandbox.sto(&[&find[..], &["-o", "-"]].concat());
    assert_eq!(to_stdout.stdout, whole);
    let to_nowhere = sandbox.sto(&[&find[..], &["-o", "no/such/folder.md"]].concat());
    to_nowhere.fails_with(&["no/such/folder.md"]);
}

#[test]
fn command_of_a_finding_draws_stacks_with_its_function() {
    if missing(&["bash"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let name = "it's $(touch pwned) `x` <b>";
    let stacks =
        |samples| format!("main;work;compute 9000\nmain;work;{name} {samples}\nmain;idle 900\n");
    sandbox.write("a b.folded", stacks(100));
    sandbox.write("c.folded", stacks(1500));
    for store in [&[][..], &["--store", "other store"]] {
        let find = [&["find-regressions", "a b.folded", "c.folded"][..], store].concat();
        let report = sandbox.json(&find);
        assert_eq!(report["findings"][0]["function"], name);
        let command = report["findings"][0]["command"].as_str().unwrap();
        let script = format!("sto() {{ \"$0\" \"$@\"; }}\n{command}");
        let sto = env!("CARGO_BIN_EXE_sto");
        Run::new(&mut sandbox.program("bash", &["-c", &script, sto])).succeeds();
        let svg = std::fs::read_to_string(sandbox.path("diff.svg")).unwrap();
        assert!(svg.contains("Only stacks with it"), "{svg}");
        assert!(!svg.contains("<title>compute"), "{svg}");
        assert!(!sandbox.path("pwned").exists());
        std::fs::remove_file(sandbox.path("diff.svg")).unwrap();
    }
}

#[test]
fn commands_repeat_the_users_selectors_and_options() {
    let sandbox = Sandbox::new();
    sandbox.write("old data", BEFORE);
    sandbox.write("-new", AFTER);
    let options = ["--min-effect", "25", "--event", "samples"];
    let sides = ["--", "old data", "-new"];
    let find = [
        &["find-regressions", "--format", "json"][..],
        &options,
        &sides,
    ]
    .concat();
    let run = sandbox.sto(&find);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        report["command"],
        "sto find-regressions --min-effect 25 --event samples -- 'old data' -new"
    );
    assert_eq!(
        report["findings"][0]["command"],
        "sto diff --focus doLogging -o diff.svg --event samples -- 'old data' -new"
    );
}

#[test]
fn a_focus_without_matches_is_an_error() {
    let sandbox = Sandbox::with_two_builds();
    for command in [&["flame", "v1"][..], &["diff", "v1", "v2"]] {
        let run = sandbox.sto(&[command, &["--focus", "doLoging"]].concat());
        run.fails_with(&["no function has `doLoging` in its name; did you mean `doLogging`?"]);
    }
}

#[test]
fn rejects_invalid_counts_with_status_2() {
    let sandbox = Sandbox::new();
    sandbox.write("counts.parquet", "PAR1 and half of the rest");
    let ask = ["find-regressions", "v1", "v2", "--counts", "counts.parquet"];
    let run = sandbox.sto(&ask);
    run.fails_with(&[
        "counts.parquet",
        "the file is damaged or was not written by sto",
    ]);
    let part = [&ask[..], &["--window", "1s..2s"]].concat();
    let run = sandbox.sto(&part);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--window"), "{run:?}");
}
