//! Planes: numbers of 32 bits as columns of their bytes, the lowest of all first.
//!
//! zstd packs them as well as varints, and any number can be had without those before it.

use super::Flaw;
use super::bytes::{Packer, Unpacker};

/// Packs numbers: how many planes there are, and these. Those above are zero everywhere.
pub(super) fn pack_planes(numbers: &[u32], pack: &mut Packer) {
    let all = numbers.iter().fold(1, |all, number| all | number);
    let planes = all.ilog2() / 8 + 1;
    pack.number(planes);
    for plane in 0..planes {
        let mut column = Packer::default();
        for number in numbers {
            column.raw(&[(number >> (8 * plane)) as u8]);
        }
        pack.column(column);
    }
}

/// Unpacked numbers.
pub(super) struct Planes(Vec<Vec<u8>>);

impl Planes {
    /// Unpacks so many numbers. A plane has a byte for each, so no more are announced than there can be.
    pub(super) fn unpack(pack: &mut Unpacker<'_>, count: usize) -> Result<Self, Flaw> {
        let planes = pack.number()?;
        if !(1..=4).contains(&planes) {
            return Err(Flaw("a number has not 1 to 4 bytes"));
        }
        const OTHER: Flaw = Flaw("there are not as many numbers as announced");
        let planes = (0..planes).map(|_| pack.column_of(count, OTHER));
        Ok(Planes(planes.collect::<Result<_, Flaw>>()?))
    }

    /// The number at a place.
    pub(super) fn get(&self, place: usize) -> u32 {
        let planes = self.0.iter().rev();
        planes.fold(0, |number, plane| number << 8 | u32::from(plane[place]))
    }

    /// All numbers.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut planes = self.0.iter().rev();
        let highest = planes.next().map_or(&[][..], Vec::as_slice);
        let mut numbers: Vec<u32> = highest.iter().map(|&byte| byte.into()).collect();
        for plane in planes {
            for (number, &byte) in numbers.iter_mut().zip(plane) {
                *number = *number << 8 | u32::from(byte);
            }
        }
        numbers
    }
}

/// The difference of two numbers modulo 2^32, small ones of either sign as small numbers.
pub(super) fn difference(value: u32, previous: u32) -> u32 {
    let difference = value.wrapping_sub(previous) as i32;
    ((difference << 1) ^ (difference >> 31)) as u32
}

/// The number of which this is the difference to another.
pub(super) fn add_difference(previous: u32, difference: u32) -> u32 {
    previous.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers: Vec<u32>, shift in 0u32..32) {
            let numbers: Vec<u32> = numbers.into_iter().map(|number| number >> shift).collect();
            let mut packer = Packer::default();
            pack_planes(&numbers, &mut packer);
            let bytes = packer.finish().unwrap();
            let mut unpacker = Unpacker::new(&bytes);
            let planes = Planes::unpack(&mut unpacker, numbers.len()).unwrap();
            prop_assert_eq!(unpacker.finish(), Ok(()));
            prop_assert_eq!(planes.numbers(), numbers.clone());
            for (place, number) in numbers.into_iter().enumerate() {
                prop_assert_eq!(planes.get(place), number);
            }
            let mut unpacker = Unpacker::new(&bytes);
            prop_assert!(Planes::unpack(&mut unpacker, planes.numbers().len() + 1).is_err());
        }

        #[test]
        fn differences_come_back(value: u32, previous: u32) {
            prop_assert_eq!(add_difference(previous, difference(value, previous)), value);
        }
    }

    #[test]
    fn small_differences_are_small_numbers() {
        assert_eq!([5, 4, 6, 3].map(|value| difference(value, 5)), [0, 1, 2, 3]);
    }
}
