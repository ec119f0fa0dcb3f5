//! Unwinding rules of code that signs its return addresses, as distributions build it for aarch64.
//!
//! The instruction `DW_CFA_AARCH64_negate_ra_state` marks where a return address is signed. framehop 0.16 rejects it as
//! unknown, because it does not tell gimli the architecture. As the unwinder removes signatures from all return
//! addresses, signed or not, the instruction can be replaced by `DW_CFA_nop`.
//!
//! Sources: *DWARF for the Arm 64-bit Architecture*, section *Call frame instructions*; *DWARF 5*, section 6.4.2;
//! *Linux Standard Base Core Specification*, section *Exception Frames*.

use std::ops::Range;

const NEGATE_RA_STATE: u8 = 0x2d;
const NOP: u8 = 0;
/// Maximum length of an augmentation string; compilers write at most five letters.
const MAX_AUGMENTATION: usize = 16;

/// Replaces the instruction in `.eh_frame`, up to the first entry that cannot be read.
pub(super) fn without_signing(mut eh_frame: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    let mut found = Vec::new();
    while let Some((end, instructions)) = entry(&eh_frame, at) {
        let mut reader = Reader {
            bytes: &eh_frame[..end],
            at: instructions.start,
        };
        while let Some(found_at) = reader.next_negation(instructions.end) {
            found.push(found_at);
        }
        at = end;
    }
    for at in found {
        eh_frame[at] = NOP;
    }
    eh_frame
}

/// Returns the end of the entry at an offset, and the range of its instructions.
fn entry(section: &[u8], at: usize) -> Option<(usize, Range<usize>)> {
    let mut reader = Reader { bytes: section, at };
    let length = usize::try_from(reader.u32()?).ok()?;
    // A length of 0 ends the section; the 64-bit format, for entries of 4 GiB, is not used in practice.
    let start = reader.at;
    let end = start
        .checked_add(length)
        .filter(|&end| length > 0 && end <= section.len())?;
    let id = usize::try_from(reader.u32()?).ok()?;
    let cie = if id == 0 { at } else { start.checked_sub(id)? };
    let instructions = match Cie::at(section, cie) {
        Some(cie) if id == 0 => cie.instructions..end,
        Some(cie) => {
            reader.skip(2 * cie.address_size)?;
            let augmentation = reader.leb128()?;
            reader.skip(augmentation)?;
            reader.at..end
        }
        // Without a readable CIE, the instructions cannot be located and stay unchanged.
        None => end..end,
    };
    Some((end, instructions))
}

/// A common information entry.
struct Cie {
    /// Size in bytes of an address in the entries that refer to this one.
    address_size: usize,
    /// Offset of the CIE's own instructions.
    instructions: usize,
}

impl Cie {
    fn at(section: &[u8], at: usize) -> Option<Cie> {
        let mut reader = Reader { bytes: section, at };
        reader.skip(8)?;
        let version = reader.u8()?;
        let rest = section.get(reader.at..)?;
        let augmentation = &rest[..rest
            .iter()
            .take(MAX_AUGMENTATION)
            .position(|&byte| byte == 0)?];
        reader.skip(augmentation.len() + 1)?;
        // Code and data alignment factors.
        reader.leb128()?;
        reader.leb128()?;
        match version {
            1 => reader.skip(1)?,
            _ => drop(reader.leb128()?),
        }
        let augmentation = augmentation.strip_prefix(b"z")?;
        let length = reader.leb128()?;
        let instructions = reader.at.checked_add(length)?;
        let mut address_size = 8;
        for letter in augmentation {
            match letter {
                b'R' => address_size = pointer_size(reader.u8()?)?,
                b'L' => reader.skip(1)?,
                b'P' => {
                    let size = pointer_size(reader.u8()?)?;
                    reader.skip(size)?;
                }
                _ => {}
            }
        }
        Some(Cie {
            address_size,
            instructions,
        })
    }
}

/// Returns the size of a pointer in an encoding (`DW_EH_PE_*`).
fn pointer_size(encoding: u8) -> Option<usize> {
    match encoding & 0xf {
        0 | 4 | 0xc => Some(8),
        2 | 0xa => Some(2),
        3 | 0xb => Some(4),
        _ => None,
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self
            .at
            .checked_add(count)
            .filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn u32(&mut self) -> Option<u32> {
        let word = *self.bytes.get(self.at..)?.first_chunk()?;
        self.at += 4;
        Some(u32::from_le_bytes(word))
    }

    /// Reads a LEB128 number; one that does not fit into `usize` becomes larger than any section.
    fn leb128(&mut self) -> Option<usize> {
        let (mut value, mut shift) = (0_usize, 0_u32);
        loop {
            let byte = self.u8()?;
            let bits = usize::from(byte & 0x7f);
            value |= bits.checked_shl(shift).unwrap_or(usize::MAX);
            shift = u32::saturating_add(shift, 7);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    /// Returns the offset of the next `DW_CFA_AARCH64_negate_ra_state` before `end`.
    fn next_negation(&mut self, end: usize) -> Option<usize> {
        while self.at < end {
            let at = self.at;
            let opcode = self.u8()?;
            match (opcode >> 6, opcode) {
                (_, NEGATE_RA_STATE) => return Some(at),
                // `DW_CFA_advance_loc`, `restore`, `nop`, `remember_state` and `restore_state` have no operand.
                (1 | 3, _) | (_, 0 | 0x0a | 0x0b) => {}
                // `DW_CFA_offset`, and the others with one number.
                (2, _) | (_, 0x06..=0x08 | 0x0d | 0x0e | 0x13 | 0x2e) => drop(self.leb128()?),
                (_, 0x02) => self.skip(1)?,
                (_, 0x03) => self.skip(2)?,
                (_, 0x04) => self.skip(4)?,
                // Two numbers.
                (_, 0x05 | 0x09 | 0x0c | 0x11 | 0x12 | 0x14 | 0x15) => {
                    self.leb128()?;
                    self.leb128()?;
                }
                // Expressions.
                (_, 0x0f) => {
                    let length = self.leb128()?;
                    self.skip(length)?;
                }
                (_, 0x10 | 0x16) => {
                    self.leb128()?;
                    let length = self.leb128()?;
                    self.skip(length)?;
                }
                _ => return None,
            }
        }
        None
    }
}
