//! `recursion`: one row per stack of a build whose function is also among its callers.

use super::build_tree::BuildTree;
use super::constraints::Constraints;
use super::ids::Hex;
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, FIRST_ROW_COST, MatchEstimate, RowEstimate, Table};
use crate::QueryError;
use std::sync::Arc;
use std::vec::IntoIter;
use sto_core::id::BuildId;
use sto_core::tree::NodeIx;

/// The `recursion` table.
pub(super) struct Recursion;

const EXECUTABLE: usize = 0;
const NODE: usize = 1;
const ANCESTOR: usize = 2;

impl Table for Recursion {
    const NAME: &'static str = "recursion";
    const COLUMNS: &'static [Column] = &[
        Column::text("executable_id").with_equality_index(MatchEstimate::Build),
        Column::text("node"),
        Column::text("ancestor"),
        Column::integer("distance"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfBuild(5_000.0);
    const START: f64 = FIRST_ROW_COST;
    type Cursor = RecursiveCalls;

    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<RecursiveCalls, QueryFailure> {
        let builds = stored.builds(asked.text(EXECUTABLE).as_deref())?.iter();
        let mut calls = RecursiveCalls {
            stored: stored.clone(),
            builds: builds.map(|build| build.id).collect::<Vec<_>>().into_iter(),
            tree: None,
            calls: Vec::new().into_iter(),
            call: None,
        };
        calls.advance()?;
        Ok(calls)
    }
}

/// A stack, and the innermost of its callers with the same function.
struct RecursiveCall {
    node: NodeIx,
    ancestor: NodeIx,
    /// Number of calls from the ancestor to the node.
    distance: usize,
}

/// Cursor over the recursive calls of several builds.
pub(super) struct RecursiveCalls {
    stored: Arc<Stored>,
    builds: IntoIter<BuildId>,
    tree: Option<Arc<BuildTree>>,
    calls: IntoIter<RecursiveCall>,
    call: Option<RecursiveCall>,
}

impl Cursor for RecursiveCalls {
    fn is_done(&self) -> bool {
        self.call.is_none()
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        loop {
            self.call = self.calls.next();
            if self.call.is_some() {
                return Ok(());
            }
            let Some(build) = self.builds.next() else {
                return Ok(());
            };
            self.tree = self.stored.tree_of(build)?;
            let calls = self.tree.as_deref().map(recursive_calls);
            self.calls = calls.unwrap_or_default().into_iter();
        }
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let (Some(call), Some(tree)) = (&self.call, &self.tree) else {
            return cell.set_null();
        };
        match column {
            EXECUTABLE => cell.set_text(Hex::from_bytes(tree.build.0).as_str()),
            NODE => cell.set_text(tree.node_id(call.node).as_str()),
            ANCESTOR => cell.set_text(tree.node_id(call.ancestor).as_str()),
            _ => cell.set_count(call.distance as u64),
        }
    }
}

fn recursive_calls(tree: &BuildTree) -> Vec<RecursiveCall> {
    let stacks = &tree.view.tree;
    let functions = tree.functions().numbers();
    let function = |node| functions[stacks.frame(node).get()];
    let mut calls = Vec::new();
    // The stack of the current node, root first.
    let mut callers: Vec<NodeIx> = Vec::new();
    for (node, depth) in stacks.nodes().zip(stacks.depths()) {
        callers.truncate(depth as usize);
        // A node that is not outermost has such a caller.
        if !tree.outermost()[node.get()] {
            let same = callers
                .iter()
                .rposition(|&caller| function(caller) == function(node));
            calls.extend(same.map(|at| RecursiveCall {
                node,
                ancestor: callers[at],
                distance: callers.len() - at,
            }));
        }
        callers.push(node);
    }
    calls
}
