//! Edits of valid bytes, encoded in the input, so that a few bytes of input reach deep into a file.

/// Applies a sequence of edits. Each is an operation (the lowest two bits of a byte), a position (3 bytes, modulo
/// the length), a number of bytes (one byte), and these bytes, except for removals.
pub(crate) fn apply(bytes: &mut Vec<u8>, mut input: &[u8]) {
    while let [what, a, b, c, count, rest @ ..] = input {
        let at = u32::from_le_bytes([*a, *b, *c, 0]) as usize % (bytes.len() + 1);
        let count = usize::from(*count);
        if what & 3 == 3 {
            let end = (at + count).min(bytes.len());
            bytes.drain(at..end);
            input = rest;
            continue;
        }
        let (new, rest) = rest.split_at(count.min(rest.len()));
        match what & 3 {
            0 => drop(bytes.splice(at..at, new.iter().copied())),
            // Adding small numbers passes more comparisons than random bytes.
            1 => {
                for (byte, new) in bytes[at..].iter_mut().zip(new) {
                    *byte = byte.wrapping_add(*new);
                }
            }
            _ => {
                let end = (at + new.len()).min(bytes.len());
                let len = end - at;
                bytes[at..end].copy_from_slice(&new[..len]);
            }
        }
        input = rest;
    }
}
