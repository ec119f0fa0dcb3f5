//! What the file is made of: objects, of which blocks hold events, and their stacks.

use super::cursor::Cursor;
use crate::error::{DecodeError, Decoded};
use crate::excerpt;

/// An object of the file.
pub(super) enum Object<'b> {
    Trace(Trace),
    Events(Cursor<'b>),
    Stacks(Cursor<'b>),
    /// After it, stacks are numbered anew.
    SequencePoint,
}

/// What is said of the whole trace.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    /// The clock's value at its start, and how often it ticks in a second.
    pub(super) start: u64,
    pub(super) frequency: u64,
    pub(super) pointer: usize,
    pub(super) pid: u64,
}

const NULL: u64 = 1;
const BEGIN: u64 = 5;
const END: u64 = 6;

pub(super) const MAGIC: &[u8] = b"Nettrace";
const SERIALIZATION: &[u8] = b"!FastSerialization.1";

/// Calls for each object of a file.
pub(super) fn objects<'b>(
    bytes: &'b [u8],
    mut read: impl FnMut(Object<'b>) -> Decoded<()>,
) -> Decoded<()> {
    let mut file = Cursor::of_file(bytes);
    file.bytes(MAGIC.len())?;
    let length = file.size()?;
    if length != SERIALIZATION.len() || file.bytes(length)? != SERIALIZATION {
        return Err(DecodeError::unsupported(
            "a Nettrace file of another version than 4, which .NET writes from 3.0 to 9; record it in that format".to_owned(),
        ));
    }
    loop {
        // A null reference stands where a further object would.
        let at = file.at();
        match file.number(1)? {
            BEGIN => {}
            NULL => return Ok(()),
            _ => return Err(unexpected(at)),
        }
        let (begins, is_null) = (file.number(1)?, file.number(1)?);
        file.bytes(8)?;
        let length = file.size()?;
        let name = file.bytes(length)?;
        if (begins, is_null, file.number(1)?) != (BEGIN, NULL, END) {
            return Err(unexpected(at));
        }
        let object = match name {
            b"Trace" => {
                file.bytes(16)?;
                let (start, frequency) = (file.number(8)?, file.number(8)?);
                let (pointer, pid) = (file.size()?, file.number(4)?);
                file.bytes(8)?;
                if !matches!(pointer, 4 | 8) || frequency == 0 {
                    let problem = format!(
                        "pointers of {pointer} bytes and a clock of {frequency} Hz; expected 4 or 8 bytes, and a clock"
                    );
                    return Err(DecodeError::new(at, problem));
                }
                Some(Object::Trace(Trace {
                    start,
                    frequency,
                    pointer,
                    pid,
                }))
            }
            name => {
                let size = file.size()?;
                file.align()?;
                let block = file.part(size)?;
                match name {
                    b"EventBlock" | b"MetadataBlock" => Some(Object::Events(block)),
                    b"StackBlock" => Some(Object::Stacks(block)),
                    b"SPBlock" => Some(Object::SequencePoint),
                    _ => None,
                }
            }
        };
        if let Some(object) = object {
            read(object)?;
        }
        let at = file.at();
        if file.number(1)? != END {
            let problem = format!("expected the end of the object {}", excerpt(name));
            return Err(DecodeError::new(at, problem));
        }
    }
}

fn unexpected(at: usize) -> DecodeError {
    DecodeError::new(at, "expected an object of the file, found something else")
}

/// An event; those of a `MetadataBlock` have the metadata 0, and say what others are.
#[derive(Clone, Copy)]
pub(super) struct Event<'b> {
    pub(super) metadata: u64,
    pub(super) thread: u64,
    pub(super) stack: u64,
    pub(super) time: u64,
    pub(super) payload: Cursor<'b>,
}

/// Calls for each event of a block.
pub(super) fn events<'b>(
    mut block: Cursor<'b>,
    mut read: impl FnMut(Event<'b>) -> Decoded<()>,
) -> Decoded<()> {
    let (header, flags) = (block.number(2)? as usize, block.number(2)?);
    block.bytes(header.saturating_sub(4))?;
    let mut event = Event {
        metadata: 0,
        thread: 0,
        stack: 0,
        time: 0,
        payload: block.part(0)?,
    };
    let mut size = 0;
    while !block.is_empty() {
        match flags & 1 {
            0 => event = plain(&mut block)?,
            _ => compressed(&mut block, &mut event, &mut size)?,
        }
        read(event)?;
    }
    Ok(())
}

/// An event whose header says all.
fn plain<'b>(block: &mut Cursor<'b>) -> Decoded<Event<'b>> {
    block.bytes(4)?;
    // The highest bit says that it is in order.
    let metadata = block.number(4)? & 0x7fff_ffff;
    block.bytes(4)?;
    let thread = block.number(8)?;
    block.bytes(12)?;
    let (stack, time) = (block.number(4)?, block.number(8)?);
    block.bytes(32)?;
    let size = block.size()?;
    let payload = block.part(size)?;
    block.align()?;
    Ok(Event {
        metadata,
        thread,
        stack,
        time,
        payload,
    })
}

/// An event whose header says what is not as in the one before.
fn compressed<'b>(block: &mut Cursor<'b>, event: &mut Event<'b>, size: &mut usize) -> Decoded<()> {
    let flags = block.number(1)?;
    let is_set = |bit: u32| flags & 1 << bit != 0;
    if is_set(0) {
        event.metadata = block.varint()?;
    }
    if is_set(1) {
        // Its number, and the thread and processor that recorded it.
        for _ in 0..3 {
            block.varint()?;
        }
    }
    if is_set(2) {
        event.thread = block.varint()?;
    }
    if is_set(3) {
        event.stack = block.varint()?;
    }
    event.time = event.time.wrapping_add(block.varint()?);
    for activity in [4, 5] {
        if is_set(activity) {
            block.bytes(16)?;
        }
    }
    if is_set(7) {
        *size = block.varint()? as usize;
    }
    event.payload = block.part(*size)?;
    Ok(())
}

/// Calls for each stack of a block: its number, and its addresses, leaf first.
pub(super) fn stacks<'b>(
    mut block: Cursor<'b>,
    mut read: impl FnMut(u64, Cursor<'b>) -> Decoded<()>,
) -> Decoded<()> {
    let (first, count) = (block.number(4)?, block.number(4)?);
    for number in 0..count {
        let size = block.size()?;
        read(first + number, block.part(size)?)?;
    }
    Ok(())
}
