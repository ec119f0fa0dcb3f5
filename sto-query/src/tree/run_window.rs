//! The selected part of a run's time.

use serde::Serialize;
use std::ops::Range;
use sto_core::tree::SliceGrid;
use sto_core::units::Nanoseconds;

/// The selected part of a run's time, in nanoseconds from its first sample: whole slices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunWindow {
    /// Begin.
    pub from: Nanoseconds,
    /// End.
    pub to: Nanoseconds,
    /// Duration of the whole run.
    pub duration: Nanoseconds,
    /// Whether the time before `from` and after `to` is selected, instead of the time between them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
    /// The selected slices, in ascending order.
    #[serde(skip)]
    pub(crate) slices: Vec<Range<u32>>,
    /// Number of slices of the whole run.
    #[serde(skip)]
    pub(super) count: u32,
}

impl RunWindow {
    pub(crate) fn new(grid: SliceGrid, slices: Range<u32>) -> RunWindow {
        RunWindow {
            from: grid.slice_start(slices.start),
            to: grid.slice_start(slices.end),
            duration: grid.duration(),
            rest: false,
            slices: vec![slices],
            count: grid.count().get(),
        }
    }

    /// Returns `true` if a slice is selected.
    pub(crate) fn contains(&self, slice: u32) -> bool {
        self.slices.iter().any(|slices| slices.contains(&slice))
    }

    /// Returns the number of selected slices.
    pub(crate) fn slice_count(&self) -> u64 {
        let slices = self
            .slices
            .iter()
            .map(|slices| u64::from(slices.end - slices.start));
        slices.sum()
    }

    /// Returns the total duration of the selected slices.
    pub(crate) fn length(&self) -> Nanoseconds {
        let slices = u128::from(self.slice_count()) * u128::from(self.duration.0);
        Nanoseconds((slices / u128::from(self.count.max(1))) as u64)
    }

    /// Splits the window into consecutive parts of about the same length.
    pub(crate) fn split(&self, count: u32) -> Vec<RunWindow> {
        let slices: Vec<u32> = self.slices.iter().cloned().flatten().collect();
        let len = slices.len();
        let part = |ix: usize| {
            let of = &slices[len * ix / count as usize..len * (ix + 1) / count as usize];
            RunWindow {
                slices: of
                    .chunk_by(|a, b| a + 1 == *b)
                    .map(|run| run[0]..run[run.len() - 1] + 1)
                    .collect(),
                ..self.clone()
            }
        };
        (0..count as usize).map(part).collect()
    }
}
