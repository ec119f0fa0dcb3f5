//! Numbered things in packs: frames, and the nodes of an executable.
//!
//! The packs of one kind and owner follow one another without gap. What a profile adds goes into a
//! new pack behind the others; small packs at the end are made one with it, as in a log-structured
//! merge tree, so that a store of many profiles has few packs, and an added profile rewrites little.

use crate::memory;
use crate::model::Frame;
use crate::store::codec::{
    DecodeError, ExecutableRecord, FrameColumns, NodeColumns, PackedFrames, Segments, announced,
    claimed_by_frames, unpack_frames, unpack_nodes,
};
use crate::store::error::Fault;
use crate::store::read::rows::{Rows, column_place, open_column};
use crate::store::tables::Column;
use crate::units::Bytes;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// A pack as it stands in the store, with its checksum.
pub(in crate::store) struct Pack {
    kind: Column,
    owner: u32,
    /// Number of the first thing in it.
    pub(in crate::store) first: u32,
    /// How many things it has. It is only believed once the checksum was checked.
    len: u32,
    stored: Vec<u8>,
}

impl Pack {
    /// The numbers of the things in it.
    pub(in crate::store) fn numbers(&self) -> Range<u32> {
        self.first..self.first + self.len
    }

    pub(in crate::store) fn place(&self) -> String {
        column_place(self.kind, self.owner, self.first)
    }

    fn body(&self) -> Result<&[u8], Fault> {
        open_column(self.kind, self.owner, self.first, &self.stored)
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

    /// What it says, its checksum being right.
    fn of<T>(&self, read: impl FnOnce(&[u8]) -> Result<T, DecodeError>) -> Result<T, Fault> {
        read(self.body()?).map_err(|error| error.at(self.place()))
    }

    /// The frames in it.
    pub(in crate::store) fn frames(&self) -> Result<FrameColumns, Fault> {
        let frames = self.of(unpack_frames)?;
        self.check_len(frames.len())?;
        Ok(frames)
    }

    /// The segments of nodes in it, their roots unpacked.
    pub(in crate::store) fn segments(&self, frame_count: u32) -> Result<Segments<'_>, Fault> {
        let unpack = |body| Segments::unpack(body, self.first, frame_count);
        unpack(self.body()?).map_err(|error| error.at(self.place()))
    }

    /// The nodes in it.
    pub(in crate::store) fn nodes(&self, frame_count: u32) -> Result<NodeColumns, Fault> {
        let nodes = self.of(|pack| unpack_nodes(pack, self.first, frame_count))?;
        self.check_len(nodes.len())?;
        Ok(nodes)
    }
}

/// Nodes that follow one another, unpacked or not.
pub(in crate::store) enum NodePack {
    Packed {
        pack: Pack,
        /// Number of frames of the store.
        frame_count: u32,
    },
    Unpacked {
        first: u32,
        nodes: NodeColumns,
    },
}

impl NodePack {
    /// The numbers of the nodes.
    pub(in crate::store) fn numbers(&self) -> Range<u32> {
        match self {
            NodePack::Packed { pack, .. } => pack.numbers(),
            NodePack::Unpacked { first, nodes } => *first..*first + nodes.len() as u32,
        }
    }

    /// The nodes.
    pub(in crate::store) fn nodes(&self) -> Result<Cow<'_, NodeColumns>, Fault> {
        match self {
            NodePack::Packed { pack, frame_count } => Ok(Cow::Owned(pack.nodes(*frame_count)?)),
            NodePack::Unpacked { nodes, .. } => Ok(Cow::Borrowed(nodes)),
        }
    }

    /// The same nodes, unpacked for good.
    pub(in crate::store) fn unpacked(self) -> Result<Self, Fault> {
        let first = self.numbers().start;
        let nodes = self.nodes()?.into_owned();
        Ok(NodePack::Unpacked { first, nodes })
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
            let stored = self.stored_column(kind, owner, first)?;
            let len = announced(&stored).map_err(|error| error.at(place()))?;
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
                stored,
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
        let packs = self.packs(Column::Nodes, executable.number, executable.nodes)?;
        let frame_count = self.contents.frames;
        let packs = packs.into_iter();
        Ok(packs
            .map(|pack| NodePack::Packed { pack, frame_count })
            .collect())
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
            let frames = packed.unpack().map_err(|error| error.at(pack.place()))?;
            pack.check_len(frames.len())?;
            Ok((pack.first, frames))
        });
        Ok(Frames {
            packs: unpacked.collect::<Result<_, Fault>>()?,
            len: self.contents.frames,
        })
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
