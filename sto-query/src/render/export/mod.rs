//! Stacks in the formats that other tools open: one file a format.
//!
//! What a format can hold comes back the same when it is read; what it cannot is said at its
//! function. None of them holds the profiles' slices of time, their own labels and metrics, and what
//! single lines of a function cost; pprof and OTLP alone hold threads and labels of samples.
//!
#![doc = include_str!("exports.md")]

mod callgrind;
mod csv;
mod d3;
mod dictionary;
mod firefox;
mod folded;
mod otlp;
mod perfetto;
mod perun;
mod pprof;
mod protobuf;
mod samples;
mod speedscope;
mod walk;

pub use callgrind::callgrind;
pub use csv::csv;
pub use d3::d3;
#[cfg(feature = "sql")]
pub(crate) use d3::d3_below;
pub use firefox::firefox;
pub use folded::folded;
pub use otlp::otlp;
pub use perfetto::perfetto;
pub use perun::{perun, perun_lacks};
pub use pprof::pprof;
pub use speedscope::speedscope;

use crate::error::ExportError;
use crate::select::full_name;
use crate::tree::View;
use samples::LIMIT;
use sto_core::tree::NodeIx;
use sto_core::units::{Cost, Unit};

/// Most frames that a format may write which has no tree: as many as a reader of ours takes.
const MAX_FRAMES: u64 = 1 << 32;

/// Refuses a view without any cost.
fn check_any(view: &View) -> Result<(), ExportError> {
    let any = view.runs.iter().flatten().any(|column| !column.is_empty());
    any.then_some(()).ok_or_else(|| ExportError::Empty {
        build: full_name(&view.selection.build),
    })
}

/// Refuses to write out more than [`MAX_FRAMES`] of stacks that end at these nodes.
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

/// What of a cost a format shows that has one number: the value, or where a sample type has none, the
/// number of samples.
#[derive(Clone, Copy)]
struct Weight {
    by_samples: bool,
}

impl Weight {
    fn of(costs: &[Cost]) -> Weight {
        Weight {
            by_samples: costs.iter().all(|cost| cost.value == 0),
        }
    }

    fn get(self, cost: Cost) -> u64 {
        match self.by_samples {
            true => cost.samples,
            false => cost.value,
        }
    }

    fn unit(self, view: &View, sample_type: usize) -> Unit {
        match (self.by_samples, view.sample_types.get(sample_type)) {
            (false, Some(sample_type)) => sample_type.unit,
            _ => Unit::Samples,
        }
    }
}

/// When the latest profile of a view was recorded, and how long all were together, in nanoseconds; 0 is unknown.
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

/// What the stacks are of: `demo@v1`.
fn title(view: &View) -> String {
    full_name(&view.selection.build)
}
