//! Unwinding rules of code that signs its return addresses, as distributions build it for aarch64.
//!
//! The instruction `DW_CFA_AARCH64_negate_ra_state` marks where a return address is signed. framehop 0.16 rejects it as
//! unknown, because it does not tell gimli the architecture. As the unwinder removes signatures from all return
//! addresses, signed or not, the instruction can be replaced by `DW_CFA_nop`.
//!
//! Sources: *DWARF for the Arm 64-bit Architecture*, section *Call frame instructions*; *DWARF 5*, section 6.4.2;
//! *Linux Standard Base Core Specification*, section *Exception Frames*.

use std::ops::Range;
use sto_model::bytes::Cursor;

const NEGATE_RA_STATE: u8 = 0x2d;
const NOP: u8 = 0;
/// Maximum length of an augmentation string; compilers write at most five letters.
const MAX_AUGMENTATION: usize = 16;

/// Replaces the instruction in `.eh_frame`, up to the first entry that cannot be read.
pub(super) fn without_signing(mut eh_frame: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    let mut found = Vec::new();
    while let Some((end, instructions)) = entry(&eh_frame, at) {
        let mut reader = Cursor::at_position(&eh_frame[..end], instructions.start);
        while let Some(found_at) = next_negation(&mut reader, instructions.end) {
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
    let mut reader = Cursor::at_position(section, at);
    let length = usize::try_from(reader.u32().ok()?).ok()?;
    // A length of 0 ends the section; the 64-bit format, for entries of 4 GiB, is not used in practice.
    let start = reader.at();
    let end = start
        .checked_add(length)
        .filter(|&end| length > 0 && end <= section.len())?;
    let id = usize::try_from(reader.u32().ok()?).ok()?;
    let cie = if id == 0 { at } else { start.checked_sub(id)? };
    let instructions = match Cie::at(section, cie) {
        Some(cie) if id == 0 => cie.instructions..end,
        Some(cie) => {
            reader.take(2 * cie.address_size).ok()?;
            let augmentation = reader.varint().ok()?;
            reader.take(augmentation).ok()?;
            reader.at()..end
        }
        // Without a readable CIE, the instructions cannot be located and stay unchanged.
        None => end..end,
    };
    Some((end, instructions))
}

/// A common information entry.
struct Cie {
    /// Size in bytes of an address in the entries that refer to this one.
    address_size: u64,
    /// Offset of the CIE's own instructions.
    instructions: usize,
}

impl Cie {
    fn at(section: &[u8], at: usize) -> Option<Cie> {
        let mut reader = Cursor::at_position(section, at);
        reader.take(8).ok()?;
        let version = reader.u8().ok()?;
        let mut letters = reader.rest().iter().take(MAX_AUGMENTATION);
        let letters = letters.position(|&letter| letter == 0)?;
        let augmentation = reader.take(letters as u64).ok()?;
        let _zero = reader.u8().ok()?;
        // Code and data alignment factors.
        reader.varint().ok()?;
        reader.varint().ok()?;
        match version {
            1 => drop(reader.u8().ok()?),
            _ => drop(reader.varint().ok()?),
        }
        let augmentation = augmentation.strip_prefix(b"z")?;
        let length = usize::try_from(reader.varint().ok()?).ok()?;
        let instructions = reader.at().checked_add(length)?;
        let mut address_size = 8;
        for letter in augmentation {
            match letter {
                b'R' => address_size = pointer_size(reader.u8().ok()?)?,
                b'L' => drop(reader.u8().ok()?),
                b'P' => {
                    let size = pointer_size(reader.u8().ok()?)?;
                    reader.take(size).ok()?;
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
fn pointer_size(encoding: u8) -> Option<u64> {
    match encoding & 0xf {
        0 | 4 | 0xc => Some(8),
        2 | 0xa => Some(2),
        3 | 0xb => Some(4),
        _ => None,
    }
}

/// Returns the offset of the next `DW_CFA_AARCH64_negate_ra_state` before `end`.
fn next_negation(reader: &mut Cursor<'_>, end: usize) -> Option<usize> {
    while reader.at() < end {
        let at = reader.at();
        let opcode = reader.u8().ok()?;
        match (opcode >> 6, opcode) {
            (_, NEGATE_RA_STATE) => return Some(at),
            // `DW_CFA_advance_loc`, `restore`, `nop`, `remember_state` and `restore_state` have no operand.
            (1 | 3, _) | (_, 0 | 0x0a | 0x0b) => {}
            // `DW_CFA_offset`, and the others with one number.
            (2, _) | (_, 0x06..=0x08 | 0x0d | 0x0e | 0x13 | 0x2e) => drop(reader.varint().ok()?),
            (_, 0x02) => drop(reader.take(1).ok()?),
            (_, 0x03) => drop(reader.take(2).ok()?),
            (_, 0x04) => drop(reader.take(4).ok()?),
            // Two numbers.
            (_, 0x05 | 0x09 | 0x0c | 0x11 | 0x12 | 0x14 | 0x15) => {
                reader.varint().ok()?;
                reader.varint().ok()?;
            }
            // Expressions.
            (_, 0x0f) => {
                let length = reader.varint().ok()?;
                reader.take(length).ok()?;
            }
            (_, 0x10 | 0x16) => {
                reader.varint().ok()?;
                let length = reader.varint().ok()?;
                reader.take(length).ok()?;
            }
            _ => return None,
        }
    }
    None
}
