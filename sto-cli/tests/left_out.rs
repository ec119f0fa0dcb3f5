//! Commands that need an optional feature name it if sto was built without it.

#![cfg(not(any(feature = "cloud", feature = "debuginfod", feature = "lake")))]

use std::process::Command;

/// Runs a command that must fail with status 2, and returns what it writes to standard error.
fn refused(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("demo.folded"), "main;work 3\n").unwrap();
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_sto"))
            .args(["--store", "store"])
            .args(arguments)
            .current_dir(path)
            .output()
            .unwrap()
    };
    let ingested = run(&["ingest", "demo.folded", "--build", "v1"]);
    assert!(ingested.status.success(), "{ingested:?}");
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn assert_names(message: &str, what: &str, feature: &str) {
    assert!(message.contains(what), "{message}");
    let hint =
        format!("build it with `cargo build --release --features full`, or `--features {feature}`");
    assert!(message.contains(&hint), "{message}");
}

#[test]
fn parquet_names_the_feature_lake() {
    for arguments in [
        &["export", "--format", "parquet", "-o", "lake"][..],
        &["import-parquet", "lake"],
        &["ingest", "demo.folded", "--build", "v2", "--to", "lake"],
        &["find-regressions", "v1", "v2", "--counts", "counts.parquet"],
    ] {
        let what = "this program was built without support for Parquet files";
        assert_names(&refused(arguments), what, "lake");
    }
}

#[test]
fn object_stores_name_the_feature_cloud() {
    for arguments in [
        &["push", "s3://bucket/profiles"][..],
        &["pull", "s3://bucket/profiles"],
    ] {
        let what = "this program was built without support for object stores";
        assert_names(&refused(arguments), what, "cloud");
    }
}

#[test]
fn debuginfod_names_its_feature() {
    let server = "https://debuginfod.example.org";
    let message = refused(&[
        "ingest",
        "demo.folded",
        "--build",
        "v2",
        "--debuginfod",
        server,
    ]);
    let what = "--debuginfod: this program was built without debuginfod";
    assert_names(&message, what, "debuginfod");
}
