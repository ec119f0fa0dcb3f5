//! `sample`: a row a stack of a run and event.

use super::asked::Asked;
use super::functions::Functions;
use super::ids::{Hex, Ids};
use super::stored::{Stored, Unanswered};
use super::table::{Cell, Column, Cursor, Found, READ, Rows, Table};
use crate::QueryError;
use crate::tree::{for_each_total, outermost};
use std::sync::{Arc, OnceLock};
use std::vec::IntoIter;
use sto_core::id::{BuildId, ExecutableId, ProfileId};
use sto_core::intern::NodeIx;
use sto_core::store::{Loaded, StoredProfile};
use sto_core::units::{Cost, SampleType};

/// `sample`.
pub(super) struct Sample;

const PROFILE: usize = 0;
const NODE: usize = 1;
const SELF: usize = 2;
const TOTAL: usize = 3;
const EVENT: usize = 4;
const SAMPLES: usize = 5;
const TOTAL_SAMPLES: usize = 6;
const OUTERMOST: usize = 7;
const FRAME: usize = 8;
const EXECUTABLE: usize = 9;

/// Runs of one executable that are read together: they share most of their stacks.
const BATCH: usize = 16;

impl Table for Sample {
    const NAME: &'static str = "sample";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").finds(Found::Run),
        Column::text("node"),
        Column::integer("self"),
        Column::integer("total"),
        Column::text("event").finds(Found::Most),
        Column::integer("samples"),
        Column::integer("total_samples"),
        Column::integer("outermost"),
        Column::text("stack_node_data_id"),
        Column::text("executable_id").finds(Found::Build),
    ];
    const ROWS: Rows = Rows::OfRun(20_000.0);
    const START: f64 = READ;
    type Cursor = Samples;

    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Samples, Unanswered> {
        let runs = stored.runs(
            asked.text(PROFILE).as_deref(),
            asked.text(EXECUTABLE).as_deref(),
        )?;
        let of_builds = runs.chunk_by(|(one, _), (other, _)| one.id == other.id);
        let batches = of_builds
            .flat_map(|runs| runs.chunks(BATCH))
            .map(|runs| Batch {
                executable: ExecutableId::of(&runs[0].0.build.executable),
                build: runs[0].0.id,
                runs: runs.iter().map(|(_, run)| Run::of(run, asked)).collect(),
            });
        let batches: Vec<Batch> = batches.collect();
        let mut samples = Samples {
            stored: stored.clone(),
            batches: batches.into_iter(),
            read: None,
            columns: Vec::new().into_iter(),
            of: None,
            rows: Vec::new(),
            at: 0,
        };
        samples.settle()?;
        Ok(samples)
    }
}

/// A run, and those of its sample types that are asked for.
struct Run {
    id: ProfileId,
    events: Vec<Option<SampleType>>,
}

impl Run {
    fn of(run: &StoredProfile, asked: &Asked<'_>) -> Run {
        let types = run.profile.sample_types.iter();
        let events = types.map(|event| asked.takes(EVENT, &event.event).then(|| event.clone()));
        Run {
            id: run.id,
            events: events.collect(),
        }
    }
}

/// Runs of a build that are read together.
struct Batch {
    executable: ExecutableId,
    build: BuildId,
    runs: Vec<Run>,
}

/// What was read of them.
struct Read {
    build: Hex,
    loaded: Loaded,
    ids: Ids,
    outermost: OnceLock<Vec<bool>>,
}

/// The run and the event that the rows are of.
struct Of {
    profile: Hex,
    event: SampleType,
}

/// Rows of one run and event after another.
pub(super) struct Samples {
    stored: Arc<Stored>,
    batches: IntoIter<Batch>,
    read: Option<Read>,
    /// Of what was read: a run, one of its events, and the indices of their column.
    columns: IntoIter<(ProfileId, SampleType, usize, usize)>,
    of: Option<Of>,
    /// Stacks with what they cost by themselves and in total, in reverse preorder.
    rows: Vec<(NodeIx, Cost, Cost)>,
    /// How many rows are left, this one too.
    at: usize,
}

impl Samples {
    fn settle(&mut self) -> Result<(), QueryError> {
        while self.at == 0 {
            if let (Some((profile, event, run, column)), Some(read)) =
                (self.columns.next(), &self.read)
            {
                let costs = &read.loaded.costs[run][column];
                self.rows.clear();
                let mut own = costs.iter().rev().peekable();
                for_each_total(&read.loaded.tree, costs, |node, total| {
                    let cost = own.next_if(|&&(of, _)| of == node);
                    let cost = cost.map_or(Cost::ZERO, |&(_, cost)| cost);
                    self.rows.push((node, cost, total));
                });
                self.at = self.rows.len();
                let profile = Hex::of(profile.0);
                self.of = Some(Of { profile, event });
                continue;
            }
            let Some(batch) = self.batches.next() else {
                return Ok(());
            };
            let ids: Vec<ProfileId> = batch.runs.iter().map(|run| run.id).collect();
            let loaded = self.stored.snapshot()?.load(batch.executable, &ids)?;
            let runs = batch.runs.into_iter().enumerate();
            let columns = runs.flat_map(|(number, run)| {
                let events = run.events.into_iter().enumerate();
                events.filter_map(move |(column, event)| Some((run.id, event?, number, column)))
            });
            self.columns = columns.collect::<Vec<_>>().into_iter();
            self.read = Some(Read {
                build: Hex::of(batch.build.0),
                loaded,
                ids: Ids::of(batch.executable),
                outermost: OnceLock::new(),
            });
        }
        Ok(())
    }
}

impl Read {
    fn is_outermost(&self, node: NodeIx) -> bool {
        let Loaded { tree, frames, .. } = &self.loaded;
        let is_outermost = self
            .outermost
            .get_or_init(|| outermost(tree, Functions::of(frames).numbers()).collect());
        is_outermost[node.get()]
    }
}

impl Cursor for Samples {
    fn is_done(&self) -> bool {
        self.at == 0
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        self.at -= 1;
        match self.at {
            0 => self.settle(),
            _ => Ok(()),
        }
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let row = self.at.checked_sub(1).and_then(|ix| self.rows.get(ix));
        let (Some(&(node, own, total)), Some(of), Some(read)) = (row, &self.of, &self.read) else {
            return cell.null();
        };
        let Loaded { tree, frames, .. } = &read.loaded;
        match column {
            PROFILE => cell.text(of.profile.as_str()),
            NODE => cell.text(read.ids.node(tree, frames, node).as_str()),
            SELF => cell.count(own.value),
            TOTAL => cell.count(total.value),
            EVENT => cell.text(&of.event.event),
            SAMPLES => cell.count(own.samples),
            TOTAL_SAMPLES => cell.count(total.samples),
            OUTERMOST => cell.count(u64::from(read.is_outermost(node))),
            FRAME => cell.text(read.ids.frame(tree, frames, node)),
            EXECUTABLE => cell.text(read.build.as_str()),
            _ => cell.null(),
        }
    }
}
