//! Standard output, files, colours, and readers that close the pipe early.

use crate::commits::Repository;
use crate::support::{BEFORE, Run, Sandbox, files_of, repository};
use crate::{hot, models};
use std::fs::File;
use std::process::{Command, Stdio};

/// Commands that write a JSON document, run in a sandbox from [`sandbox_for`], with the document's schema.
const DOCUMENTS: &[(&str, &str)] = &[
    (
        "align testdata/calls/pool.xray.zst testdata/calls/pool.xray.zst",
        "sto.align/1",
    ),
    ("annotate metrics.csv", "sto.annotate/1"),
    ("average v1 v2 --build mean", "sto.average/1"),
    ("blame src/demo.c", "sto.blame/1"),
    (
        "bottlenecks --metric seconds --store testdata/history/history.sto",
        "sto.bottlenecks/1",
    ),
    ("calibrate v1", "sto.calibrate/1"),
    ("compact", "sto.compact/1"),
    ("compare-models v1 v2 --x n", "sto.compare-models/1"),
    (
        "correlate --series testdata/correlation/metrics.csv --target target",
        "sto.correlate/1",
    ),
    ("diff v1 v2 -o d.svg", "sto.drawing/1"),
    ("expand doLogging", "sto.expand/1"),
    ("explain-match a a", "sto.explain-match/1"),
    ("export-store v2 -o v2.sto", "sto.export-store/1"),
    ("find-regressions v1 v2", "sto.find-regressions/1"),
    ("flame v1 -o v1.svg", "sto.drawing/1"),
    ("hot", "sto.hot/1"),
    ("import-parquet lake", "sto.merge/1"),
    ("ingest a.folded --build v3", "sto.ingest/1"),
    ("log", "sto.log/1"),
    ("ls", "sto.ls/1"),
    ("merge testdata/stores/1.redb", "sto.merge/1"),
    ("model --points points.csv", "sto.model/1"),
    ("outliers testdata/calls/pool.xray.zst", "sto.outliers/1"),
    ("phases testdata/phases/cycle.perf.data.gz", "sto.phases/1"),
    ("potential v1", "sto.potential/1"),
    ("prune v2", "sto.prune/1"),
    ("pull place", "sto.pull/1"),
    ("push new-place", "sto.push/1"),
    (
        "regressions-over-time --store testdata/history/history.sto",
        "sto.regressions-over-time/1",
    ),
    ("runs", "sto.runs/1"),
    ("series doLogging", "sto.series/1"),
    ("show v1", "sto.show/1"),
    ("evolve", "sto.evolve/1"),
    ("source doLogging v1", "sto.source/1"),
    ("stats", "sto.stats/1"),
    ("symbolize", "sto.symbolize/1"),
    ("tag v1 good", "sto.tag/1"),
    ("timeline testdata/calls/pool.xray.zst", "sto.calls/1"),
    (
        "timeline testdata/phases/cycle.perf.data.gz",
        "sto.timeline/1",
    ),
    ("top v1", "sto.top/1"),
    ("tree v1", "sto.tree/1"),
    ("verify", "sto.verify/1"),
    ("waits testdata/calls/pool.xray.zst", "sto.waits/1"),
    ("where doLogging", "sto.where/1"),
];

/// Commands that write no JSON, or only after running a program; their own tests check that.
const WITHOUT_DOCUMENT: [&str; 13] = [
    "bisect",
    "completions",
    "config",
    "export",
    "help",
    "lsp",
    "man",
    "open",
    "record",
    "report",
    "serve",
    "sql",
    "ui",
];

/// Returns all commands that `sto --help` lists.
fn commands() -> Vec<String> {
    let help = Sandbox::new().sto(&["--help"]).succeeds().stdout;
    let (groups, _) = help.split_once("\nOptions:\n").unwrap();
    let entries = groups.lines().filter_map(|line| line.strip_prefix("  "));
    let commands = entries.filter(|entry| !entry.starts_with(' '));
    commands
        .map(|entry| entry.split(' ').next().unwrap().to_owned())
        .collect()
}

/// Returns a sandbox with the files that a command of [`DOCUMENTS`] needs, or `None` if a tool is missing.
fn sandbox_for(command: &str) -> Option<Sandbox> {
    let sandbox = match command {
        "blame" => hot::with_demo(),
        "compare-models" => models::swept(),
        "log" => {
            let repository = Repository::new()?;
            repository.commit("One");
            repository.sandbox.write("a.folded", BEFORE);
            let ingest = ["ingest", "a.folded", "--build", "v1"];
            repository.sandbox.sto(&ingest).succeeds();
            repository.sandbox
        }
        _ => Sandbox::with_two_builds(),
    };
    std::os::unix::fs::symlink(repository().join("testdata"), sandbox.path("testdata")).unwrap();
    sandbox.write("metrics.csv", "build,seconds\nv1,2\nv2,3\n");
    sandbox.write("points.csv", "x,y\n1,3\n2,5\n3,7.1\n4,9\n5,11\n");
    match command {
        "import-parquet" => sandbox
            .sto(&["export", "--format", "parquet", "-o", "lake"])
            .succeeds(),
        "pull" => sandbox.sto(&["push", "place"]).succeeds(),
        _ => return Some(sandbox),
    };
    Some(sandbox)
}

#[test]
fn json_names_its_schema_and_survives_a_closed_pipe() {
    let commands = commands();
    assert!(commands.len() > 40, "{commands:?}");
    for command in &commands {
        let is_of = |(args, _): &&(&str, _)| args.split(' ').next() == Some(command);
        let documents: Vec<_> = DOCUMENTS.iter().filter(is_of).collect();
        assert_ne!(
            documents.is_empty(),
            !WITHOUT_DOCUMENT.contains(&command.as_str()),
            "add `sto {command}` to one of DOCUMENTS and WITHOUT_DOCUMENT"
        );
        for (args, schema) in documents {
            let args: Vec<&str> = args.split(' ').collect();
            let Some(sandbox) = sandbox_for(command) else {
                continue;
            };
            assert_eq!(sandbox.json(&args)["schema"], *schema, "{args:?}");
            let run = with_closed_pipe(&sandbox_for(command).unwrap(), &args);
            let is_failure = run.status == Some(2) || run.stderr.contains("error");
            assert!(!is_failure, "{args:?}: {run:?}");
        }
    }
}

#[test]
fn top_lists_functions_in_the_requested_order() {
    let sandbox = Sandbox::with_two_builds();
    let by_self = sandbox.json(&["top", "v2", "--limit", "2"]);
    let functions = by_self["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 2);
    assert_eq!(functions[0]["function"], "compute");
    assert_eq!(functions[0]["self"]["samples"], 9_000);
    assert_eq!(functions[1]["function"], "doLogging");
    let by_total = sandbox.json(&["top", "v2", "--by", "total", "--limit", "0"]);
    assert_eq!(by_total["functions"][0]["function"], "main");
    assert_eq!(by_total["functions"][0]["total"]["samples"], 11_400);
    assert_eq!(by_total["functions"].as_array().unwrap().len(), 5);
}

#[test]
fn tree_is_limited_by_share_and_depth() {
    let sandbox = Sandbox::with_two_builds();
    let functions = |args: &[&str]| {
        let tree = sandbox.json(&[&["tree", "v1"], args].concat());
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let names = nodes.map(|node| node["function"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let everything = ["main", "work", "compute", "doLogging", "idle"];
    assert_eq!(functions(&["--min-share", "0"]), everything);
    assert_eq!(
        functions(&["--min-share", "50%"]),
        ["main", "work", "compute"]
    );
    assert_eq!(functions(&["--depth", "1"]), ["main"]);
}

#[test]
fn page_of_findings_draws_stacks() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["find-regressions", "v1", "v2", "--format", "html"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.starts_with("<!DOCTYPE html>"), "{run:?}");
    assert!(run.stdout.ends_with("</html>\n"), "{run:?}");
    assert!(run.stdout.contains("doLogging"), "{run:?}");
    assert!(run.stdout.contains("All 5 stacks are drawn."), "{run:?}");
}

/// Runs a command whose standard output is a pipe that nobody reads.
fn with_closed_pipe(sandbox: &Sandbox, args: &[&str]) -> Run {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    Run::new(sandbox.command(args).stdout(writer))
}

#[test]
fn closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::with_two_builds();
    for args in [
        &["ls", "--format", "json"][..],
        &["flame", "v1"],
        &["flame", "v1", "-o", "/dev/stdout"],
        &["diff", "v1", "v2", "-o", "-"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ] {
        let run = with_closed_pipe(&sandbox, args).succeeds();
        assert_eq!(run.stderr, "", "{args:?}");
    }
}

#[test]
fn closed_pipe_does_not_hide_a_regression() {
    let sandbox = Sandbox::with_two_builds();
    let run = with_closed_pipe(&sandbox, &["find-regressions", "v1", "v2"]);
    assert_eq!((run.status, &*run.stderr), (Some(1), ""), "{run:?}");
}

#[test]
fn full_disk_behind_standard_output_is_an_error() {
    let sandbox = Sandbox::with_two_builds();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for command in [
        &["ls"][..],
        &["flame", "v1"],
        &["find-regressions", "v1", "v2"],
    ] {
        let run = Run::new(sandbox.command(command).stdout(full()));
        run.fails_with(&["cannot write to standard output", "No space left"]);
    }
}

#[test]
fn full_disk_behind_a_file_is_an_error() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["flame", "v1", "-o", "/dev/full"]);
    run.fails_with(&["cannot write /dev/full", "No space left"]);
}

#[test]
fn drawings_are_written_completely_or_not_at_all() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["flame", "v1", "-o", "out/v1.svg"]);
    run.fails_with(&["cannot write out/v1.svg", "No such file or directory"]);
    std::fs::create_dir(sandbox.path("out")).unwrap();
    sandbox.write(
        "out/v1.svg",
        "what was there before, and is longer than nothing",
    );
    let run = sandbox.sto(&["flame", "v1", "-o", "out/v1.svg"]).succeeds();
    assert!(
        run.stdout
            .starts_with("wrote out/v1.svg\n  demo@v1: 10,000 samples"),
        "{run:?}"
    );
    let files = files_of(&sandbox.path("out"));
    assert_eq!(files.len(), 1, "no other file is left in the folder");
    assert!(String::from_utf8_lossy(&files[0].1).contains("</svg>"));
}

#[test]
fn drawing_follows_and_keeps_a_link() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.write("real.svg", "");
    std::os::unix::fs::symlink("real.svg", sandbox.path("link.svg")).unwrap();
    sandbox.sto(&["flame", "v1", "-o", "link.svg"]).succeeds();
    assert!(sandbox.path("link.svg").is_symlink());
    assert!(
        std::fs::read_to_string(sandbox.path("real.svg"))
            .unwrap()
            .contains("</svg>")
    );
}

#[test]
fn pipe_contains_only_the_drawing() {
    let sandbox = Sandbox::with_two_builds();
    let implied = sandbox.sto(&["diff", "v1", "v2"]).succeeds();
    assert!(implied.stdout.contains("<svg"), "{implied:?}");
    assert!(implied.stdout.trim_end().ends_with("</svg>"), "{implied:?}");
    assert_eq!(
        sandbox.sto(&["diff", "v1", "v2", "-o", "-"]).stdout,
        implied.stdout
    );
    let device = sandbox.sto(&["diff", "v1", "v2", "-o", "/dev/stdout"]);
    assert_eq!(device.stdout, implied.stdout);
}

#[test]
fn environment_variables_force_and_disable_colour() {
    let sandbox = Sandbox::with_two_builds();
    let top = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&["top", "v1"]);
        let run = Run::new(command.envs(variables.iter().copied())).succeeds();
        run.stdout.contains('\x1b')
    };
    assert!(!top(&[]));
    assert!(top(&[("CLICOLOR_FORCE", "1")]));
    assert!(!top(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn columns_variable_limits_the_width_in_a_pipe() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", format!("main;{} 10\n", "long_name_".repeat(40)));
    let longest = |command: &mut Command| {
        let run = Run::new(command).succeeds();
        run.stdout
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap()
    };
    assert!(longest(&mut sandbox.command(&["top", "a.folded", "--full-names"])) > 400);
    let short = longest(&mut sandbox.command(&["top", "a.folded"]));
    assert!(
        (101..200).contains(&short),
        "a name is cut in a pipe, too: {short}"
    );
    assert!(longest(sandbox.command(&["top", "a.folded"]).env("COLUMNS", "100")) <= 100);
}

#[test]
fn hostile_names_are_escaped_on_terminals() {
    let sandbox = Sandbox::new();
    let evil = "evil\u{1b}[2J";
    sandbox.write("a.folded", format!("main;{evil} 10\n"));
    for command in [
        &["top", "a.folded"][..],
        &["tree", "a.folded"],
        &["flame", "a.folded"],
    ] {
        let run = sandbox.sto(command).succeeds();
        assert!(run.stdout.contains("evil"), "{run:?}");
        assert!(!run.stdout.contains('\x1b'), "{run:?}");
    }
    let run = sandbox.sto(&["top", evil]);
    assert!(!run.stderr.contains('\x1b'), "{run:?}");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = sandbox.sto(&["completions", shell]).succeeds();
        assert!(
            run.stdout.contains(&format!("COMPLETE={shell}"))
                || run.stdout.contains("COMPLETE=\"zsh\""),
            "{run:?}"
        );
    }
    let mut completions = sandbox.command(&["--", "sto", ""]);
    let completed = Run::new(completions.env("COMPLETE", "fish")).succeeds();
    let page = sandbox.sto(&["man"]).succeeds();
    assert!(page.stdout.contains(".TH STO 1"), "{page:?}");
    sandbox.sto(&["man", "man1"]).succeeds();
    assert!(sandbox.path("man1/sto.1").exists());
    for command in commands() {
        let page = sandbox.path(&format!("man1/sto-{command}.1"));
        assert!(page.exists() || command == "help", "{}", page.display());
        let line = format!("{command}\t");
        let mut lines = completed.stdout.lines();
        assert!(lines.any(|found| found.starts_with(&line)), "{command}");
    }
}

#[test]
fn errors_are_printed_if_standard_output_is_closed() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["ls"]);
    Run::new(command.stdout(Stdio::null())).fails_with(&["there is no store"]);
}

#[test]
fn earlier_build_shows_the_variation_of_single_runs() {
    let sandbox = Sandbox::new();
    let stacks = |run: usize, first: usize| -> String {
        let count = |f: usize| 1000 * f + 10 * (f * run % 7);
        let rest = (2..14).map(|f| format!("main;f{f} {}\n", count(f)));
        format!("main;f1 {first}\n{}", rest.collect::<String>())
    };
    let builds = [
        ("v0", 100),
        ("v0", 101),
        ("v0", 99),
        ("v1", 100),
        ("v2", 1500),
    ];
    for (run, (build, first)) in builds.into_iter().enumerate() {
        let file = format!("{run}.folded");
        sandbox.write(&file, stacks(run, first));
        let ingest = ["ingest", &file, "--build", build, "--exe", "demo"];
        sandbox.sto(&ingest).succeeds();
    }
    let run = sandbox.sto(&["find-regressions", "v1", "v2", "--all", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["statistics"]["dispersion"]["earlier_build"], "v0");
    assert_eq!(report["weak"], true);
    assert_eq!(report["verdict"], "regression");
    assert_eq!(report["functions"][0]["function"], "main");
}
