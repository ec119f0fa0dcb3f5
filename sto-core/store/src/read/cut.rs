//! Cutting profiles out of the nodes of an executable: their trees, in an order of their own.

use crate::codec::{
    ExecutableRecord, ProfileRecord, announced_stacks, unpack_addresses, unpack_slices,
    unpack_sources,
};
use crate::error::{InternalError, Result};
use crate::numbers::{FrameNo, NodeNo, Number};
use crate::read::counts::{Beside, CallPacks, Counts, NodeCosts, renumbered_lines};
use crate::read::packs::{Frames, NodePack};
use crate::read::picked::{Marks, Picked, PickedNos};
use crate::read::preorder::preorder;
use crate::read::rows::Rows;
use crate::read::{call_rules, metrics};
use crate::tables::Column;
use rayon::prelude::*;
use sto_model::memory;
use sto_model::tree::{AddressStack, Interned, LineCost, NodeIx, SelfCosts, StackTree};
use sto_model::units::Bytes;
use sto_model::{Frame, FrameIx, FrameTable, StringIx};

/// The nodes of an executable and the frames of its store: what profiles are cut out of.
pub(crate) struct ExecutableTree<'a> {
    frames: &'a Frames,
    packs: Vec<NodePack>,
    /// The first number that no node has.
    nodes_end: NodeNo,
}

impl<'a> ExecutableTree<'a> {
    /// Unpacks all of an executable's nodes.
    pub(crate) fn unpack(
        rows: &Rows,
        frames: &'a Frames,
        executable: &ExecutableRecord,
    ) -> Result<Self> {
        memory::check(Bytes(
            u64::from(executable.nodes.0) * 2 * size_of::<u32>() as u64,
        ))?;
        let packs = rows.node_packs(executable)?.into_par_iter();
        Ok(ExecutableTree {
            frames,
            packs: packs.map(NodePack::unpacked).collect::<Result<_>>()?,
            nodes_end: executable.nodes,
        })
    }

    /// All that is a profile's own, with the stacks and frames that it is of: as it went in.
    pub(crate) fn profile(&self, rows: &Rows, record: &ProfileRecord) -> Result<Interned> {
        self.of(record, Counts::read(rows, record, self.nodes_end)?)
    }

    /// The same of counts that were read already.
    pub(crate) fn of(&self, record: &ProfileRecord, counts: Counts) -> Result<Interned> {
        let Counts {
            costs,
            lines,
            slices,
            beside,
        } = counts;
        let Beside {
            metrics,
            calls,
            kept,
            sources,
            addresses,
        } = beside;
        let picked = Picked::of(&self.packs, Marks::of(&costs, self.nodes_end)?)?;
        let cut = Cut::of(picked, self.frames, &lines)?;
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
            memory::check(Bytes(u64::from(stacks) * size_of::<AddressStack>() as u64))?;
            unpack_addresses(&pack, &cut.tree, &costs, slices.as_ref())
                .map_err(|error| error.at(column))
        });
        Ok(Interned {
            addresses: addresses.transpose()?,
            slices,
            metrics: metrics
                .map(|pack| metrics::unpacked(&pack, Column::Metrics(record.number)))
                .transpose()?,
            calls: calls
                .map(|pack| call_rules::unpacked(&pack, columns, cut.tree.len()))
                .transpose()?,
            kept,
            sources: sources
                .map(|pack| {
                    unpack_sources(&pack).map_err(|error| error.at(Column::Sources(record.number)))
                })
                .transpose()?
                .unwrap_or_default(),
            costs,
            lines,
            frames: cut.frames,
            tree: cut.tree,
        })
    }
}

/// A tree of picked nodes, with frames of its own.
pub(crate) struct Cut {
    pub(crate) frames: FrameTable,
    /// By the store's number of a frame, its index in `frames`.
    frame_indices: Vec<FrameIx>,
    pub(crate) tree: StackTree,
    picked: PickedNos,
    /// By number among the picked nodes, the index in `tree`.
    indices: Vec<NodeIx>,
}

impl Cut {
    /// The tree of these nodes, and the frames of it and of lines.
    pub(crate) fn of(
        picked: Picked,
        stored: &Frames,
        lines: &[Vec<LineCost<FrameNo>>],
    ) -> Result<Self> {
        let Picked { nodes, numbers } = picked;
        let used = nodes.frames.iter().copied();
        let order = chosen_order(stored, used.chain(frames_of(lines)));
        let frame_indices = indices_of(&order, stored);
        let (frames, (tree, indices)) =
            rayon::join(|| table_of(&order), || preorder(&nodes, &frame_indices));
        Ok(Cut {
            frames: frames?,
            frame_indices,
            tree,
            picked: numbers,
            indices,
        })
    }

    /// Costs by node of the tree.
    pub(crate) fn by_index(&self, costs: NodeCosts) -> SelfCosts {
        let numbered = costs.into_iter();
        let index = |node| self.indices[self.picked.get(node).get()];
        let mut indexed: SelfCosts = numbered.map(|(node, cost)| (index(node), cost)).collect();
        // Where many nodes have costs, sorting by counting is quicker than comparing them.
        if indexed.len() < self.tree.len() / 16 {
            // Stable: that makes use of the pieces that are in order already.
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

/// Line costs by the indices of their frames.
pub(crate) fn by_index(
    lines: &[Vec<LineCost<FrameNo>>],
    indices: &[FrameIx],
) -> Vec<Vec<LineCost>> {
    let lines = lines.iter();
    let lines = lines.map(|lines| renumbered_lines(lines, |frame| indices[frame.get()]));
    lines.collect()
}

/// Frames with their numbers, in the order in which they compare.
pub(crate) type InOrder<'a> = Vec<(Frame<'a>, FrameNo)>;

/// The frames with these numbers.
pub(crate) fn chosen_order(stored: &Frames, numbers: impl Iterator<Item = FrameNo>) -> InOrder<'_> {
    let mut chosen = vec![false; stored.end().get()];
    for number in numbers {
        chosen[number.get()] = true;
    }
    frame_order(stored, &chosen)
}

/// By number of a frame, its index in an order.
pub(crate) fn indices_of(order: &InOrder<'_>, stored: &Frames) -> Vec<FrameIx> {
    let mut indices = vec![FrameIx(u32::MAX); stored.end().get()];
    for (index, &(_, number)) in (0..).zip(order) {
        indices[number.get()] = FrameIx(index);
    }
    indices
}

/// A table of these frames.
pub(crate) fn table_of<'f>(order: &InOrder<'f>) -> Result<FrameTable> {
    let mut frames = FrameTable::new();
    // In their order, frames mostly have strings of the one before: those are not looked up again.
    let mut last: [Option<(&'f str, StringIx)>; 3] = [None; 3];
    for (index, (frame, _)) in (0..).zip(order) {
        let strings = [frame.symbol, frame.module, frame.file];
        let mut interned = |last: &mut Option<(&'f str, StringIx)>, string: &'f str| match last {
            Some((known, ix)) if std::ptr::eq(*known, string) => *ix,
            last => last.insert((string, frames.intern_string(string))).1,
        };
        let strings = std::array::from_fn(|column| interned(&mut last[column], strings[column]));
        if frames.insert_row(frame.row(strings)) != FrameIx(index) {
            return Err(InternalError::damaged(
                "table columns, frames",
                "a frame stands twice",
            ));
        }
    }
    Ok(frames)
}

/// The chosen frames.
pub(crate) fn frame_order<'a>(stored: &'a Frames, chosen: &[bool]) -> InOrder<'a> {
    let numbers = FrameNo(0).onward().zip(chosen);
    let numbers = numbers.filter_map(|(number, chosen)| chosen.then_some(number));
    let mut order: InOrder<'_> = numbers.map(|number| (stored.get(number), number)).collect();
    // Packs are sorted already, and a stable sort makes use of that.
    order.par_sort_by(|(a, _), (b, _)| a.cmp(b));
    order
}
