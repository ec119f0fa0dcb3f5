//! The state that packets of a writer define for later ones.

use super::callstacks::Callstacks;
use super::schema::{Packet, Thread, interned};
use crate::error::Decoded;
use crate::wire::protobuf::Message;
use hashbrown::HashMap;

/// The state of a sequence of packets.
#[derive(Default)]
pub(super) struct Sequence {
    /// Whether a packet was read.
    is_begun: bool,
    /// Whether no packet was lost since the state was last cleared.
    is_whole: bool,
    names: HashMap<u64, Vec<u8>>,
    categories: HashMap<u64, Vec<u8>>,
    annotations: HashMap<u64, Vec<u8>>,
    pub(super) callstacks: Callstacks,
    pub(super) track: u64,
    pub(super) clock: u64,
    /// Process and thread, in the legacy encoding.
    pub(super) thread: Option<(u32, u32)>,
    /// Time of the last event in microseconds, if events have differences of times.
    pub(super) reference: Option<i64>,
}

impl Sequence {
    /// Updates the state from a packet. Returns whether the packet can be read, which is not the
    /// case if it depends on a lost one, and whether packets before it were lost.
    pub(super) fn packet(&mut self, packet: &Packet<'_>) -> Decoded<(bool, bool)> {
        let lost = packet.dropped != 0 && self.is_begun;
        self.is_begun = true;
        self.is_whole &= !lost;
        if packet.clears_state() {
            *self = Sequence {
                is_begun: true,
                is_whole: true,
                // Old writers define it only once.
                thread: self.thread,
                reference: self.reference,
                ..Sequence::default()
            };
        }
        if packet.needs_state() && !self.is_whole {
            return Ok((false, lost));
        }
        if let Some(defaults) = packet.defaults {
            self.defaults(defaults)?;
        }
        if let Some(data) = packet.interned {
            interned(data, |field, id, name| {
                let table = match field {
                    1 => &mut self.categories,
                    3 => &mut self.annotations,
                    _ => &mut self.names,
                };
                table.insert(id, name.to_owned());
                Ok(())
            })?;
        }
        if let Some(mut data) = packet.interned {
            while let Some(field) = data.next()? {
                self.callstacks.interned(&field)?;
            }
        }
        if let Some(thread) = packet.thread {
            let thread = Thread::read(thread)?;
            self.thread = Some((thread.pid, thread.tid));
            self.reference = Some(thread.reference as i64);
        }
        Ok((true, lost))
    }

    fn defaults(&mut self, mut defaults: Message<'_>) -> Decoded<()> {
        while let Some(field) = defaults.next()? {
            match field.number {
                58 => self.clock = field.number()?,
                11 => {
                    let mut event = field.message()?;
                    while let Some(field) = event.next()? {
                        if field.number == 11 {
                            self.track = field.number()?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn name(&self, id: u64) -> Option<&[u8]> {
        self.names.get(&id).map(|name| &**name)
    }

    /// The name of a debug annotation.
    pub(super) fn annotation(&self, id: u64) -> Option<&[u8]> {
        self.annotations.get(&id).map(|name| &**name)
    }

    pub(super) fn category(&self, id: u64) -> &[u8] {
        self.categories.get(&id).map_or(b"", |name| name)
    }
}
