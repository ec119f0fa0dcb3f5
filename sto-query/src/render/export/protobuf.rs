//! Writing Protocol Buffers.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

/// The fields of a message, as far as they are written. Zeros are left out, as they are what a field
/// has that is not there.
#[derive(Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.one_of(field, value);
        }
    }

    /// A number that is said even where it is zero.
    pub(super) fn one_of(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.varint(u64::from(field) << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// What stands before a field of this many bytes.
    pub(super) fn head(field: u32, length: usize) -> Message {
        let mut head = Message::default();
        head.varint(u64::from(field) << 3 | 2);
        head.varint(length as u64);
        head
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }

    /// A repeated number, packed.
    pub(super) fn numbers(&mut self, field: u32, numbers: impl Iterator<Item = u64>) {
        let mut packed = Message::default();
        numbers.for_each(|number| packed.varint(number));
        self.message(field, &packed);
    }

    /// The fields of another message after these.
    pub(super) fn append(&mut self, fields: &Message) {
        self.0.extend_from_slice(&fields.0);
    }

    /// The bytes so far, which are then gone from here.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
