//! The suspects of a run, and their page in a browser.

mod found;
mod page;

use crate::words::command;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_query::internal::history::{History, JudgedWindow};
use sto_query::questions::{HistoryQuery, SuspectOptions};
use sto_query::results::Suspects;

/// Stores runs of `app` on successive days, three per build except for the first.
pub(crate) fn store(runs: &[String]) -> Store {
    let store = Store::in_memory().unwrap();
    for (day, folded) in (0..).zip(runs) {
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some(format!("v{}", (day + 2) / 3)),
            benchmark: Some("startup".to_owned()),
            metrics: [("seconds".to_owned(), 1.5 + f64::from(day % 5) / 50.0)].into(),
            ..IngestOptions::default()
        };
        let path = Path::new("run.folded");
        let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
        let recording = recording
            .edit(|recording| {
                recording.origin.recorded =
                    Some(UnixSeconds(1_767_000_000 + u64::from(day as u32) * 86_400));
            })
            .unwrap();
        ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    }
    store
}

/// Fourteen runs. In the last one, `log` is slow when called by `serve`, `cache` is gone and `retry`
/// is new; `load` is faster from the eighth run on.
pub(crate) fn slow(log: &str) -> Vec<String> {
    (0..14u32)
        .map(|run| {
            let last = run == 13;
            let slow = if last { 480 } else { 100 + run % 4 };
            let load = if run < 7 { 300 } else { 150 } + run % 3;
            let vanishing = if last {
                "main;retry;connect 40".to_owned()
            } else {
                format!("main;cache {}", 60 + run % 3)
            };
            format!(
                "main;serve;handle;{log};format {}\nmain;serve;handle;{log} {}\n\
                 main;idle;{log};format 50\nmain;serve;parse {}\nmain;serve;handle {}\nmain;load {load}\n\
                 main;render {}\n{vanishing}\n",
                slow / 4,
                slow - slow / 4,
                800 + run * 7 % 23,
                20 + run * 3 % 7,
                900 + run * 5 % 31,
            )
        })
        .collect()
}

/// Returns the suspects of the newest run, with the command's defaults.
pub(crate) fn suspects(runs: &[String]) -> Suspects {
    let query = with!(HistoryQuery {
        benchmarks: vec!["startup".to_owned()],
    });
    let history = History::load(&store(runs).snapshot().unwrap(), &query).unwrap();
    let judged = history
        .choose_judged(None, JudgedWindow::Builds(10))
        .unwrap();
    let mut found = Suspects::find(&history, judged, SuspectOptions::default());
    found.command = command(&["sto", "report"]);
    for suspect in &mut found.suspects {
        suspect.command = command(&["sto", "expand", "--", &suspect.score.function.function]);
    }
    found
}
