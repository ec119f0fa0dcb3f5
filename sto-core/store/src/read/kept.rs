//! Reads the pieces of a profile's kept calls.

use crate::codec::{
    DecodeError, KeptHead, PieceInfo, ProfileRecord, piece_nodes, unpack_kept_head, unpack_piece,
};
use crate::error::{Result, spool_error};
use crate::numbers::ProfileNo;
use crate::read::rows::Rows;
use crate::tables::Column;
use std::sync::Arc;
use sto_model::trace::PackedCalls;
use sto_model::trace::log::Call;
use sto_model::units::Bytes;

/// The calls of a piece, and the callers of its first call.
pub(crate) struct PieceCalls {
    pub(crate) callers: Vec<Call>,
    pub(crate) calls: Vec<Call>,
}

/// Reads the data common to all pieces of a profile, whose tree has `nodes` nodes.
pub(crate) fn head(rows: &Rows, record: &ProfileRecord, nodes: usize) -> Result<KeptHead> {
    let column = Column::CallTrees(record.number, 0);
    unpack_kept_head(&rows.column(column)?, nodes).map_err(|error| error.at(column))
}

/// Reads a piece of a profile.
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
        let other = DecodeError("it is a different piece");
        return Err(other.at(column));
    }
    Ok(PieceCalls {
        calls: piece.calls(&functions),
        callers: piece.callers,
    })
}

/// The packed size of a profile's kept calls in `pieces` pieces, and the number of nodes in the graphs of
/// these pieces.
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

/// Number of columns of a profile's kept calls.
pub(crate) fn parts(rows: &Rows, profile: ProfileNo) -> Result<u32> {
    let column = Column::CallTrees(profile, 0);
    let Some(head) = rows.optional_column(column)? else {
        return Ok(0);
    };
    let head = unpack_kept_head(&head, usize::MAX).map_err(|error| error.at(column))?;
    Ok(head.pieces.len() as u32 + 1)
}

/// The packed kept calls of a profile, if any.
pub(crate) fn packed(rows: &Rows, profile: ProfileNo) -> Result<Option<Arc<PackedCalls>>> {
    let parts = parts(rows, profile)?;
    if parts == 0 {
        return Ok(None);
    }
    let mut packed = PackedCalls::new(None);
    for part in 0..parts {
        let pack = rows.column(Column::CallTrees(profile, part))?;
        packed.push(&pack).map_err(spool_error)?;
    }
    Ok(Some(Arc::new(packed)))
}
