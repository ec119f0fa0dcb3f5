//! The `read_format` of each event: which values of its counters a sample carries.
//!
//! linux-perf-event-reader leaves out bits that it does not know, and they tell where the fields behind
//! those values begin.

use super::check::Mode;
use super::salvage::word;

/// Where the header has the size of an event's description, and the place and size of the section of
/// them.
const ATTR_SIZE: usize = 16;
const ATTRS_OFFSET: usize = 24;
const ATTRS_SIZE: usize = 32;
const PIPE_HEADER_SIZE: usize = 16;
const RECORD_HEADER_SIZE: usize = 8;
const RECORD_HEADER_ATTR: u32 = 64;
/// Where `struct perf_event_attr` has it.
const READ_FORMAT: usize = 32;

/// Of each event of a file whose shape was checked, in the order of the events.
pub(super) fn read_formats(bytes: &[u8], mode: Mode) -> Vec<u64> {
    let attrs = match mode {
        Mode::File => in_section(bytes).unwrap_or_default(),
        Mode::Pipe => in_records(bytes),
    };
    let read_format = |attr| word(bytes, attr + READ_FORMAT).unwrap_or_default();
    attrs.into_iter().map(read_format).collect()
}

fn in_section(bytes: &[u8]) -> Option<Vec<usize>> {
    let place = |at| usize::try_from(word(bytes, at)?).ok();
    let (start, size) = (place(ATTRS_OFFSET)?, place(ATTRS_SIZE)?);
    let attr_size = place(ATTR_SIZE).filter(|&size| size > 0)?;
    Some(
        (start..start.checked_add(size)?)
            .step_by(attr_size)
            .collect(),
    )
}

fn in_records(bytes: &[u8]) -> Vec<usize> {
    let mut attrs = Vec::new();
    let mut at = PIPE_HEADER_SIZE;
    // perf writes the descriptions before anything else.
    while let Some(header) = word(bytes, at).filter(|&header| header as u32 == RECORD_HEADER_ATTR) {
        attrs.push(at + RECORD_HEADER_SIZE);
        at += (header >> 48) as usize;
    }
    attrs
}
