//! Finds the calls of a trace that took unusually long, and those in which threads waited.

use crate::symbolize::Symbols;
use std::path::Path;
use sto_formats::FormatError;
use sto_formats::recording::{LoggedCalls, Recording, RecordingParts};
use sto_model::trace::moments::{NotableCalls, find_notable_calls};
use sto_model::trace::paths::CallPathIx;

/// Adds the outliers and waits of a trace to its recording; they depend on the names of functions.
pub(super) fn add_moments(
    path: &Path,
    recording: &mut Recording,
    symbols: &Symbols,
) -> Result<(), FormatError> {
    let Some(mut logged) = recording.logged.take() else {
        return Ok(());
    };
    let names = names(recording, &logged, symbols);
    let LoggedCalls {
        log,
        paths,
        durations,
        stacks,
    } = &mut *logged;
    let Some(thresholds) = recording.calls.as_ref().map(|calls| calls.thresholds) else {
        return Ok(());
    };
    let found = find_notable_calls(log, paths, durations, &thresholds, &names);
    let NotableCalls { outliers, waits } = found.map_err(|error| FormatError::Unsupported {
        path: path.to_owned(),
        problem: error.to_string(),
    })?;
    if let Some(calls) = &mut recording.parts_mut().calls {
        let stack = |path: CallPathIx| stacks[path.get()];
        calls.outliers = outliers.iter().map(|call| call.map(stack)).collect();
        calls.waits = waits.iter().map(|wait| wait.map(stack)).collect();
    }
    recording.logged = Some(logged);
    Ok(())
}

/// Returns the names of a trace's functions, indexed by function number.
fn names<'s>(
    recording: &RecordingParts,
    logged: &LoggedCalls,
    symbols: &'s Symbols,
) -> Vec<&'s str> {
    let mut names = Vec::new();
    for path in logged.paths.iter() {
        let function = logged.paths.function(path).get();
        if function >= names.len() {
            names.resize(function + 1, "");
        }
        let leaf = recording.stacks.leaf(logged.stacks[path.get()]);
        let line = leaf.and_then(|location| symbols.code_lines(location).first());
        let frame = line.map(|line| symbols.lines[line.get()].frame);
        names[function] = frame.map_or("", |frame| symbols.frames.frame(frame).symbol);
    }
    names
}
