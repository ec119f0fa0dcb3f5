//! Reads the pieces of a profile's kept calls.

use crate::codec::{
    DecodeError, KeptHead, PieceInfo, ProfileRecord, piece_nodes, unpack_kept_head, unpack_piece,
};
use crate::error::{Result, spool_error};
use crate::numbers::ProfileNo;
use crate::read::counts::WITHOUT_CALLS;
use crate::read::rows::Rows;
use crate::tables::Column;
use hashbrown::HashMap;
use std::sync::Arc;
use sto_model::FrameIx;
use sto_model::memory;
use sto_model::trace::PackedCalls;
use sto_model::trace::log::Call;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::tree::{NodeIx, ProfileData, StackTree};
use sto_model::units::Bytes;

/// The calls of a piece, and the callers of its first call.
pub(crate) struct PieceCalls {
    pub(crate) callers: Vec<Call>,
    pub(crate) calls: Vec<Call>,
}

/// Reads the data common to all pieces of a profile, whose tree has `nodes` nodes.
pub(crate) fn head(rows: &Rows, record: &ProfileRecord, nodes: usize) -> Result<KeptHead> {
    let column = Column::CallTrees(record.number, 0);
    unpack_kept_head(&rows.column(column)?, nodes).map_err(|error| error.at(column))
}

/// Reads a piece of a profile.
pub(crate) fn read_piece(
    rows: &Rows,
    profile: ProfileNo,
    (info, part): (&PieceInfo, u32),
    head: &KeptHead,
) -> Result<PieceCalls> {
    let column = Column::CallTrees(profile, part);
    piece_calls(&rows.column(column)?, info, head).map_err(|error| error.at(column))
}

/// Unpacks a piece and checks that it is the announced one.
fn piece_calls(pack: &[u8], info: &PieceInfo, head: &KeptHead) -> Result<PieceCalls, DecodeError> {
    let (piece, functions) = unpack_piece(pack, head.functions.len())?;
    if piece.begin != info.begin || functions.len() != info.calls as usize {
        return Err(DecodeError("it is a different piece"));
    }
    Ok(PieceCalls {
        calls: piece.calls(&functions),
        callers: piece.callers,
    })
}

/// Checks that the columns of a profile's kept calls, if it has any, match the profile.
pub(crate) fn check_columns(rows: &Rows, profile: ProfileNo, interned: &ProfileData) -> Result<()> {
    let column = |part| Column::CallTrees(profile, part);
    if rows.has_column(column(0))? {
        check(interned, |part| rows.column(column(part)), column)?;
    }
    Ok(())
}

/// Checks that kept calls match their profile, and returns the number of their packs. `read` returns a pack by
/// number, and `at` its location.
pub(crate) fn check<L: ToString>(
    interned: &ProfileData,
    read: impl Fn(u32) -> Result<Vec<u8>>,
    at: impl Fn(u32) -> L,
) -> Result<u32> {
    let calls = interned.calls.as_ref();
    let threads = calls.ok_or_else(|| WITHOUT_CALLS.at(at(0)))?.threads.len();
    let head = unpack_kept_head(&read(0)?, interned.tree.len());
    let head = head.map_err(|error| error.at(at(0)))?;
    let callees = Callees::new(&interned.tree, &head, at(0))?;
    for (info, part) in head.pieces.iter().zip(1..) {
        if info.thread as usize >= threads {
            return Err(DecodeError("the thread of a piece does not exist").at(at(0)));
        }
        let pack = read(part)?;
        let calls = piece_calls(&pack, info, &head);
        let stacks = calls.and_then(|calls| callees.each_stack(&calls, |_, _, _| ()));
        stacks.map_err(|error| error.at(at(part)))?;
    }
    Ok(head.pieces.len() as u32 + 1)
}

/// The stack of each call, by caller and function.
#[derive(Clone)]
pub(crate) struct Callees {
    stacks: HashMap<(Option<NodeIx>, FrameIx), NodeIx>,
    /// The frames of each function, outermost first.
    functions: Vec<Vec<FrameIx>>,
}

impl Callees {
    /// Collects the stacks of `tree` and the frames of the functions of `head`, which was read from `at`.
    pub(crate) fn new(tree: &StackTree, head: &KeptHead, at: impl ToString) -> Result<Callees> {
        let depths = tree.depths();
        if head
            .functions
            .iter()
            .any(|&(node, count)| count > depths[node.get()] + 1)
        {
            let what = "a function of kept calls has more frames than its stack";
            return Err(DecodeError(what).at(at));
        }
        let count: u64 = head
            .functions
            .iter()
            .map(|&(_, count)| u64::from(count))
            .sum();
        let lists = head.functions.len() * size_of::<Vec<FrameIx>>();
        memory::check_limit(Bytes(lists as u64 + count * size_of::<FrameIx>() as u64))?;
        let stacks = tree
            .nodes()
            .map(|node| ((tree.parent(node), tree.frame(node)), node));
        let frames = |&(node, count): &(NodeIx, u32)| {
            let mut frames: Vec<FrameIx> = tree
                .ancestors(node)
                .take(count as usize)
                .map(|node| tree.frame(node))
                .collect();
            frames.reverse();
            frames
        };
        Ok(Callees {
            stacks: stacks.collect(),
            functions: head.functions.iter().map(frames).collect(),
        })
    }

    fn call(&self, caller: Option<NodeIx>, function: TraceFunctionIx) -> Option<NodeIx> {
        let mut frames = self.functions[function.get()].iter();
        frames.try_fold(caller, |caller, &frame| {
            Some(Some(*self.stacks.get(&(caller, frame))?))
        })?
    }

    /// Visits each call of a piece with its stack and whether it began in an earlier piece.
    pub(crate) fn each_stack(
        &self,
        piece: &PieceCalls,
        mut see: impl FnMut(&Call, NodeIx, bool),
    ) -> Result<(), DecodeError> {
        const WITHOUT_STACK: DecodeError =
            DecodeError("a call has a stack that the profile does not have");
        let mut open: Vec<NodeIx> = Vec::new();
        let callers = piece.callers.iter().map(|call| (call, true));
        for (call, is_caller) in callers.chain(piece.calls.iter().map(|call| (call, false))) {
            open.truncate(call.depth as usize);
            let stack = self.call(open.last().copied(), call.function);
            let stack = stack.ok_or(WITHOUT_STACK)?;
            see(call, stack, is_caller);
            open.push(stack);
        }
        Ok(())
    }
}

/// The packed size of a profile's kept calls in `pieces` pieces, and the number of nodes in the graphs of
/// these pieces.
pub(crate) fn size(rows: &Rows, profile: ProfileNo, pieces: usize) -> Result<(Bytes, u64)> {
    let head = rows.column(Column::CallTrees(profile, 0))?.len() as u64;
    let parts = 1..=pieces as u32;
    parts
        .map(|part| {
            let column = Column::CallTrees(profile, part);
            let pack = rows.column(column)?;
            let nodes = piece_nodes(&pack).map_err(|error| error.at(column))?;
            Ok((pack.len() as u64, nodes))
        })
        .try_fold((Bytes(head), 0u64), |(all, nodes), piece: Result<_>| {
            let (bytes, more) = piece?;
            Ok((Bytes(all.0 + bytes), nodes.saturating_add(more)))
        })
}

/// Number of columns of a profile's kept calls.
pub(crate) fn parts(rows: &Rows, profile: ProfileNo) -> Result<u32> {
    let column = Column::CallTrees(profile, 0);
    let Some(head) = rows.optional_column(column)? else {
        return Ok(0);
    };
    let head = unpack_kept_head(&head, usize::MAX).map_err(|error| error.at(column))?;
    Ok(head.pieces.len() as u32 + 1)
}

/// The packed kept calls of a profile, if any.
pub(crate) fn packed(rows: &Rows, profile: ProfileNo) -> Result<Option<Arc<PackedCalls>>> {
    let parts = parts(rows, profile)?;
    if parts == 0 {
        return Ok(None);
    }
    let mut packed = PackedCalls::new(None);
    for part in 0..parts {
        let pack = rows.column(Column::CallTrees(profile, part))?;
        packed.push(&pack).map_err(spool_error)?;
    }
    Ok(Some(Arc::new(packed)))
}
