//! The canonical encoding that ids are digests of.

use crate::units::Cost;

/// A field of an id.
pub(crate) enum Field<'a> {
    U8(u8),
    U32(u32),
    Text(&'a str),
    /// Another id: no length is written.
    Id([u8; 16]),
}

/// BLAKE3 of these fields in their order, truncated.
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

/// The same for very many fields: they gather in a buffer, as the hasher takes kilobytes several times as
/// fast as number by number.
pub(crate) struct Bulk {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

/// Bytes that are hashed at once, or more where a name is long.
const AT_ONCE: usize = 64 << 10;

impl Bulk {
    pub(crate) fn new(domain: &str) -> Self {
        let mut new = Bulk {
            hasher: blake3::Hasher::new(),
            buffer: Vec::with_capacity(AT_ONCE),
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

    /// How many fields of a kind follow.
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

    /// A field that may be missing: 0, or 1 and the field.
    pub(crate) fn optional<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        self.u8(value.is_some().into());
        if let Some(value) = value {
            add(self, value);
        }
    }

    /// Bytes as they are: no length is written.
    #[inline]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > AT_ONCE {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(bytes);
    }

    pub(crate) fn finish(mut self) -> [u8; 16] {
        truncate(self.hasher.update(&self.buffer).finalize())
    }
}

/// The first 16 bytes of a digest.
pub(crate) fn truncate(hash: blake3::Hash) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&hash.as_bytes()[..16]);
    id
}
