//! `sample`: one row per stack, run and event.

use super::constraints::Constraints;
use super::ids::{Hex, Ids};
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, FIRST_ROW_COST, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use crate::functions::Functions;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::vec::IntoIter;
use sto_core::id::{BuildId, ExecutableId, NodeId, ProfileId};
use sto_core::model::FrameTable;
use sto_core::store::{Loaded, Snapshot, StoredProfile};
use sto_core::tree::{NodeIx, SelfCosts, StackTree, for_each_total, outermost};
use sto_core::units::{Cost, SampleType};

/// The `sample` table.
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

/// Maximum number of runs of one executable that are read together; they share most of their stacks.
const BATCH: usize = 8;

impl Table for Sample {
    const NAME: &'static str = "sample";
    const COLUMNS: &'static [Column] = &[
        Column::text("profile").with_equality_index(MatchEstimate::Run),
        Column::text("node").with_equality_index(MatchEstimate::Few(1000.0)),
        Column::integer("self"),
        Column::integer("total"),
        Column::text("event").with_equality_index(MatchEstimate::Most),
        Column::integer("samples"),
        Column::integer("total_samples"),
        Column::integer("outermost"),
        Column::text("stack_node_data_id"),
        Column::text("executable_id").with_equality_index(MatchEstimate::Build),
    ];
    const ROWS: RowEstimate = RowEstimate::OfRun(20_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = Samples;

    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<Samples, QueryFailure> {
        let runs = stored.runs(
            asked.text(PROFILE).as_deref(),
            asked.text(EXECUTABLE).as_deref(),
        )?;
        let of_builds = runs.chunk_by(|(one, _), (other, _)| one.id == other.id);
        let batches = of_builds
            .flat_map(|runs| runs.chunks(BATCH))
            .map(|runs| Batch {
                executable: ExecutableId::from_name(&runs[0].0.build.executable),
                build: runs[0].0.id,
                runs: runs.iter().map(|(_, run)| Run::new(run, asked)).collect(),
            });
        let batches: Vec<Batch> = batches.collect();
        let mut samples = Samples {
            snapshot: stored.snapshot()?.clone(),
            node: asked.text(NODE).map(|node| node.into_owned()),
            batches: batches.into_iter(),
            coming: None,
            read: None,
            parts: Vec::new().into_iter(),
            part: None,
            rows: Vec::new(),
        };
        samples.settle()?;
        Ok(samples)
    }
}

/// A run, with its requested sample types.
struct Run {
    id: ProfileId,
    events: Vec<Option<SampleType>>,
}

impl Run {
    fn new(run: &StoredProfile, asked: &Constraints<'_>) -> Run {
        let types = run.profile.sample_types.iter();
        let events = types.map(|event| asked.may_equal(EVENT, &event.event).then(|| event.clone()));
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

/// The loaded stacks of a batch.
struct Read {
    build: Hex,
    frames: FrameTable,
    tree: StackTree,
    ids: Ids,
    outermost: OnceLock<Vec<bool>>,
    /// The only requested node, if one is requested; `Some(None)` if the tree does not have it.
    only: Option<Option<NodeIx>>,
}

/// Costs of one run in one event.
struct Part {
    profile: Hex,
    event: SampleType,
    costs: SelfCosts,
}

/// The loaded stacks of a batch, and the costs of each run and event.
type Batched = (Read, Vec<Part>);

/// Cursor over the rows of several runs and events. The next batch is read while the current one is returned.
pub(super) struct Samples {
    snapshot: Snapshot,
    /// The only requested node, if one is requested.
    node: Option<String>,
    batches: IntoIter<Batch>,
    coming: Option<JoinHandle<Result<Batched, QueryError>>>,
    read: Option<Read>,
    parts: IntoIter<Part>,
    part: Option<Part>,
    /// Remaining rows of the part in reverse preorder, so the last is the current one: stacks with self and total
    /// cost. The buffer is reused, because allocating costs more than filling it.
    rows: Vec<(NodeIx, Cost, Cost)>,
}

impl Samples {
    /// Continues with the next part if no rows are left.
    fn settle(&mut self) -> Result<(), QueryError> {
        while self.rows.is_empty() {
            self.part = self.parts.next();
            if let Some((part, read)) = self.part.as_ref().zip(self.read.as_ref()) {
                for_each_total(&read.tree, &part.costs, |node, own, total| {
                    if read.only.is_none_or(|only| only == Some(node)) {
                        self.rows.push((node, own, total));
                    }
                });
                continue;
            }
            let read = match self.coming.take() {
                Some(coming) => coming.join().unwrap_or_else(|panic| resume_unwind(panic)),
                None => match self.batches.next() {
                    Some(batch) => batch.read(&self.snapshot, self.node.as_deref()),
                    None => return Ok(()),
                },
            };
            let (read, parts) = read?;
            self.read = Some(read);
            self.parts = parts.into_iter();
            self.coming = self.batches.next().map(|batch| {
                let (snapshot, node) = (self.snapshot.clone(), self.node.clone());
                thread::spawn(move || batch.read(&snapshot, node.as_deref()))
            });
        }
        Ok(())
    }
}

impl Batch {
    /// Reads the stacks and costs, only of one node if one is given.
    fn read(self, snapshot: &Snapshot, node: Option<&str>) -> Result<Batched, QueryError> {
        let profiles: Vec<ProfileId> = self.runs.iter().map(|run| run.id).collect();
        let Loaded {
            frames,
            tree,
            costs,
        } = snapshot.load(self.executable, &profiles)?;
        let ids = Ids::new(self.executable);
        let only = node.map(|node| {
            let node: NodeId = node.parse().ok()?;
            let mut all = ids.nodes(&tree, &frames).iter().zip(tree.nodes());
            all.find_map(|(id, ix)| (*id == node).then_some(ix))
        });
        let mut parts = Vec::new();
        for (run, costs) in self.runs.into_iter().zip(costs) {
            for (event, costs) in run.events.into_iter().zip(costs) {
                let Some(event) = event else { continue };
                parts.push(Part {
                    profile: Hex::from_bytes(run.id.0),
                    event,
                    costs,
                });
            }
        }
        let read = Read {
            build: Hex::from_bytes(self.build.0),
            frames,
            tree,
            ids,
            outermost: OnceLock::new(),
            only,
        };
        Ok((read, parts))
    }
}

impl Read {
    fn is_outermost(&self, node: NodeIx) -> bool {
        let is_outermost = self.outermost.get_or_init(|| {
            let functions = Functions::new(&self.frames);
            outermost(&self.tree, functions.numbers()).collect()
        });
        is_outermost[node.get()]
    }
}

impl Cursor for Samples {
    fn is_done(&self) -> bool {
        self.rows.is_empty()
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        self.rows.pop();
        self.settle()
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let (Some(part), Some(read), Some(&(node, own, total))) =
            (&self.part, &self.read, self.rows.last())
        else {
            return cell.set_null();
        };
        let Read {
            tree, frames, ids, ..
        } = read;
        match column {
            PROFILE => cell.set_text(part.profile.as_str()),
            NODE => cell.set_text(ids.node(tree, frames, node).as_str()),
            SELF => cell.set_count(own.value),
            TOTAL => cell.set_count(total.value),
            EVENT => cell.set_text(&part.event.event),
            SAMPLES => cell.set_count(own.samples),
            TOTAL_SAMPLES => cell.set_count(total.samples),
            OUTERMOST => cell.set_count(u64::from(read.is_outermost(node))),
            FRAME => cell.set_text(ids.frame(tree, frames, node)),
            EXECUTABLE => cell.set_text(read.build.as_str()),
            _ => cell.set_null(),
        }
    }
}
