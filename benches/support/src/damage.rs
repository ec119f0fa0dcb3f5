//! Damage to files.

use crate::Random;

/// Texts with a meaning in some format.
const TOKENS: [&[u8]; 8] = [
    b"\n",
    b"  ",
    b"\"",
    b"<",
    b"/>",
    b"-1",
    b"18446744073709551615",
    b"99999999999999999999",
];

/// Numbers at the limits of integer types.
const NUMBERS: [u64; 6] = [0, 0x7fff, 1 << 31, u32::MAX as u64, 1 << 63, u64::MAX];

/// Changes a few places, half of the time in the header.
pub fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let end = [512, usize::MAX][random.below(2)];
        let at = random.below(bytes.len().min(end));
        let rest = bytes.len() - at;
        let length = random.below(200).min(rest);
        let byte = random.bits() as u8;
        let (replaced, by) = match random.below(8) {
            0 => (rest, Vec::new()),
            1 => (length, Vec::new()),
            2 => (0, bytes[at..at + length].repeat(random.below(40))),
            3 => {
                let token = TOKENS[random.below(TOKENS.len())];
                (random.below(3), token.to_vec())
            }
            4 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let size = 1 << random.below(4);
                (size, number[..size].to_vec())
            }
            5 => (0, vec![byte]),
            _ => (1, vec![byte]),
        };
        bytes.splice(at..at + replaced.min(rest), by);
    }
}
