//! The pieces of all calls of a profile, as they stand in a store.

use crate::codec::{
    DecodeError, KeptHead, PieceInfo, ProfileRecord, piece_nodes, unpack_kept_head, unpack_piece,
};
use crate::error::{Result, unspooled};
use crate::numbers::ProfileNo;
use crate::read::rows::Rows;
use crate::tables::Column;
use std::sync::Arc;
use sto_model::trace::PackedCalls;
use sto_model::trace::log::Call;
use sto_model::units::Bytes;

/// The calls of a piece, and those that the first is made in.
pub(crate) struct PieceCalls {
    pub(crate) callers: Vec<Call>,
    pub(crate) calls: Vec<Call>,
}

/// What the pieces of a profile, whose tree has so many nodes, have in common.
pub(crate) fn head(rows: &Rows, record: &ProfileRecord, nodes: usize) -> Result<KeptHead> {
    let column = Column::CallTrees(record.number, 0);
    unpack_kept_head(&rows.column(column)?, nodes).map_err(|error| error.at(column))
}

/// A piece of a profile.
pub(crate) fn read_piece(
    rows: &Rows,
    profile: ProfileNo,
    (info, part): (&PieceInfo, u32),
    head: &KeptHead,
) -> Result<PieceCalls> {
    let column = Column::CallTrees(profile, part);
    let unpacked = unpack_piece(&rows.column(column)?, head.functions.len());
    let (piece, functions) = unpacked.map_err(|error| error.at(column))?;
    if piece.begin != info.begin || functions.len() != info.calls as usize {
        let other = DecodeError("it is not the piece that stands there");
        return Err(other.at(column));
    }
    Ok(PieceCalls {
        calls: piece.calls(&functions),
        callers: piece.callers,
    })
}

/// How many bytes all kept calls of a profile take, and how many nodes the graphs of their pieces have, of which there
/// are so many.
pub(crate) fn size(rows: &Rows, profile: ProfileNo, pieces: usize) -> Result<(Bytes, u64)> {
    let head = rows.column(Column::CallTrees(profile, 0))?.len() as u64;
    let parts = 1..=pieces as u32;
    parts
        .map(|part| {
            let column = Column::CallTrees(profile, part);
            let pack = rows.column(column)?;
            let nodes = piece_nodes(&pack).map_err(|error| error.at(column))?;
            Ok((pack.len() as u64, nodes))
        })
        .try_fold((Bytes(head), 0u64), |(all, nodes), piece: Result<_>| {
            let (bytes, more) = piece?;
            Ok((Bytes(all.0 + bytes), nodes.saturating_add(more)))
        })
}

/// How many columns the kept calls of a profile have.
pub(crate) fn parts(rows: &Rows, profile: ProfileNo) -> Result<u32> {
    let column = Column::CallTrees(profile, 0);
    let Some(head) = rows.optional_column(column)? else {
        return Ok(0);
    };
    let head = unpack_kept_head(&head, usize::MAX).map_err(|error| error.at(column))?;
    Ok(head.pieces.len() as u32 + 1)
}

/// All kept calls of a profile, as they are packed.
pub(crate) fn packed(rows: &Rows, profile: ProfileNo) -> Result<Option<Arc<PackedCalls>>> {
    let parts = parts(rows, profile)?;
    if parts == 0 {
        return Ok(None);
    }
    let mut packed = PackedCalls::new(None);
    for part in 0..parts {
        let pack = rows.column(Column::CallTrees(profile, part))?;
        packed.push(&pack).map_err(unspooled)?;
    }
    Ok(Some(Arc::new(packed)))
}
