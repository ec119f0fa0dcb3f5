//! `sample`: one row per stack, run and event.

use super::constraints::Constraints;
use super::ids::{Hex, Ids};
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, FIRST_ROW_COST, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use crate::functions::Functions;
use std::cmp::Reverse;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::vec::IntoIter;
use sto_core::id::{BuildId, ExecutableId, NodeId, ProfileId};
use sto_core::model::FrameTable;
use sto_core::store::{Loaded, Snapshot, StoredBuild, StoredProfile};
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
        let wanted = Wanted {
            node: asked.text(NODE).map(|node| node.into_owned()),
            by_frame: asked.uses(FRAME),
        };
        let runs = stored.runs(
            asked.text(PROFILE).as_deref(),
            asked.text(EXECUTABLE).as_deref(),
        )?;
        let event = asked.text(EVENT);
        let mut samples = Samples {
            parts: Parts::new(stored.snapshot()?, &runs, event.as_deref(), wanted),
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
    fn new(run: &StoredProfile, asked: Option<&str>) -> Run {
        let types = run.profile.sample_types.iter();
        let is_asked = |event: &SampleType| asked.is_none_or(|asked| event.event == asked);
        let events = types.map(|event| is_asked(event).then(|| event.clone()));
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

/// The rows that a query wants of each run, and their order.
#[derive(Clone, Default)]
pub(super) struct Wanted {
    /// The only requested node, if one is requested.
    node: Option<String>,
    /// Whether stacks with the same frame follow each other, so that grouping and joining by frame is faster.
    by_frame: bool,
}

/// The loaded stacks of a batch.
pub(super) struct Read {
    pub(super) build: Hex,
    frames: FrameTable,
    pub(super) tree: StackTree,
    ids: Ids,
    functions: OnceLock<Functions>,
    outermost: OnceLock<Vec<bool>>,
    /// The only requested node, if one is requested; `Some(None)` if the tree does not have it.
    only: Option<Option<NodeIx>>,
    /// Position of each frame if rows are sorted by the names of their frames.
    ranks: Option<Vec<u32>>,
}

/// Costs of one run in one event.
pub(super) struct Part {
    pub(super) profile: Hex,
    pub(super) event: SampleType,
    pub(super) costs: SelfCosts,
}

/// The loaded stacks of a batch, and the costs of each run and event.
type Batched = (Read, Vec<Part>);

/// The costs of several runs, by run and event. The next batch is read while the current one is used.
pub(super) struct Parts {
    snapshot: Snapshot,
    wanted: Wanted,
    batches: IntoIter<Batch>,
    coming: Option<JoinHandle<Result<Batched, QueryError>>>,
    read: Option<Read>,
    parts: IntoIter<Part>,
    part: Option<Part>,
}

impl Parts {
    /// Returns the costs of these runs, only in one event if one is given. The first is current after a call of
    /// [`Parts::advance`].
    pub(super) fn new(
        snapshot: &Snapshot,
        runs: &[(&StoredBuild, &StoredProfile)],
        event: Option<&str>,
        wanted: Wanted,
    ) -> Parts {
        let of_builds = runs.chunk_by(|(one, _), (other, _)| one.id == other.id);
        let batches = of_builds
            .flat_map(|runs| runs.chunks(BATCH))
            .map(|runs| Batch {
                executable: ExecutableId::from_name(&runs[0].0.build.executable),
                build: runs[0].0.id,
                runs: runs.iter().map(|(_, run)| Run::new(run, event)).collect(),
            });
        Parts {
            snapshot: snapshot.clone(),
            wanted,
            batches: batches.collect::<Vec<_>>().into_iter(),
            coming: None,
            read: None,
            parts: Vec::new().into_iter(),
            part: None,
        }
    }

    /// The current stacks and costs.
    pub(super) fn current(&self) -> Option<(&Read, &Part)> {
        self.read.as_ref().zip(self.part.as_ref())
    }

    /// Continues with the next run or event, and returns its stacks and costs.
    pub(super) fn advance(&mut self) -> Result<Option<(&Read, &Part)>, QueryError> {
        self.part = self.parts.next();
        while self.part.is_none() {
            let read = match self.coming.take() {
                Some(coming) => coming.join().unwrap_or_else(|panic| resume_unwind(panic)),
                None => match self.batches.next() {
                    Some(batch) => batch.read(&self.snapshot, &self.wanted),
                    None => return Ok(None),
                },
            };
            let (read, parts) = read?;
            self.read = Some(read);
            self.parts = parts.into_iter();
            self.part = self.parts.next();
            self.coming = self.batches.next().map(|batch| {
                let (snapshot, wanted) = (self.snapshot.clone(), self.wanted.clone());
                thread::spawn(move || batch.read(&snapshot, &wanted))
            });
        }
        Ok(self.current())
    }
}

/// Cursor over the rows of several runs and events.
pub(super) struct Samples {
    parts: Parts,
    /// Remaining rows of the part in reverse order, so the last is the current one. The buffer is reused, because
    /// allocating costs more than filling it.
    rows: Vec<Row>,
}

/// A stack with its self and total cost.
type Row = (NodeIx, Cost, Cost);

impl Samples {
    /// Continues with the next part if no rows are left.
    fn settle(&mut self) -> Result<(), QueryError> {
        while self.rows.is_empty() {
            let Some((read, part)) = self.parts.advance()? else {
                return Ok(());
            };
            read.fill(&part.costs, &mut self.rows);
        }
        Ok(())
    }
}

impl Batch {
    /// Reads the stacks and costs.
    fn read(self, snapshot: &Snapshot, wanted: &Wanted) -> Result<Batched, QueryError> {
        let profiles: Vec<ProfileId> = self.runs.iter().map(|run| run.id).collect();
        let Loaded {
            frames,
            tree,
            costs,
        } = snapshot.load(self.executable, &profiles)?;
        let ids = Ids::new(self.executable);
        let only = wanted.node.as_ref().map(|node| {
            let node: NodeId = node.parse().ok()?;
            let mut all = ids.nodes(&tree, &frames).iter().zip(tree.nodes());
            all.find_map(|(id, ix)| (*id == node).then_some(ix))
        });
        let ranks = wanted.by_frame.then(|| frames.ranks());
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
            functions: OnceLock::new(),
            outermost: OnceLock::new(),
            only,
            ranks,
        };
        Ok((read, parts))
    }
}

impl Read {
    /// Fills an empty buffer with the rows of a part in reverse order.
    fn fill(&self, costs: &SelfCosts, rows: &mut Vec<Row>) {
        for_each_total(&self.tree, costs, |node, own, total| {
            if self.only.is_none_or(|only| only == Some(node)) {
                rows.push((node, own, total));
            }
        });
        if let Some(ranks) = &self.ranks {
            let rank = |node| ranks[self.tree.frame(node).get()];
            rows.sort_unstable_by_key(|&(node, ..)| Reverse((rank(node), node)));
        }
    }

    /// Functions of the frames.
    pub(super) fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| Functions::new(&self.frames))
    }

    /// Returns `true` if the node's function is not among its callers.
    pub(super) fn is_outermost(&self, node: NodeIx) -> bool {
        let is_outermost = self
            .outermost
            .get_or_init(|| outermost(&self.tree, self.functions().numbers()).collect());
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
        let (Some((read, part)), Some(&(node, own, total))) =
            (self.parts.current(), self.rows.last())
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
