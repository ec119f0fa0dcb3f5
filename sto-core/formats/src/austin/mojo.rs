//! The binary format MOJO: events of one byte and their values.
//!
//! The first byte of a number has six bits and a sign, each further byte seven bits. Texts end with
//! a zero byte. Names and frames are written once per process and referred to by number.

use super::{Metrics, Session, collector, hexadecimal, invalid, kernel, thread};
use crate::error::{DecodeError, Decoded, Salvage};
use crate::recording::{LocationIx, RecordingBuilder, ThreadIx};
use crate::source::{Head, LineReader, ReadOptions};
use crate::wire::records::{PendingBytes, RecordFailure, undefined_number};
use hashbrown::HashMap;
use sto_model::bytes::Cursor;

const MAGIC: &[u8] = b"MOJ";
const VERSIONS: std::ops::RangeInclusive<i64> = 1..=3;

pub(in super::super) fn matches(head: &Head<'_>) -> bool {
    let version = head.bytes.strip_prefix(MAGIC).and_then(<[u8]>::first);
    version.is_some_and(|&version| (1..0x40).contains(&version))
}

pub(in super::super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        allow_truncated: options.allow_truncated,
        held: PendingBytes::default(),
        stacks: Stacks::default(),
        builder: options.builder(),
    })
}

struct Reader {
    allow_truncated: bool,
    held: PendingBytes,
    stacks: Stacks,
    builder: RecordingBuilder,
}

impl LineReader for Reader {
    fn takes_parts_of_lines(&self) -> bool {
        true
    }

    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        self.held.read(bytes, "an event", |bytes| {
            self.stacks.event(bytes, &mut self.builder)
        })
    }

    fn finish(mut self: Box<Self>) -> Decoded<RecordingBuilder> {
        if !self.held.is_empty() {
            let (event, end) = (self.held.at(), self.held.at() + self.held.len());
            let cut = format!("the file ends at byte {end}, within the event at byte {event}");
            if !self.allow_truncated {
                return Err(DecodeError::cut_off(cut, Salvage::Possible));
            }
            self.builder
                .warnings
                .push(format!("T{}, which was left out.", &cut[1..]));
        }
        let added = self.stacks.end_sample(&mut self.builder);
        added.map_err(|problem| DecodeError::new(self.held.at(), problem))?;
        Ok(self.builder)
    }
}

fn signed(bytes: &mut Cursor<'_>) -> Result<i64, RecordFailure> {
    let first = bytes.u8()?;
    let lower = u64::from(first & 0x3f);
    let higher = if first & 0x80 == 0 {
        0
    } else {
        bytes.varint()?
    };
    if higher >> 58 > 0 {
        return Err("expected a number of at most 64 bits, found a longer one".into());
    }
    let number = higher << 6 | lower;
    let is_negative = first & 0x40 != 0;
    // Numbers of frames use all 64 bits.
    Ok(if is_negative {
        (number as i64).wrapping_neg()
    } else {
        number as i64
    })
}

fn unsigned(bytes: &mut Cursor<'_>) -> Result<u64, RecordFailure> {
    signed(bytes).map(|number| number as u64)
}

#[derive(Default)]
struct Stacks {
    version: Option<i64>,
    session: Session,
    /// Names by process and number.
    names: HashMap<(u64, u64), Box<[u8]>>,
    frames: HashMap<(u64, u64), LocationIx>,
    /// The process that numbers refer to.
    process: u64,
    sample: Option<(ThreadIx, Metrics)>,
    stack: Vec<LocationIx>,
}

/// The number of a name that Austin could not read.
const UNKNOWN: u64 = 1;

impl Stacks {
    /// Reads the next event completely or not at all.
    fn event(
        &mut self,
        rest: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<(), RecordFailure> {
        let Some(version) = self.version else {
            return self.header(rest);
        };
        match rest.u8()? {
            1 => {
                let (key, value) = (rest.until_zero()?, rest.until_zero()?);
                self.end_sample(builder)?;
                self.session.metadata(key, value, builder);
            }
            2 => {
                let process = unsigned(rest)?;
                if version >= 3 {
                    let _interpreter = signed(rest)?;
                }
                let tid = rest.until_zero()?;
                self.end_sample(builder)?;
                self.process = process;
                let thread = thread(process, hexadecimal(tid), tid, builder);
                self.sample = Some((thread, Metrics::default()));
            }
            3 => {
                let (number, file, symbol) = (unsigned(rest)?, unsigned(rest)?, unsigned(rest)?);
                let line = unsigned(rest)?;
                if version >= 2 {
                    let _columns = (unsigned(rest)?, unsigned(rest)?, unsigned(rest)?);
                }
                let frame = (self.name(file)?, self.name(symbol)?, line);
                let location = self.session.frame(frame, builder)?;
                self.frames.insert((self.process, number), location);
            }
            4 => self.stack.push(invalid(builder)?),
            5 => {
                let number = unsigned(rest)?;
                let frame = self.frames.get(&(self.process, number));
                let frame = frame.ok_or_else(|| undefined_number("frame", number))?;
                self.stack.push(*frame);
            }
            6 => {
                let symbol = rest.until_zero()?;
                self.stack.push(kernel(symbol, builder)?);
            }
            7 => self.stack.push(collector(builder)?),
            8 => self.metrics()?.is_idle = true,
            9 => self.metrics()?.microseconds = unsigned(rest)?,
            10 => self.metrics()?.bytes = signed(rest)?,
            11 => {
                let (number, name) = (unsigned(rest)?, rest.until_zero()?);
                self.names.insert((self.process, number), name.into());
            }
            12 => {
                let _name = unsigned(rest)?;
            }
            other => {
                return Err(format!(
                    "an event of kind {other}; expected 1 to 12, those of MOJO 3. Was it recorded by a newer Austin? \
                     Convert it by `mojo2austin FILE FILE.austin`, and ingest that"
                )
                .into());
            }
        }
        Ok(())
    }

    fn header(&mut self, rest: &mut Cursor<'_>) -> Result<(), RecordFailure> {
        for _ in MAGIC {
            rest.u8()?;
        }
        let version = signed(rest)?;
        if !VERSIONS.contains(&version) {
            return Err(format!(
                "version {version} of MOJO; expected {} to {}: convert it by `mojo2austin FILE FILE.austin`, and ingest that",
                VERSIONS.start(),
                VERSIONS.end()
            )
            .into());
        }
        self.version = Some(version);
        Ok(())
    }

    fn name(&self, number: u64) -> Result<&[u8], RecordFailure> {
        let known = self.names.get(&(self.process, number));
        match known {
            Some(name) => Ok(name),
            None if number == UNKNOWN => Ok(b"<unknown>"),
            None => Err(undefined_number("name", number).into()),
        }
    }

    fn metrics(&mut self) -> Result<&mut Metrics, RecordFailure> {
        let sample = self.sample.as_mut();
        let sample = sample.ok_or("what a sample cost, before the first sample")?;
        Ok(&mut sample.1)
    }

    fn end_sample(&mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        if let Some((thread, metrics)) = self.sample.take() {
            let stack = builder.stack(&self.stack)?;
            self.session.add(thread, stack, metrics, builder)?;
        }
        self.stack.clear();
        Ok(())
    }
}
