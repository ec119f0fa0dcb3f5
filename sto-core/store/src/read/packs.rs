//! Numbered things in packs: frames, and the nodes of an executable.
//!
//! The packs of one kind and owner follow one another without gap. What a profile adds goes into a
//! new pack after the others; small packs at the end are merged with it, as in a log-structured
//! merge tree, so that a store of many profiles has few packs, and an added profile rewrites little.

use crate::codec::{
    DecodeError, ExecutableRecord, FrameColumns, NodeColumns, PackedFrames, Segments, announced,
    claimed_by_frames, unpack_frames, unpack_nodes,
};
use crate::error::{InternalError, Result};
use crate::numbers::{FrameNo, NodeNo, Number};
use crate::read::rows::{Rows, open_column};
use crate::tables::Column;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use sto_model::Frame;
use sto_model::memory;
use sto_model::units::Bytes;

/// A pack as it stands in the store, with its checksum.
pub(crate) struct Pack<N> {
    pub(crate) column: Column,
    /// Number of the first thing in it.
    pub(crate) first: N,
    /// How many things it has. It is only believed once the checksum was checked.
    len: u32,
    stored: Vec<u8>,
}

impl<N: Number> Pack<N> {
    /// The numbers of the things in it.
    pub(crate) fn numbers(&self) -> Range<N> {
        self.first..self.first.plus(self.len as usize)
    }

    fn body(&self) -> Result<&[u8]> {
        open_column(self.column, &self.stored)
    }

    fn check_len(&self, found: usize) -> Result<()> {
        if found == self.len as usize {
            Ok(())
        } else {
            Err(InternalError::damaged(
                self.column,
                "it has not as many things as it announces",
            ))
        }
    }

    /// What it says, its checksum being right.
    fn of<T>(&self, read: impl FnOnce(&[u8]) -> Result<T, DecodeError>) -> Result<T> {
        read(self.body()?).map_err(|error| error.at(self.column))
    }
}

impl Pack<FrameNo> {
    /// The frames in it.
    pub(crate) fn frames(&self) -> Result<FrameColumns> {
        let frames = self.of(unpack_frames)?;
        self.check_len(frames.len())?;
        Ok(frames)
    }
}

impl Pack<NodeNo> {
    /// The segments of nodes in it, their roots unpacked.
    pub(crate) fn segments(&self, frames_end: FrameNo) -> Result<Segments<'_>> {
        let unpack = |body| Segments::unpack(body, self.first, frames_end);
        unpack(self.body()?).map_err(|error| error.at(self.column))
    }

    /// The nodes in it.
    pub(crate) fn nodes(&self, frames_end: FrameNo) -> Result<NodeColumns> {
        let nodes = self.of(|pack| unpack_nodes(pack, self.first, frames_end))?;
        self.check_len(nodes.len())?;
        Ok(nodes)
    }
}

/// Nodes that follow one another, unpacked or not.
pub(crate) enum NodePack {
    Packed {
        pack: Pack<NodeNo>,
        /// The first number that no frame of the store has.
        frames_end: FrameNo,
    },
    Unpacked {
        first: NodeNo,
        nodes: NodeColumns,
    },
}

impl NodePack {
    /// The numbers of the nodes.
    pub(crate) fn numbers(&self) -> Range<NodeNo> {
        match self {
            NodePack::Packed { pack, .. } => pack.numbers(),
            NodePack::Unpacked { first, nodes } => *first..first.plus(nodes.len()),
        }
    }

    /// The nodes.
    pub(crate) fn nodes(&self) -> Result<Cow<'_, NodeColumns>> {
        match self {
            NodePack::Packed { pack, frames_end } => Ok(Cow::Owned(pack.nodes(*frames_end)?)),
            NodePack::Unpacked { nodes, .. } => Ok(Cow::Borrowed(nodes)),
        }
    }

    /// The same nodes, unpacked for good.
    pub(crate) fn unpacked(self) -> Result<Self> {
        let first = self.numbers().start;
        let nodes = self.nodes()?.into_owned();
        Ok(NodePack::Unpacked { first, nodes })
    }
}

impl Rows {
    /// The packs of all things below a number, in order: in the column that begins with each.
    pub(crate) fn packs<N: Number>(
        &self,
        end: N,
        column: impl Fn(N) -> Column,
    ) -> Result<Vec<Pack<N>>> {
        let mut packs = Vec::new();
        let mut first = N::new(0);
        while first < end {
            let column = column(first);
            let stored = self.stored_column(column)?;
            let len = announced(&stored).map_err(|error| error.at(column))?;
            if len == 0 || len > end.number() - first.number() {
                return Err(InternalError::damaged(
                    column,
                    "it has not as many things as it should",
                ));
            }
            packs.push(Pack {
                column,
                first,
                len,
                stored,
            });
            first = first.plus(len as usize);
        }
        Ok(packs)
    }

    /// The packs of an executable's nodes.
    pub(crate) fn node_packs(&self, executable: &ExecutableRecord) -> Result<Vec<NodePack>> {
        let column = |first| Column::Nodes(executable.number, first);
        let packs = self.packs(executable.nodes, column)?;
        let frames_end = self.contents.frames;
        let packs = packs.into_iter();
        Ok(packs
            .map(|pack| NodePack::Packed { pack, frames_end })
            .collect())
    }

    /// Every frame of the store, by its number.
    pub(crate) fn frames(&self) -> Result<Frames> {
        let packs = self.packs(self.contents.frames, Column::Frames)?;
        let claimed = packs.iter().map(|pack| pack.of(claimed_by_frames));
        memory::check(Bytes(claimed.sum::<Result<u64>>()?))?;
        let packed = packs
            .par_iter()
            .map(|pack| pack.of(PackedFrames::decompress));
        let packed: Vec<PackedFrames> = packed.collect::<Result<_>>()?;
        memory::check(Bytes(packed.iter().map(PackedFrames::text_len).sum()))?;
        let unpacked = packs.par_iter().zip(packed).map(|(pack, packed)| {
            let frames = packed.unpack().map_err(|error| error.at(pack.column))?;
            pack.check_len(frames.len())?;
            Ok((pack.first, frames))
        });
        Ok(Frames {
            packs: unpacked.collect::<Result<_>>()?,
            end: self.contents.frames,
        })
    }
}

/// The packs at the end that are to be merged with `new` things after them.
///
/// A pack goes in where it is no larger than all after it together, unless it is full: it has `most`
/// things. So a thing is packed again about as often as the number of things doubles, and the packs
/// that are not full become smaller by half from one to the next.
pub(crate) fn outgrown<N>(packs: &[Pack<N>], new: u32, most: u32) -> &[Pack<N>] {
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
pub(crate) struct Frames {
    /// Packs with the number of their first frame.
    packs: Vec<(FrameNo, FrameColumns)>,
    end: FrameNo,
}

impl Frames {
    /// The first number that no frame has.
    pub(crate) fn end(&self) -> FrameNo {
        self.end
    }

    /// The frame with a number below [`Self::end`].
    pub(crate) fn get(&self, number: FrameNo) -> Frame<'_> {
        let pack = self.packs.partition_point(|&(first, _)| first <= number) - 1;
        let (first, pack) = &self.packs[pack];
        pack.get(number.get() - first.get())
    }
}
