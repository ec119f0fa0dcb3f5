//! Concurrent processes on one store: none fails, and readers only see complete profiles.

use crate::support::{Run, Sandbox, files_of};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use sto_core::store::Store;

const WRITERS: u64 = 16;

/// Folded stacks with this many samples; half of the stacks are the writer's own.
fn folded(writer: u64) -> String {
    let common = (0..200).map(|i| format!("main;work{};leaf{i} 5\n", i % 7));
    let own = (0..200).map(|i| format!("main;own{writer};leaf{i} {}\n", 1 + writer));
    common.chain(own).collect()
}

fn samples(writer: u64) -> u64 {
    200 * 5 + 200 * (1 + writer)
}

/// Starts ingesting, as build `wN`.
fn start(sandbox: &Sandbox, writer: u64) -> Child {
    let file = format!("{writer}.folded");
    sandbox.write(&file, folded(writer));
    let build = format!("w{writer}");
    let args = ["ingest", &file, "--build", &build, "--exe", "demo"];
    let mut command = sandbox.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn succeed(children: Vec<Child>) {
    for child in children {
        Run::from(child.wait_with_output().unwrap()).succeeds();
    }
}

/// Returns the writers' builds in a listing, and checks that each has all its samples.
fn whole_builds(listing: &Value) -> Vec<String> {
    let builds = listing["builds"].as_array().unwrap().iter();
    let of_writers = builds.filter_map(|build| {
        let version = build["version"].as_str().unwrap();
        let writer: u64 = version.strip_prefix('w')?.parse().unwrap();
        assert_eq!(build["totals"]["samples"], samples(writer), "{build}");
        Some(version.to_owned())
    });
    of_writers.collect()
}

/// Reads until `stop` is set. Returns the number of reads.
fn read_until(sandbox: &Sandbox, stop: &AtomicBool) -> u32 {
    let mut seen: Vec<String> = Vec::new();
    let mut reads = 0;
    while !stop.load(Ordering::Relaxed) {
        let run = sandbox.sto(&["ls", "--format", "json"]);
        if seen.is_empty() && run.status == Some(2) {
            assert!(run.stderr.contains("there is no store"), "{run:?}");
            continue;
        }
        let listing: Value = serde_json::from_str(&run.succeeds().stdout).unwrap();
        let builds = whole_builds(&listing);
        assert!(
            seen.iter().all(|build| builds.contains(build)),
            "{seen:?} in {builds:?}"
        );
        if let Some(last) = builds.last() {
            let top = sandbox.json(&["top", last]);
            assert_eq!(top["samples"], samples(last[1..].parse().unwrap()));
        }
        seen = builds;
        reads += 1;
    }
    reads
}

/// Checks that the store has every writer's build, and its folder no other file.
fn assert_everything_is_stored(sandbox: &Sandbox) {
    let builds = whole_builds(&sandbox.json(&["ls"]));
    assert_eq!(builds.len() as u64, WRITERS);
    for build in &builds {
        let top = sandbox.json(&["top", build]);
        assert_eq!(top["samples"], samples(build[1..].parse().unwrap()));
    }
    let files = files_of(&sandbox.path("store"));
    assert_eq!(files.len(), 1, "nothing but the store is left");
}

#[test]
fn sixteen_writers_make_one_store_in_a_missing_folder() {
    let sandbox = Sandbox::new();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(&sandbox, &stop));
        succeed((0..WRITERS).map(|writer| start(&sandbox, writer)).collect());
        stop.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    assert_everything_is_stored(&sandbox);
}

#[test]
fn commands_write_while_a_program_keeps_a_snapshot() {
    let sandbox = Sandbox::with_two_builds();
    let store = Store::open(&sandbox.path("store")).unwrap();
    let snapshot = store.snapshot().unwrap();
    let builds = snapshot.builds().unwrap();
    for writer in 0..3 {
        succeed(vec![start(&sandbox, writer)]);
    }
    sandbox.sto(&["prune", "v1"]).succeeds();
    let again = snapshot.builds().unwrap();
    assert_eq!(format!("{again:?}"), format!("{builds:?}"));
    for build in &builds {
        assert!(!snapshot.load_build(build.id).unwrap().tree.is_empty());
    }
    assert!(store.changed_since(snapshot.state()).unwrap());
    assert_eq!(store.snapshot().unwrap().builds().unwrap().len(), 4);
    assert!(
        Store::verify(&sandbox.path("store"), None, &mut |_| Ok(()))
            .unwrap()
            .sound
    );
}

/// Sets the flag when dropped, so that a failed assertion ends the other threads, too.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn writers_readers_prune_and_compact_run_concurrently() {
    let sandbox = Sandbox::with_two_builds();
    for i in 0..4 {
        let file = sandbox.write(
            &format!("temporary{i}.folded"),
            format!("main;old {}\n", i + 1),
        );
        let file = Path::file_name(&file).unwrap().to_str().unwrap();
        sandbox
            .sto(&["ingest", file, "--build", file, "--label", "temporary=yes"])
            .succeeds();
    }
    let stop = AtomicBool::new(false);
    let loop_of = |args: &[&str]| {
        let mut runs = 0;
        while !stop.load(Ordering::Relaxed) {
            sandbox.sto(args).succeeds();
            runs += 1;
        }
        runs
    };
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        let reader = scope.spawn(|| read_until(&sandbox, &stop));
        let prune = scope.spawn(|| loop_of(&["prune", "--label", "temporary=yes"]));
        let compact = scope.spawn(|| loop_of(&["compact"]));
        succeed((0..WRITERS).map(|writer| start(&sandbox, writer)).collect());
        stop.store(true, Ordering::Relaxed);
        for thread in [reader, prune, compact] {
            assert!(thread.join().unwrap() > 0);
        }
    });
    assert_everything_is_stored(&sandbox);
    let listed = sandbox.sto(&["ls"]).stdout;
    assert!(!listed.contains("temporary"), "{listed}");
    assert!(
        listed.contains("demo@v1") && listed.contains("demo@v2"),
        "{listed}"
    );
}
