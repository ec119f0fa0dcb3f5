//! Adds traces of metrics to a recording.

use super::IngestOptions;
use std::collections::BTreeSet;
use std::path::Path;
use sto_formats::recording::Recording;
use sto_formats::{FormatError, excerpt, metric_trace};

/// Adds the metrics over time in the traces of the options to a recording.
pub(super) fn add_traces(
    path: &Path,
    recording: &mut Recording,
    options: &IngestOptions,
) -> Result<(), FormatError> {
    for trace_path in &options.traces {
        let trace = metric_trace::read(trace_path, &options.read_options())?;
        options.cancel.check().map_err(FormatError::Cancelled)?;
        let run = recording
            .time_range()
            .ok_or_else(|| FormatError::Unsupported {
                path: path.to_owned(),
                problem: "its samples have no timestamps, so no trace can be aligned with them"
                    .to_owned(),
            })?;
        let (series, warnings) = trace.align_to_recording(run, options.trace_start)?;
        let known: BTreeSet<&str> = recording.metrics.iter().map(|known| known.name()).collect();
        if let Some(same) = series.iter().find(|series| known.contains(series.name())) {
            let name = excerpt(same.name().as_bytes());
            let problem =
                "the recording or another trace already has a metric of that name; rename one";
            return Err(FormatError::malformed(
                trace_path,
                format_args!("metric {name}"),
                problem,
            ));
        }
        let parts = recording.parts_mut();
        parts.metrics.extend(series);
        parts.warnings.extend(warnings);
    }
    Ok(())
}
