//! Fails any system call of a command that writes, or kills the command there: afterwards the store
//! is in the old or in the new state.
//!
//! strace(1) injects the faults into the real command, which cannot distinguish them from a broken disk.

use crate::support::{AFTER, Content, Run, Sandbox, content, files_of, temporary_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::store::{Store, StoredBuild, Tag};
use sto_test_support::{missing, skip};

/// Maximum number of faults per command. For a long run with every fault at every call:
/// `STO_TEST_FAULTS=100000 cargo test -p sto-cli --test cli faults`.
fn most_faults() -> usize {
    std::env::var("STO_TEST_FAULTS").map_or(21, |faults| faults.parse().unwrap())
}

/// The action at a system call, in strace's syntax.
struct Fault {
    inject: &'static str,
    /// The expected message if the command fails; empty for a signal.
    message: &'static str,
    /// Whether later calls with the same name fail, too.
    stays: bool,
}

const FAULTS: [Fault; 8] = [
    Fault::new("signal=KILL", ""),
    Fault::new("signal=INT", ""),
    Fault::new("signal=TERM", ""),
    Fault::new("error=EIO", "Input/output error"),
    Fault::new("error=ENOSPC", "No space left on device"),
    Fault {
        stays: true,
        ..Fault::new("error=EDQUOT", "Disk quota exceeded")
    },
    Fault::new("error=EINTR", "Interrupted system call"),
    Fault::new("retval=0", "failed to write whole buffer"),
];

impl Fault {
    const fn new(inject: &'static str, message: &'static str) -> Fault {
        Fault {
            inject,
            message,
            stays: false,
        }
    }

    fn is_signal(&self) -> bool {
        self.message.is_empty()
    }

    /// Whether the fault is realistic at this call. strace skips a call that it lets fail, but
    /// Linux closes a file even if it reports an error.
    fn may_be_at(&self, call: &Call) -> bool {
        match call.name.as_str() {
            // If every write fails, sto cannot print its error.
            "write" => !self.stays,
            "pwrite64" => true,
            "close" => self.is_signal(),
            _ => self.inject != "retval=0",
        }
    }
}

/// A system call of a command: the n-th of this name in its first thread.
#[derive(Debug)]
struct Call {
    name: String,
    nth: usize,
}

/// Profiles and tags of the store and of the exported file; empty if they do not exist.
type State = [(Content, BTreeSet<Tag>); 2];

fn state(sandbox: &Sandbox) -> State {
    ["store/store.redb", "out.sto"].map(|file| {
        let file = sandbox.path(file);
        if !file.exists() {
            return Default::default();
        }
        let verified = Store::verify(&file, None, &mut |_| Ok(())).unwrap();
        assert!(verified.damages.is_empty(), "{verified:?}");
        let store = Store::open(&file).unwrap();
        let builds = store.snapshot().unwrap().builds().unwrap();
        let tags = builds.iter().flat_map(StoredBuild::tags).collect();
        (content(&store), tags)
    })
}

/// A command that writes to the folder `store` or the file `out.sto` of its sandbox.
struct Victim {
    sandbox: Sandbox,
    args: Vec<String>,
    /// The store's files before the command.
    files: Vec<(PathBuf, Vec<u8>)>,
    before: State,
    after: State,
}

impl Victim {
    /// Runs the command without faults, and returns every call on paths in the
    /// sandbox. Returns `None` if strace is not permitted.
    ///
    /// Arguments that begin with `/` are paths in the sandbox.
    fn new(sandbox: Sandbox, args: &[&str]) -> Option<(Victim, Vec<Call>)> {
        let args = args.iter().map(|arg| match arg.strip_prefix('/') {
            Some(name) => sandbox.path(name).to_str().unwrap().to_owned(),
            None => (*arg).to_owned(),
        });
        let mut victim = Victim {
            args: args.collect(),
            files: files_of(&sandbox.path("store")),
            before: state(&sandbox),
            after: State::default(),
            sandbox,
        };
        let (run, log) = victim.strace(&[]);
        if !log.contains("exited with") {
            assert!(run.stderr.contains("ptrace"), "{run:?}");
            return None;
        }
        run.succeeds();
        victim.after = state(&victim.sandbox);
        let calls = calls(&log, &victim.sandbox.path(""));
        Some((victim, calls))
    }

    /// Runs the command under strace; also returns its log.
    fn strace(&self, options: &[&str]) -> (Run, String) {
        let log = self.sandbox.path("log");
        let mut command = self.sandbox.program("strace", &["-f", "-y", "-o"]);
        command
            .arg(&log)
            .args(options)
            .arg(env!("CARGO_BIN_EXE_sto"))
            .args(&self.args)
            .env("STO_STORE", self.sandbox.path("store"))
            // In another folder, only calls on files of the sandbox contain its path.
            .current_dir("/");
        let output = command.output();
        let run = output.expect("the test checked that strace is installed");
        (run.into(), fs::read_to_string(log).unwrap_or_default())
    }

    /// Injects a fault at a call; returns a complaint if something is wrong afterwards.
    fn disturb(&self, call: &Call, fault: &Fault) -> Option<String> {
        self.reset();
        let trace = format!("trace={}", call.name);
        let from_here_on = if fault.stays { "+" } else { "" };
        let inject = format!(
            "inject={}:{}:when={}{from_here_on}",
            call.name, fault.inject, call.nth
        );
        let (run, log) = self.strace(&["-e", &trace, "-e", &inject]);
        let signal = fault.inject.replace("signal=", "SIG");
        let hit = log
            .lines()
            .find(|line| line.contains("(INJECTED)") || line.contains(&signal));
        let wrong = match hit {
            None => Some("it was not hit"),
            Some(_) => self
                .complaint(&run, fault)
                .or_else(|| self.complaint_of_next()),
        };
        wrong.map(|wrong| format!("{wrong}: {inject}: {hit:?}\n  {run:?}"))
    }

    /// Restores the state before the command.
    fn reset(&self) {
        let _ = fs::remove_dir_all(self.sandbox.path("store"));
        for (path, bytes) in &self.files {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let _ = fs::remove_file(self.sandbox.path("out.sto"));
        for left in temporary_files(&self.sandbox.path("")) {
            fs::remove_file(left).unwrap();
        }
    }

    fn complaint(&self, run: &Run, fault: &Fault) -> Option<&'static str> {
        let now = state(&self.sandbox);
        let is_done = now == self.after;
        if !is_done && now != self.before {
            return Some("the store is neither what it was nor what it was to be");
        }
        let folder = self.sandbox.path("store");
        let folder = folder.parent().unwrap().to_str().unwrap();
        let says = |what| run.stderr.starts_with("error: ") && run.stderr.contains(what);
        match run.status {
            Some(0) if is_done => {}
            Some(2) if !fault.is_signal() && says(folder) && says(fault.message) => {}
            None if fault.is_signal() => {}
            _ => return Some("it did not end as it should"),
        }
        // redb returns the space that its file took, except for a few pages.
        let may_grow = is_done || fault.stays || fault.is_signal() || self.files.is_empty();
        let grown = size(&self.sandbox.store_bytes()).saturating_sub(size(&self.files));
        if !may_grow && grown > 32 << 10 {
            return Some("the disk is fuller than before");
        }
        let was_asked = ["signal=INT", "signal=TERM"].contains(&fault.inject);
        (was_asked && self.has_temporary_files()).then_some("temporary files are left")
    }

    /// Runs the same command again, which must finish the work and clean up.
    fn complaint_of_next(&self) -> Option<&'static str> {
        let _ = fs::remove_file(self.sandbox.path("out.sto"));
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        if self.sandbox.sto(&args).status != Some(0) || state(&self.sandbox) != self.after {
            return Some("the next command fails");
        }
        self.has_temporary_files()
            .then_some("temporary files are left for ever")
    }

    fn has_temporary_files(&self) -> bool {
        let is_temporary =
            |(path, _): &(PathBuf, _)| path.file_name() != Some("store.redb".as_ref());
        self.sandbox.store_bytes().iter().any(is_temporary)
            || !temporary_files(&self.sandbox.path("")).is_empty()
    }
}

fn size(files: &[(PathBuf, Vec<u8>)]) -> usize {
    files.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// The calls of the first thread in a log of strace on paths in a folder.
fn calls(log: &str, folder: &Path) -> Vec<Call> {
    let first = log.split(' ').next();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        let Some((name, arguments)) = call.trim_start().split_once('(') else {
            continue;
        };
        if Some(thread) != first || name == "execve" {
            continue;
        }
        let count = counts.entry(name).or_default();
        *count += 1;
        // A report that is printed may name files.
        let is_report = arguments.starts_with("1<");
        if arguments.contains(folder.to_str().unwrap()) && !is_report {
            calls.push(Call {
                name: name.to_owned(),
                nth: *count,
            });
        }
    }
    calls
}

/// Checks that a command survives all kinds of faults at calls spread over its run.
fn assert_survives_faults(sandbox: Sandbox, args: &[&str]) {
    let Some((victim, calls)) = Victim::new(sandbox, args) else {
        skip("strace may not trace here");
        return;
    };
    let everywhere = |fault| calls.iter().map(move |call| (call, fault));
    let mut cases: Vec<_> = FAULTS.iter().flat_map(everywhere).collect();
    cases.retain(|(call, fault)| fault.may_be_at(call));
    let step = cases.len().div_ceil(most_faults());
    let cases = cases.into_iter().step_by(step);
    let wrong: Vec<String> = cases
        .filter_map(|(call, fault)| victim.disturb(call, fault))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A sandbox with a store, and a file that is not ingested yet.
fn scene() -> Sandbox {
    let sandbox = Sandbox::with_two_builds();
    sandbox.write("c.folded", AFTER.replace("idle", "waiting"));
    sandbox
}

const INGEST: [&str; 6] = ["ingest", "/c.folded", "--build", "v3", "--exe", "demo"];

#[test]
fn an_ingestion_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    assert_survives_faults(scene(), &INGEST);
}

#[test]
fn a_first_ingestion_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    let sandbox = scene();
    fs::remove_dir_all(sandbox.path("store")).unwrap();
    assert_survives_faults(sandbox, &INGEST);
}

/// Like [`scene`], with another store that has one more build.
fn scene_with_other() -> Sandbox {
    let sandbox = scene();
    let ingest = ["ingest", "c.folded", "--build", "v3", "--exe", "demo"];
    sandbox
        .sto(&[&ingest, &["--store", "other"][..]].concat())
        .succeeds();
    sandbox
}

#[test]
fn a_merge_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    assert_survives_faults(scene_with_other(), &["merge", "/other"]);
}

#[test]
fn a_merge_of_an_exported_file_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    let sandbox = scene_with_other();
    sandbox
        .sto(&["export-store", "--store", "other", "-o", "in.sto"])
        .succeeds();
    assert_survives_faults(sandbox, &["merge", "/in.sto"]);
}

#[test]
fn an_export_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    assert_survives_faults(scene(), &["export-store", "v1", "-o", "/out.sto"]);
}

#[test]
fn a_pruning_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    assert_survives_faults(scene(), &["prune", "--keep-last", "1"]);
}

#[test]
fn a_compaction_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    assert_survives_faults(scene(), &["compact"]);
}

#[test]
fn a_tag_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    assert_survives_faults(scene(), &["tag", "v1", "good"]);
}

#[test]
fn metrics_survive_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    let sandbox = scene();
    sandbox.write("metrics.csv", "build,seconds\nv1,2.5\n");
    assert_survives_faults(sandbox, &["annotate", "/metrics.csv"]);
}

#[test]
fn a_file_that_is_written_over_survives_every_fault() {
    if missing(&["strace"]) {
        return;
    }
    let sandbox = Sandbox::with_two_builds();
    let out = sandbox.write("out.folded", "old");
    let args = ["export", "v1", "--format", "folded", "-o"].map(str::to_owned);
    let victim = Victim {
        args: [&args[..], &[out.to_str().unwrap().to_owned()]].concat(),
        files: Vec::new(),
        before: State::default(),
        after: State::default(),
        sandbox,
    };
    let (run, log) = victim.strace(&[]);
    if !log.contains("exited with") {
        skip("strace may not trace here");
        return;
    }
    run.succeeds();
    let new = fs::read(&out).unwrap();
    let calls = calls(&log, &victim.sandbox.path(".sto-"));
    assert!(calls.iter().any(|call| call.name == "write"), "{calls:?}");
    for call in &calls {
        for fault in FAULTS.iter().filter(|fault| fault.may_be_at(call)) {
            fs::write(&out, "old").unwrap();
            let inject = format!("inject={}:{}:when={}", call.name, fault.inject, call.nth);
            let (run, _) = victim.strace(&["-e", &inject]);
            let is_new = fs::read(&out).unwrap() == new;
            assert!(is_new || fs::read(&out).unwrap() == b"old", "{inject}");
            match run.status {
                Some(0) => assert!(is_new, "{inject}: {run:?}"),
                Some(2) => assert!(run.stderr.contains(fault.message), "{inject}: {run:?}"),
                status => assert!(fault.is_signal() && status.is_none(), "{inject}: {run:?}"),
            }
            for left in temporary_files(&victim.sandbox.path("")) {
                assert_eq!(
                    fault.inject, "signal=KILL",
                    "{inject}: a temporary file is left"
                );
                fs::remove_file(left).unwrap();
            }
        }
    }
}
