//! `sto ingest`: stored profiles and output.

use crate::support::{AFTER, BEFORE, Run, Sandbox, repository};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use sto_test_support::missing;

#[test]
fn summary_lists_the_stored_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let run = sandbox
        .sto(&["ingest", "a.folded", "--build", "v1", "--exe", "demo"])
        .succeeds();
    let first = run.stdout.lines().next().unwrap();
    assert!(first.starts_with("demo@v1: profile "), "{run:?}");
    assert!(first.ends_with(" from a.folded"), "{run:?}");
    assert!(run.stdout.contains("10,000 samples"), "{run:?}");
    assert!(run.stdout.contains("5 nodes, 5 frames"), "{run:?}");
    assert!(
        run.stdout.contains("0.00% unresolved, 0.00% truncated"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains(sandbox.path("store").to_str().unwrap()),
        "{run:?}"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn timings_list_each_stage() {
    let sandbox = Sandbox::new();
    let file = repository().join("testdata/demo/v1.perf.data");
    let run = sandbox.sto(&["ingest", file.to_str().unwrap(), "--timings"]);
    let stages = run
        .stderr
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let stages: Vec<&str> = stages
        .skip_while(|word| *word != "stage")
        .take(10)
        .collect();
    let expected =
        "stage reading hashing walking locating symbolizing interning storing packing writing";
    assert_eq!(stages.join(" "), expected, "{run:?}");
}

#[test]
fn files_are_stored_only_once() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.sto(&["ls"]).succeeds();
    let again = sandbox
        .sto(&["ingest", "a.folded", "--build", "v1", "--exe", "demo"])
        .succeeds();
    assert!(again.stdout.contains("already stored"), "{again:?}");
    assert_eq!(sandbox.sto(&["ls"]).stdout, before.stdout);
}

#[test]
fn standard_input_is_read() {
    let sandbox = Sandbox::new();
    let stdin = std::fs::File::open(sandbox.write("a.folded", BEFORE)).unwrap();
    let run = Run::new(
        sandbox
            .command(&["ingest", "-", "--build", "v1", "--exe", "demo"])
            .stdin(Stdio::from(stdin)),
    )
    .succeeds();
    assert!(run.stdout.contains(" from standard input\n"), "{run:?}");
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn time_of_recording_can_be_set() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let ingest = [
        "ingest",
        "a.folded",
        "--build",
        "v1",
        "--exe",
        "demo",
        "--recorded",
    ];
    let wrong = sandbox.sto(&[&ingest[..], &["yesterday"]].concat());
    let expected = "a day or time in UTC such as 2026-03-01";
    assert!(
        wrong.status == Some(2) && wrong.stderr.contains(expected),
        "{wrong:?}"
    );
    sandbox
        .sto(&[&ingest[..], &["2026-03-01T12:30"]].concat())
        .succeeds();
    let runs = sandbox.json(&["runs"]);
    assert_eq!(runs["runs"][0]["recorded"], "2026-03-01T12:30:00Z");
}

#[test]
fn pipes_are_read_to_their_end() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let script = r#"cat a.folded | "$0" ingest - --build v1 --exe demo"#;
    let mut shell = sandbox.program("sh", &["-c", script, env!("CARGO_BIN_EXE_sto")]);
    Run::new(shell.env("STO_STORE", sandbox.path("store"))).succeeds();
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn keeps_labels_and_metrics_of_a_run() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let options = [
        ["--benchmark", "startup"],
        ["--label", "cpu=7950x"],
        ["--label", "flags=-O2=yes"],
        ["--metric", "seconds=1.5"],
        ["--build", "v1"],
        ["--exe", "demo"],
    ];
    sandbox
        .sto(&[&["ingest", "a.folded"], &options.concat()[..]].concat())
        .succeeds();
    let build = &sandbox.json(&["ls"])["builds"][0];
    assert_eq!(build["executable"], "demo");
    assert_eq!(build["version"], "v1");
    let profile = &build["profiles"][0];
    assert_eq!(profile["benchmark"], "startup");
    assert_eq!(
        profile["labels"],
        json!({ "cpu": "7950x", "flags": "-O2=yes" })
    );
    assert_eq!(profile["metrics"], json!({ "seconds": 1.5 }));
}

#[test]
fn labels_and_metrics_without_a_value_are_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    for wrong in [
        ["--label", "cpu"],
        ["--metric", "seconds=fast"],
        ["--metric", "seconds=inf"],
    ] {
        let run = sandbox.sto(&[&["ingest", "a.folded", "--build", "v1"], &wrong[..]].concat());
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(wrong[1]), "{run:?}");
    }
    assert!(!sandbox.path("store").exists());
}

#[test]
fn rejects_duplicate_labels_before_reading_anything() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.store_bytes();
    let ingest = ["ingest", "a.folded", "--build", "v3"];
    let record = ["record", "--build", "v3"];
    let labels = ["--label", "k=v", "--label", "k=w"];
    let metrics = ["--metric", "m=1", "--metric", "m=2"];
    for command in [&ingest[..], &record] {
        for (twice, expected) in [(labels, "label `k`"), (metrics, "metric `m`")] {
            let args = [command, &twice, &["--", "./none"]].concat();
            sandbox.sto(&args).fails_with(&[expected, "twice"]);
        }
    }
    let twice = ["ingest", "-", "-", "--build", "v3"];
    sandbox.sto(&twice).fails_with(&["standard input", "twice"]);
    assert_eq!(sandbox.store_bytes(), before);
}

#[test]
fn reports_and_keeps_runs_stored_before_a_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox.write("empty.folded", "");
    let paths = ["a.folded", "empty.folded"];
    let run = sandbox.sto(&[&["ingest", "--build", "v1", "--exe", "demo"], &paths[..]].concat());
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stdout.contains("from a.folded"), "{run:?}");
    assert!(run.stderr.starts_with("error: empty.folded: "), "{run:?}");
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn several_files_are_runs_of_one_build() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox.write("b.folded", AFTER);
    sandbox
        .sto(&[
            "ingest", "a.folded", "b.folded", "--build", "v1", "--exe", "demo",
        ])
        .succeeds();
    let builds = &sandbox.json(&["ls"])["builds"];
    assert_eq!(builds.as_array().unwrap().len(), 1, "{builds}");
    assert_eq!(
        builds[0]["profiles"].as_array().unwrap().len(),
        2,
        "{builds}"
    );
}

#[test]
fn json_has_the_same_content_as_text() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let ingest = ["ingest", "a.folded", "--build", "v1", "--exe", "demo"];
    let report = sandbox.json(&ingest);
    assert_eq!(report["schema"], "sto.ingest/1");
    assert_eq!(report["store"], sandbox.path("store").to_str().unwrap());
    let recording = &report["recordings"][0];
    assert_eq!(recording["path"], "a.folded");
    let profile = &recording["profiles"][0];
    assert_eq!(profile["added"], true);
    assert_eq!(profile["samples"], 10_000);
    assert_eq!(profile["nodes"], 5);
    assert_eq!(profile["source_bytes"], BEFORE.len());
    let stored = sandbox.json(&["ls"])["builds"][0]["profiles"][0].clone();
    assert_eq!(profile["id"], stored["id"]);
    // The written bytes include frames and stacks, which all profiles share.
    let (written, own) = (&profile["stored_bytes"], &stored["own_bytes"]);
    assert!(written.as_u64() > own.as_u64() && own.as_u64() > Some(0));

    let again = &sandbox.json(&ingest)["recordings"][0]["profiles"][0];
    assert_eq!(again["added"], false);
    assert_eq!(again["stored_bytes"], 0);
}

#[test]
fn stores_the_revision_that_git_describe_prints() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let git = sandbox.write(
        "bin/git",
        "#!/bin/sh\ncase \" $* \" in\n*\" describe \"*) echo v1.2-3-gabcdef;;\n*\" config \"*) exit 1;;\nesac\n",
    );
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (build, path, revision) in [
        ("described", sandbox.path("bin"), json!("v1.2-3-gabcdef")),
        ("no-git", sandbox.path("home"), json!(null)),
    ] {
        let ingest = ["ingest", "a.folded", "--build", build, "--exe", "demo"];
        Run::new(sandbox.command(&ingest).env("PATH", path)).succeeds();
        let builds = sandbox.json(&["ls"])["builds"].clone();
        let builds = builds.as_array().unwrap();
        let build = builds
            .iter()
            .find(|known| known["version"] == build)
            .unwrap();
        assert_eq!(build["revision"], revision);
    }
}

#[test]
fn ingests_every_profile_in_a_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("runs/b.folded", AFTER);
    sandbox.write("runs/deep/a.folded", BEFORE);
    sandbox.write("runs/notes.txt", "nothing to see\n");
    sandbox.write("runs/.hidden.folded", "a;b 1\n");
    sandbox.write("runs/empty", "");
    let run = sandbox.sto(&["ingest", "runs", "--build", "v1", "--exe", "demo"]);
    let run = run.succeeds();
    let of = |name| run.stdout.find(&format!("from runs/{name}"));
    assert!(of("b.folded") < of("deep/a.folded"), "{run:?}");
    assert!(of("b.folded").is_some(), "{run:?}");
    assert!(
        run.stderr.contains("note: runs/notes.txt: skipped"),
        "{run:?}"
    );
    assert!(run.stderr.contains("note: runs/empty: skipped"), "{run:?}");
    assert!(!run.stderr.contains(".hidden"), "{run:?}");
    let builds = &sandbox.json(&["ls"])["builds"];
    assert_eq!(
        builds[0]["profiles"].as_array().unwrap().len(),
        2,
        "{builds}"
    );
}

#[test]
fn files_of_one_recording_are_one_run() {
    let sandbox = Sandbox::new();
    let folder = repository().join("testdata/perf-data/rotated");
    let [first, last] = ["perf.data.2026112713425469", "perf.data.2026112713425748"];
    let [first, last] = [first, last].map(|name| folder.join(name));
    let paths = [folder, last, first];
    let [folder, last, first] = paths.each_ref().map(|path| path.to_str().unwrap());
    // These files have no build ids.
    let build = ["--build", "v1"];
    let run = sandbox
        .sto(&[&["ingest", last, first][..], &build].concat())
        .succeeds();
    assert!(
        run.stdout.contains(&format!(" from {first} and 1 more\n")),
        "{run:?}"
    );
    assert!(run.stdout.starts_with("hot@v1: "), "{run:?}");
    let again = sandbox
        .sto(&[&["ingest", folder][..], &build].concat())
        .succeeds();
    assert!(again.stdout.contains("already stored"), "{again:?}");
    assert_eq!(
        sandbox.json(&["ls"])["builds"][0]["profiles"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn builds_are_named_after_the_recorded_program() {
    for (file, build) in [
        ("loader.perf.data", "hot@a133f5c6"),
        // `demo-v1`, which the script starts, has most samples.
        ("script.perf.data", "dash@"),
    ] {
        let sandbox = Sandbox::new();
        let path = repository().join("testdata/perf-data").join(file);
        let run = sandbox.sto(&["ingest", path.to_str().unwrap()]).succeeds();
        assert!(run.stdout.starts_with(build), "{run:?}");
    }
}

#[test]
fn folder_with_a_trace_of_calls_is_one_profile() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "runs/first/t_1.txt",
        "0 main 10\n0 work 20\n1 work 30\n1 main 50\n",
    );
    sandbox.write("runs/first/t_2.txt", "0 wait 15\n1 wait 45\n");
    sandbox.write("runs/second/t_1.txt", "0 main 10\n1 main 90\n");
    sandbox
        .sto(&["ingest", "runs", "--build", "v1", "--exe", "demo"])
        .succeeds();
    let builds = &sandbox.json(&["ls"])["builds"];
    assert_eq!(
        builds[0]["profiles"].as_array().unwrap().len(),
        2,
        "{builds}"
    );
    let run = sandbox.sto(&["top", "runs/first"]);
    let run = run.succeeds();
    let rows: Vec<&str> = run.stdout.lines().skip(3).collect();
    assert_eq!(rows.len(), 3, "{run:?}");
    assert!(
        rows[0].ends_with("main") && rows[0].contains("42.86%"),
        "{run:?}"
    );
}

#[test]
fn fails_for_folders_without_profiles_or_with_damaged_ones() {
    let sandbox = Sandbox::new();
    sandbox.write("none/notes.txt", "nothing to see\n");
    sandbox.write("damaged/a.folded", "a;b 1\nc\n");
    let run = sandbox.sto(&["ingest", "none", "--build", "v1"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stderr
            .contains("error: none: no file in this folder is a profile"),
        "{run:?}"
    );
    let run = sandbox.sto(&["ingest", "none", "none", "--build", "v1"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("in these folders"), "{run:?}");
    let run = sandbox.sto(&["ingest", "damaged", "--build", "v1"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stderr.starts_with("error: damaged/a.folded: line 2: "),
        "{run:?}"
    );
}

#[test]
fn parallel_ingestion_makes_the_same_store() {
    let (together, separate) = (Sandbox::new(), Sandbox::new());
    let names: Vec<String> = (0..12).map(|file| format!("{file:02}.folded")).collect();
    let options = ["--build", "v1", "--exe", "demo"];
    for (number, name) in names.iter().enumerate() {
        let text = format!("main;f{};g {}\nmain;h 7\n", number % 5, number + 1);
        together.write(name, &text);
        separate.write(name, &text);
        separate
            .sto(&[&["ingest", name], &options[..]].concat())
            .succeeds();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    together
        .sto(&[&["ingest"], &names[..], &options].concat())
        .succeeds();
    for report in ["ls", "top", "tree"] {
        let words: &[&str] = if report == "ls" {
            &["ls"]
        } else {
            &[report, "v1"]
        };
        let without_times = |sandbox: &Sandbox| {
            let mut report = sandbox.json(words);
            remove_key(&mut report, "recorded");
            report
        };
        assert_eq!(without_times(&together), without_times(&separate));
    }
}

/// Removes values that depend on the time of the test.
fn remove_key(value: &mut serde_json::Value, key: &str) {
    if let Some(object) = value.as_object_mut() {
        object.remove(key);
        object.values_mut().for_each(|value| remove_key(value, key));
    } else if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(|value| remove_key(value, key));
    }
}

#[test]
fn strict_rejects_poor_stacks() {
    let sandbox = Sandbox::new();
    sandbox.write("poor.folded", "main;[unknown] 21\nmain;work 79\n");
    sandbox.write("good.folded", "main;[unknown] 20\nmain;work 80\n");
    let ingest = |file| sandbox.sto(&["ingest", file, "--build", "v1", "--strict"]);
    let run = ingest("poor.folded");
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stderr.contains("poor.folded: not stored")
            && run.stderr.contains("21.0 % of samples have no symbol"),
        "{run:?}"
    );
    assert!(sandbox.store_bytes().is_empty(), "nothing was stored");
    ingest("good.folded").succeeds();
}

#[test]
fn the_format_can_be_forced_and_a_wrong_one_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let ingest = |format| sandbox.sto(&["ingest", "a.folded", "--build", "v1", "--format", format]);
    ingest("folded").succeeds();
    let run = ingest("perf-script");
    assert!(run.stderr.contains("line 1: expected a sample"), "{run:?}");
    let run = ingest("json");
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stderr.contains("expected one of perf.data, "),
        "{run:?}"
    );
    assert!(run.stderr.contains("--report json"), "{run:?}");
}

#[test]
fn stores_truncated_files_only_if_allowed() {
    let sandbox = Sandbox::new();
    sandbox.write("cut.folded", "main;work 30\nmain;wo");
    let ingest = ["ingest", "cut.folded", "--build", "v1"];
    let run = sandbox.sto(&ingest);
    assert_eq!(run.status, Some(2), "{run:?}");
    let run = sandbox
        .sto(&[&ingest[..], &["--allow-truncated"]].concat())
        .succeeds();
    assert!(run.stderr.contains("left out: `main;wo`"), "{run:?}");
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 30);
}

#[test]
fn otlp_export_is_shown_in_the_type_of_its_first_profile() {
    let sandbox = Sandbox::new();
    let export = repository().join("testdata/otlp/v1.10.otlp");
    let ingest = ["ingest", export.to_str().unwrap(), "--build", "v1"];
    sandbox.sto(&ingest).succeeds();
    let top = sandbox.json(&["top", "v1"]);
    assert_eq!(top["executable"], "server");
    assert_eq!(
        top["sample_type"]["event"], "cpu",
        "the others have more samples"
    );
    let space = sandbox.json(&["top", "v1", "--event", "alloc_space"]);
    assert_eq!(space["value"], 4096 + 512 + 64);
}

#[test]
fn terminal_shows_progress_after_a_second() {
    if missing(&["script", "mkfifo"]) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    Run::new(&mut sandbox.program("mkfifo", &["pipe"])).succeeds();
    let line = format!(
        "'{}' ingest a.folded - --build v1 < pipe",
        env!("CARGO_BIN_EXE_sto")
    );
    let mut script = sandbox.program("script", &["-qefc", &line, "/dev/null"]);
    script.env("STO_STORE", sandbox.path("store"));
    script.env("TERM", "xterm").env("SHELL", "/bin/sh");
    let mut script = script.stdout(Stdio::piped()).spawn().unwrap();
    let mut screen = script.stdout.take().unwrap();
    // The last file is a pipe, which stays open until the test has seen the progress display.
    let mut pipe = File::options()
        .write(true)
        .open(sandbox.path("pipe"))
        .unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("1 of 2 files") {
        let mut part = [0; 256];
        let length = screen.read(&mut part).unwrap();
        assert_ne!(length, 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend(&part[..length]);
    }
    pipe.write_all(b"main;work 5\n").unwrap();
    drop(pipe);
    screen.read_to_end(&mut seen).unwrap();
    let seen = String::from_utf8_lossy(&seen);
    assert!(script.wait().unwrap().success(), "{seen}");
    assert!(
        seen.contains(" files/s, ") && seen.contains(" left"),
        "{seen}"
    );
}

#[test]
fn program_without_build_id_can_be_named_and_is_unchecked() {
    let sandbox = Sandbox::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata");
    let recording = format!("{data}/perf-data/zstd.perf.data");
    let ingest = |more: &[&str]| {
        let args = ["ingest", &recording, "--build", "v1", "--symbol-dir"];
        sandbox.sto(&[&args, more].concat()).succeeds()
    };
    let refused = ingest(&[&sandbox.path("").display().to_string()]);
    assert!(refused.stdout.contains("no build id of"), "{refused:?}");
    assert!(
        refused
            .stdout
            .contains("or give its file with `sto symbolize --symbol-dir`"),
        "{refused:?}"
    );
    let believed = ingest(&[&format!("demo-v1={data}/demo/demo-v1"), "--store", "other"]);
    assert!(believed.stderr.contains("without a check"), "{believed:?}");
    assert!(
        !believed.stdout.contains("no build id of /tmp"),
        "{believed:?}"
    );
    let top = sandbox.sto(&["top", "v1", "--store", "other"]).succeeds();
    assert!(!top.stdout.contains("[demo-v1+"), "{top:?}");
}
