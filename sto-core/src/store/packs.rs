//! Numbered things in packs: frames, and the nodes of an executable.
//!
//! The packs of one kind and owner follow one another without gap. What a profile adds goes into a
//! new pack behind the others; small packs at the end are made one with it, as in a log-structured
//! merge tree, so that a store of many profiles has few packs, and an added profile rewrites little.

use super::codec::{
    ExecutableRecord, FrameColumns, NodeColumns, announced, unpack_frames, unpack_nodes,
};
use super::error::Fault;
use super::rows::{Rows, column_place, open_column};
use super::tables::Column;
use crate::model::Frame;
use rayon::prelude::*;
use std::ops::Range;

/// A pack as it stands in the store, sealed.
pub(super) struct Pack {
    kind: Column,
    owner: u32,
    /// Number of the first thing in it.
    pub(super) first: u32,
    /// How many things it has. It is only believed once the seal was checked.
    len: u32,
    sealed: Vec<u8>,
}

impl Pack {
    /// The numbers of the things in it.
    pub(super) fn numbers(&self) -> Range<u32> {
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

    /// The frames in it.
    pub(super) fn frames(&self) -> Result<FrameColumns, Fault> {
        let frames = unpack_frames(self.body()?).map_err(|flaw| flaw.at(self.place()))?;
        self.check_len(frames.len())?;
        Ok(frames)
    }

    /// The nodes in it.
    pub(super) fn nodes(&self, frame_count: u32) -> Result<NodeColumns, Fault> {
        let nodes = unpack_nodes(self.body()?, self.first, frame_count)
            .map_err(|flaw| flaw.at(self.place()))?;
        self.check_len(nodes.len())?;
        Ok(nodes)
    }
}

impl Rows {
    /// The packs of `count` things of an owner, in order.
    pub(super) fn packs(&self, kind: Column, owner: u32, count: u32) -> Result<Vec<Pack>, Fault> {
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

    /// Every node of an executable, by its number.
    pub(super) fn nodes(&self, executable: &ExecutableRecord) -> Result<NodeColumns, Fault> {
        let packs = self.packs(Column::Nodes, executable.number, executable.nodes)?;
        let unpacked = packs
            .par_iter()
            .map(|pack| pack.nodes(self.contents.frames));
        let mut nodes = NodeColumns::with_capacity(executable.nodes as usize);
        for pack in unpacked.collect::<Vec<_>>() {
            nodes.append(pack?);
        }
        Ok(nodes)
    }

    /// Every frame of the store, by its number.
    pub(super) fn frames(&self) -> Result<Frames, Fault> {
        let packs = self.packs(Column::Frames, 0, self.contents.frames)?;
        let unpacked = packs
            .par_iter()
            .map(|pack| Ok((pack.first, pack.frames()?)));
        Ok(Frames {
            packs: unpacked.collect::<Result<_, Fault>>()?,
            len: self.contents.frames,
        })
    }
}

/// The packs at the end that are to be made one with `new` things behind them.
///
/// A pack goes in where it is no larger than all behind it together, unless the result would have
/// more than `most` things. So a thing is packed again about as often as the number of things
/// doubles, and the packs that are not full become smaller by half from one to the next.
pub(super) fn outgrown(packs: &[Pack], new: u32, most: u32) -> &[Pack] {
    let mut len = new;
    let mut kept = packs.len();
    while let Some(pack) = kept.checked_sub(1).map(|last| &packs[last])
        && new > 0
        && pack.len <= len
        && pack.len + len <= most
    {
        len += pack.len;
        kept -= 1;
    }
    &packs[kept..]
}

/// The frames of a store, by number, as their packs have them.
pub(super) struct Frames {
    /// Packs with the number of their first frame.
    packs: Vec<(u32, FrameColumns)>,
    len: u32,
}

impl Frames {
    /// Number of frames.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The frame with a number below [`Self::len`].
    pub(super) fn get(&self, number: u32) -> Frame<'_> {
        let pack = self.packs.partition_point(|&(first, _)| first <= number) - 1;
        let (first, pack) = &self.packs[pack];
        pack.get((number - first) as usize)
    }
}
