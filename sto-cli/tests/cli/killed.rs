//! `kill -9` at any moment of a command that writes: afterwards the store is in the old or in the new state.

use crate::support::{Content, Sandbox, content, files_of, killed_after, temporary_files};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sto_core::id::ProfileId;
use sto_core::store::Store;

/// Number of kills. For a long run: `STO_TEST_KILLS=1000 cargo test -p sto-cli --test cli killed`.
fn kills() -> u32 {
    std::env::var("STO_TEST_KILLS").map_or(48, |kills| kills.parse().unwrap())
}

/// A command to kill after different numbers of changes in the store's folder.
struct Victim {
    folder: PathBuf,
    /// Number of changes that a run makes, as observed.
    changes: usize,
    kills: u32,
    /// Number of kills while the command ran.
    hits: u32,
}

impl Victim {
    /// Runs a command without killing it, to count its changes in a folder.
    fn measured(folder: PathBuf, command: Command) -> Victim {
        let (output, changes) = killed_after(usize::MAX, &folder, command);
        assert!(output.status.success(), "{output:?}");
        Victim {
            folder,
            changes,
            kills: 0,
            hits: 0,
        }
    }

    /// Runs a command and kills it; returns whether it finished before.
    fn kill(&mut self, command: Command) -> bool {
        // Multiples of the golden ratio spread evenly, however many there are.
        let part = f64::from(self.kills + 1) * 0.618_033_988_749_895 % 1.0;
        let after = (part * (self.changes + 1) as f64) as usize;
        self.kills += 1;
        let (output, seen) = killed_after(after, &self.folder, command);
        if let Some(status) = output.status.code() {
            assert_eq!(status, 0, "{}", String::from_utf8_lossy(&output.stderr));
            self.changes = seen;
            return true;
        }
        self.hits += 1;
        // A run makes more changes as the store grows.
        self.changes += usize::from(after == self.changes);
        false
    }
}

/// Samples of the three profiles of each build.
const SAMPLES: [u64; 3] = [1500, 1650, 1800];

struct Scene {
    sandbox: Sandbox,
    held: Content,
    /// Number of builds that were ingested.
    builds: u64,
}

impl Scene {
    /// Ingests three profiles of a new build.
    fn ingest(&mut self) -> Command {
        self.builds += 1;
        let build = self.builds;
        let files: Vec<String> = (0..3u64).map(|run| self.folded(build, run)).collect();
        let mut args: Vec<&str> = vec!["ingest"];
        args.extend(files.iter().map(String::as_str));
        let build = format!("v{build}");
        args.extend(["--build", &build, "--exe", "demo"]);
        self.sandbox.command(&args)
    }

    /// Merges a store that has three profiles of a new build.
    fn merge(&mut self) -> Command {
        let other = self.sandbox.path("other");
        let _ = fs::remove_dir_all(&other);
        let mut ingest = self.ingest();
        let ingested = ingest.env("STO_STORE", &other).output().unwrap();
        assert!(ingested.status.success());
        self.sandbox.command(&["merge", "other"])
    }

    /// Returns folded stacks, with more samples in each run.
    fn folded(&self, build: u64, run: u64) -> String {
        let stacks = (0..150).map(|i| {
            let own = (i * 7 + build * 13 + run) % 97;
            format!("main;f{};g{};h{own} {}\n", i % 11, i % 53, 10 + run)
        });
        let name = format!("{run}.folded");
        self.sandbox.write(&name, stacks.collect::<String>());
        name
    }

    fn now(&self) -> Content {
        content(&Store::open(&self.sandbox.path("store")).unwrap())
    }

    /// Checks that after an ingestion, the store has the old profiles and a prefix of the new ones; all
    /// of them if the command reported success.
    fn assert_has_first_of_three(&mut self, success: bool) {
        let samples = self.assert_has_some_of_three(success);
        assert_eq!(samples, SAMPLES[..samples.len()]);
    }

    /// Checks that the store has the old profiles, and some of the new ones; all of them if the command reported success.
    /// Returns their samples.
    fn assert_has_some_of_three(&mut self, success: bool) -> Vec<u64> {
        let store = Store::open(&self.sandbox.path("store")).unwrap();
        let now = content(&store);
        assert!(
            self.held
                .iter()
                .all(|(id, digest)| now.get(id) == Some(digest))
        );
        let version = format!("v{}", self.builds);
        let builds = store.snapshot().unwrap().builds().unwrap();
        let new = builds.iter().find(|build| build.build.version == version);
        let mut samples: Vec<u64> = new.map_or(Vec::new(), |build| {
            let profiles = build.profiles.iter();
            profiles
                .map(|stored| stored.profile.quality.samples)
                .collect()
        });
        samples.sort_unstable();
        assert!(samples.iter().all(|samples| SAMPLES.contains(samples)));
        assert_eq!(now.len(), self.held.len() + samples.len());
        assert!(!success || samples.len() == 3);
        self.held = now;
        samples
    }

    /// Checks that after pruning, the store has all profiles or only the remaining ones.
    fn assert_has_all_or_only(&mut self, left: &BTreeSet<ProfileId>, success: bool) {
        let now = self.now();
        let pruned = now.keys().eq(left);
        assert!(pruned || !success && now.len() == self.held.len());
        assert!(
            now.iter()
                .all(|(id, digest)| self.held.get(id) == Some(digest))
        );
        self.held = now;
    }

    /// Returns the profiles that pruning would leave, according to a dry run.
    fn remaining_after(&self, prune: &[&str]) -> BTreeSet<ProfileId> {
        let report = self.sandbox.json(&[prune, &["--dry-run"]].concat());
        let builds = report["builds"].as_array().unwrap().iter();
        let ids = builds.flat_map(|build| build["profiles"].as_array().unwrap());
        let gone: BTreeSet<&str> = ids.map(|id| id.as_str().unwrap()).collect();
        let held = self.held.keys().copied();
        held.filter(|id| !gone.contains(id.to_string().as_str()))
            .collect()
    }

    /// A killed process may leave temporary files; the next writer removes them.
    fn assert_next_writer_removes_temporary_files(&mut self) {
        let folder = self.sandbox.path("store");
        if files_of(&folder).len() > 1 {
            assert!(self.ingest().output().unwrap().status.success());
            self.assert_has_first_of_three(true);
            let files: Vec<_> = files_of(&folder)
                .into_iter()
                .map(|(path, _)| path)
                .collect();
            assert_eq!(files, [folder.join(Store::FILE_NAME)]);
        }
    }
}

#[test]
fn killed_command_leaves_the_old_or_the_new_state() {
    let mut scene = Scene {
        sandbox: Sandbox::new(),
        held: BTreeMap::new(),
        builds: 0,
    };
    const PRUNE: [&str; 3] = ["prune", "--keep-last", "2"];
    let store = scene.sandbox.path("store");
    let mut ingest = Victim::measured(store.clone(), scene.ingest());
    scene.assert_has_first_of_three(true);
    let mut merge = Victim::measured(store.clone(), scene.merge());
    scene.assert_has_some_of_three(true);
    let mut compact = Victim::measured(store.clone(), scene.sandbox.command(&["compact"]));
    let mut prune = Victim::measured(store, scene.sandbox.command(&PRUNE));
    prune.changes = compact.changes;
    let folder = scene.sandbox.path("");
    let export = scene.sandbox.command(&["export-store", "-o", "all.sto"]);
    let mut export = Victim::measured(folder, export);
    for kill in 0..kills() {
        match kill % 4 {
            0 => {
                let command = scene.ingest();
                let success = ingest.kill(command);
                scene.assert_has_first_of_three(success);
            }
            2 => {
                let command = scene.merge();
                let success = merge.kill(command);
                scene.assert_has_some_of_three(success);
            }
            1 => {
                let command = scene.sandbox.command(&["compact"]);
                compact.kill(command);
                assert!(scene.now() == scene.held);
            }
            _ if kill % 8 == 3 => {
                // Prune only now and then, so that there is much to remove.
                let left = scene.remaining_after(&PRUNE);
                let success = prune.kill(scene.sandbox.command(&PRUNE));
                scene.assert_has_all_or_only(&left, success);
                // Keeps the store small.
                scene.sandbox.sto(&PRUNE).succeeds();
                scene.assert_has_all_or_only(&left, true);
            }
            _ => {
                let file = scene.sandbox.path("all.sto");
                fs::remove_file(&file).unwrap();
                let arguments = ["export-store", "-o", "all.sto"];
                export.kill(scene.sandbox.command(&arguments));
                if !file.exists() {
                    assert!(
                        scene
                            .sandbox
                            .command(&arguments)
                            .output()
                            .unwrap()
                            .status
                            .success()
                    );
                    assert!(temporary_files(&scene.sandbox.path("")).is_empty());
                }
                assert!(exported(&scene.sandbox, &file) == scene.held);
            }
        }
        scene.assert_next_writer_removes_temporary_files();
    }
    let victims = [
        ("ingest", ingest),
        ("merge", merge),
        ("compact", compact),
        ("prune", prune),
        ("export-store", export),
    ];
    for (what, Victim { kills, hits, .. }) in &victims {
        println!("{what}: {hits} of {kills} kills came while it ran");
    }
    let hits: u32 = victims.iter().map(|(_, victim)| victim.hits).sum();
    assert!(hits > 0, "no kill hit");
}

/// Returns the content of an exported file.
fn exported(sandbox: &Sandbox, file: &Path) -> Content {
    let store = sandbox.path("exported");
    fs::create_dir_all(&store).unwrap();
    fs::copy(file, store.join(Store::FILE_NAME)).unwrap();
    content(&Store::open(&store).unwrap())
}

#[test]
fn killed_first_ingestion_leaves_no_store_or_a_complete_one() {
    let sandbox = Sandbox::with_two_builds();
    let command = |store: &str| {
        let mut command = sandbox.command(&["ingest", "a.folded", "--build", "v1"]);
        command.env("STO_STORE", sandbox.path(store));
        command
    };
    let mut victim = Victim::measured(sandbox.path("first"), command("first"));
    for kill in 0..kills() / 4 {
        let name = format!("made{kill}");
        let folder = sandbox.path(&name);
        victim.folder.clone_from(&folder);
        let success = victim.kill(command(&name));
        let found = match Store::open(&folder) {
            Ok(store) => content(&store).len(),
            Err(error) => {
                assert!(error.to_string().contains("there is no store"), "{error}");
                0
            }
        };
        assert!(found == 1 || !success && found == 0);
        assert!(command(&name).output().unwrap().status.success());
        assert_eq!(files_of(&folder).len(), 1, "temporary files are left");
        let mut listed = sandbox.command(&["ls", "--format", "json"]);
        let listed = listed.env("STO_STORE", &folder).output().unwrap().stdout;
        let listed: Value = serde_json::from_slice(&listed).unwrap();
        assert_eq!(listed["totals"]["profiles"], 1);
    }
    assert!(victim.hits > 0);
}

#[test]
fn signals_ignored_by_the_shell_do_not_end_ingestion() {
    let sandbox = Sandbox::with_two_builds();
    let script = "trap '' INT TERM; exec \"$@\"";
    let mut command = sandbox.program("sh", &["-c", script, "sh", env!("CARGO_BIN_EXE_sto")]);
    command.env("STO_STORE", sandbox.path("store"));
    command.args(["ingest", "-", "--build", "v3"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // This is more than a pipe holds: sto is reading once it is written.
    let text = "main;work 3\n".repeat(30_000);
    stdin.write_all(text.as_bytes()).unwrap();
    for signal in ["-INT", "-TERM"] {
        let pid = child.id().to_string();
        let killed = Command::new("sh")
            .args(["-c", &format!("kill {signal} {pid}")])
            .status();
        assert!(killed.unwrap().success());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    sandbox.sto(&["show", "v3"]).succeeds();
}
