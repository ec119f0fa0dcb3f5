//! The line of an instruction, from Python's line table of the function.
//!
//! Source: `Objects/locations.md` and `Objects/lnotab_notes.txt` of CPython.

/// The first Python versions with each form of `co_linetable`; before, it is `co_lnotab`.
const LINETABLE: u32 = 0x030a_0000;
const LOCATIONS: u32 = 0x030b_0000;

/// The line of an instruction; 0 if the table does not have it.
pub(super) fn line(python: u32, table: &[u8], first: i64, instruction: i64) -> u32 {
    let line = match u64::try_from(instruction) {
        Err(_) => None,
        Ok(_) if table.is_empty() => None,
        Ok(offset) if python >= LOCATIONS => by_locations(table, first, offset / 2),
        Ok(offset) if python >= LINETABLE => Some(by_pairs(table, first, offset * 2, true)),
        Ok(offset) => Some(by_pairs(table, first, offset, false)),
    };
    line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
}

/// A table of pairs of length and line difference. Since 3.10 the difference applies before the
/// length, earlier after it.
fn by_pairs(table: &[u8], first: i64, offset: u64, is_new: bool) -> i64 {
    let (mut line, mut end) = (first, 0);
    for pair in table.chunks_exact(2) {
        let lines = match i64::from(pair[1] as i8) {
            -128 if is_new => 0,
            lines => lines,
        };
        end += u64::from(pair[0]);
        let is_within = end > offset;
        if is_new || !is_within {
            line += lines;
        }
        if is_within {
            break;
        }
    }
    line
}

/// A table of entries: a byte with the high bit set, a kind, and the number of code units minus
/// one.
fn by_locations(table: &[u8], first: i64, unit: u64) -> Option<i64> {
    let (mut line, mut end) = (first, 0);
    let mut rest = table.iter().copied();
    while let Some(byte) = rest.next() {
        let mut signed = || {
            let bits = varint(&mut rest)?;
            let lines = (bits >> 1) as i64;
            Some(if bits & 1 == 1 { -lines } else { lines })
        };
        match (byte >> 3) & 15 {
            15 => {}
            14 => {
                line += signed()?;
                for _columns_and_last_line in 0..3 {
                    varint(&mut rest)?;
                }
            }
            13 => line += signed()?,
            kind @ 10..=12 => {
                line += i64::from(kind) - 10;
                rest.nth(1)?;
            }
            _ => {
                rest.next()?;
            }
        }
        end += u64::from(byte & 7) + 1;
        if end > unit {
            return Some(line);
        }
    }
    None
}

/// A number with six bits per byte, at most 32 bits.
fn varint(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes.next()?;
        number |= u32::from(byte & 63).checked_shl(shift)?;
        if byte & 64 == 0 {
            return Some(number);
        }
        shift += 6;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `def f(x):`, `    y = [`, `        x,`, `        g(x)]`, `    return y`, with the lines by
    /// `dis.findlinestarts` of each version.
    #[test]
    fn finds_the_same_lines_as_python() {
        let locations = b"\x80\x00\xe0\x09\x0a\x88\x51\x90\x01\x91\x14\x88\x78";
        assert_eq!(line(0x030b_0000, locations, 1, 0), 1);
        assert_eq!(line(0x030b_0000, locations, 1, 2), 3);
        assert_eq!(line(0x030b_0000, locations, 1, 1000), 0);
        let pairs = b"\x02\x02\x08\x01\x02\xff\x04\x02\x00\x80";
        let found = [0, 1, 4, 5, 6].map(|offset| line(0x030a_0000, pairs, 1, offset));
        assert_eq!(found, [3, 4, 4, 3, 5]);
        let old = b"\x00\x02\x02\x01\x08\xff\x02\x02";
        let found = [0, 2, 8, 10, 12].map(|offset| line(0x0309_0000, old, 1, offset));
        assert_eq!(found, [3, 4, 4, 3, 5]);
        assert_eq!(line(0x030b_0000, b"", 1, 0), 0);
        assert_eq!(line(0x030b_0000, locations, 1, -1), 0);
    }

    #[test]
    fn truncated_table_has_no_line() {
        for table in [
            &b"\xf0"[..],
            b"\xf0\x40\x40\x40\x40\x40\x40\x40",
            b"\xd0\x01",
            b"\x80",
        ] {
            assert_eq!(line(0x030b_0000, table, 1, 1000), 0);
        }
    }
}
