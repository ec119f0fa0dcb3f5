//! Checksums of records.

use super::DecodeError;

/// Length of a checksum in bytes.
pub(crate) const CHECKSUM_LEN: usize = 8;

/// Appends the checksum of a value and its key.
pub(crate) fn with_checksum(key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    let checksum = checksum(key, &body);
    body.extend_from_slice(&checksum);
    body
}

/// Verifies a value's checksum for this key, and removes it.
pub(crate) fn without_checksum<'a>(key: &[u8], stored: &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let (body, stored) = stored
        .split_last_chunk::<CHECKSUM_LEN>()
        .ok_or(DecodeError("too short for a checksum"))?;
    if checksum(key, body) != *stored {
        return Err(DecodeError("the checksum does not match the content"));
    }
    Ok(body)
}

/// The first bytes of BLAKE3 over key and value. It covers the key, so that a value under the wrong key
/// is found. All keys of a table have the same length, so no separator is needed.
fn checksum(key: &[u8], body: &[u8]) -> [u8; CHECKSUM_LEN] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(body);
    let mut checksum = [0; CHECKSUM_LEN];
    checksum.copy_from_slice(&hasher.finalize().as_bytes()[..CHECKSUM_LEN]);
    checksum
}
