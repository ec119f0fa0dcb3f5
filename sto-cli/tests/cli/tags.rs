//! Tags of builds.

use crate::support::{AFTER, BEFORE, Sandbox};

#[test]
fn tags_are_set_listed_moved_by_force_and_removed() {
    let sandbox = Sandbox::with_two_builds();
    let none = sandbox.sto(&["tag"]).succeeds();
    assert!(none.stdout.contains("No build has a tag yet"), "{none:?}");
    let set = sandbox.sto(&["tag", "v1", "last-good"]).succeeds();
    assert_eq!(set.stdout, "demo@last-good is v1\n");
    let again = sandbox
        .sto(&["tag", "demo@last-good", "last-good"])
        .succeeds();
    assert_eq!(again.stdout, "demo@last-good is v1\n");

    let run = sandbox.sto(&["tag", "v2", "last-good"]);
    let taken = run.fails_with(&["the tag `last-good` already refers to demo@v1"]);
    assert!(taken.stderr.contains("--force"), "{taken:?}");
    let moved = sandbox
        .sto(&["tag", "--force", "v2", "last-good"])
        .succeeds();
    assert_eq!(moved.stdout, "demo@last-good is v2 now, it was v1\n");
    sandbox.sto(&["tag", "v1", "old"]).succeeds();
    let listed = sandbox.sto(&["tag"]).succeeds();
    assert_eq!(listed.stdout, "demo@old        v1\ndemo@last-good  v2\n");
    let json = sandbox.json(&["tag"]);
    assert_eq!(
        (&json["schema"], &json["action"]),
        (&"sto.tag/1".into(), &"listed".into())
    );
    assert_eq!(json["tags"][1]["tag"], "last-good");
    assert_eq!(json["tags"][1]["build"], "v2");

    let gone = sandbox.sto(&["tag", "--delete", "last-good"]).succeeds();
    assert_eq!(gone.stdout, "demo@last-good deleted, it was v2\n");
    let run = sandbox.sto(&["tag", "--delete", "last-good"]);
    run.fails_with(&["no build has the tag `last-good`"]);
    assert_eq!(sandbox.sto(&["tag"]).stdout, "demo@old  v1\n");
}

#[test]
fn rejects_invalid_tags() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.store_bytes();
    let hidden = sandbox.sto(&["tag", "v1", "v2"]);
    hidden.fails_with(&["a tag cannot have the name of a build: demo@v2"]);
    sandbox
        .sto(&["tag", "v3", "x"])
        .fails_with(&["no build or profile is called `v3`"]);
    for name in ["", "a b", "demo@x", "a\u{1b}b"] {
        sandbox
            .sto(&["tag", "v1", name])
            .fails_with(&["a tag's name has"]);
    }
    for wrong in [
        &["tag", "v1"][..],
        &["tag", "v1", "x", "--delete", "x"],
        &["tag", "-f"],
    ] {
        let run = sandbox.sto(wrong);
        assert_eq!(run.status, Some(2), "{run:?}");
    }
    sandbox.write("c.folded", "main;work 4000\n");
    sandbox
        .sto(&["ingest", "c.folded", "--build", "v1", "--exe", "demo"])
        .succeeds();
    let id = sandbox.json(&["ls"])["builds"][0]["profiles"][0]["id"].clone();
    let run = sandbox.sto(&["tag", id.as_str().unwrap(), "x"]);
    run.fails_with(&["is one run of demo@v1"]);
    assert_ne!(
        sandbox.store_bytes(),
        before,
        "only the ingestion changed it"
    );
    assert_eq!(sandbox.json(&["tag"])["tags"], serde_json::json!([]));
}

#[test]
fn tags_are_selectors_and_listed_with_their_build() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.sto(&["tag", "v2", "newest"]).succeeds();
    assert_eq!(sandbox.json(&["top", "newest"])["build"], "v2");
    assert_eq!(sandbox.json(&["top", "demo@newest"])["build"], "v2");
    assert_eq!(sandbox.json(&["ls"])["builds"][1]["tags"][0], "newest");
    let ls = sandbox.sto(&["ls"]).succeeds();
    assert!(ls.stdout.contains("demo@v2\n  tagged newest\n"), "{ls:?}");
}

#[test]
fn executables_have_separate_tags() {
    let sandbox = Sandbox::with_two_builds();
    for (file, build) in [("a.folded", "w1"), ("b.folded", "w2")] {
        sandbox
            .sto(&["ingest", file, "--build", build, "--exe", "web"])
            .succeeds();
    }
    sandbox.sto(&["tag", "v1", "last-good"]).succeeds();
    sandbox.sto(&["tag", "w1", "last-good"]).succeeds();
    sandbox
        .sto(&["top", "last-good"])
        .fails_with(&["several executables", "demo@v1, web@w1"]);
    let run = sandbox.sto(&["tag", "--delete", "last-good"]);
    run.fails_with(&[
        "several executables have the tag",
        "demo@last-good",
        "web@last-good",
    ]);
    // The candidate determines the executable of the tag.
    for (candidate, baseline) in [("v2", "v1"), ("w2", "w1")] {
        let check = ["find-regressions", "--baseline", "last-good", candidate];
        let comparison = sandbox.json(&check);
        assert_eq!(comparison["baseline"]["build"], baseline);
        assert_eq!(comparison["candidate"]["build"], candidate);
    }
    sandbox
        .sto(&["tag", "--delete", "web@last-good"])
        .succeeds();
    assert_eq!(sandbox.json(&["top", "last-good"])["build"], "v1");
}

#[test]
fn baseline_can_be_a_tag_a_build_or_a_file() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.sto(&["tag", "v1", "last-good"]).succeeds();
    for baseline in ["last-good", "v1", "demo@v1", "a.folded"] {
        let run = sandbox.sto(&["find-regressions", "--baseline", baseline, "v2"]);
        assert_eq!(run.status, Some(1), "{run:?}");
    }
    let missing = sandbox.sto(&["find-regressions", "v2"]);
    let missing = missing.fails_with(&["there is no baseline to compare with"]);
    assert!(missing.stderr.contains("--baseline TAG"), "{missing:?}");
    let both = sandbox.sto(&["find-regressions", "v1", "v2", "--baseline", "v1"]);
    assert_eq!(both.status, Some(2), "{both:?}");
    let unknown = sandbox.sto(&["find-regressions", "--baseline", "last-goood", "v2"]);
    unknown.fails_with(&["did you mean `demo@last-good`?"]);
}

#[test]
fn tags_are_merged_and_exported_and_prevent_pruning() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.sto(&["tag", "v1", "last-good"]).succeeds();
    let pruned = sandbox.sto(&["prune", "--older-than", "0h"]).succeeds();
    assert!(
        pruned
            .stdout
            .contains("demo@v1  kept, as it is tagged last-good"),
        "{pruned:?}"
    );
    assert_eq!(sandbox.json(&["ls"])["builds"].as_array().unwrap().len(), 1);

    sandbox
        .sto(&["export-store", "last-good", "-o", "good.sto"])
        .succeeds();
    let merged = sandbox
        .sto(&["--store", "other", "merge", "good.sto"])
        .succeeds();
    assert!(
        merged.stdout.contains("added tags: demo@last-good"),
        "{merged:?}"
    );
    let at = |store: &str| sandbox.json(&["--store", store, "tag"])["tags"][0]["build"].clone();
    assert_eq!(at("other"), "v1");
    sandbox.sto(&["--store", "other", "verify"]).succeeds();

    sandbox.write("d.folded", "main;work 4000\n");
    sandbox
        .sto(&["ingest", "d.folded", "--build", "v9", "--exe", "demo"])
        .succeeds();
    sandbox.sto(&["tag", "-f", "v9", "last-good"]).succeeds();
    let kept = sandbox.sto(&["merge", "other"]).succeeds();
    assert!(
        kept.stdout.contains("unchanged here: demo@last-good"),
        "{kept:?}"
    );
    assert_eq!(at("store"), "v9");
}

#[test]
fn release_check_moves_the_tag_to_clean_builds() {
    let sandbox = Sandbox::new();
    let slower = "main;work;compute 9050\nmain;work;doLogging 103\nmain;idle 905\n";
    sandbox.write("v1", BEFORE);
    sandbox.write("v2", slower);
    sandbox.write("v3", AFTER);
    sandbox
        .sto(&["ingest", "v1", "--build", "r1", "--exe", "demo"])
        .succeeds();
    sandbox.sto(&["tag", "r1", "last-good"]).succeeds();
    for (file, build, status) in [("v2", "r2", 0), ("v3", "r3", 1)] {
        sandbox
            .sto(&["ingest", file, "--build", build, "--exe", "demo"])
            .succeeds();
        let run = sandbox.sto(&["find-regressions", "--baseline", "last-good", build]);
        assert_eq!(run.status, Some(status), "{run:?}");
        if status == 0 {
            sandbox
                .sto(&["tag", "--force", build, "last-good"])
                .succeeds();
        }
    }
    assert_eq!(sandbox.json(&["tag"])["tags"][0]["build"], "r2");
}
