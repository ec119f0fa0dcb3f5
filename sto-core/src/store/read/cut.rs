//! Cutting profiles out of the nodes of an executable: their trees, in an order of their own.

use crate::intern::{Interned, LineCost, NodeIx, SelfCosts, StackTree};
use crate::memory;
use crate::model::{Frame, FrameIx, FrameTable, StringIx};
use crate::store::codec::{ExecutableRecord, ProfileRecord, unpack_slices};
use crate::store::error::Fault;
use crate::store::read::counts::{Counts, NodeCosts};
use crate::store::read::packs::{Frames, NodePack};
use crate::store::read::picked::{Marks, Picked, Places};
use crate::store::read::preorder::preorder;
use crate::store::read::rows::{Rows, column_place};
use crate::store::tables::Column;
use crate::units::Bytes;
use rayon::prelude::*;

/// The nodes of an executable and the frames of its store: what profiles are cut out of.
pub(in crate::store) struct ExecutableTree<'a> {
    frames: &'a Frames,
    packs: Vec<NodePack>,
    /// Number of nodes.
    len: u32,
}

impl<'a> ExecutableTree<'a> {
    /// Unpacks all of an executable's nodes.
    pub(in crate::store) fn unpack(
        rows: &Rows,
        frames: &'a Frames,
        executable: &ExecutableRecord,
    ) -> Result<Self, Fault> {
        memory::check(Bytes(
            u64::from(executable.nodes) * 2 * size_of::<u32>() as u64,
        ))?;
        let packs = rows.node_packs(executable)?.into_par_iter();
        Ok(ExecutableTree {
            frames,
            packs: packs
                .map(NodePack::unpacked)
                .collect::<Result<_, Fault>>()?,
            len: executable.nodes,
        })
    }

    /// All that is a profile's own, with the stacks and frames that it is of: as it went in.
    pub(in crate::store) fn profile(
        &self,
        rows: &Rows,
        record: &ProfileRecord,
    ) -> Result<Interned, Fault> {
        self.of(record, Counts::read(rows, record, self.len)?)
    }

    /// The same of counts that were read already.
    pub(in crate::store) fn of(
        &self,
        record: &ProfileRecord,
        counts: Counts,
    ) -> Result<Interned, Fault> {
        let Counts {
            costs,
            mut lines,
            slices,
        } = counts;
        let picked = Picked::of(&self.packs, Marks::of(&costs, self.len)?)?;
        let cut = Cut::of(picked, self.frames, &lines)?;
        place_lines(&mut lines, &cut.frame_places);
        let costs: Vec<SelfCosts> = costs.into_iter().map(|costs| cut.place(costs)).collect();
        let slices = slices.map(|pack| {
            unpack_slices(&pack, &costs)
                .map_err(|error| error.at(column_place(Column::Slices, record.number, 0)))
        });
        Ok(Interned {
            slices: slices.transpose()?,
            costs,
            lines,
            frames: cut.frames,
            tree: cut.tree,
        })
    }
}

/// A tree of picked nodes, with frames of its own.
pub(in crate::store) struct Cut {
    pub(in crate::store) frames: FrameTable,
    /// By the store's number of a frame, its place in `frames`.
    frame_places: Vec<FrameIx>,
    pub(in crate::store) tree: StackTree,
    picked: Places,
    /// By place among the picked nodes, the index in `tree`.
    indices: Vec<NodeIx>,
}

impl Cut {
    /// The tree of these nodes, and the frames of it and of lines.
    pub(in crate::store) fn of(
        picked: Picked,
        stored: &Frames,
        lines: &[Vec<LineCost>],
    ) -> Result<Self, Fault> {
        let Picked { nodes, places } = picked;
        let used = nodes.frames.iter().copied();
        let order = chosen_order(stored, used.chain(frames_of(lines)));
        let frame_places = places_of(&order, stored);
        let (frames, (tree, indices)) =
            rayon::join(|| table_of(&order), || preorder(&nodes, &frame_places));
        Ok(Cut {
            frames: frames?,
            frame_places,
            tree,
            picked: places,
            indices,
        })
    }

    /// Costs by node of the tree.
    pub(in crate::store) fn place(&self, costs: NodeCosts) -> SelfCosts {
        let placed = costs.into_iter();
        let index = |node| self.indices[self.picked.get(node) as usize];
        let mut placed: SelfCosts = placed.map(|(node, cost)| (index(node), cost)).collect();
        // Where many nodes have costs, putting each into its place is quicker than comparing them.
        if placed.len() < self.tree.len() / 16 {
            // Stable: that makes use of the pieces that are in order already.
            placed.sort_by_key(|&(node, _)| node);
            return placed;
        }
        let mut by_node = vec![0u32; self.tree.len()];
        for (place, &(node, _)) in (1..).zip(&placed) {
            by_node[node.get()] = place;
        }
        let order = by_node.into_iter().filter(|&place| place > 0);
        order.map(|place| placed[place as usize - 1]).collect()
    }
}

pub(in crate::store) fn frames_of(lines: &[Vec<LineCost>]) -> impl Iterator<Item = u32> {
    lines.iter().flatten().map(|line| line.frame.0)
}

pub(in crate::store) fn place_lines(lines: &mut [Vec<LineCost>], places: &[FrameIx]) {
    for lines in lines {
        for line in &mut *lines {
            line.frame = places[line.frame.get()];
        }
        lines.sort_unstable_by_key(|line| (line.frame, line.line));
    }
}

/// Frames with their numbers, in the order in which they compare.
pub(in crate::store) type InOrder<'a> = Vec<(Frame<'a>, u32)>;

/// The frames with these numbers.
pub(in crate::store) fn chosen_order(
    stored: &Frames,
    numbers: impl Iterator<Item = u32>,
) -> InOrder<'_> {
    let mut chosen = vec![false; stored.len() as usize];
    for number in numbers {
        chosen[number as usize] = true;
    }
    frame_order(stored, &chosen)
}

/// By number of a frame, its place in an order.
pub(in crate::store) fn places_of(order: &InOrder<'_>, stored: &Frames) -> Vec<FrameIx> {
    let mut places = vec![FrameIx(u32::MAX); stored.len() as usize];
    for (place, &(_, number)) in (0..).zip(order) {
        places[number as usize] = FrameIx(place);
    }
    places
}

/// A table of these frames.
pub(in crate::store) fn table_of<'f>(order: &InOrder<'f>) -> Result<FrameTable, Fault> {
    let mut frames = FrameTable::new();
    // In their order, frames mostly have strings of the one before: those are not looked up again.
    let mut last: [Option<(&'f str, StringIx)>; 3] = [None; 3];
    for (place, (frame, _)) in (0..).zip(order) {
        let strings = [frame.symbol, frame.module, frame.file];
        let mut interned = |last: &mut Option<(&'f str, StringIx)>, string: &'f str| match last {
            Some((known, ix)) if std::ptr::eq(*known, string) => *ix,
            last => last.insert((string, frames.intern_string(string))).1,
        };
        let strings = std::array::from_fn(|column| interned(&mut last[column], strings[column]));
        if frames.insert_row(frame.row(strings)) != FrameIx(place) {
            return Err(Fault::damaged(
                "table columns, frames",
                "a frame stands twice",
            ));
        }
    }
    Ok(frames)
}

/// The chosen frames.
pub(in crate::store) fn frame_order<'a>(stored: &'a Frames, chosen: &[bool]) -> InOrder<'a> {
    let numbers = (0..stored.len()).filter(|&number| chosen[number as usize]);
    let mut order: InOrder<'_> = numbers.map(|number| (stored.get(number), number)).collect();
    // Packs are sorted already, and a stable sort makes use of that.
    order.par_sort_by(|(a, _), (b, _)| a.cmp(b));
    order
}
