//! The canonical encoding of fields that ids are digests of.

use crate::units::Cost;

/// A field of an id.
pub(crate) enum Field<'a> {
    U8(u8),
    U32(u32),
    Text(&'a str),
    /// Another id, which is hashed without its length.
    Id([u8; 16]),
}

/// Computes the truncated BLAKE3 digest of the domain and the fields in order.
pub(crate) fn digest(domain: &str, fields: &[Field<'_>]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for field in [&Field::Text(domain)].into_iter().chain(fields) {
        match field {
            Field::U8(value) => hasher.update(&[*value]),
            Field::U32(value) => hasher.update(&value.to_le_bytes()),
            Field::Text(text) => {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes())
            }
            Field::Id(id) => hasher.update(id),
        };
    }
    truncate(hasher.finalize())
}

/// Computes the digest of many fields. Fields are buffered, because hashing kilobytes at once is several
/// times as fast as hashing numbers one by one.
pub(crate) struct BulkHasher {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

const BUFFER_SIZE: usize = 64 << 10;

impl BulkHasher {
    pub(crate) fn new(domain: &str) -> Self {
        let mut new = BulkHasher {
            hasher: blake3::Hasher::new(),
            buffer: Vec::with_capacity(BUFFER_SIZE),
        };
        new.string(domain);
        new
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.raw(&[value]);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    /// Adds the number of fields that follow, as 64 bits.
    pub(crate) fn count(&mut self, count: usize) {
        self.u64(count as u64);
    }

    pub(crate) fn string(&mut self, string: &str) {
        self.count(string.len());
        self.raw(string.as_bytes());
    }

    pub(crate) fn cost(&mut self, cost: Cost) {
        self.u64(cost.samples);
        self.u64(cost.value);
    }

    /// Adds an optional field: 0 for `None`, otherwise 1 and the field.
    pub(crate) fn optional<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        self.u8(value.is_some().into());
        if let Some(value) = value {
            add(self, value);
        }
    }

    /// Adds bytes without their length.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > BUFFER_SIZE {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(bytes);
    }

    pub(crate) fn finish(mut self) -> [u8; 16] {
        truncate(self.hasher.update(&self.buffer).finalize())
    }
}

/// Returns the first 16 bytes of a digest.
pub(crate) fn truncate(hash: blake3::Hash) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&hash.as_bytes()[..16]);
    id
}
