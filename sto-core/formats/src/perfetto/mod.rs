//! Perfetto traces in Protocol Buffers: track events, written by the SDKs of Perfetto and Chrome,
//! and samples of call stacks.
//!
//! See [the manual](crate::manual::perfetto).

mod arguments;
mod calls;
mod callstacks;
mod clocks;
mod samples;
mod schema;
mod sequence;
mod tracks;

use crate::error::{DecodeError, Decoded, Salvage};
use crate::recording::RecordingBuilder;
use crate::source::{Head, LineReader, ReadOptions};
use crate::wire::cutter::Cutter;
use crate::wire::protobuf::Message;
use calls::Calls;
use flate2::read::ZlibDecoder;
use schema::{Packet, kind_of};
use std::collections::BTreeMap;
use std::io::Read;
use sto_model::limits::MAX_LINE;

/// Returns `true` if a file begins with a packet: field 1 is a message with a field that only
/// packets have.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let packet = Message::from_file(head.bytes).partial_message();
    packet.is_some_and(|(number, packet)| number == 1 && schema::is_packet(packet))
}

pub(super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        cutter: Cutter::default(),
        allow_truncated: options.allow_truncated,
        calls: Calls::new(options),
        passed: BTreeMap::new(),
        builder: options.builder(),
    })
}

struct Reader {
    cutter: Cutter,
    allow_truncated: bool,
    calls: Calls,
    /// Number of packets of other kinds, by kind.
    passed: BTreeMap<&'static str, u64>,
    builder: RecordingBuilder,
}

/// Limit to the expanded size of a packet of compressed packets; Perfetto writes them with less
/// than 512 KiB.
const MAX_EXPANDED: u64 = 64 << 20;

impl LineReader for Reader {
    fn takes_parts_of_lines(&self) -> bool {
        true
    }

    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        let rest = self.cutter.rest();
        if rest.bytes().len() > MAX_LINE {
            let problem = format!("a packet of more than {} MiB", MAX_LINE >> 20);
            return Err(DecodeError::new(rest.at(), problem));
        }
        self.cutter.add(bytes);
        while let Some(mut field) = self.cutter.field()? {
            if let Some(field) = field.next()?.filter(|field| field.number == 1) {
                Self::packet(
                    field.message()?,
                    &mut self.calls,
                    &mut self.passed,
                    &mut self.builder,
                    true,
                )?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Decoded<RecordingBuilder> {
        let rest = self.cutter.rest();
        let (packet, size) = (rest.at(), rest.at() + rest.bytes().len());
        let cut = format!("the file ends at byte {size}, within the packet at byte {packet}");
        let is_cut = packet < size;
        if is_cut && !self.allow_truncated {
            return Err(DecodeError::cut_off(cut, Salvage::Possible));
        }
        if !self.passed.is_empty() {
            let kinds = self.passed.iter();
            let kinds: Vec<String> = kinds
                .map(|(kind, count)| format!("{count} {kind}"))
                .collect();
            self.builder.warnings.push(format!(
                "Only calls and samples of the trace are read; ignored were packets of {}.",
                kinds.join(", ")
            ));
        }
        let left_out = is_cut.then(|| format!("T{}, which was left out.", &cut[1..]));
        self.builder.warnings.extend(left_out);
        self.calls.finish(size, self.builder)
    }
}

impl Reader {
    fn packet(
        message: Message<'_>,
        calls: &mut Calls,
        passed: &mut BTreeMap<&'static str, u64>,
        builder: &mut RecordingBuilder,
        is_outermost: bool,
    ) -> Decoded<()> {
        let at = message.at();
        let packet = Packet::read(message)?;
        if let Some(kind) = packet.other.and_then(kind_of) {
            *passed.entry(kind).or_default() += 1;
        }
        let expanded = match (packet.deflated, packet.zstd) {
            (Some(deflated), _) => expand(ZlibDecoder::new(deflated), at)?,
            (None, Some(zstd)) => match zstd::stream::read::Decoder::new(zstd) {
                Ok(decoder) => expand(decoder, at)?,
                Err(error) => return Err(DecodeError::new(at, error.to_string())),
            },
            (None, None) => return calls.packet(&packet, builder),
        };
        if !is_outermost {
            let problem = "compressed packets within compressed packets; expected them once";
            return Err(DecodeError::new(at, problem));
        }
        let part = format!("the compressed packets at byte {at}");
        let mut packets = Message::from_file(&expanded);
        while let Some(field) = packets.next().map_err(|error| error.in_part(&part))? {
            if field.number == 1 {
                let message = field.message().map_err(|error| error.in_part(&part))?;
                let read = Self::packet(message, calls, passed, builder, false);
                read.map_err(|error| error.in_part(&part))?;
            }
        }
        Ok(())
    }
}

fn expand(decoder: impl Read, at: usize) -> Decoded<Vec<u8>> {
    let mut expanded = Vec::new();
    let read = decoder.take(MAX_EXPANDED + 1).read_to_end(&mut expanded);
    let problem = match read {
        Ok(_) if expanded.len() as u64 <= MAX_EXPANDED => return Ok(expanded),
        Ok(_) => format!("compressed packets of more than {} MiB", MAX_EXPANDED >> 20),
        Err(error) => format!("compressed packets that are damaged: {error}"),
    };
    Err(DecodeError::new(at, problem))
}
