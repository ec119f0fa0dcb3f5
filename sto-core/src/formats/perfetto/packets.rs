//! Cuts the packets out of a file that comes in blocks, of which no more is held than a packet.

use crate::formats::Salvage;
use crate::formats::error::{DecodeError, Decoded};
use crate::formats::wire::protobuf::Message;
use crate::limits::MAX_LINE;

#[derive(Default)]
pub(super) struct Cutter {
    held: Vec<u8>,
    /// How much of it was cut.
    done: usize,
    /// Where in the file it begins.
    at: usize,
}

impl Cutter {
    /// Takes the next bytes of the file.
    pub(super) fn add(&mut self, block: &[u8]) -> Decoded<()> {
        self.held.drain(..self.done);
        self.at += self.done;
        self.done = 0;
        if self.held.len() > MAX_LINE {
            let problem = format!("a packet of more than {} MiB", MAX_LINE >> 20);
            return Err(DecodeError::new(self.at, problem));
        }
        self.held.extend_from_slice(block);
        Ok(())
    }

    /// The next packet that is there as a whole.
    pub(super) fn packet(&mut self) -> Decoded<Option<Message<'_>>> {
        loop {
            let mut rest = Message::of_file(&self.held[self.done..]);
            let field = match rest.next() {
                Ok(Some(field)) => field,
                Ok(None) => return Ok(None),
                Err(error) if error.is_end() => return Ok(None),
                Err(error) => return Err(error.after(self.at + self.done)),
            };
            let done = self.done;
            self.done += rest.at();
            if field.number == 1 {
                let held = Message::of_part(&self.held[done..self.done], done);
                return packet_in(held).map_err(|error| error.after(self.at));
            }
        }
    }

    /// Where in the file those packets begin that say where they are.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many bytes there are up to now.
    pub(super) fn size(&self) -> usize {
        self.at + self.held.len()
    }

    /// A sentence about a file that ends within a packet, if that is allowed.
    pub(super) fn finish(&self, allow_truncated: bool) -> Decoded<Option<String>> {
        if self.done == self.held.len() {
            return Ok(None);
        }
        let (packet, size) = (self.at + self.done, self.size());
        match allow_truncated {
            true => Ok(Some(format!(
                "The file ends at byte {size}, within the packet at byte {packet}, which was left out."
            ))),
            false => Err(DecodeError::cut_off(
                format!("the file ends at byte {size}, within the packet at byte {packet}"),
                Salvage::Possible,
            )),
        }
    }
}

/// The packet of a field.
fn packet_in(mut field: Message<'_>) -> Decoded<Option<Message<'_>>> {
    let field = field.next()?;
    field.map(|field| field.message()).transpose()
}
