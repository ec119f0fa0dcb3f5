//! Builds in which a compiler renamed the symbols of functions (`testdata/renamed-symbols`).

use super::support::summary;
use crate::ask;
use std::path::{Path, PathBuf};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::internal::history::{History, JudgedWindow};
use sto_query::internal::series::regressions_over_time;
use sto_query::questions::{HistoryQuery, ScoreOptions};
use sto_query::results::{Comparison, FunctionScore, Status, Verdict};
use sto_query::sources::Sources;

/// A store with the runs of a program's builds.
struct Runs {
    folder: tempfile::TempDir,
}

impl Runs {
    /// Adds the runs of builds, each with its number of runs. Runs of one number were recorded one
    /// after the other.
    fn new(executable: &str, builds: [&str; 2], runs: usize) -> Runs {
        let folder = tempfile::tempdir().expect("a folder");
        let runs_of = Runs { folder };
        let store = Store::open_or_create(&runs_of.store()).expect("a store");
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let data = repository
            .expect("a repository")
            .join("testdata/renamed-symbols");
        for run in 1..=runs {
            for build in builds {
                let options = IngestOptions {
                    executable: Some(executable.to_owned()),
                    version: Some(build.to_owned()),
                    ..IngestOptions::default()
                };
                let file = data.join(format!("{build}-{run}.pb.gz"));
                ingest(&store, &*file, &options, &mut |_| {}).expect("a profile");
            }
        }
        runs_of
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn compared(&self, [baseline, candidate]: [&str; 2]) -> Comparison {
        let mut request = CheckRequest::default();
        request.baseline = Some(Baseline::Any(baseline.into()));
        request.candidate = candidate.into();
        request.all = true;
        let check = ask(&Sources::from_folder(&self.store()), &request);
        let mut comparisons = check.expect("both builds have runs").comparisons;
        comparisons.pop().expect("one comparison")
    }
}

#[test]
fn other_rust_mangling_is_clean() {
    let builds = ["wc2l", "wc2v0"];
    let runs = Runs::new("wc2", builds, 4);
    let comparison = runs.compared(builds);
    assert_eq!(summary(&comparison), "");
    assert_eq!(comparison.verdict, Verdict::Clean);

    let functions = comparison.functions.as_ref().expect("all are listed");
    let one_sided = functions.iter().filter(|function| {
        let total = &function.total;
        let in_program = function.module.starts_with("wc2");
        in_program && (total.baseline_samples == 0) != (total.candidate_samples == 0)
    });
    let names: Vec<&str> = one_sided.map(|function| &*function.function).collect();
    assert!(names.len() <= 2, "{names:#?}");
}

#[test]
fn ocaml_stamps_do_not_hide_what_got_slower() {
    let builds = ["v1-app", "v2-app"];
    let runs = Runs::new("app", builds, 3);
    let comparison = runs.compared(builds);
    let summary = summary(&comparison);
    assert!(summary.starts_with("regression App.scan <- "), "{summary}");
    assert_eq!(comparison.findings.len(), 1);
    let change = comparison.findings[0].total.change;
    assert!((2.9..3.2).contains(&change.expect("both sides have it")));
}

#[test]
fn ocaml_stamps_do_not_make_functions_new_over_time() {
    let runs = Runs::new("app", ["v1-app", "v2-app"], 3);
    let store = Store::open(&runs.store()).expect("a store");
    let snapshot = store.snapshot().expect("a state");
    let history = History::load(&snapshot, &HistoryQuery::default()).expect("runs");
    let judged = history
        .choose_judged(None, JudgedWindow::Builds(10))
        .expect("several builds");
    let scores = regressions_over_time(&history, &judged, ScoreOptions::default(), None, None);
    let of_program = |score: &&FunctionScore| score.function.module == "app";
    for score in scores.functions.iter().filter(of_program) {
        assert_eq!(score.status, Status::Known, "{}", score.function.function);
    }
    assert_eq!(scores.functions[0].function.function, "App.scan");
}
