//! CPU profiles: binary words, then text.

use super::mappings::Mappings;
use super::{NO_NAMES, add, sample_types};
use crate::error::{DecodeError, Decoded};
use crate::recording::RecordingBuilder;

/// The words of a file, from an offset on.
pub(super) struct Words<'b> {
    bytes: &'b [u8],
    at: usize,
    size: usize,
    is_big_endian: bool,
}

impl<'b> Words<'b> {
    /// The words after the header of a profile of version 0, and the sampling period in
    /// microseconds.
    pub(super) fn new(bytes: &'b [u8]) -> Option<(Words<'b>, u64)> {
        [(4, false), (4, true), (8, false), (8, true)]
            .into_iter()
            .find_map(|(size, is_big_endian)| {
                let mut words = Words {
                    bytes,
                    at: 0,
                    size,
                    is_big_endian,
                };
                let mut header = [0; 5];
                for word in &mut header {
                    *word = words.next()?;
                }
                match header {
                    [0, 3, 0, period, 0] if period > 0 => Some((words, period)),
                    _ => None,
                }
            })
    }

    fn next(&mut self) -> Option<u64> {
        let word = self.bytes.get(self.at..self.at + self.size)?;
        self.at += self.size;
        let push = |number, &byte: &u8| number << 8 | u64::from(byte);
        Some(if self.is_big_endian {
            word.iter().fold(0, push)
        } else {
            word.iter().rev().fold(0, push)
        })
    }
}

pub(crate) fn read(
    bytes: &[u8],
    mut words: Words<'_>,
    microseconds: u64,
) -> Decoded<RecordingBuilder> {
    let mut samples = Vec::new();
    loop {
        let at = words.at;
        let sample = sample(&mut words);
        let (count, addresses) = sample.ok_or_else(|| {
            DecodeError::cut(bytes.len(), "within its samples, which a count of 0 ends")
        })?;
        if count == 0 && addresses == [0] {
            break;
        }
        samples.push((at, count, addresses));
    }
    let mut builder = RecordingBuilder::default();
    let columns = sample_types(
        vec![(b"samples", b"count"), (b"cpu", b"nanoseconds")],
        &mut builder,
    )?;
    let mappings = Mappings::parse(&bytes[words.at..], &mut builder);
    if words.at == bytes.len() {
        builder.warnings.push(NO_NAMES.to_owned());
    }
    let mut stack = Vec::new();
    for (at, count, mut addresses) in samples {
        // The interrupted address, and again as the first frame of unwinding.
        if let [leaf, caller, ..] = addresses[..]
            && leaf == caller
        {
            addresses.remove(1);
        }
        stack.clear();
        for (depth, &address) in addresses.iter().enumerate().rev() {
            // All but the first are return addresses.
            let address = address.saturating_sub(u64::from(depth > 0));
            let location = mappings.location(address, &mut builder);
            stack.push(location.map_err(DecodeError::at(at))?);
        }
        let time = microseconds
            .checked_mul(1000)
            .and_then(|period| period.checked_mul(count))
            .ok_or_else(|| {
                DecodeError::new(
                    at,
                    format!("{count} samples of {microseconds} µs are longer than 2^64 ns"),
                )
            })?;
        add((&[count, time], &stack), &columns, at, &mut builder)?;
    }
    Ok(builder)
}

/// The count and addresses, leaf first, of a sample; `None` if the file ends before.
fn sample(words: &mut Words<'_>) -> Option<(u64, Vec<u64>)> {
    let (count, depth) = (words.next()?, usize::try_from(words.next()?).ok()?);
    let left = (words.bytes.len() - words.at) / words.size;
    let depth = (depth <= left).then_some(depth)?;
    let addresses = (0..depth).map(|_| words.next());
    Some((count, addresses.collect::<Option<_>>()?))
}
