//! The library's check: one call from names to verdict and findings.

use crate::ask;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fs, thread};
use sto_core::id::ProfileId;
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, ingest};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_query::QueryError;
use sto_query::check::{Baseline, Check, CheckRequest};
use sto_query::policy::Policy;
use sto_query::results::Verdict;
use sto_query::sources::{BuildRef, Context, Environment, Sources};

fn history() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    repository.join("testdata/history")
}

/// Returns the releases of the history, oldest first, each with its runs in the order of their recording.
fn releases(store: &Path) -> Vec<(String, Vec<ProfileId>)> {
    let mut builds = Store::open(store)
        .unwrap()
        .snapshot()
        .unwrap()
        .builds()
        .unwrap();
    let recorded = |run: &sto_core::store::StoredProfile| run.profile.origin.recorded;
    builds.sort_by_key(|build| build.profiles.iter().filter_map(recorded).min());
    let of_build = |mut build: sto_core::store::StoredBuild| {
        build.profiles.sort_by_key(recorded);
        let runs = build.profiles.iter().map(|run| run.id);
        (build.build.version, runs.collect())
    };
    builds.into_iter().map(of_build).collect()
}

fn between(baseline: BuildRef, candidate: BuildRef) -> CheckRequest {
    let mut request = CheckRequest::default();
    request.baseline = Some(Baseline::Any(baseline));
    request.candidate = candidate;
    request
}

/// Formats a check like `sto-cli/tests/cli/history.rs` formats the command's findings.
fn written(check: &Check) -> String {
    let mut text = String::new();
    for comparison in &check.comparisons {
        let builds = [&comparison.baseline, &comparison.candidate].map(|side| side.build.clone());
        let verdict = serde_json::to_value(comparison.verdict).unwrap();
        let verdict = verdict.as_str().unwrap();
        text += &format!("{} {verdict}: {}\n", builds.join(" "), comparison.reason);
        for finding in &comparison.findings {
            let kind = serde_json::to_value(finding.kind).unwrap();
            text += &format!("  {} {}\n", kind.as_str().unwrap(), finding.function);
        }
    }
    text
}

#[test]
fn library_finds_what_the_command_prints() {
    let store = history().join("history.sto");
    let releases = releases(&store);
    let mut text = String::new();
    for pair in releases.windows(2) {
        for (old, new) in pair[0].1.iter().zip(&pair[1].1).take(3) {
            let run = |id: &ProfileId| BuildRef::Selector(id.to_string());
            let sources = Sources::from_folder(&store);
            let check = ask(&sources, &between(run(old), run(new))).unwrap();
            text += &written(&check);
        }
    }
    let expected = fs::read_to_string(history().join("single-runs.txt")).unwrap();
    assert_eq!(text, expected);
}

#[test]
fn checks_run_in_parallel_on_two_stores() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    let store = Store::open_or_create(&other).unwrap();
    for (build, log) in [("v1", 400), ("v2", 1900)] {
        let file = folder.path().join(build);
        fs::write(&file, format!("main;compute 9000\nmain;log {log}\n")).unwrap();
        let options = IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some(build.to_owned()),
            ..IngestOptions::default()
        };
        ingest(&store, &file, &options, &mut |_| {}).unwrap();
    }
    let questions = [
        (
            Sources::from_folder(&history().join("history.sto")),
            between("0.9.6".into(), "0.10.0".into()),
        ),
        (
            Sources::from_folder(&other),
            between("v1".into(), "v2".into()),
        ),
    ];
    let answers = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for turn in 0..6 {
            let (sources, request) = &questions[turn % 2];
            is_shared(sources);
            let ask = || {
                let check = ask(sources, request).unwrap();
                answers.lock().unwrap().push(written(&check));
            };
            scope.spawn(ask);
        }
    });
    let mut answers = answers.into_inner().unwrap();
    answers.sort();
    assert_eq!(answers.len(), 6);
    assert!(answers[0].starts_with("0.9.6 0.10.0 regression: "));
    assert!(answers[3].starts_with("v1 v2 regression: log "));
    assert!(answers[..3].iter().all(|answer| *answer == answers[0]));
    assert!(answers[3..].iter().all(|answer| *answer == answers[3]));
}

/// A machine that counts the files that it reads.
struct Counting(Mutex<Vec<PathBuf>>);

impl Environment for Counting {
    fn read(
        &self,
        memory: &Store,
        file: &Path,
        options: IngestOptions,
    ) -> Result<IngestOutcome, IngestError> {
        self.0.lock().unwrap().push(file.to_owned());
        ingest(memory, file, &options, &mut |_| {})
    }
}

#[test]
fn files_are_checked_without_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = [("old", 400), ("new", 400)].map(|(name, log)| {
        let file = folder.path().join(name);
        fs::write(&file, format!("main;compute 9000\nmain;log {log}\n")).unwrap();
        file
    });
    let machine = Arc::new(Counting(Mutex::new(Vec::new())));
    let sources =
        Sources::from_folder(&folder.path().join("no store")).with_environment(machine.clone());
    let path = |file: &PathBuf| BuildRef::File(file.clone());
    let check = ask(&sources, &between(path(&old), path(&new))).unwrap();
    assert_eq!(check.verdict, Verdict::Clean);
    assert_eq!(check.comparisons[0].candidate.build, "new");
    let mut read = machine.0.lock().unwrap().clone();
    read.sort();
    assert_eq!(read, [new, old]);
}

#[test]
fn runs_of_one_build_are_named_by_their_ids() {
    let store = history().join("history.sto");
    let releases = releases(&store);
    let sources = Sources::from_folder(&store);
    let [(_, old), (_, new)] = [&releases[4], &releases[5]];
    let found = ask(
        &sources,
        &between(BuildRef::Runs(old.clone()), BuildRef::Runs(new.clone())),
    );
    assert_eq!(found.unwrap().verdict, Verdict::Regression);
    let mixed = BuildRef::Runs(vec![old[0], new[0]]);
    let error = ask(&sources, &between(mixed, "0.10.0".into())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "these are runs of several builds: pulldown-cmark@0.9.6, pulldown-cmark@0.10.0"
    );
    let unknown = BuildRef::Runs(vec![ProfileId([7; 16])]);
    let error = ask(&sources, &between(unknown, "0.10.0".into())).unwrap_err();
    assert!(matches!(error, QueryError::NoRun { .. }), "{error}");
}

#[test]
fn policy_sets_the_baseline_if_the_request_does_not() {
    let sources = Sources::from_folder(&history().join("history.sto"));
    let mut request = CheckRequest::default();
    request.candidate = "0.10.0".into();
    let error = ask(&sources, &request).unwrap_err();
    assert!(matches!(error, QueryError::NoBaseline), "{error}");
    request.policy =
        Policy::parse("baseline = \"0.9.6\"\n[thresholds]\nmin-effect = \"25%\"").unwrap();
    let check = ask(&sources, &request).unwrap();
    let comparison = &check.comparisons[0];
    assert_eq!(comparison.baseline.build, "0.9.6");
    assert!((comparison.thresholds.min_effect - 0.25).abs() < 1e-9);
}

#[test]
fn requests_round_trip_through_json() {
    let policy = "
        baseline = \"last-good\"
        [thresholds]
        min-effect = \"5%\"
        [[ignore]]
        function = \"parse\"
        reason = \"known\"
        expires = 2026-12-31
    ";
    let mut request = between(BuildRef::File("old.data".into()), "demo@v2".into());
    request.policy = Policy::parse(policy).unwrap();
    request.benchmarks.push("startup".to_owned());
    let json = serde_json::to_string(&request).unwrap();
    assert_eq!(
        serde_json::from_str::<CheckRequest>(&json).unwrap(),
        request
    );
    // Missing fields have their defaults.
    let short: CheckRequest = serde_json::from_str(r#"{"candidate":{"selector":"v2"}}"#).unwrap();
    assert_eq!(short.candidate, BuildRef::from("v2"));
}

#[test]
fn ignored_function_expires_on_the_day_of_the_context() {
    let policy = "[[ignore]]\nfunction = \"parse\"\nreason = \"known\"\nexpires = 2026-01-31\n";
    let mut request = between("0.9.0".into(), "0.10.0".into());
    request.policy = Policy::parse(policy).unwrap();
    let warnings = |now: Option<u64>| {
        let sources = Sources::from_folder(&history().join("history.sto"));
        let context = with!(Context {
            now: now.map(UnixSeconds),
        });
        let check = sto_query::ask(&sources, &request, &context).unwrap();
        check.comparisons[0].warnings.join(" ").contains("expired")
    };
    // The last second of the day, and the first one of the next.
    assert!(!warnings(Some(1_769_903_999)));
    assert!(warnings(Some(1_769_904_000)));
    assert!(!warnings(None));
}
