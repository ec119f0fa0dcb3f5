//! sysprof captures, `.syscap`: samples of threads and allocations by address, with the names that
//! sysprof looked up when it ended.
//!
//! Source: `src/libsysprof-capture/sysprof-capture-types.h` and
//! `src/libsysprof/sysprof-symbol-map.c` of sysprof 3.46.

use crate::error::{DecodeError, Decoded};
use crate::names::{NamedFrame, module_name, module_of_path};
use crate::recording::{
    Built, Location, LocationIx, ModuleIx, ModuleKind, RecordingBuilder, SampleTypeIx, StackIx,
};
use crate::source::{Head, ReadOptions};
use crate::wire::text::base_name;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_model::FrameKind;
use sto_model::units::{Cost, Nanoseconds, Unit};

/// The event of CPU samples.
const SAMPLES: &str = "samples";

const MAGIC: [u8; 4] = 0xfdca_975e_u32.to_le_bytes();
const HEADER: usize = 256;
/// Size of a frame's header: length, processor, process, time and type.
const FRAME: usize = 24;
/// Name of the embedded file with the names of addresses.
const SYMBOLS: &[u8] = b"__symbols__";

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(&MAGIC)
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let start = number(bytes, 72, 8);
    let Some(start) = start.filter(|_| bytes.len() >= HEADER) else {
        return Err(DecodeError::cut(bytes.len(), "within its header"));
    };
    if bytes[5] & 1 == 0 {
        let problem = "a capture of a big-endian machine, which is not read";
        return Err(DecodeError::unsupported(problem.to_owned()));
    }
    let mut capture = Capture {
        start,
        builder: options.builder(),
        ..Capture::default()
    };
    let mut events = Vec::new();
    // Names come at the end, so they are read first.
    frames(bytes, |frame| match frame.kind {
        2 | 14 => events.push(frame),
        3 => capture.map(&frame),
        4 => {
            capture.processes.insert(frame.pid, until_zero(frame.rest));
        }
        13 => capture.file(frame.rest),
        _ => {}
    })?;
    capture.symbols();
    // The first type is shown by default, whatever occurs first in the file.
    if events.iter().any(Frame::is_sample) {
        capture.builder.sample_type(SAMPLES, Unit::Samples);
    }
    for event in events {
        let added = capture.event(&event);
        added.map_err(DecodeError::at(event.at))?;
    }
    Ok(capture.builder)
}

/// A frame of the file.
#[derive(Clone, Copy)]
struct Frame<'b> {
    at: usize,
    pid: u32,
    time: u64,
    kind: u8,
    rest: &'b [u8],
}

impl Frame<'_> {
    fn is_sample(&self) -> bool {
        self.kind == 2
    }
}

fn frames<'b>(bytes: &'b [u8], mut read: impl FnMut(Frame<'b>)) -> Decoded<()> {
    let mut at = HEADER;
    while at < bytes.len() {
        let cut = || DecodeError::cut(bytes.len(), "within a frame");
        let length = number(bytes, at, 2).ok_or_else(cut)? as usize;
        if length < FRAME {
            let problem = format!("a frame of {length} bytes; expected {FRAME} at least");
            return Err(DecodeError::new(at, problem));
        }
        let frame = bytes.get(at..at + length).ok_or_else(cut)?;
        let field = |at, bytes| number(frame, at, bytes).unwrap_or(0);
        read(Frame {
            at,
            pid: field(4, 4) as u32,
            time: field(8, 8),
            kind: field(16, 1) as u8,
            rest: &frame[FRAME..],
        });
        at += length;
    }
    Ok(())
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.get(..length)?.iter().rev();
    Some(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn until_zero(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, text);
    &text[..end.unwrap_or(text.len())]
}

#[derive(Default)]
struct Capture<'b> {
    builder: RecordingBuilder,
    start: u64,
    /// Command lines of processes.
    processes: HashMap<u32, &'b [u8]>,
    /// Mappings by process and address.
    maps: BTreeMap<(u32, u64), Map<'b>>,
    modules: HashMap<&'b [u8], ModuleIx>,
    /// The texts of the names.
    names: Vec<u8>,
    /// Symbols by process and first address.
    symbols: BTreeMap<(u32, u64), Symbol>,
    known: HashMap<(u32, u64), LocationIx>,
    types: [Option<SampleTypeIx>; 2],
}

struct Map<'b> {
    end: u64,
    offset: u64,
    path: &'b [u8],
}

struct Symbol {
    last: u64,
    /// Offset of the name.
    name: usize,
}

impl<'b> Capture<'b> {
    fn map(&mut self, frame: &Frame<'b>) {
        let field = |ix: usize| number(frame.rest, 8 * ix, 8);
        if let (Some(start), Some(end), Some(offset), Some(path)) =
            (field(0), field(1), field(2), frame.rest.get(32..))
        {
            let path = until_zero(path);
            self.maps
                .insert((frame.pid, start), Map { end, offset, path });
        }
    }

    /// Reads a part of an embedded file: flags, length, a path of 256 bytes, and the data.
    fn file(&mut self, chunk: &[u8]) {
        let length = number(chunk, 2, 2).unwrap_or(0) as usize;
        if let Some((path, part)) = chunk.get(4..).and_then(|rest| rest.split_at_checked(256))
            && until_zero(path) == SYMBOLS
        {
            self.names
                .extend_from_slice(part.get(..length).unwrap_or(part));
        }
    }

    /// Reads the symbols: first and last address, process, offsets of the name and of the library's
    /// name, ended by an entry of zeros.
    fn symbols(&mut self) {
        for entry in self.names.chunks_exact(32) {
            let field = |at, bytes| number(entry, at, bytes).unwrap_or(0);
            let (first, last) = (field(0, 8), field(8, 8));
            if (first, last) == (0, 0) {
                break;
            }
            let (pid, name) = (field(16, 4) as u32, field(20, 4) as usize);
            self.symbols.insert((pid, first), Symbol { last, name });
        }
    }

    /// Reads a sample (number of addresses, thread, addresses) or an allocation (address, size,
    /// thread, number of addresses, addresses).
    fn event(&mut self, frame: &Frame<'_>) -> Built<()> {
        let field = |at, bytes| number(frame.rest, at, bytes).unwrap_or(0);
        let is_sample = frame.is_sample();
        let (count, tid, value, addresses) = if is_sample {
            (field(0, 2), field(4, 4), 1, 8)
        } else {
            (field(20, 2), field(16, 4), field(8, 8), 24)
        };
        // A free has size 0.
        if value == 0 || value > i64::MAX as u64 {
            return Ok(());
        }
        let addresses = frame.rest.get(addresses..).unwrap_or_default();
        let addresses = addresses.chunks_exact(8).take(count as usize);
        let addresses: Vec<u64> = addresses
            .filter_map(|address| number(address, 0, 8))
            .collect();
        let stack = self.stack(frame.pid, &addresses)?;
        let (event, unit) = if is_sample {
            (SAMPLES, Unit::Samples)
        } else {
            ("alloc_space", Unit::Bytes)
        };
        let builder = &mut self.builder;
        let of = self.types[usize::from(is_sample)]
            .get_or_insert_with(|| builder.sample_type(event, unit));
        let command = self.processes.get(&frame.pid).copied().unwrap_or_default();
        let program = command
            .split(|&byte| byte == b' ')
            .next()
            .unwrap_or_default();
        let process = builder.process(frame.pid, &String::from_utf8_lossy(base_name(program)));
        let thread = builder.thread_unchecked(process, tid as u32, "");
        let time = Nanoseconds(frame.time.saturating_sub(self.start));
        builder.push((thread, *of), stack, Some(time), Cost { samples: 1, value });
        Ok(())
    }

    fn stack(&mut self, pid: u32, addresses: &[u64]) -> Built<StackIx> {
        /// Greater values mark the context of the addresses that follow (`PERF_CONTEXT_USER` of the
        /// kernel).
        const LARGEST: u64 = -4096_i64 as u64;
        let addresses: Vec<u64> = addresses
            .iter()
            .copied()
            .filter(|&address| address <= LARGEST)
            .collect();
        let mut stack = Vec::with_capacity(addresses.len());
        for (depth, &address) in addresses.iter().enumerate().rev() {
            stack.push(self.location(pid, address, depth > 0)?);
        }
        self.builder.stack(&stack)
    }

    fn location(&mut self, pid: u32, address: u64, is_call: bool) -> Built<LocationIx> {
        if let Some(&known) = self.known.get(&(pid, address)) {
            return Ok(known);
        }
        let map = self.maps.range((pid, 0)..=(pid, address)).next_back();
        let map = map.filter(|(_, map)| address < map.end);
        let symbol = self.symbols.range((pid, 0)..=(pid, address)).next_back();
        let symbol = symbol.filter(|(_, symbol)| address <= symbol.last);
        let is_kernel = address > i64::MAX as u64;
        let location = match (symbol, map) {
            (Some((_, symbol)), map) => {
                let name = self.names.get(symbol.name..).map_or(&b""[..], until_zero);
                let frame = NamedFrame {
                    symbol: name,
                    module: match map {
                        _ if is_kernel => b"[kernel]",
                        Some((_, map)) => module_name(map.path),
                        None => b"",
                    },
                    kind: is_kernel.then_some(FrameKind::Kernel),
                    ..NamedFrame::default()
                };
                frame.add(&mut self.builder)?
            }
            (None, Some((&(_, start), map))) => {
                let offset = (address - start).saturating_add(map.offset);
                let builder = &mut self.builder;
                let module = *self.modules.entry(map.path).or_insert_with(|| {
                    let module = module_of_path(map.path, ModuleKind::File, None, builder);
                    builder.module(module)
                });
                builder.address(module, offset.saturating_sub(u64::from(is_call)))?
            }
            (None, None) if is_kernel => {
                self.builder
                    .function(FrameKind::Unresolved, "[kernel]", "[kernel]")?
            }
            (None, None) => self.builder.unnamed_location(Location::Unmapped)?,
        };
        self.known.insert((pid, address), location);
        Ok(location)
    }
}
