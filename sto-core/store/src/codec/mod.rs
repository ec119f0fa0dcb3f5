//! The bytes of records and columns, as specified in SPEC.md.
//!
//! All functions are pure conversions between values and bytes. Packing rejects values that could not be
//! read back. Unpacking checks every length, range and order, and reserves memory only for counts
//! that the available bytes can hold. The caller adds the location to a [`DecodeError`].
//! that the bytes at hand can hold. Where in the store a [`DecodeError`] is, the caller knows.

mod addresses;
mod bytes;
mod call_trees;
mod calls;
mod checksum;
mod contexts;
mod costs;
mod frames;
mod lines;
mod metrics;
mod nodes;
mod pairs;
mod parts;
mod records;
mod slices;
mod sources;

pub(crate) use addresses::{announced_stacks, pack_addresses, unpack_addresses};
pub use call_trees::{KeptHead, PieceInfo, pack_kept_head, pack_piece};
pub(crate) use call_trees::{piece_nodes, unpack_kept_head, unpack_piece};
pub(crate) use calls::{
    claimed_by_arguments, claimed_by_calls, pack_arguments, pack_calls, unpack_arguments,
    unpack_calls,
};
pub(crate) use checksum::{CHECKSUM_LEN, with_checksum, without_checksum};
pub(crate) use costs::{pack_costs, unpack_costs};
pub(crate) use frames::{
    FrameColumns, PackedFrames, claimed_by_frames, pack_frames, unpack_frames,
};
pub(crate) use lines::{pack_lines, unpack_lines};
pub(crate) use metrics::{claimed_by_metrics, pack_metrics, unpack_metrics};
pub(crate) use nodes::{NodeColumns, OtherNodes, Segments, pack_nodes, unpack_nodes};
pub(crate) use parts::{pack_parts, unpack_parts};
pub use records::ProfileOrigin;
pub(crate) use records::{
    BuildRecord, CommitRecord, Contents, CostSum, EarliestFact, ExecutableRecord, ProfileRecord,
    ReadingRecord, pack, pack_modules, unpack, unpack_modules,
};
pub(crate) use slices::{is_consistent, pack_slices, unpack_slices, unpack_slices_contexts};
pub(crate) use sources::{pack_sources, unpack_sources};

/// An error of packing or unpacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
#[doc(hidden)]
pub struct DecodeError(pub(crate) &'static str);

/// The number of items that a pack announces, which is the first field of all packs.
pub(crate) fn announced_items(pack: &[u8]) -> Result<u32, DecodeError> {
    bytes::Unpacker::new(pack).number32()
}

#[cfg(test)]
mod tests;
