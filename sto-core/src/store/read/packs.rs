//! Numbered things in packs: frames, and the nodes of an executable.
//!
//! The packs of one kind and owner follow one another without gap. What a profile adds goes into a
//! new pack behind the others; small packs at the end are made one with it, as in a log-structured
//! merge tree, so that a store of many profiles has few packs, and an added profile rewrites little.

use crate::memory;
use crate::model::Frame;
use crate::store::codec::{
    ExecutableRecord, Flaw, FrameColumns, NodeColumns, NodePacks, PackedFrames, RunUnpacker, Runs,
    Steps, announced, claimed_by_frames, claimed_runs, unpack_frames, unpack_runs, unpack_steps,
};
use crate::store::error::Fault;
use crate::store::guard::guarded;
use crate::store::read::rows::{NewRows, Rows, column_place, open_column};
use crate::store::tables::Column;
use crate::units::Bytes;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// A pack as it stands in the store, sealed.
pub(in crate::store) struct Pack {
    kind: Column,
    owner: u32,
    /// Number of the first thing in it.
    pub(in crate::store) first: u32,
    /// How many things it has. It is only believed once the seal was checked.
    len: u32,
    sealed: Vec<u8>,
}

impl Pack {
    /// The numbers of the things in it.
    pub(in crate::store) fn numbers(&self) -> Range<u32> {
        self.first..self.first + self.len
    }

    fn place(&self) -> String {
        column_place(self.kind, self.owner, self.first)
    }

    fn body(&self) -> Result<&[u8], Fault> {
        open_column(self.kind, self.owner, self.first, &self.sealed)
    }

    fn check_len(&self, found: usize) -> Result<(), Fault> {
        if found == self.len as usize {
            Ok(())
        } else {
            Err(Fault::damaged(
                self.place(),
                "it has not as many things as it announces",
            ))
        }
    }

    /// What it says, its seal being whole.
    fn of<T>(&self, read: impl FnOnce(&[u8]) -> Result<T, Flaw>) -> Result<T, Fault> {
        read(self.body()?).map_err(|flaw| flaw.at(self.place()))
    }

    /// The frames in it.
    pub(in crate::store) fn frames(&self) -> Result<FrameColumns, Fault> {
        let frames = self.of(unpack_frames)?;
        self.check_len(frames.len())?;
        Ok(frames)
    }

    /// The runs of nodes in it.
    fn runs(&self, frame_count: u32) -> Result<Runs, Fault> {
        let runs = self.of(|pack| unpack_runs(pack, self.first, frame_count))?;
        self.check_len(runs.nodes())?;
        Ok(runs)
    }
}

impl Rows {
    /// The packs of `count` things of an owner, in order.
    pub(in crate::store) fn packs(
        &self,
        kind: Column,
        owner: u32,
        count: u32,
    ) -> Result<Vec<Pack>, Fault> {
        let mut packs = Vec::new();
        let mut first = 0;
        while first < count {
            let place = || column_place(kind, owner, first);
            let sealed = self.sealed_column(kind, owner, first)?;
            let len = announced(&sealed).map_err(|flaw| flaw.at(place()))?;
            if len == 0 || len > count - first {
                return Err(Fault::damaged(
                    place(),
                    "it has not as many things as it should",
                ));
            }
            packs.push(Pack {
                kind,
                owner,
                first,
                len,
                sealed,
            });
            first += len;
        }
        Ok(packs)
    }

    /// The packs of an executable's nodes.
    pub(in crate::store) fn node_packs(
        &self,
        executable: &ExecutableRecord,
    ) -> Result<Vec<NodePack>, Fault> {
        let packs = self.packs(Column::Runs, executable.number, executable.nodes)?;
        let runs = packs
            .iter()
            .map(|pack| Ok(u64::from(pack.of(claimed_runs)?)));
        let runs = runs.sum::<Result<u64, Fault>>()?;
        // Where each begins, what it stands below, its head.
        memory::check(Bytes(runs * 3 * size_of::<u32>() as u64))?;
        let packs = packs.par_iter().map(|pack| NodePack::new(self, pack));
        packs.collect()
    }

    /// The nodes of an executable, by their numbers.
    pub(in crate::store) fn nodes(
        &self,
        executable: &ExecutableRecord,
    ) -> Result<NodeColumns, Fault> {
        let packs = self.node_packs(executable)?;
        let unpacked = packs.par_iter().map(|pack| pack.nodes(self));
        let mut nodes = NodeColumns::default();
        for pack in unpacked.collect::<Vec<_>>() {
            nodes.append(pack?);
        }
        Ok(nodes)
    }

    /// Every frame of the store, by its number.
    pub(in crate::store) fn frames(&self) -> Result<Frames, Fault> {
        let packs = self.packs(Column::Frames, 0, self.contents.frames)?;
        let claimed = packs.iter().map(|pack| pack.of(claimed_by_frames));
        memory::check(Bytes(claimed.sum::<Result<u64, Fault>>()?))?;
        let packed = packs
            .par_iter()
            .map(|pack| pack.of(PackedFrames::decompress));
        let packed: Vec<PackedFrames> = packed.collect::<Result<_, Fault>>()?;
        memory::check(Bytes(packed.iter().map(PackedFrames::text_len).sum()))?;
        let unpacked = packs.par_iter().zip(packed).map(|(pack, packed)| {
            let frames = packed.unpack().map_err(|flaw| flaw.at(pack.place()))?;
            pack.check_len(frames.len())?;
            Ok((pack.first, frames))
        });
        Ok(Frames {
            packs: unpacked.collect::<Result<_, Fault>>()?,
            len: self.contents.frames,
        })
    }
}

/// A pack of nodes: its runs, and what they are unpacked with, once some are.
pub(in crate::store) struct NodePack {
    executable: u32,
    pub(in crate::store) runs: Runs,
    steps: OnceLock<Steps>,
}

impl NodePack {
    /// The nodes whose runs are in this pack.
    pub(in crate::store) fn new(rows: &Rows, pack: &Pack) -> Result<Self, Fault> {
        Ok(NodePack {
            executable: pack.owner,
            runs: pack.runs(rows.contents.frames)?,
            steps: OnceLock::new(),
        })
    }

    /// Reads what its runs are unpacked with, unless it was read before.
    pub(in crate::store) fn steps(&self, rows: &Rows) -> Result<&Steps, Fault> {
        if let Some(steps) = self.steps.get() {
            return Ok(steps);
        }
        // Guarded by itself: this is often another thread.
        let pack = guarded(|| rows.column(Column::Nodes, self.executable, self.runs.first()))?;
        let steps = unpack_steps(&pack, &self.runs, rows.contents.frames);
        let steps = steps.map_err(|flaw| self.flawed(flaw))?;
        Ok(self.steps.get_or_init(|| steps))
    }

    /// Unpacks its runs one by one.
    pub(in crate::store) fn unpacker(&self, rows: &Rows) -> Result<RunUnpacker<'_>, Fault> {
        Ok(RunUnpacker::new(&self.runs, self.steps(rows)?))
    }

    /// All its nodes.
    pub(in crate::store) fn nodes(&self, rows: &Rows) -> Result<NodeColumns, Fault> {
        NodeColumns::unpack(&self.runs, self.steps(rows)?).map_err(|flaw| self.flawed(flaw))
    }

    /// The fault that is in its steps.
    pub(in crate::store) fn flawed(&self, flaw: Flaw) -> Fault {
        flaw.at(column_place(
            Column::Nodes,
            self.executable,
            self.runs.first(),
        ))
    }
}

impl NewRows {
    /// Adds the packs of an executable's nodes from `first` on.
    pub(in crate::store) fn nodes(&mut self, executable: u32, first: u32, packs: NodePacks) {
        self.column(Column::Runs, executable, first, packs.runs);
        self.column(Column::Nodes, executable, first, packs.steps);
    }

    /// Removes the packs of an executable's nodes from `first` on, before others are written.
    pub(in crate::store) fn remove_nodes(&mut self, executable: u32, first: u32) {
        self.remove_column(Column::Runs, executable, first);
        self.remove_column(Column::Nodes, executable, first);
    }
}

/// The packs at the end that are to be made one with `new` things behind them.
///
/// A pack goes in where it is no larger than all behind it together, unless it is full: it has `most`
/// things. So a thing is packed again about as often as the number of things doubles, and the packs
/// that are not full become smaller by half from one to the next.
pub(in crate::store) fn outgrown(packs: &[Pack], new: u32, most: u32) -> &[Pack] {
    let mut len = new;
    let mut kept = packs.len();
    while let Some(pack) = kept.checked_sub(1).map(|last| &packs[last])
        && new > 0
        && pack.len <= len
        && pack.len < most
    {
        len = len.saturating_add(pack.len);
        kept -= 1;
    }
    &packs[kept..]
}

/// The frames of a store, by number, as their packs have them.
pub(in crate::store) struct Frames {
    /// Packs with the number of their first frame.
    packs: Vec<(u32, FrameColumns)>,
    len: u32,
}

impl Frames {
    /// Number of frames.
    pub(in crate::store) fn len(&self) -> u32 {
        self.len
    }

    /// The frame with a number below [`Self::len`].
    pub(in crate::store) fn get(&self, number: u32) -> Frame<'_> {
        let pack = self.packs.partition_point(|&(first, _)| first <= number) - 1;
        let (first, pack) = &self.packs[pack];
        pack.get((number - first) as usize)
    }
}
