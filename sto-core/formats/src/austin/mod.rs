//! Austin's samples of Python stacks, in its binary format and as text.
//!
//! See [the manual](crate::manual::austin).
//!
//! Source: `src/mojo.h`, `src/events.h` and `README.md` of Austin.

pub(super) mod mojo;
pub(super) mod text;

use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx, ThreadIx};
use crate::wire::text::{base_name, decimal};
use std::collections::BTreeMap;
use sto_model::FrameKind;
use sto_model::units::{Cost, Nanoseconds, Unit};

/// Metadata that both formats have.
#[derive(Default)]
struct Session {
    mode: Mode,
    /// Memory mappings of files: end and file by start address.
    maps: BTreeMap<u64, (u64, Box<[u8]>)>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Wall,
    Cpu,
    Memory,
    Full,
}

/// The cost of a sample.
#[derive(Clone, Copy, Default)]
struct Metrics {
    microseconds: u64,
    is_idle: bool,
    /// The change of the process's memory.
    bytes: i64,
}

impl Session {
    fn metadata(&mut self, key: &[u8], value: &[u8], builder: &mut RecordingBuilder) {
        match key {
            b"mode" => {
                self.mode = match value {
                    b"cpu" => Mode::Cpu,
                    b"memory" => Mode::Memory,
                    b"full" => Mode::Full,
                    _ => Mode::Wall,
                }
            }
            b"duration" => {
                let nanoseconds = decimal(value).and_then(|time| time.checked_mul(1000));
                builder.origin.duration = nanoseconds.map(Nanoseconds);
            }
            b"map" => {
                let (range, path) = split(value, b' ').unwrap_or((value, b""));
                if let Some((begin, end)) = split(range, b'-')
                    && let (Some(begin), Some(end)) = (hexadecimal(begin), hexadecimal(end))
                {
                    self.maps.insert(begin, (end, base_name(path).into()));
                }
            }
            _ => {}
        }
    }

    /// A frame with file and function; austinp writes `native@7fe7e6c45305` for functions outside
    /// Python.
    fn frame(
        &self,
        (file, symbol, line): (&[u8], &[u8], u64),
        builder: &mut RecordingBuilder,
    ) -> Built<LocationIx> {
        let address = file.strip_prefix(b"native@").and_then(hexadecimal);
        let frame = match address {
            Some(address) => NamedFrame {
                symbol,
                module: self.module(address),
                ..NamedFrame::default()
            },
            None => NamedFrame {
                symbol: match symbol {
                    b"<unknown>" => b"[unknown]",
                    symbol => symbol,
                },
                file,
                line: u32::try_from(line).unwrap_or(0),
                ..NamedFrame::default()
            },
        };
        frame.add(builder)
    }

    fn module(&self, address: u64) -> &[u8] {
        let below = self.maps.range(..=address).next_back();
        below.map_or(
            b"",
            |(_, (end, module))| if address < *end { module } else { b"" },
        )
    }

    fn add(
        &self,
        thread: ThreadIx,
        stack: StackIx,
        metrics: Metrics,
        builder: &mut RecordingBuilder,
    ) -> Built<()> {
        let nanoseconds = metrics.microseconds.checked_mul(1000);
        let nanoseconds =
            nanoseconds.ok_or_else(|| "a sample of more than 584 years".to_owned())?;
        let bytes = metrics.bytes.unsigned_abs();
        let of_memory = if metrics.bytes < 0 { "free" } else { "memory" };
        let costs = [
            ("wall", Unit::Nanoseconds, nanoseconds),
            ("cpu", Unit::Nanoseconds, nanoseconds),
            (of_memory, Unit::Bytes, bytes),
        ];
        let is_measured = match self.mode {
            Mode::Wall => [true, false, false],
            Mode::Cpu => [false, true, false],
            Mode::Memory => [false, false, true],
            Mode::Full => [true, !metrics.is_idle, true],
        };
        for ((event, unit, value), _) in costs.into_iter().zip(is_measured).filter(|cost| cost.1) {
            if value > 0 {
                let sample_type = builder.sample_type(event, unit);
                let cost = Cost { samples: 1, value };
                builder.add_cost(thread, sample_type, stack, cost)?;
            }
        }
        Ok(())
    }
}

/// A frame for an event such as garbage collection, instead of a function.
fn marked(symbol: &[u8], kind: FrameKind, builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let frame = NamedFrame {
        symbol,
        kind: Some(kind),
        ..NamedFrame::default()
    };
    frame.add(builder)
}

fn invalid(builder: &mut RecordingBuilder) -> Built<LocationIx> {
    marked(b"[invalid]", FrameKind::Unresolved, builder)
}

fn collector(builder: &mut RecordingBuilder) -> Built<LocationIx> {
    marked(b"GC", FrameKind::User, builder)
}

fn kernel(symbol: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let frame = NamedFrame {
        symbol,
        module: b"[kernel]",
        ..NamedFrame::default()
    };
    frame.add(builder)
}

fn thread(pid: u64, tid: Option<u64>, name: &[u8], builder: &mut RecordingBuilder) -> ThreadIx {
    let process = builder.process(u32::try_from(pid).unwrap_or(0), "");
    match tid.and_then(|tid| u32::try_from(tid).ok()) {
        Some(tid) => builder.thread_unchecked(process, tid, ""),
        // The address of the thread's structure.
        None => {
            let name = builder.text(name).into_owned();
            builder.thread_unchecked(process, 0, &name)
        }
    }
}

/// The text before and after the first such byte.
fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(at, text)?;
    Some((&text[..at], &text[at + 1..]))
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits, 16).ok()
}
