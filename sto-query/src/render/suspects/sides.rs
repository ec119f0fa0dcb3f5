//! The judged runs and the runs they are judged against.

use super::mean;
use crate::render::html::{Side, measured, recorded, sides};
use crate::select::shortened_revision;
use crate::suspects::{SuspectRun, Suspects};
use maud::Markup;

/// Returns the window, then the judged runs.
pub(super) fn section(found: &Suspects) -> Markup {
    sides([window(found), judged(found)])
}

fn window(found: &Suspects) -> Side {
    let window = &found.runs[found.judged.window.clone()];
    let mut side = Side {
        heading: "Window",
        build: builds(window),
        facts: Vec::new(),
    };
    side.fact("runs", format!("{} before the judged", window.len()));
    side.fact(
        "measured",
        found.expected.map(|expected| {
            let (average, deviation) = (mean(expected.mean), mean(expected.deviation));
            format!("{average} samples on average, ± {deviation}")
        }),
    );
    if let [first, .., last] = window {
        side.fact("recorded", times(first, last));
    }
    side
}

fn judged(found: &Suspects) -> Side {
    let run = found.run();
    let mut side = Side {
        heading: "Judged",
        build: format!("{}@{}", found.history.executable, run.run.build),
        facts: Vec::new(),
    };
    side.fact("benchmark", found.history.benchmark.clone());
    let judged = &found.runs[found.judged.runs.clone()];
    match judged {
        [only] => {
            let sample_type = Some(&found.history.sample_type);
            side.fact("measured", measured(only.whole, sample_type));
        }
        [..] => {
            side.fact("runs", judged.len().to_string());
            side.fact(
                "measured",
                format!("{} samples on average", mean(found.actual())),
            );
        }
    }
    side.fact("recorded", times(&judged[0], run));
    side.fact("host", run.host.clone());
    side.fact("revision", run.revision.as_deref().map(shortened_revision));
    side.fact("profile", run.run.profile.clone());
    for (key, value) in &run.labels {
        side.fact(key, value.clone());
    }
    for (name, value) in &run.metrics {
        side.fact(name, value.to_string());
    }
    side
}

/// Formats the builds of the first and last run: `v1 to v3`.
fn builds(window: &[SuspectRun]) -> String {
    let build = |run: &SuspectRun| run.run.build.clone();
    match window {
        [] => "no runs".to_owned(),
        [first, .., last] if build(first) != build(last) => {
            format!("{} to {}", build(first), build(last))
        }
        [first, ..] => build(first),
    }
}

fn times(first: &SuspectRun, last: &SuspectRun) -> String {
    recorded(first.run.recorded.as_ref(), last.run.recorded.as_ref())
}
