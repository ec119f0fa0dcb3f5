//! `stack_node`: one row per stack of a build.

use super::build_tree::BuildTree;
use super::constraints::Constraints;
use super::ids::Hex;
use super::stored::{QueryFailure, Stored};
use super::table::{Cell, Column, Cursor, MatchEstimate, Order, RowEstimate, Table};
use crate::QueryError;
use std::sync::Arc;
use std::vec::IntoIter;
use sto_core::id::{BuildId, NodeId};
use sto_core::tree::NodeIx;

/// The `stack_node` table.
pub(super) struct StackNode;

const ID: usize = 0;
const PARENT: usize = 1;
const FRAME: usize = 2;
const EXECUTABLE: usize = 3;
const SAMPLES: usize = 4;
const SELF: usize = 5;
const TOTAL: usize = 6;
const TOTAL_SAMPLES: usize = 7;
const NODE: usize = 8;

impl Table for StackNode {
    const NAME: &'static str = "stack_node";
    const COLUMNS: &'static [Column] = &[
        Column::text("id").with_equality_index(MatchEstimate::Few(1.0)),
        Column::text("parent_id").with_equality_index(MatchEstimate::Few(4.0)),
        Column::text("stack_node_data_id").with_equality_index(MatchEstimate::Few(10.0)),
        Column::text("executable_id").with_equality_index(MatchEstimate::Build),
        Column::integer("sample_count"),
        Column::integer("self"),
        Column::integer("total"),
        Column::integer("total_sample_count"),
        Column::text("node").with_equality_index(MatchEstimate::Few(5.0)),
        Column::integer("outermost"),
    ];
    const ROWS: RowEstimate = RowEstimate::OfBuild(50_000.0);
    const ORDER: Option<Order> = Some(Order {
        by: FRAME,
        of: EXECUTABLE,
    });
    type Cursor = Nodes;

    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<Nodes, QueryFailure> {
        let mut nodes = Nodes {
            stored: stored.clone(),
            builds: Vec::new().into_iter(),
            meant: Meant::All,
            tree: None,
            at: 0,
            end: 0,
            step: Step::Preorder,
        };
        if let Some(id) = asked.text(ID) {
            if let Some((tree, node)) = stored.node(&id)? {
                (nodes.at, nodes.end) = (node.0, node.0 + 1);
                nodes.tree = Some(tree);
            }
            return Ok(nodes);
        }
        if let Some(id) = asked.text(PARENT) {
            if let Some((tree, node)) = stored.node(&id)? {
                (nodes.at, nodes.end) = (node.0 + 1, tree.subtree_ends()[node.get()]);
                nodes.step = Step::Siblings;
                nodes.tree = Some(tree);
            }
            return Ok(nodes);
        }
        let builds = stored.builds(asked.text(EXECUTABLE).as_deref())?.iter();
        if let Some(node) = asked.text(NODE) {
            match node.parse() {
                Ok(node) => nodes.meant = Meant::Node(node),
                Err(_) => return Ok(nodes),
            }
        } else if let Some(frame) = asked.text(FRAME) {
            nodes.meant = Meant::Frame(frame.into_owned());
            nodes.step = Step::ByFrame;
        } else if asked.uses(FRAME) {
            // In the order that a query may ask for; also, grouping and joining by frame is faster.
            nodes.step = Step::ByFrame;
        }
        nodes.builds = builds.map(|build| build.id).collect::<Vec<_>>().into_iter();
        nodes.settle()?;
        Ok(nodes)
    }
}

/// Cursor over the stacks of several builds.
pub(super) struct Nodes {
    stored: Arc<Stored>,
    /// The remaining builds.
    builds: IntoIter<BuildId>,
    /// The stacks requested in each build.
    meant: Meant,
    tree: Option<Arc<BuildTree>>,
    /// Position of the current stack, and the end of the requested ones.
    at: u32,
    end: u32,
    step: Step,
}

/// The stacks requested in a build.
enum Meant {
    All,
    Node(NodeId),
    /// Stacks that end in the frame with this id.
    Frame(String),
}

/// Order in which the cursor advances.
enum Step {
    /// To the next node in preorder.
    Preorder,
    /// To the next sibling, skipping the subtree.
    Siblings,
    /// In order of frames.
    ByFrame,
}

impl Nodes {
    /// Continues with the next build that has a requested stack, if none are left in this one.
    fn settle(&mut self) -> Result<(), QueryError> {
        while self.at >= self.end {
            let Some(id) = self.builds.next() else {
                return Ok(());
            };
            let Some(tree) = self.stored.tree_of(id)? else {
                continue;
            };
            (self.at, self.end) = match &self.meant {
                Meant::All => (0, tree.view.tree.len() as u32),
                Meant::Node(node) => tree.find(*node).map_or((0, 0), |node| (node.0, node.0 + 1)),
                Meant::Frame(frame) => {
                    let places = tree.by_frame().find(frame);
                    (places.start as u32, places.end as u32)
                }
            };
            self.tree = Some(tree);
        }
        Ok(())
    }
}

impl Cursor for Nodes {
    fn is_done(&self) -> bool {
        self.at >= self.end
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        match (&self.step, &self.tree) {
            (Step::Siblings, Some(tree)) => self.at = tree.subtree_ends()[self.at as usize],
            _ => self.at += 1,
        }
        self.settle()
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        let Some(tree) = &self.tree else {
            return cell.set_null();
        };
        let node = match self.step {
            Step::ByFrame => tree.by_frame().nodes()[self.at as usize],
            _ => NodeIx(self.at),
        };
        match column {
            ID => cell.set_text(&tree.id(node)),
            PARENT => match tree.view.tree.parent(node) {
                Some(parent) => cell.set_text(&tree.id(parent)),
                None => cell.set_null(),
            },
            FRAME => cell.set_text(tree.frame_id(node)),
            EXECUTABLE => cell.set_text(Hex::from_bytes(tree.build.0).as_str()),
            SAMPLES => cell.set_count(tree.self_costs()[node.get()].samples),
            SELF => cell.set_count(tree.self_costs()[node.get()].value),
            TOTAL => cell.set_count(tree.totals()[node.get()].value),
            TOTAL_SAMPLES => cell.set_count(tree.totals()[node.get()].samples),
            NODE => cell.set_text(tree.node_id(node).as_str()),
            _ => cell.set_count(u64::from(tree.outermost()[node.get()])),
        }
    }
}
