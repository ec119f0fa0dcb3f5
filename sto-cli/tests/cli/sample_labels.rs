//! Labels of single samples: stored with slices, drawn, shown and exported.

use crate::support::{Sandbox, repository};

fn recording() -> String {
    let path = repository().join("testdata/pprof/go-labels-cpu.pb.gz");
    path.to_str().unwrap().to_owned()
}

#[test]
fn sample_labels_are_only_stored_with_slices() {
    let sandbox = Sandbox::new();
    let path = recording();
    let without = ["ingest", &path, "--exe", "serve", "--build", "v1"];
    let run = sandbox.sto(&without).succeeds();
    let expected = "`request`, `tenant`; --slices 1 keeps them.";
    assert!(run.stderr.contains(expected), "{run:?}");
    let run = sandbox.sto(&["flame", "v1", "--by", "label:tenant"]);
    let run = run.fails_with(&["serve@v1: no profile has a label `tenant`"]);
    assert!(run.stderr.contains("stored with --slices 1"), "{run:?}");

    let with = [
        "ingest", &path, "--exe", "serve", "--build", "v2", "--slices", "1",
    ];
    let run = sandbox.sto(&with).succeeds();
    assert!(!run.stderr.contains("keeps them"), "{run:?}");
    let drawn = sandbox
        .sto(&["flame", "v2", "--by", "label:tenant"])
        .succeeds();
    for tenant in ["blue", "green", "red"] {
        let root = format!("<title>tenant={tenant} (");
        assert!(drawn.stdout.contains(&root), "{root}");
    }
    let run = sandbox.sto(&["flame", "v2", "--by", "label:tenants"]);
    let run = run.fails_with(&["no profile has a label `tenants`; did you mean `tenant`?"]);
    let hint = "hint: there are labels request, tenant";
    assert!(run.stderr.contains(hint), "{run:?}");
}

#[test]
fn sample_labels_of_profiles_and_files_are_shown() {
    let sandbox = Sandbox::new();
    let path = recording();
    let ingest = [
        "ingest", &path, "--exe", "serve", "--build", "v1", "--slices", "1",
    ];
    sandbox.sto(&ingest).succeeds();
    for selector in ["v1", &path] {
        let run = sandbox.sto(&["show", selector]).succeeds();
        let expected = "  labels of samples: request (2 values), tenant (3 values)\n";
        assert!(run.stdout.contains(expected), "{run:?}");
        let shown = sandbox.json(&["show", selector]);
        let labels = &shown["profiles"][0]["sample_labels"];
        assert_eq!(labels[1]["key"], "tenant");
        assert_eq!(labels[1]["values"], 3);
    }
}

#[test]
fn exported_profile_has_sample_labels() {
    let sandbox = Sandbox::new();
    let path = recording();
    let export = ["export", &path, "--format", "pprof", "-o", "again.pb.gz"];
    sandbox.sto(&export).succeeds();
    let frames = |file: &str| {
        let run = sandbox.sto(&["flame", file, "--by", "label:request"]);
        let svg = run.succeeds().stdout;
        svg.split_once("<g class=\"frames\"").unwrap().1.to_owned()
    };
    assert_eq!(frames("again.pb.gz"), frames(&path));
    let pair = ["diff", &path, "again.pb.gz", "--by", "label:request"];
    let pair = sandbox.sto(&pair).succeeds();
    assert!(pair.stdout.contains("<title>request=read ("), "{pair:?}");
}
