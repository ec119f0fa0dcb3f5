//! `sto merge`: added profiles, output, and the store after a kill.

use crate::support::{AFTER, BEFORE, Sandbox, killed_after};
use serde_json::{Value, json};

/// Ingests folded stacks into a store of this sandbox.
fn ingest(sandbox: &Sandbox, store: &str, build: &str, file: &str, text: &str) {
    // Do not rewrite an existing file, because its modification time is part of the profile.
    if !sandbox.path(file).exists() {
        sandbox.write(file, text);
    }
    let ingest = ["ingest", file, "--build", build, "--exe", "demo"];
    sandbox
        .sto(&[&["--store", store], &ingest[..]].concat())
        .succeeds();
}

/// A sandbox with two stores that have a common profile, besides the empty one at `store`.
fn two_stores() -> Sandbox {
    let sandbox = Sandbox::new();
    for store in ["one", "two"] {
        ingest(&sandbox, store, "v1", "a.folded", BEFORE);
    }
    ingest(&sandbox, "one", "v2", "b.folded", AFTER);
    ingest(&sandbox, "two", "v2", "c.folded", "main;work 7\n");
    sandbox
}

/// Returns builds and ids of profiles.
fn listed(sandbox: &Sandbox, store: &str) -> Vec<(Value, Vec<Value>)> {
    let report = sandbox.json(&["--store", store, "ls"]);
    let builds = report["builds"].as_array().unwrap().iter();
    let mut builds: Vec<_> = builds
        .map(|build| {
            let oldest_first = build["profiles"].as_array().unwrap().iter().rev();
            let ids = oldest_first.map(|profile| profile["id"].clone()).collect();
            (build["version"].clone(), ids)
        })
        .collect();
    builds.sort_by_key(|(version, _)| version.to_string());
    builds
}

#[test]
fn merges_stores_and_files_and_reports_additions() {
    let sandbox = two_stores();
    std::fs::rename(sandbox.path("two/store.redb"), sandbox.path("bundle")).unwrap();
    let run = sandbox.sto(&["merge", "one", "bundle"]).succeeds();
    assert!(
        run.stdout
            .starts_with("one: 2 profiles\n  added 2 profiles, "),
        "{run:?}"
    );
    assert!(
        run.stdout
            .contains("\nbundle: 2 profiles\n  added 1 profile, "),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("  already stored: 1 profile; "),
        "{run:?}"
    );
    assert!(
        run.stdout.contains(sandbox.path("store").to_str().unwrap()),
        "{run:?}"
    );
    assert_eq!(run.stderr, "");
    assert_eq!(sandbox.json(&["top", "v2"])["samples"], 11_407);

    // The result equals a store that ingested everything.
    for (build, file) in [("v1", "a.folded"), ("v2", "b.folded"), ("v2", "c.folded")] {
        ingest(&sandbox, "all", build, file, "");
    }
    let at = sandbox.path("store");
    assert_eq!(
        listed(&sandbox, at.to_str().unwrap()),
        listed(&sandbox, "all")
    );
}

#[test]
fn json_has_the_same_content_as_text() {
    let sandbox = two_stores();
    let report = sandbox.json(&["merge", "one", "two"]);
    assert_eq!(report["schema"], "sto.merge/1");
    assert_eq!(report["store"], sandbox.path("store").to_str().unwrap());
    let [one, two] = &report["sources"].as_array().unwrap()[..] else {
        panic!("{report}")
    };
    assert_eq!(one["path"], "one");
    assert_eq!(one["added"].as_array().unwrap().len(), 2);
    assert!(one["stored_bytes"].as_u64().unwrap() > 0);
    assert_eq!(two["profiles"], 2);
    assert_eq!(two["added"].as_array().unwrap().len(), 1);
    assert_eq!(two["already_stored"], 1);
    assert_eq!(two["different"], json!([]));
    assert_eq!(two["left_out"], json!([]));
}

#[test]
fn merging_again_changes_nothing() {
    let sandbox = two_stores();
    sandbox.sto(&["merge", "one", "two"]).succeeds();
    let before = sandbox.store_bytes();
    let run = sandbox.sto(&["merge", "one", "two", "store"]).succeeds();
    assert!(!run.stdout.contains("added"), "{run:?}");
    assert_eq!(sandbox.store_bytes(), before);
}

#[test]
fn reports_conflicting_recordings_and_keeps_the_old_one() {
    let sandbox = two_stores();
    let labelled = ["ingest", "a.folded", "--build", "v1", "--exe", "demo"];
    sandbox
        .sto(&[&labelled[..], &["--label", "by=me"]].concat())
        .succeeds();
    let id = |store| listed(&sandbox, store)[0].1[0].as_str().unwrap().to_owned();
    let (here, there) = (id("store"), id("one"));
    let run = sandbox.sto(&["merge", "one"]).succeeds();
    let expected = format!(
        "    {}: {} was read here; other labels\n",
        &there[..12],
        &here[..12]
    );
    assert!(run.stdout.contains(&expected), "{run:?}");
    assert!(run.stdout.contains("counts once"), "{run:?}");
    let conflict = json!({
        "there": there,
        "here": here,
        "merged_from": null,
        "read_here": true,
        "differ_in": ["labels"],
    });
    let report = sandbox.json(&["merge", "one"]);
    assert_eq!(report["sources"][0]["conflicts"], json!([conflict]));
    assert_eq!(id("store"), here);
    // A merged profile can be replaced: by pruning it and merging another, or by ingesting the recording here.
    sandbox.sto(&["--store", "two", "prune", &there]).succeeds();
    let run = sandbox
        .sto(&["--store", "two", "merge", "store"])
        .succeeds();
    assert!(run.stdout.contains("added 2 profiles"), "{run:?}");
    let run = sandbox.sto(&["--store", "two", "show", &here]).succeeds();
    assert!(
        run.stdout.contains("  merged from store/store.redb\n"),
        "{run:?}"
    );
    let run = sandbox
        .sto(&[&["--store", "two"], &labelled[..]].concat())
        .succeeds();
    assert!(
        run.stderr.contains("reading it here takes precedence"),
        "{run:?}"
    );
    assert_eq!(id("two"), there);
    let run = sandbox.sto(&["--store", "two", "show", &there]).succeeds();
    assert!(!run.stdout.contains("merged from"), "{run:?}");
}

#[test]
fn checks_every_store_before_writing() {
    let sandbox = two_stores();
    sandbox.write("hello", "hello");
    ingest(&sandbox, "newer", "v1", "a.folded", BEFORE);
    let database = redb::Database::open(sandbox.path("newer/store.redb")).unwrap();
    let meta: redb::TableDefinition<&str, &[u8]> = redb::TableDefinition::new("meta");
    let transaction = database.begin_write().unwrap();
    let mut table = transaction.open_table(meta).unwrap();
    table
        .insert("version", &u32::MAX.to_le_bytes()[..])
        .unwrap();
    drop(table);
    transaction.commit().unwrap();
    drop(database);
    for (other, expected) in [
        ("missing", "there is no store in missing"),
        ("hello", "hello: not a store"),
        ("home", "there is no store in home"),
        ("newer", "upgrade sto"),
    ] {
        sandbox
            .sto(&["merge", "one", other])
            .fails_with(&[expected]);
    }
    assert!(!sandbox.path("store").exists());
}

#[test]
fn reports_damaged_profiles_and_fails() {
    let sandbox = two_stores();
    let file = sandbox.path("one/store.redb");
    let costs: redb::TableDefinition<(u8, u32, u32, u32), &[u8]> =
        redb::TableDefinition::new("columns");
    let database = redb::Database::open(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    let broken: &[u8] = b"no costs at all";
    transaction
        .open_table(costs)
        .unwrap()
        .insert((2, 0, 0, 0), broken)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let id = listed(&sandbox, "one")[0].1[0].clone();
    let run = sandbox.sto(&["merge", "one"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stdout.contains("  added 1 profile, "), "{run:?}");
    assert!(
        run.stdout
            .contains("left out 1 profile: one/store.redb: the store is damaged"),
        "{run:?}"
    );
    assert!(run.stdout.contains(&id.as_str().unwrap()[..12]), "{run:?}");
    assert_eq!(
        run.stderr,
        "error: not every profile could be merged or sent: 1 left out, as listed above\n"
    );
    // The other store has an intact copy.
    sandbox.sto(&["merge", "two"]).succeeds();
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn resumes_a_killed_merge() {
    let sandbox = Sandbox::new();
    for run in 0..12 {
        let text = format!("main;work;f{run} {}\n", 100 + run);
        ingest(&sandbox, "other", "v1", &format!("{run}.folded"), &text);
    }
    let all = listed(&sandbox, "other");
    let mut partly = 0;
    for changes in [0, 1, 2, 3, 4, 6, 9, 14] {
        killed_after(
            changes,
            &sandbox.path("store"),
            sandbox.command(&["merge", "other"]),
        );
        let stored = if sandbox.path("store/store.redb").exists() {
            listed(&sandbox, "store")
        } else {
            Vec::new()
        };
        for (build, ids) in &stored {
            assert_eq!(*build, "v1");
            assert_eq!(ids[..], all[0].1[..ids.len()], "oldest first, none twice");
            partly += usize::from((1..12).contains(&ids.len()));
        }
        sandbox.sto(&["merge", "other"]).succeeds();
        assert_eq!(listed(&sandbox, "store"), all);
        std::fs::remove_dir_all(sandbox.path("store")).unwrap();
    }
    println!("{partly} were killed halfway");
}
