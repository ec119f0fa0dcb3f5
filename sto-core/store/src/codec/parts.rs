//! Concatenated packs.

use super::DecodeError;
use super::bytes::{Packer, Unpacker};

/// Joins packs: their number, then each after its length.
pub(crate) fn pack_parts(parts: &[Vec<u8>]) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    pack.number(parts.len() as u64);
    for part in parts {
        pack.number(part.len() as u64);
        pack.raw(part);
    }
    pack.finish()
}

/// Splits joined packs.
pub(crate) fn unpack_parts(pack: &[u8]) -> Result<Vec<&[u8]>, DecodeError> {
    let mut unpacker = Unpacker::new(pack);
    let count = unpacker.number32()?;
    // Each part takes at least one byte.
    if count as usize > pack.len() {
        return Err(DecodeError("it has more parts than bytes"));
    }
    let parts = (0..count).map(|_| {
        let length = usize::try_from(unpacker.number()?);
        unpacker.raw(length.map_err(|_| DecodeError("a part's length is too large"))?)
    });
    let parts = parts.collect::<Result<_, _>>()?;
    unpacker.finish()?;
    Ok(parts)
}
