//! Which calls of a trace took unusually long, and in which its threads waited.

use crate::symbolize::Symbols;
use std::path::Path;
use sto_formats::FormatError;
use sto_formats::recording::{LoggedCalls, Recording, RecordingParts};
use sto_model::trace::moments::{Moments, moments};
use sto_model::trace::paths::PathNo;

/// Adds them to a recording whose functions have names now.
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
    let found = moments(log, paths, durations, &thresholds, &names);
    let Moments { outliers, waits } = found.map_err(|error| FormatError::Unsupported {
        path: path.to_owned(),
        problem: error.to_string(),
    })?;
    if let Some(calls) = &mut recording.parts_mut().calls {
        let stack = |path: PathNo| stacks[path.get()];
        calls.outliers = outliers.iter().map(|of| of.map(stack)).collect();
        calls.waits = waits.iter().map(|of| of.map(stack)).collect();
    }
    recording.logged = Some(logged);
    Ok(())
}

/// The names of the functions of a trace, by their numbers.
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
        let line = leaf.and_then(|location| symbols.of(location).first());
        let frame = line.map(|line| symbols.lines[line.get()].frame);
        names[function] = frame.map_or("", |frame| symbols.frames.frame(frame).symbol);
    }
    names
}
