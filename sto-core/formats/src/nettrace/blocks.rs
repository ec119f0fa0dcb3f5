//! The structure of the file: objects; among these, blocks with events and blocks with stacks.

use crate::error::{DecodeError, Decoded};
use crate::wire::text::excerpt;
use sto_model::bytes::{Cursor, Read};

/// An object of the file.
pub(super) enum Object<'b> {
    Trace(Trace),
    Events(Cursor<'b>),
    Stacks(Cursor<'b>),
    /// From here on, stack numbers start again.
    SequencePoint,
}

/// The header of the whole trace.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    /// The clock's value at the start, and its frequency in Hz.
    pub(super) start: u64,
    pub(super) frequency: u64,
    pub(super) pointer: usize,
    pub(super) pid: u32,
}

const NULL: u8 = 1;
const BEGIN: u8 = 5;
const END: u8 = 6;

pub(super) const MAGIC: &[u8] = b"Nettrace";
const SERIALIZATION: &[u8] = b"!FastSerialization.1";

/// Calls a function for each object of a file.
pub(super) fn objects<'b>(
    bytes: &'b [u8],
    mut read: impl FnMut(Object<'b>) -> Decoded<()>,
) -> Decoded<()> {
    let mut file = Cursor::new(bytes);
    file.take(MAGIC.len() as u64)?;
    let length = file.u32()?.into();
    if length != SERIALIZATION.len() as u64 || file.take(length)? != SERIALIZATION {
        return Err(DecodeError::unsupported(
            "a Nettrace file of another version than 4, which .NET 3.0 to 9 write; record in that version".to_owned(),
        ));
    }
    loop {
        // A null reference marks the end of the objects.
        let at = file.at();
        match file.u8()? {
            BEGIN => {}
            NULL => return Ok(()),
            _ => return Err(unexpected(at)),
        }
        let (begins, is_null) = (file.u8()?, file.u8()?);
        file.take(8)?;
        let length = file.u32()?;
        let name = file.take(length.into())?;
        if (begins, is_null, file.u8()?) != (BEGIN, NULL, END) {
            return Err(unexpected(at));
        }
        let object = match name {
            b"Trace" => {
                file.take(16)?;
                let (start, frequency) = (file.u64()?, file.u64()?);
                let (pointer, pid) = (file.u32()?, file.u32()?);
                file.take(8)?;
                if !matches!(pointer, 4 | 8) || frequency == 0 {
                    let problem = format!(
                        "pointers of {pointer} bytes and a clock of {frequency} Hz; expected 4 or 8 bytes, and a clock"
                    );
                    return Err(DecodeError::new(at, problem));
                }
                Some(Object::Trace(Trace {
                    start,
                    frequency,
                    pointer: pointer as usize,
                    pid,
                }))
            }
            name => {
                let size = file.u32()?;
                align(&mut file)?;
                let block = file.part(size.into())?;
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
        if file.u8()? != END {
            let problem = format!("expected the end of the object {}", excerpt(name));
            return Err(DecodeError::new(at, problem));
        }
    }
}

fn unexpected(at: usize) -> DecodeError {
    DecodeError::new(at, "expected an object of the file, found something else")
}

/// An event. Events in a `MetadataBlock` have the metadata id 0 and describe other events.
#[derive(Clone, Copy)]
pub(super) struct Event<'b> {
    pub(super) metadata: u64,
    pub(super) thread: u64,
    pub(super) stack: u64,
    pub(super) time: u64,
    pub(super) payload: Cursor<'b>,
}

/// Calls a function for each event of a block.
pub(super) fn events<'b>(
    mut block: Cursor<'b>,
    mut read: impl FnMut(Event<'b>) -> Decoded<()>,
) -> Decoded<()> {
    let (header, flags) = (block.u16()?, block.u16()?);
    block.take(header.saturating_sub(4).into())?;
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

/// An event with an uncompressed header.
fn plain<'b>(block: &mut Cursor<'b>) -> Decoded<Event<'b>> {
    block.take(4)?;
    // The highest bit says that the event is in order.
    let metadata = block.u32()? & 0x7fff_ffff;
    block.take(4)?;
    let thread = block.u64()?;
    block.take(12)?;
    let (stack, time) = (block.u32()?, block.u64()?);
    block.take(32)?;
    let size = block.u32()?;
    let payload = block.part(size.into())?;
    align(block)?;
    Ok(Event {
        metadata: metadata.into(),
        thread,
        stack: stack.into(),
        time,
        payload,
    })
}

/// An event with a compressed header, which only has the fields that differ from the previous
/// event's.
fn compressed<'b>(block: &mut Cursor<'b>, event: &mut Event<'b>, size: &mut u64) -> Decoded<()> {
    let flags = block.u8()?;
    let is_set = |bit: u32| flags & 1 << bit != 0;
    if is_set(0) {
        event.metadata = block.varint()?;
    }
    if is_set(1) {
        // Sequence number, capturing thread, and processor.
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
            block.take(16)?;
        }
    }
    if is_set(7) {
        *size = block.varint()?;
    }
    event.payload = block.part(*size)?;
    Ok(())
}

/// Calls a function for each stack of a block, with its number and addresses, leaf first.
pub(super) fn stacks<'b>(
    mut block: Cursor<'b>,
    mut read: impl FnMut(u64, Cursor<'b>) -> Decoded<()>,
) -> Decoded<()> {
    let (first, count) = (block.u32()?, block.u32()?);
    for number in 0..count {
        let size = block.u32()?;
        read(
            u64::from(first) + u64::from(number),
            block.part(size.into())?,
        )?;
    }
    Ok(())
}

/// Skips to the next multiple of four bytes of the file.
fn align(cursor: &mut Cursor<'_>) -> Read<()> {
    cursor.take((cursor.at().wrapping_neg() % 4) as u64)?;
    Ok(())
}

/// Reads a pointer of four or eight bytes.
pub(super) fn read_pointer(cursor: &mut Cursor<'_>, bytes: usize) -> Read<u64> {
    match bytes {
        4 => cursor.u32().map(u64::from),
        _ => cursor.u64(),
    }
}

/// Reads a zero-terminated UTF-16 text.
pub(super) fn text(cursor: &mut Cursor<'_>) -> Read<String> {
    let rest = cursor.rest().as_chunks().0.iter();
    let units = rest.map(|&unit| u16::from_le_bytes(unit));
    let text = units.take_while(|&unit| unit > 0);
    // Without the terminating zero, this fails at the end.
    cursor.take(2 * (text.clone().count() + 1) as u64)?;
    Ok(char::decode_utf16(text)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect())
}
