//! The canonical encoding that ids are digests of.

/// Feeds fields, one by one, into a BLAKE3 hasher.
pub(super) struct Canonical(blake3::Hasher);

impl Canonical {
    pub(super) fn new(domain: &str) -> Self {
        Canonical(blake3::Hasher::new()).string(domain)
    }

    pub(super) fn u8(mut self, value: u8) -> Self {
        self.0.update(&[value]);
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.0.update(&value.to_le_bytes());
        self
    }

    /// Bytes of a fixed length, such as another id: no length is written.
    pub(super) fn bytes(mut self, bytes: &[u8; 16]) -> Self {
        self.0.update(bytes);
        self
    }

    pub(super) fn string(mut self, string: &str) -> Self {
        self.0.update(&(string.len() as u64).to_le_bytes());
        self.0.update(string.as_bytes());
        self
    }

    pub(super) fn finish(self) -> [u8; 16] {
        truncate(self.0.finalize())
    }
}

/// The first 16 bytes of a digest.
pub(super) fn truncate(hash: blake3::Hash) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&hash.as_bytes()[..16]);
    id
}
