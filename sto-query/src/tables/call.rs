//! `call`: one row per call that is stored individually, and one row per stack for calls stored together.

use super::constraints::{Bounds, Constraints};
use super::ids::{Hex, Ids};
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, FIRST_ROW_COST, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use std::sync::Arc;
use std::vec::IntoIter;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::store::LoadedCalls;
use sto_core::trace::{CallRecord, CallThread};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// The `call` table.
pub(super) struct Call;

const PROFILE: usize = 0;
const START: usize = 1;
const END: usize = 2;
const PID: usize = 3;
const TID: usize = 4;
const THREAD: usize = 5;
const NODE: usize = 6;
const FRAME: usize = 7;
const CALLS: usize = 8;

impl Table for Call {
    const NAME: &'static str = "call";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").with_equality_index(MatchEstimate::Run),
        Column::integer("start").with_range_index(),
        Column::integer("end").with_range_index(),
        Column::integer("pid"),
        Column::integer("tid"),
        Column::text("thread"),
        Column::text("node"),
        Column::text("stack_node_data_id"),
        Column::integer("calls"),
        Column::integer("duration"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(10_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = Calls;

    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<Calls, QueryFailure> {
        let runs = stored
            .runs(asked.text(PROFILE).as_deref(), None)?
            .into_iter();
        let runs =
            runs.map(|(build, run)| (run.id, ExecutableId::from_name(&build.build.executable)));
        let mut calls = Calls {
            stored: stored.clone(),
            times: [asked.bounds(START), asked.bounds(END)],
            runs: runs.collect::<Vec<_>>().into_iter(),
            read: None,
            rows: Vec::new().into_iter(),
            row: None,
        };
        calls.advance()?;
        Ok(calls)
    }
}

/// The loaded calls of a run.
struct Read {
    profile: Hex,
    loaded: LoadedCalls,
    ids: Ids,
}

/// A call, or all calls of one stack that are stored together.
struct Row {
    thread: usize,
    /// In nanoseconds since the run's first call.
    start: u64,
    end: u64,
    stack: NodeIx,
    calls: u64,
    duration: Nanoseconds,
}

/// Cursor over the calls of several runs.
pub(super) struct Calls {
    stored: Arc<Stored>,
    times: [Bounds; 2],
    runs: IntoIter<(ProfileId, ExecutableId)>,
    read: Option<Read>,
    rows: IntoIter<Row>,
    row: Option<Row>,
}

impl Calls {
    /// Reads the calls of the next run; returns `false` after the last run.
    fn read_on(&mut self) -> Result<bool, QueryError> {
        let Some((id, executable)) = self.runs.next() else {
            return Ok(false);
        };
        if let Some(loaded) = self.stored.snapshot()?.load_calls(id)? {
            let mut rows = rows(&loaded);
            let [start, end] = self.times;
            rows.retain(|row| start.may_contain(row.start) && end.may_contain(row.end));
            self.rows = rows.into_iter();
            self.read = Some(Read {
                profile: Hex::from_bytes(id.0),
                ids: Ids::new(executable),
                loaded,
            });
        }
        Ok(true)
    }
}

fn rows(loaded: &LoadedCalls) -> Vec<Row> {
    let threads = &loaded.calls.threads;
    let first = threads.iter().map(|thread| thread.begin).min();
    let first = first.unwrap_or_default();
    let since = |time: Nanoseconds| time.0.saturating_sub(first.0);
    let mut rows = Vec::new();
    for (thread, of) in threads.iter().enumerate() {
        for record in &of.records {
            let (begin, end) = record.time();
            let row = |stack, calls, duration| Row {
                thread,
                start: since(begin),
                end: since(end),
                stack,
                calls,
                duration,
            };
            match record {
                CallRecord::Call(call) => {
                    rows.push(row(call.stack, 1, Nanoseconds(since(end) - since(begin))));
                }
                CallRecord::Expression(calls) => {
                    let stacks = calls.stacks.iter();
                    rows.extend(stacks.map(|of| row(of.stack, of.calls, of.duration)));
                }
            }
        }
    }
    rows
}

impl Cursor for Calls {
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
        let (Some(row), Some(read)) = (&self.row, &self.read) else {
            return cell.set_null();
        };
        let LoadedCalls {
            tree,
            frames,
            calls,
            ..
        } = &read.loaded;
        let CallThread { pid, tid, name, .. } = &calls.threads[row.thread].thread;
        match column {
            PROFILE => cell.set_text(read.profile.as_str()),
            START => cell.set_count(row.start),
            END => cell.set_count(row.end),
            PID => cell.set_count(u64::from(*pid)),
            TID => cell.set_count(u64::from(*tid)),
            THREAD => cell.set_text_or_null(name),
            NODE => cell.set_text(read.ids.node(tree, frames, row.stack).as_str()),
            FRAME => cell.set_text(read.ids.frame(tree, frames, row.stack)),
            CALLS => cell.set_count(row.calls),
            _ => cell.set_count(row.duration.0),
        }
    }
}
