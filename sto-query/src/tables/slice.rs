//! `slice`: one row per stack, thread and slice of a run's time.

use super::constraints::{Bounds, Constraints};
use super::ids::{Hex, Ids};
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, FIRST_ROW_COST, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use std::sync::Arc;
use std::vec::IntoIter;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::store::LoadedSlices;
use sto_core::tree::SliceCost;
use sto_core::units::SampleType;

/// The `slice` table.
pub(super) struct Slice;

const PROFILE: usize = 0;
const START: usize = 1;
const END: usize = 2;
const PID: usize = 3;
const TID: usize = 4;
const THREAD: usize = 5;
const LABELS: usize = 6;
const NODE: usize = 7;
const FRAME: usize = 8;
const EVENT: usize = 9;
const SAMPLES: usize = 10;

impl Table for Slice {
    const NAME: &'static str = "slice";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").with_equality_index(MatchEstimate::Run),
        Column::integer("start").with_range_index(),
        Column::integer("end").with_range_index(),
        Column::integer("pid"),
        Column::integer("tid"),
        Column::text("thread"),
        Column::text("labels"),
        Column::text("node"),
        Column::text("stack_node_data_id"),
        Column::text("event").with_equality_index(MatchEstimate::Most),
        Column::integer("samples"),
        Column::integer("self"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(100_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = Slices;

    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<Slices, QueryFailure> {
        let runs = stored
            .runs(asked.text(PROFILE).as_deref(), None)?
            .into_iter();
        let runs = runs.map(|(build, run)| Run {
            id: run.id,
            executable: ExecutableId::from_name(&build.build.executable),
            events: run.profile.sample_types.clone(),
        });
        let mut slices = Slices {
            stored: stored.clone(),
            event: asked.text(EVENT).map(|event| event.into_owned()),
            times: [asked.bounds(START), asked.bounds(END)],
            runs: runs.collect::<Vec<_>>().into_iter(),
            read: None,
            rows: Vec::new().into_iter(),
            row: None,
        };
        slices.advance()?;
        Ok(slices)
    }
}

/// A run whose slices have not been read yet.
struct Run {
    id: ProfileId,
    executable: ExecutableId,
    events: Vec<SampleType>,
}

/// The loaded slices of a run.
struct Read {
    profile: Hex,
    events: Vec<SampleType>,
    loaded: LoadedSlices,
    ids: Ids,
}

/// Cursor over the slices of several runs.
pub(super) struct Slices {
    stored: Arc<Stored>,
    event: Option<String>,
    times: [Bounds; 2],
    runs: IntoIter<Run>,
    read: Option<Read>,
    rows: IntoIter<(usize, SliceCost)>,
    /// The current row: index of an event, and the cost of a stack in it.
    row: Option<(usize, SliceCost)>,
}

impl Slices {
    /// Reads the slices of the next run; returns `false` after the last run.
    fn read_on(&mut self) -> Result<bool, QueryError> {
        let Some(run) = self.runs.next() else {
            return Ok(false);
        };
        let Some(loaded) = self.stored.snapshot()?.load_slices(run.id)? else {
            return Ok(true);
        };
        let read = Read {
            profile: Hex::from_bytes(run.id.0),
            events: run.events,
            ids: Ids::new(run.executable),
            loaded,
        };
        let mut rows = Vec::new();
        for (ix, costs) in read.loaded.slices.costs.iter().enumerate() {
            let event = read.events.get(ix).map(|event| &event.event);
            if self.event.is_none() || self.event.as_ref() == event {
                let costs = costs.iter();
                let meant = costs.filter(|cost| self.is_meant(&read, cost));
                rows.extend(meant.map(|cost| (ix, cost)));
            }
        }
        self.rows = rows.into_iter();
        self.read = Some(read);
        Ok(true)
    }

    fn is_meant(&self, read: &Read, cost: &SliceCost) -> bool {
        let [start, end] = read.time(cost);
        self.times[0].may_contain(start) && self.times[1].may_contain(end)
    }
}

impl Read {
    /// Returns the start and end of a slice, in nanoseconds since the run's first sample.
    fn time(&self, cost: &SliceCost) -> [u64; 2] {
        let grid = self.loaded.slices.grid;
        [cost.slice.0, cost.slice.0 + 1].map(|slice| grid.slice_start(slice).0)
    }
}

impl Cursor for Slices {
    fn is_done(&self) -> bool {
        self.row.is_none()
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        loop {
            self.row = self.rows.next();
            if self.row.is_some() || !self.read_on()? {
                return Ok(());
            }
        }
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let (Some((event, row)), Some(read)) = (&self.row, &self.read) else {
            return cell.set_null();
        };
        let LoadedSlices {
            tree,
            frames,
            slices,
            ..
        } = &read.loaded;
        let context = &slices.contexts[row.context.get()];
        match column {
            PROFILE => cell.set_text(read.profile.as_str()),
            START => cell.set_count(read.time(row)[0]),
            END => cell.set_count(read.time(row)[1]),
            PID => cell.set_count(u64::from(context.thread.pid)),
            TID => cell.set_count(u64::from(context.thread.tid)),
            THREAD => cell.set_text_or_null(&context.thread.name),
            LABELS if context.labels.is_empty() => cell.set_null(),
            LABELS => cell.set_text(&serde_json::json!(context.labels).to_string()),
            NODE => cell.set_text(read.ids.node(tree, frames, row.node).as_str()),
            FRAME => cell.set_text(read.ids.frame(tree, frames, row.node)),
            EVENT => cell.set_text(&read.events[*event].event),
            SAMPLES => cell.set_count(row.cost.samples),
            _ => cell.set_count(row.cost.value),
        }
    }
}
