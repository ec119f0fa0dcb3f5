//! Exports of stacks to the formats of other tools, one file per format.
//!
//! Exports can be read back without losses except for those documented at each function. No format
//! keeps the time slices of profiles, their labels and metrics, or the costs of single lines. Only
//! pprof and OTLP keep threads and labels of samples.
//!
//! See [the manual](crate::manual::exports).

mod callgrind;
mod csv;
mod d3;
mod dictionary;
mod firefox;
mod flamebearer;
mod folded;
mod otlp;
mod perfetto;
mod perun;
mod pprof;
mod samples;
mod speedscope;
mod walk;

pub use callgrind::callgrind;
pub use csv::csv;
pub use d3::d3;
#[cfg(feature = "sql")]
pub(crate) use d3::d3_below;
pub use firefox::firefox;
pub use flamebearer::{Flamebearer, FlamebearerOptions, flamebearer};
pub use folded::folded;
pub use otlp::otlp;
pub use perfetto::perfetto;
pub use perun::perun;
pub use pprof::pprof;
pub use speedscope::speedscope;

use super::profile_page;
use crate::error::{ExportError, QueryError};
use crate::questions::{ExportFormat, Exported, ExportedData};
use crate::select::full_name;
use crate::sources::EVENT;
use crate::tree::View;
use flate2::Compression;
use flate2::write::GzEncoder;
use samples::LIMIT;
use std::io::Write;
use sto_core::tree::NodeIx;
use sto_core::units::{Cost, Unit};

/// Maximum number of frames to write in formats without a tree: the limit of sto's readers.
const MAX_FRAMES: u64 = 1 << 32;

/// Writes loaded data in a format, compressed by gzip if `compress` is set. pprof is always
/// compressed, and only once.
///
/// # Errors
///
/// Returns an error if the format cannot represent the data, or `writer` fails.
pub fn write(
    exported: &Exported,
    compress: bool,
    mut writer: impl Write,
) -> Result<(), QueryError> {
    if !compress || exported.format == ExportFormat::Pprof {
        return write_plain(exported, writer);
    }
    let mut gzip = GzEncoder::new(&mut writer, Compression::default());
    write_plain(exported, &mut gzip)?;
    gzip.finish().map_err(ExportError::Io)?;
    Ok(())
}

fn write_plain(exported: &Exported, writer: impl Write) -> Result<(), QueryError> {
    let (view, contexts) = match &exported.data {
        ExportedData::Calls(run) => return perfetto(run, writer),
        ExportedData::Models(models) => return Ok(perun(models, writer)?),
        ExportedData::Stacks(view, contexts) => (view, contexts.as_ref()),
    };
    match exported.format {
        ExportFormat::Folded => folded(view, EVENT, writer)?,
        ExportFormat::Pprof => pprof(view, contexts, writer)?,
        ExportFormat::Otlp => otlp(view, contexts, writer)?,
        ExportFormat::Html => profile_page::html(view, writer)?,
        ExportFormat::Speedscope => speedscope(view, writer)?,
        ExportFormat::Firefox => firefox(view, writer)?,
        ExportFormat::D3 => d3(view, EVENT, writer)?,
        ExportFormat::Callgrind => callgrind(view, writer)?,
        ExportFormat::Csv => csv(view, writer)?,
        // These formats hold calls and models, not stacks.
        ExportFormat::Perfetto | ExportFormat::Perun => {}
    }
    Ok(())
}

/// Returns a warning about models that the format cannot represent, if one is the best of a
/// function.
pub fn missing_models_warning(exported: &Exported) -> Option<String> {
    match &exported.data {
        ExportedData::Models(models) => perun::missing_models_warning(models),
        _ => None,
    }
}

/// Returns an error if a view has no cost.
fn check_any(view: &View) -> Result<(), ExportError> {
    let any = view.runs.iter().flatten().any(|column| !column.is_empty());
    any.then_some(()).ok_or_else(|| ExportError::Empty {
        build: full_name(&view.selection.build),
    })
}

/// Returns an error if the stacks that end at these nodes have more than [`MAX_FRAMES`] frames in
/// total.
fn check_frames(
    view: &View,
    ends: impl Iterator<Item = NodeIx>,
    format: &'static str,
) -> Result<(), ExportError> {
    let depths = view.tree.depths();
    let frames: u64 = ends.map(|node| u64::from(depths[node.get()]) + 1).sum();
    (frames <= MAX_FRAMES)
        .then_some(())
        .ok_or_else(|| ExportError::TooDeep {
            build: full_name(&view.selection.build),
            frames,
            format,
        })
}

/// The number of a cost to write in formats that have only one: the value, or the number of samples
/// if the sample type has no values.
#[derive(Clone, Copy)]
struct Weight {
    by_samples: bool,
}

impl Weight {
    fn new(costs: &[Cost]) -> Weight {
        Weight {
            by_samples: costs.iter().all(|cost| cost.value == 0),
        }
    }

    fn get(self, cost: Cost) -> u64 {
        if self.by_samples {
            cost.samples
        } else {
            cost.value
        }
    }

    fn unit(self, view: &View, sample_type: usize) -> Unit {
        match (self.by_samples, view.sample_types.get(sample_type)) {
            (false, Some(sample_type)) => sample_type.unit,
            _ => Unit::Samples,
        }
    }
}

/// Returns when the latest profile of a view was recorded, and the total duration of all, in
/// nanoseconds; 0 if unknown.
fn recorded(view: &View) -> (u64, u64) {
    let origins = || view.selection.profiles.iter().map(|of| &of.profile.origin);
    let time = origins().filter_map(|origin| origin.recorded).max();
    let time = time.and_then(|time| time.0.checked_mul(1_000_000_000));
    let durations = origins().filter_map(|origin| origin.duration);
    let duration = durations.fold(0u64, |sum, duration| sum.saturating_add(duration.0));
    (
        time.filter(|&time| time <= LIMIT).unwrap_or(0),
        duration.min(LIMIT),
    )
}

/// Returns the name of the program and build: `demo@v1`.
fn title(view: &View) -> String {
    full_name(&view.selection.build)
}
