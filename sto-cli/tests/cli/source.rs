//! `sto source`: a function's source with the cost of each line. Also: self is the same in all commands.

use crate::support::Sandbox;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo")
}

fn with_demo() -> Sandbox {
    let sandbox = Sandbox::new();
    let recording = demo().join("v1.perf.data");
    let ingest = [
        "ingest",
        recording.to_str().unwrap(),
        "--exe",
        "demo",
        "--build",
        "v1",
    ];
    sandbox.sto(&ingest).succeeds();
    sandbox
}

/// Writes a source file with this modification time.
fn write_source(sandbox: &Sandbox, name: &str, text: &[u8], written: SystemTime) {
    let path = sandbox.write(name, text);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(written)
        .unwrap();
}

#[test]
fn shows_source_with_the_cost_of_each_line() {
    let sandbox = with_demo();
    let text = std::fs::read(demo().join("demo.c")).unwrap();
    write_source(&sandbox, "src/demo.c", &text, SystemTime::UNIX_EPOCH);
    let args = [
        "source",
        "count_rules",
        "v1",
        "-C",
        "1",
        "--source-dir",
        "src",
    ];
    let shown = sandbox.sto(&args).succeeds().stdout;
    let path = sandbox.path("src/demo.c").canonicalize().unwrap();
    assert_eq!(
        shown.replace(path.to_str().unwrap(), "src/demo.c"),
        "\
demo@v1: 2,716 samples of cpu-clock (2.72 s) in 1 profile

count_rules
self 12.44% (338 samples), total 12.48% (339 samples), demo

src/demo.c
    self    total  line  source
                    123  static NOINLINE uint32_t count_rules(const struct rule *rule, uint32_t amount)
   2.32%    2.32%   124  {
   2.80%    2.80%   125      if (!rule)
                    126          return 0;
   2.54%   12.37%   127      return (amount < rule->limit) + count_rules(rule->below, amount) +
   2.32%    2.32%   128             count_rules(rule->above, amount);
   2.47%    2.47%   129  }
                    130
"
    );

    let report = sandbox.json(&args);
    let lines = report["files"][0]["lines"].as_array().unwrap();
    let sum: u64 = (lines.iter())
        .filter_map(|line| line["self"]["samples"].as_u64())
        .sum();
    assert_eq!(Some(sum), report["self"]["samples"].as_u64());
    assert_eq!(report["schema"], "sto.source/1");
}

#[test]
fn ingestion_by_line_gives_the_same_lines() {
    let sandbox = with_demo();
    let recording = demo().join("v1.perf.data");
    let recording = recording.to_str().unwrap();
    let by_line = [
        "ingest",
        recording,
        "--granularity",
        "line",
        "--exe",
        "demo",
        "--build",
        "by-line",
    ];
    sandbox.sto(&by_line).succeeds();
    // A recursive function, an inlined one, and one that calls others.
    for function in ["count_rules", "hash", "serve"] {
        let lines = |build: &str| {
            let report = sandbox.json(&["source", function, build]);
            let files = report["files"].as_array().unwrap();
            assert!(!files.is_empty(), "{function}: {report}");
            files
                .iter()
                .map(|file| file["lines"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(lines("by-line"), lines("v1"), "{function}");
    }
}

#[test]
fn lines_are_truncated_to_the_terminal_width() {
    let sandbox = with_demo();
    let text = std::fs::read(demo().join("demo.c")).unwrap();
    write_source(&sandbox, "demo.c", &text, SystemTime::UNIX_EPOCH);
    let mut command = sandbox.command(&["source", "count_rules", "v1"]);
    let shown = crate::support::Run::new(command.env("COLUMNS", "60"))
        .succeeds()
        .stdout;
    assert!(
        shown.lines().all(|line| line.chars().count() <= 60),
        "{shown}"
    );
    let head = "   2.54%   12.37%   127      return (amount < rule->limit) …\n";
    assert!(shown.contains(head), "{shown}");
}

#[test]
fn missing_source_shows_line_numbers() {
    let sandbox = with_demo();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let args = ["source", "count_rules", "v1", "--source-dir", "empty"];
    let shown = sandbox.sto(&args).succeeds().stdout;
    let expected = "
demo.c (not found; `--source-dir DIR` says where to look)
    self    total  line  source
   2.32%    2.32%   124
   2.80%    2.80%   125
   2.54%   12.37%   127
";
    assert!(shown.contains(expected), "{shown}");
    let missing = sandbox.sto(&["source", "count_rules", "v1", "--source-dir", "nosuch"]);
    assert_eq!(missing.status, Some(2), "{missing:?}");
}

#[test]
fn changed_source_has_warnings_and_is_escaped() {
    let sandbox = with_demo();
    let future = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    let mut text = "// \u{1b}[2J \u{202e}\n".repeat(125);
    write_source(&sandbox, "demo.c", text.as_bytes(), future);
    let shown = sandbox
        .sto(&["source", "count_rules", "v1"])
        .succeeds()
        .stdout;
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown}"
    );
    assert!(shown.contains(r"124  // \u{1b}[2J \u{202e}"), "{shown}");
    assert!(
        shown.contains("warning: the file was changed at 2100-01-01T00:00:00Z"),
        "{shown}"
    );
    assert!(
        shown.contains("warning: the file has 125 lines, but line 129 has cost"),
        "{shown}"
    );
    text.clear();
    write_source(&sandbox, "demo.c", text.as_bytes(), SystemTime::UNIX_EPOCH);
    let shown = sandbox
        .sto(&["source", "count_rules", "v1"])
        .succeeds()
        .stdout;
    assert!(shown.contains("the file has 0 lines"), "{shown}");
}

#[test]
fn missing_lines_name_the_compiler_option() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["source", "doLogging", "v1"]);
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(run.stdout.contains("line tables (`-g`"), "{run:?}");
    let several = sandbox.sto(&["source", "o", "v1"]);
    assert_eq!(several.status, Some(2), "{several:?}");
    let stderr = &several.stderr;
    assert!(stderr.contains("`o` matches 3 functions"), "{several:?}");
    assert!(
        stderr.lines().any(|line| line.trim() == "compute"),
        "a line of each: {several:?}"
    );
    assert!(
        stderr.ends_with("hint: write more of the name\n"),
        "{several:?}"
    );
}

/// Returns the self samples of a function in a list of functions.
fn self_of(functions: &Value, name: &str) -> u64 {
    let functions = functions.as_array().unwrap();
    let function = functions
        .iter()
        .find(|function| function["function"] == name);
    function.map_or(0, |function| function["self"]["samples"].as_u64().unwrap())
}

#[test]
fn self_is_the_same_in_all_commands() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.folded",
        "main;work 300\nmain;work;step_[i] 900\nmain;idle 800\n",
    );
    sandbox.write(
        "b.folded",
        "main;work 310\nmain;work;step_[i] 1900\nmain;idle 810\n",
    );
    for [file, build] in [["a.folded", "v1"], ["b.folded", "v2"]] {
        sandbox
            .sto(&["ingest", file, "--build", build, "--exe", "demo"])
            .succeeds();
    }
    // These options count an inlined function separately, ...
    let top = sandbox.json(&["top", "v2", "--inlined"]);
    let potential = sandbox.json(&["potential", "v2", "--by", "self", "--inlined"]);
    let regressions = sandbox.json(&["find-regressions", "v1", "v2", "--all"]);
    for (name, samples) in [("work", 310), ("step", 1900), ("idle", 810)] {
        assert_eq!(self_of(&top["functions"], name), samples, "{name}");
        assert_eq!(self_of(&potential["functions"], name), samples, "{name}");
        let tested = regressions["functions"].as_array().unwrap();
        let tested = tested
            .iter()
            .find(|function| function["function"] == name)
            .unwrap();
        assert_eq!(tested["self"]["candidate_samples"], samples, "{name}");
        let source = sandbox.json(&["source", name, "v2"]);
        assert_eq!(source["self"]["samples"], samples, "{name}");
    }
    assert_eq!(
        regressions["findings"][0]["self"]["candidate_samples"],
        1900
    );
    let folded = sandbox
        .sto(&["export", "v2", "--format", "folded"])
        .succeeds();
    assert!(
        folded.stdout.contains("main;work;step_[i] 1900\n"),
        "{folded:?}"
    );
    assert!(
        !sandbox
            .sto(&["top", "v2", "--inlined"])
            .stdout
            .contains("--inlined")
    );

    // ... but without them, its cost belongs to the function that contains its code.
    for command in ["top", "potential"] {
        let report = sandbox.json(&[command, "v2"]);
        assert_eq!(self_of(&report["functions"], "work"), 2210, "{command}");
        assert_eq!(self_of(&report["functions"], "step"), 0, "{command}");
        assert_eq!(report["with_inlined"], true);
        let text = sandbox.sto(&[command, "v2"]).succeeds().stdout;
        assert!(
            text.contains("Self includes what was inlined into a function"),
            "{text}"
        );
    }
    let verbose = ["find-regressions", "v1", "v2", "--verbose"];
    let note = sandbox.sto(&verbose).stdout.replace('\n', " ");
    assert!(
        note.contains("- Self is without inlined functions"),
        "{note}"
    );
}
