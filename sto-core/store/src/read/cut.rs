//! Extracts profiles from the nodes of an executable, with their own trees and frame tables.

use crate::codec::{
    ExecutableRecord, ProfileRecord, announced_stacks, unpack_addresses, unpack_slices,
    unpack_sources,
};
use crate::error::{InternalError, Result};
use crate::numbers::{FrameNo, NodeNo, Number};
use crate::read::counts::{
    CallPacks, Counts, NodeCosts, SideData, read_all_costs, renumbered_lines,
};
use crate::read::metrics::{self, check_size};
use crate::read::packs::{Frames, NodePack};
use crate::read::preorder::preorder;
use crate::read::rows::Rows;
use crate::read::selected_nodes::{NodeSet, SelectedNodes, SelectedNumbers};
use crate::read::{call_rules, kept};
use crate::tables::Column;
use rayon::prelude::*;
use sto_model::id::ProfileId;
use sto_model::memory;
use sto_model::tree::{AddressStack, LineCost, NodeIx, ProfileData, SelfCosts, StackTree};
use sto_model::units::Bytes;
use sto_model::{Frame, FrameIx, FrameTable, StringIx};

/// The nodes of an executable and the frames of its store, from which profiles are extracted.
pub(crate) struct ExecutableTree<'a> {
    frames: &'a Frames,
    packs: Vec<NodePack>,
    /// The end of the node numbers.
    nodes_end: NodeNo,
}

impl<'a> ExecutableTree<'a> {
    /// Unpacks all nodes of an executable.
    pub(crate) fn unpack(
        rows: &Rows,
        frames: &'a Frames,
        executable: &ExecutableRecord,
    ) -> Result<Self> {
        memory::check_limit(Bytes(
            u64::from(executable.nodes.0) * 2 * size_of::<u32>() as u64,
        ))?;
        let packs = rows.node_packs(executable)?.into_par_iter();
        Ok(ExecutableTree {
            frames,
            packs: packs.map(NodePack::unpacked).collect::<Result<_>>()?,
            nodes_end: executable.nodes,
        })
    }

    /// Loads a profile with its stacks, frames and side data, as it was added. Every column is decoded and checked.
    pub(crate) fn profile(
        &self,
        rows: &Rows,
        id: ProfileId,
        record: &ProfileRecord,
    ) -> Result<ProfileData> {
        let costs = read_all_costs(rows, record, self.nodes_end)?;
        Ok(ProfileData {
            kept_calls: kept::packed(rows, record.number)?,
            ..self.profile_with_costs(rows, id, record, costs)?
        })
    }

    /// Like [`Self::profile`], for costs that were already read. Kept calls are checked, but not loaded.
    pub(crate) fn profile_with_costs(
        &self,
        rows: &Rows,
        id: ProfileId,
        record: &ProfileRecord,
        costs: Vec<NodeCosts>,
    ) -> Result<ProfileData> {
        let Counts {
            costs,
            lines,
            slices,
            side_data,
        } = Counts::read(rows, record, costs)?;
        let SideData {
            metrics,
            calls,
            kept: _,
            sources,
            addresses,
        } = side_data;
        let picked = SelectedNodes::new(&self.packs, NodeSet::from_costs(&costs, self.nodes_end)?)?;
        let cut = SelectedTree::new(picked, self.frames, &lines)?;
        let lines = by_index(&lines, &cut.frame_indices);
        let costs: Vec<SelfCosts> = costs.into_iter().map(|costs| cut.by_index(costs)).collect();
        let slices = slices.map(|pack| {
            unpack_slices(&pack, &costs).map_err(|error| error.at(Column::Slices(record.number)))
        });
        let columns = CallPacks::columns(record.number);
        let slices = slices.transpose()?;
        let addresses = addresses.map(|pack| {
            let column = Column::Addresses(record.number);
            let stacks = announced_stacks(&pack).map_err(|error| error.at(column))?;
            memory::check_limit(Bytes(u64::from(stacks) * size_of::<AddressStack>() as u64))?;
            unpack_addresses(&pack, &cut.tree, &costs, slices.as_ref())
                .map_err(|error| error.at(column))
        });
        let interned = ProfileData {
            addresses: addresses.transpose()?,
            slices,
            metrics: metrics
                .map(|pack| metrics::unpacked(&pack, Column::Metrics(record.number)))
                .transpose()?,
            calls: calls
                .map(|pack| call_rules::unpacked(&pack, columns, cut.tree.len()))
                .transpose()?,
            kept_calls: None,
            source_digests: sources
                .map(|pack| {
                    unpack_sources(&pack).map_err(|error| error.at(Column::Sources(record.number)))
                })
                .transpose()?
                .unwrap_or_default(),
            costs,
            line_costs: lines,
            frames: cut.frames,
            tree: cut.tree,
        };
        kept::check_columns(rows, record.number, &interned)?;
        check_size(rows, id, record)?;
        Ok(interned)
    }
}

/// A tree of selected nodes with its own frame table.
pub(crate) struct SelectedTree {
    pub(crate) frames: FrameTable,
    /// Index in `frames` by the store's frame number.
    frame_indices: Vec<FrameIx>,
    pub(crate) tree: StackTree,
    picked: SelectedNumbers,
    /// Index in `tree` by number in the selection.
    indices: Vec<NodeIx>,
}

impl SelectedTree {
    /// Builds the tree of the selected nodes. `frames` also contains the frames of `lines`.
    pub(crate) fn new(
        picked: SelectedNodes,
        stored: &Frames,
        lines: &[Vec<LineCost<FrameNo>>],
    ) -> Result<Self> {
        let SelectedNodes { nodes, numbers } = picked;
        let used = nodes.frames.iter().copied();
        let order = sort_frames(stored, used.chain(frames_of(lines)));
        let frame_indices = indices_of(&order, stored);
        let (frames, (tree, indices)) =
            rayon::join(|| table_of(&order), || preorder(&nodes, &frame_indices));
        Ok(SelectedTree {
            frames: frames?,
            frame_indices,
            tree,
            picked: numbers,
            indices,
        })
    }

    /// Converts the nodes of costs to indices in the tree.
    pub(crate) fn by_index(&self, costs: NodeCosts) -> SelfCosts {
        let numbered = costs.into_iter();
        let index = |node| self.indices[self.picked.get(node).get()];
        let mut indexed: SelfCosts = numbered.map(|(node, cost)| (index(node), cost)).collect();
        // If many nodes have costs, a counting sort is faster than comparisons.
        if indexed.len() < self.tree.len() / 16 {
            // A stable sort is fast on the parts that are already in order.
            indexed.sort_by_key(|&(node, _)| node);
            return indexed;
        }
        let mut by_node = vec![0u32; self.tree.len()];
        for (rank, &(node, _)) in (1..).zip(&indexed) {
            by_node[node.get()] = rank;
        }
        let order = by_node.into_iter().filter(|&rank| rank > 0);
        order.map(|rank| indexed[rank as usize - 1]).collect()
    }
}

pub(crate) fn frames_of(lines: &[Vec<LineCost<FrameNo>>]) -> impl Iterator<Item = FrameNo> {
    lines.iter().flatten().map(|line| line.frame)
}

/// Converts the frames of line costs to indices.
pub(crate) fn by_index(
    lines: &[Vec<LineCost<FrameNo>>],
    indices: &[FrameIx],
) -> Vec<Vec<LineCost>> {
    let lines = lines.iter();
    let lines = lines.map(|lines| renumbered_lines(lines, |frame| indices[frame.get()]));
    lines.collect()
}

/// Frames with their numbers, in the order of [`Frame`].
pub(crate) type SortedFrames<'a> = Vec<(Frame<'a>, FrameNo)>;

/// The frames with these numbers.
pub(crate) fn sort_frames(
    stored: &Frames,
    numbers: impl Iterator<Item = FrameNo>,
) -> SortedFrames<'_> {
    let mut chosen = vec![false; stored.end().get()];
    for number in numbers {
        chosen[number.get()] = true;
    }
    sort_chosen_frames(stored, &chosen)
}

/// Index in an order by frame number.
pub(crate) fn indices_of(order: &SortedFrames<'_>, stored: &Frames) -> Vec<FrameIx> {
    let mut indices = vec![FrameIx(u32::MAX); stored.end().get()];
    for (index, &(_, number)) in (0..).zip(order) {
        indices[number.get()] = FrameIx(index);
    }
    indices
}

/// Builds a table of these frames.
pub(crate) fn table_of<'f>(order: &SortedFrames<'f>) -> Result<FrameTable> {
    let mut frames = FrameTable::new();
    // Neighbours in this order often share strings, which saves looking them up again.
    let mut last: [Option<(&'f str, StringIx)>; 3] = [None; 3];
    for (index, (frame, _)) in (0..).zip(order) {
        let strings = [frame.symbol, frame.module, frame.file];
        let mut interned = |last: &mut Option<(&'f str, StringIx)>, string: &'f str| match last {
            Some((known, ix)) if std::ptr::eq(*known, string) => *ix,
            last => last.insert((string, frames.intern_string(string))).1,
        };
        let strings = std::array::from_fn(|column| interned(&mut last[column], strings[column]));
        if frames.insert_row(frame.to_row(strings)) != FrameIx(index) {
            return Err(InternalError::damaged(
                "table columns, frames",
                "a frame occurs twice",
            ));
        }
    }
    Ok(frames)
}

/// The chosen frames in order.
pub(crate) fn sort_chosen_frames<'a>(stored: &'a Frames, chosen: &[bool]) -> SortedFrames<'a> {
    let numbers = FrameNo(0).onward().zip(chosen);
    let numbers = numbers.filter_map(|(number, chosen)| chosen.then_some(number));
    let mut order: SortedFrames<'_> = numbers.map(|number| (stored.get(number), number)).collect();
    // Packs are already sorted, which a stable sort takes advantage of.
    order.par_sort_by(|(a, _), (b, _)| a.cmp(b));
    order
}
