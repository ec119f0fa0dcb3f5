//! `sto export`: stacks in the formats of other tools.

use crate::support::{Sandbox, repository};

#[test]
fn exported_stacks_are_ingested_unchanged() {
    let sandbox = Sandbox::with_two_builds();
    let of_build = sandbox.json(&["top", "v1"]);
    for (format, file, begin) in [
        ("pprof", "v1.pb.gz", &b"\x1f\x8b"[..]),
        ("otlp", "v1.otlp", b"\x0a"),
        ("otlp", "v1.otlp.gz", b"\x1f\x8b"),
        ("folded", "v1.folded", b"main;"),
        ("folded", "v1.folded.GZ", b"\x1f\x8b"),
    ] {
        let run = sandbox.sto(&["export", "v1", "--format", format, "-o", file]);
        let expected = format!("wrote {file}\n  demo@v1: 10,000 samples in 1 profile\n");
        assert_eq!(run.succeeds().stdout, expected);
        let bytes = std::fs::read(sandbox.path(file)).unwrap();
        assert!(bytes.starts_with(begin), "{file}: {:?}", &bytes[..9]);
        let of_file = sandbox.json(&["top", &format!("./{file}")]);
        assert_eq!(of_file["functions"], of_build["functions"], "{format}");
    }
}

#[test]
fn every_format_is_the_same_on_standard_output() {
    let sandbox = Sandbox::with_two_builds();
    for format in [
        "folded",
        "speedscope",
        "firefox",
        "d3",
        "callgrind",
        "csv",
        "html",
    ] {
        let printed = sandbox
            .sto(&["export", "v1", "--format", format])
            .succeeds();
        sandbox
            .sto(&["export", "v1", "--format", format, "-o", "file"])
            .succeeds();
        let written = std::fs::read_to_string(sandbox.path("file")).unwrap();
        assert_eq!(printed.stdout, written, "{format}");
        assert!(printed.stdout.contains("doLogging"), "{format}");
    }
}

#[test]
fn export_requires_a_format_and_its_options() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["export", "v1"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("--format"), "{run:?}");
    let run = sandbox.sto(&["export", "v1", "--format", "perun"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("--x"), "{run:?}");
    let run = sandbox.sto(&["export", "v1", "--format", "csv", "--x", "n"]);
    run.fails_with(&["--x only applies to model output"]);
}

#[test]
fn exports_calls_over_time_if_there_are_any() {
    let sandbox = Sandbox::with_two_builds();
    let to_perfetto = ["--format", "perfetto", "-o", "calls.pftrace"];
    let run = sandbox.sto(&[&["export", "v1"], &to_perfetto[..]].concat());
    run.fails_with(&["demo@v1 has no calls over time", "pprof, otlp, speedscope"]);
    let trace = repository().join("testdata/xray/basic.xray");
    let trace = trace.to_str().unwrap();
    let run = sandbox.sto(&[&["export", trace], &to_perfetto[..]].concat());
    let output = run.succeeds().stdout;
    assert!(output.starts_with("wrote calls.pftrace\n"), "{output}");
    let of = |file: &str| sandbox.json(&["top", file])["functions"].clone();
    let functions = of("calls.pftrace");
    let name = |function: &serde_json::Value| function["function"].clone();
    let costs = |function: &serde_json::Value| function["total"].clone();
    for (found, expected) in functions
        .as_array()
        .unwrap()
        .iter()
        .zip(of(trace).as_array().unwrap())
    {
        assert_eq!(
            (name(found), costs(found)),
            (name(expected), costs(expected))
        );
    }
}

#[test]
fn failed_write_keeps_the_old_file() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.write("old.folded", "old");
    let run = sandbox.sto(&[
        "export",
        "missing",
        "--format",
        "folded",
        "-o",
        "old.folded",
    ]);
    run.fails_with(&["missing"]);
    assert_eq!(std::fs::read(sandbox.path("old.folded")).unwrap(), b"old");
}

#[test]
fn adds_the_whole_store_or_a_build_to_a_dataset() {
    let sandbox = Sandbox::with_two_builds();
    let export = ["export", "--format", "parquet", "-o", "lake"];
    let run = sandbox.sto(&["export", "v1", "--format", "parquet", "-o", "lake"]);
    let output = run.succeeds().stdout;
    assert!(
        output.starts_with("wrote 1 profile (") && output.ends_with(" kB) to lake\n"),
        "{output}"
    );
    let output = sandbox.sto(&export).succeeds().stdout;
    assert!(output.ends_with(" kB) to lake; 1 was there\n"), "{output}");
    for table in ["profile", "sample"] {
        let builds = sandbox.path(&format!("lake/{table}/executable=demo"));
        assert_eq!(std::fs::read_dir(builds).unwrap().count(), 2);
    }
    let run = sandbox.sto(&[&export[..], &["--event", "cycles"]].concat());
    run.fails_with(&["a dataset contains only whole profiles"]);
    sandbox.write("lake/manifest.json", r#"{"layout":"sto-lake","version":2}"#);
    let run = sandbox.sto(&export);
    run.fails_with(&["lake/manifest.json", "`sto-lake 2`"]);
    let run = sandbox.sto(&["export", "--format", "parquet", "-o", "-"]);
    run.fails_with(&["a dataset is a folder of files"]);
    let run = sandbox.sto(&["export", "--format", "parquet"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("--output"), "{run:?}");
    let run = sandbox.sto(&["export", "--format", "folded"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("SELECTOR"), "{run:?}");
}

#[test]
fn datasets_can_be_imported_into_a_store() {
    let sandbox = Sandbox::with_two_builds();
    let lake = ["export", "--format", "parquet", "-o", "lake"];
    sandbox.sto(&lake).succeeds();
    let import = ["--store", "back", "import-parquet", "lake"];
    let run = sandbox.sto(&[&import[..], &["v1"]].concat());
    let output = run.succeeds().stdout;
    assert!(
        output.contains("lake: 1 profile\n  added 1 profile"),
        "{output}"
    );
    let output = sandbox.sto(&import).succeeds().stdout;
    assert!(output.contains("already stored: 1 profile"), "{output}");
    let export = ["export-store", "-o"];
    sandbox
        .sto(&[&export[..], &["one.sto"]].concat())
        .succeeds();
    sandbox
        .sto(&[&["--store", "back"], &export[..], &["two.sto"]].concat())
        .succeeds();
    let bytes = |file| std::fs::read(sandbox.path(file)).unwrap();
    assert!(bytes("one.sto") == bytes("two.sto"));

    let run = sandbox.sto(&["import-parquet", "none"]);
    run.fails_with(&["none: this is not a dataset"]);
    let run = sandbox.sto(&["--store", "new", "import-parquet", "lake", "v3"]);
    run.fails_with(&["v3"]);
    assert!(!sandbox.path("new").exists());
    let builds = sandbox.path("lake/sample/executable=demo/build=v1");
    let file = std::fs::read_dir(builds).unwrap().next().unwrap().unwrap();
    std::fs::write(file.path(), "PAR1 half of it").unwrap();
    let run = sandbox.sto(&["--store", "half", "import-parquet", "lake"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stdout.contains("added 1 profile"), "{run:?}");
    assert!(
        run.stdout.contains("left out 1 profile: lake/sample/"),
        "{run:?}"
    );
}

/// Machines of a fleet have no store, and export must not make one.
#[test]
fn recordings_are_added_to_a_dataset_without_a_store() {
    let sandbox = Sandbox::new();
    sandbox.write("one.folded", "main;parse 7\nmain 3\n");
    sandbox.write("two.folded", "main;parse 9\n");
    let to = ["--exe", "demo", "--build", "v1", "--to", "lake"];
    let ingest = [&["ingest", "one.folded", "two.folded"], &to[..]].concat();
    let output = sandbox.sto(&ingest).succeeds().stdout;
    assert!(output.contains("demo@v1: profile "), "{output}");
    assert!(output.ends_with("The dataset is lake.\n"), "{output}");
    let again = sandbox.sto(&ingest).succeeds().stdout;
    assert_eq!(again.matches("is already stored").count(), 2, "{again}");
    sandbox.sto(&["ls"]).fails_with(&["there is no store"]);

    // Exporting from a store writes the same files.
    sandbox
        .sto(&[
            "ingest",
            "one.folded",
            "two.folded",
            "--exe",
            "demo",
            "--build",
            "v1",
        ])
        .succeeds();
    let export = ["export", "--format", "parquet", "-o"];
    let output = sandbox
        .sto(&[&export[..], &["lake"]].concat())
        .succeeds()
        .stdout;
    assert_eq!(output, "wrote 0 profiles to lake; 2 were there\n");
    sandbox.sto(&[&export[..], &["other"]].concat()).succeeds();
    for table in ["sample", "profile"] {
        let folder = |lake: &str| sandbox.path(&format!("{lake}/{table}/executable=demo/build=v1"));
        for file in std::fs::read_dir(folder("lake")).unwrap() {
            let file = file.unwrap();
            let other = folder("other").join(file.file_name());
            assert!(std::fs::read(file.path()).unwrap() == std::fs::read(other).unwrap());
        }
    }
    sandbox.write("lake/manifest.json", "[]");
    let run = sandbox.sto(&ingest);
    run.fails_with(&["lake/manifest.json: this is not the manifest of a dataset"]);
}
