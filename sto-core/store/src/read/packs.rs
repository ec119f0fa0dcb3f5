//! Numbered items in packs: frames, and the nodes of an executable.
//!
//! The packs of one kind and owner have consecutive numbers without gaps. A profile's new items go into a
//! new pack after the others. Small packs at the end are merged into it, as in a log-structured
//! merge tree, so that a store of many profiles has few packs and adding one rewrites little.

use crate::codec::{
    DecodeError, ExecutableRecord, FrameColumns, NodeColumns, PackedFrames, Segments,
    announced_items, claimed_by_frames, unpack_frames, unpack_nodes,
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

/// A packed column with its checksum.
pub(crate) struct Pack<N> {
    pub(crate) column: Column,
    /// Number of the first item.
    pub(crate) first: N,
    /// Number of items. Only trustworthy after the checksum was verified.
    len: u32,
    stored: Vec<u8>,
}

impl<N: Number> Pack<N> {
    /// The numbers of the items.
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
                "the number of items in it differs from what it announces",
            ))
        }
    }

    /// Decodes the pack after verifying its checksum.
    fn decode<T>(&self, read: impl FnOnce(&[u8]) -> Result<T, DecodeError>) -> Result<T> {
        read(self.body()?).map_err(|error| error.at(self.column))
    }
}

impl Pack<FrameNo> {
    /// Unpacks the frames.
    pub(crate) fn frames(&self) -> Result<FrameColumns> {
        let frames = self.decode(unpack_frames)?;
        self.check_len(frames.len())?;
        Ok(frames)
    }
}

impl Pack<NodeNo> {
    /// Unpacks the roots of the pack's node segments.
    pub(crate) fn segments(&self, frames_end: FrameNo) -> Result<Segments<'_>> {
        let unpack = |body| Segments::unpack(body, self.first, frames_end);
        unpack(self.body()?).map_err(|error| error.at(self.column))
    }

    /// Unpacks the nodes.
    pub(crate) fn nodes(&self, frames_end: FrameNo) -> Result<NodeColumns> {
        let nodes = self.decode(|pack| unpack_nodes(pack, self.first, frames_end))?;
        self.check_len(nodes.len())?;
        Ok(nodes)
    }
}

/// A range of consecutive nodes, packed or unpacked.
pub(crate) enum NodePack {
    Packed {
        pack: Pack<NodeNo>,
        /// The end of the store's frame numbers.
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

    /// The nodes, unpacked if necessary.
    pub(crate) fn nodes(&self) -> Result<Cow<'_, NodeColumns>> {
        match self {
            NodePack::Packed { pack, frames_end } => Ok(Cow::Owned(pack.nodes(*frames_end)?)),
            NodePack::Unpacked { nodes, .. } => Ok(Cow::Borrowed(nodes)),
        }
    }

    /// Converts to the unpacked form.
    pub(crate) fn unpacked(self) -> Result<Self> {
        let first = self.numbers().start;
        let nodes = self.nodes()?.into_owned();
        Ok(NodePack::Unpacked { first, nodes })
    }
}

impl Rows {
    /// Reads the packs of all items below `end`, in order. `column` gives the column of a pack by its first number.
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
            let len = announced_items(&stored).map_err(|error| error.at(column))?;
            if len == 0 || len > end.number() - first.number() {
                return Err(InternalError::damaged(
                    column,
                    "the number of items differs from the store's contents",
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

    /// Reads the packs of an executable's nodes.
    pub(crate) fn node_packs(&self, executable: &ExecutableRecord) -> Result<Vec<NodePack>> {
        let column = |first| Column::Nodes(executable.number, first);
        let packs = self.packs(executable.nodes, column)?;
        let frames_end = self.contents.frames;
        let packs = packs.into_iter();
        Ok(packs
            .map(|pack| NodePack::Packed { pack, frames_end })
            .collect())
    }

    /// Reads all frames of the store.
    pub(crate) fn frames(&self) -> Result<Frames> {
        let packs = self.packs(self.contents.frames, Column::Frames)?;
        let claimed = packs.iter().map(|pack| pack.decode(claimed_by_frames));
        memory::check_limit(Bytes(claimed.sum::<Result<u64>>()?))?;
        let packed = packs
            .par_iter()
            .map(|pack| pack.decode(PackedFrames::decompress));
        let packed: Vec<PackedFrames> = packed.collect::<Result<_>>()?;
        memory::check_limit(Bytes(packed.iter().map(PackedFrames::text_len).sum()))?;
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

/// The packs at the end that are to be merged with `new` items after them.
///
/// A pack is merged if it is not larger than everything after it and not full (`most` items). So an item is
/// packed again about as often as the number of items doubles, and packs that are not full
/// get smaller from one to the next, roughly by half.
pub(crate) fn packs_to_merge<N>(packs: &[Pack<N>], new: u32, most: u32) -> &[Pack<N>] {
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

/// The frames of a store by number.
pub(crate) struct Frames {
    /// Packs with the number of their first frame.
    packs: Vec<(FrameNo, FrameColumns)>,
    end: FrameNo,
}

impl Frames {
    /// The end of the frame numbers.
    pub(crate) fn end(&self) -> FrameNo {
        self.end
    }

    /// The frame with this number, which must be below [`Self::end`].
    pub(crate) fn get(&self, number: FrameNo) -> Frame<'_> {
        let pack = self.packs.partition_point(|&(first, _)| first <= number) - 1;
        let (first, pack) = &self.packs[pack];
        pack.get(number.get() - first.get())
    }
}
