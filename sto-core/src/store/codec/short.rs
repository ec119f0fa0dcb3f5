//! Short numbers: a byte each, but for the few that take more.

use super::Flaw;
use super::bytes::{Packer, Unpacker};

/// From here on, numbers do not stand in their byte.
const LARGE: u8 = u8::MAX;

/// Numbers of which most take a byte.
#[derive(Default)]
pub(super) struct ShortPacker {
    bytes: Packer,
    large: Packer,
}

impl ShortPacker {
    /// Appends a number.
    pub(super) fn number(&mut self, value: u64) {
        match value.checked_sub(u64::from(LARGE)) {
            None => self.bytes.raw(&[value as u8]),
            Some(more) => {
                self.bytes.raw(&[LARGE]);
                self.large.number(more);
            }
        }
    }

    /// Packs them: their bytes, then what is more than fits into these.
    pub(super) fn finish(self, pack: &mut Packer) {
        pack.column(self.bytes);
        pack.column(self.large);
    }
}

/// Numbers of which most take a byte, any of which can be had at once.
pub(super) struct Short {
    bytes: Vec<u8>,
    /// The others, with their places.
    large: Vec<(usize, u32)>,
}

impl Short {
    /// Unpacks so many numbers.
    pub(super) fn unpack(pack: &mut Unpacker<'_>, count: usize) -> Result<Self, Flaw> {
        let bytes = pack.column_of(count, Flaw("there are fewer nodes than announced"))?;
        let large = pack.column()?;
        let mut column = Unpacker::new(&large);
        let mut large = Vec::new();
        for place in memchr::memchr_iter(LARGE, &bytes) {
            let value = column.number32()?.checked_add(LARGE.into());
            let value = value.ok_or(Flaw("a number takes more than 32 bits"))?;
            large.push((place, value));
        }
        column.finish()?;
        Ok(Short { bytes, large })
    }

    /// The number at a place.
    #[inline]
    pub(super) fn get(&self, place: usize) -> u32 {
        match self.bytes[place] {
            LARGE => self.large(place),
            byte => byte.into(),
        }
    }

    #[cold]
    fn large(&self, place: usize) -> u32 {
        let at = self.large.partition_point(|&(other, _)| other < place);
        self.large[at].1
    }
}
