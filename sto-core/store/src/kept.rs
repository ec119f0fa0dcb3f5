//! All calls of a profile, by thread and time.

mod numbered;

pub use numbered::NumberedCalls;

use crate::codec::{KeptHead, PieceInfo};
use crate::error::StoreError;
use crate::numbers::ProfileNo;
use crate::read::counts::WITHOUT_CALLS;
use crate::read::kept::{Callees, head, read_piece, size};
use crate::read::snapshot::Snapshot;
use crate::read::{builds, calls};
use crate::tables::Column;
use rayon::prelude::*;
use std::fmt;
use sto_model::FrameTable;
use sto_model::id::ProfileId;
use sto_model::trace::log::Call;
use sto_model::trace::paths::{CallPaths, TraceFunctionIx};
use sto_model::trace::regtime::RegTime;
use sto_model::trace::{CallThread, CallThresholds, RunCalls, ThreadCalls};
use sto_model::tree::{NodeIx, StackTree};
use sto_model::units::{Bytes, Nanoseconds};

/// All calls of a profile. Calls are read from the store on demand.
#[derive(Clone)]
pub struct KeptCalls {
    snapshot: Snapshot,
    profile: ProfileNo,
    calls: RunCalls<NodeIx>,
    frames: FrameTable,
    tree: StackTree,
    head: KeptHead,
    callees: Callees,
}

/// One call in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptCall {
    /// Number of callers.
    pub depth: u32,
    /// The call's stack: a node of [`KeptCalls::tree`].
    pub stack: NodeIx,
    /// Start of the call.
    pub begin: Nanoseconds,
    /// End of the call.
    pub end: Nanoseconds,
}

/// The size of the kept calls of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptSize {
    /// Number of calls.
    pub calls: u64,
    /// Number of nodes in the graphs of all pieces; each piece stores equal subtrees once.
    pub nodes: u64,
    /// Packed size in the store.
    pub bytes: Bytes,
}

impl fmt::Debug for KeptCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.head.pieces.len();
        f.debug_struct("KeptCalls")
            .field("profile", &self.profile)
            .field("pieces", &pieces)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// All calls of a profile, for queries by thread and time; `None` if they were not kept.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist or the store is damaged.
    pub fn kept_calls(&self, id: ProfileId) -> std::result::Result<Option<KeptCalls>, StoreError> {
        self.read(|rows| {
            let record = builds::profile_record(rows, id)?;
            if !rows.has_column(Column::CallTrees(record.number, 0))? {
                return Ok(None);
            }
            let Some(loaded) = calls::load(rows, id)? else {
                return Err(WITHOUT_CALLS.at(Column::CallTrees(record.number, 0)));
            };
            let head = head(rows, &record, loaded.tree.len())?;
            let location = Column::CallTrees(record.number, 0);
            Ok(Some(KeptCalls {
                snapshot: self.clone(),
                profile: record.number,
                callees: Callees::new(&loaded.tree, &head, location)?,
                calls: loaded.calls,
                frames: loaded.frames,
                tree: loaded.tree,
                head,
            }))
        })
    }
}

impl KeptCalls {
    /// The frames of the tree.
    pub fn frames(&self) -> &FrameTable {
        &self.frames
    }

    /// The stacks of the profile, as [`Snapshot::load`] returns them for this profile.
    pub fn tree(&self) -> &StackTree {
        &self.tree
    }

    /// The threads, in the order of [`Snapshot::load_calls`].
    pub fn threads(&self) -> impl ExactSizeIterator<Item = &CallThread> {
        self.calls.threads.iter().map(|calls| &calls.thread)
    }

    /// The number and the packed size of the calls.
    ///
    /// # Errors
    /// Returns an error if the store is damaged.
    pub fn size(&self) -> std::result::Result<KeptSize, StoreError> {
        let pieces = &self.head.pieces;
        let (bytes, nodes) = self
            .snapshot
            .read(|rows| size(rows, self.profile, pieces.len()))?;
        Ok(KeptSize {
            calls: pieces.iter().map(|piece| u64::from(piece.calls)).sum(),
            nodes,
            bytes,
        })
    }

    /// Visits the calls of a thread (by index) that began before the end of a time range and ended after its
    /// begin. Callers come before their callees, and the calls of one caller are in order of time.
    ///
    /// # Errors
    /// Returns an error if the store is damaged.
    pub fn visit_calls_during(
        &self,
        thread: usize,
        time: (Nanoseconds, Nanoseconds),
        mut see: impl FnMut(KeptCall),
    ) -> std::result::Result<(), StoreError> {
        self.each_during(thread, time, &mut |call, stack| {
            see(KeptCall {
                depth: call.depth,
                stack,
                begin: call.begin,
                end: call.end(),
            });
        })
    }

    /// Compresses the calls over time with other thresholds, optionally within a time window. The result
    /// matches [`RunCalls::during`], except that the thresholds are relative to each thread's time in the
    /// window. Outliers and waits are those found when the trace was read.
    ///
    /// # Errors
    /// Returns an error if the store is damaged.
    pub fn compressed(
        &self,
        thresholds: CallThresholds,
        window: Option<(Nanoseconds, Nanoseconds)>,
    ) -> std::result::Result<RunCalls<NodeIx>, StoreError> {
        let (begin, end) = window.unwrap_or((Nanoseconds(0), Nanoseconds(u64::MAX)));
        let threads = self.calls.threads.par_iter().enumerate();
        let threads = threads.map(|(index, thread)| {
            let time = thread
                .end
                .min(end)
                .0
                .saturating_sub(thread.begin.max(begin).0);
            let mut paths = CallPaths::default();
            let mut regtime = RegTime::new(&thresholds, Nanoseconds(time), &mut paths);
            self.each_during(index, (begin, end), &mut |call, stack| {
                regtime.add(Call {
                    function: TraceFunctionIx(stack.0),
                    ..*call
                });
            })?;
            let compressed = regtime.finish();
            let records = compressed.records.iter();
            Ok(ThreadCalls {
                records: records
                    .map(|record| record.map(|path| NodeIx(paths.function(path).0)))
                    .collect(),
                ..thread.clone()
            })
        });
        let calls = RunCalls {
            thresholds,
            threads: threads.collect::<std::result::Result<_, StoreError>>()?,
            ..self.calls.clone()
        };
        Ok(match window {
            Some(window) => calls.during(window),
            None => calls,
        })
    }

    /// Visits the calls that overlap a time range.
    fn each_during(
        &self,
        thread: usize,
        (begin, end): (Nanoseconds, Nanoseconds),
        see: &mut dyn FnMut(&Call, NodeIx),
    ) -> std::result::Result<(), StoreError> {
        self.each(thread, (begin, end), &mut |call, stack| {
            if numbered::overlaps((call.begin, call.end()), (begin, end)) {
                see(call, stack);
            }
        })
    }

    /// Visits the calls of all pieces that overlap a time range, and the callers of the first piece's calls.
    fn each(
        &self,
        thread: usize,
        (begin, end): (Nanoseconds, Nanoseconds),
        see: &mut dyn FnMut(&Call, NodeIx),
    ) -> std::result::Result<(), StoreError> {
        let pieces = self.head.pieces.iter().zip(1..);
        let pieces: Vec<(&PieceInfo, u32)> = pieces
            .filter(|(piece, _)| piece.thread as usize == thread && piece.begin < end)
            .collect();
        let first = pieces.partition_point(|(piece, _)| piece.begin < begin);
        let mut is_first = true;
        for &(piece, part) in &pieces[first.saturating_sub(1)..] {
            self.snapshot.read(|rows| {
                let calls = read_piece(rows, self.profile, (piece, part), &self.head)?;
                self.callees
                    .each_stack(&calls, |call, stack, is_caller| {
                        if is_first || !is_caller {
                            see(call, stack);
                        }
                    })
                    .map_err(|error| error.at(Column::CallTrees(self.profile, part)))
            })?;
            is_first = false;
        }
        Ok(())
    }
}
