//! Checksums of records.

use super::DecodeError;

/// Bytes of a checksum.
pub(crate) const CHECKSUM_LEN: usize = 8;

/// Appends the checksum of a value that is to stand under this key.
pub(crate) fn with_checksum(key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    let checksum = checksum(key, &body);
    body.extend_from_slice(&checksum);
    body
}

/// The value without its checksum, which must be right for this key.
pub(crate) fn without_checksum<'a>(key: &[u8], stored: &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let (body, stored) = stored
        .split_last_chunk::<CHECKSUM_LEN>()
        .ok_or(DecodeError("too short for a checksum"))?;
    if checksum(key, body) != *stored {
        return Err(DecodeError("the checksum does not match the content"));
    }
    Ok(body)
}

/// The first bytes of BLAKE3 over key and value, so that a value found under the wrong key does not
/// pass either. Keys of one table have one length, so no length stands between the two.
fn checksum(key: &[u8], body: &[u8]) -> [u8; CHECKSUM_LEN] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(body);
    let mut checksum = [0; CHECKSUM_LEN];
    checksum.copy_from_slice(&hasher.finalize().as_bytes()[..CHECKSUM_LEN]);
    checksum
}
