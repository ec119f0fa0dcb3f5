//! Files of `--aggregate`: a call tree, and the memory allocated by each stack at the peak and at
//! the end.

use super::frames::{Code, Threads};
use super::header::Header;
use super::record::{Read, add, native};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use crate::wire::records::{RecordFailure, undefined_number};
use hashbrown::HashMap;
use sto_model::bytes::Cursor;
use sto_model::units::Cost;

#[derive(Default)]
pub(super) struct Aggregated {
    code: Code,
    threads: Threads,
    frames: HashMap<u64, LocationIx>,
    /// The calls, callers before callees, numbered from 1.
    calls: Vec<Call>,
    allocated: Vec<Allocated>,
}

struct Call {
    location: LocationIx,
    /// Number of the caller.
    caller: usize,
    depth: usize,
}

/// The memory allocated by a stack of a thread.
struct Allocated {
    thread: usize,
    call: usize,
    at_peak: Cost,
    left: Cost,
}

impl Aggregated {
    pub(super) fn record(
        &mut self,
        header: &Header,
        bytes: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<Read, RecordFailure> {
        match bytes.u8()? {
            0 => return Ok(Read::Zeros),
            15 => return Ok(Read::EndMark),
            1 => {
                let _time_resident_and_heap = bytes.take(24)?;
            }
            2 => self.allocated(bytes)?,
            3 => {
                let (frame, caller) = match header.version {
                    11 => (bytes.u64()?, u64::from(bytes.u32()?)),
                    _ => (bytes.varint()?, bytes.varint()?),
                };
                self.call(frame, caller)?;
            }
            4 if header.version == 11 => {
                let (number, symbol, file) =
                    (bytes.u64()?, bytes.until_zero()?, bytes.until_zero()?);
                let (line, _is_entry) = (bytes.u32()?, bytes.u8()?);
                let frame = NamedFrame {
                    symbol,
                    file,
                    line,
                    ..NamedFrame::default()
                };
                self.frames.insert(number, frame.add(builder)?);
            }
            4 => {
                let number = bytes.varint()?;
                let location = self.code.frame(header, bytes, builder)?;
                let _is_entry = bytes.u8()?;
                self.frames.insert(number, location);
            }
            10 => self.threads.name(bytes.until_zero()?)?,
            12 => {
                self.threads.enter(bytes.u64()?);
            }
            13 => {
                let _object = bytes.varint()?;
                if header.has_native {
                    let _native = bytes.varint()?;
                }
            }
            14 => self.code.function(bytes)?,
            other => return native(other, bytes),
        }
        Ok(Read::Record)
    }

    fn call(&mut self, frame: u64, caller: u64) -> Result<(), String> {
        let location = self.frames.get(&frame).copied();
        let location = location.ok_or_else(|| undefined_number("frame", frame))?;
        let caller = self.number(caller)?;
        let above = caller.checked_sub(1).map_or(0, |ix| self.calls[ix].depth);
        self.calls.push(Call {
            location,
            caller,
            depth: above + 1,
        });
        Ok(())
    }

    /// Reads the number of a call; 0 means none.
    fn number(&self, number: u64) -> Result<usize, String> {
        let known = usize::try_from(number)
            .ok()
            .filter(|&number| number <= self.calls.len());
        known.ok_or_else(|| undefined_number("call", number))
    }

    /// A C structure in which the one-byte allocator is padded to eight bytes.
    fn allocated(&mut self, bytes: &mut Cursor<'_>) -> Result<(), RecordFailure> {
        let mut fields = [0; 9];
        for field in &mut fields {
            *field = bytes.u64()?;
        }
        let [thread, _allocator, _native, call, _modules, counts @ ..] = fields;
        let [at_peak, left, bytes_at_peak, bytes_left] = counts;
        let call = self.number(call)?;
        self.allocated.push(Allocated {
            thread: self.threads.enter(thread),
            call,
            at_peak: Cost {
                samples: at_peak,
                value: bytes_at_peak,
            },
            left: Cost {
                samples: left,
                value: bytes_left,
            },
        });
        Ok(())
    }

    pub(super) fn finish(self, header: &Header, builder: &mut RecordingBuilder) -> Built<Threads> {
        // On the main thread, stacks do not have memray's own frames; on others they are complete.
        let (on_main, on_others): (Vec<&Allocated>, Vec<&Allocated>) = self
            .allocated
            .iter()
            .partition(|allocated| self.threads.is_main(header, allocated.thread));
        for (allocated, own_frames) in [(on_main, header.own_frames), (on_others, 0)] {
            let stacks = self.stacks(&allocated, own_frames, builder)?;
            for allocated in allocated {
                let stack = allocated.call.checked_sub(1).and_then(|ix| stacks[ix]);
                let costs = [allocated.at_peak, allocated.left];
                add(builder, (allocated.thread, stack), costs)?;
            }
        }
        Ok(self.threads)
    }

    /// The stacks of the calls that are needed.
    fn stacks(
        &self,
        allocated: &[&Allocated],
        own_frames: usize,
        builder: &mut RecordingBuilder,
    ) -> Built<Vec<Option<StackIx>>> {
        let mut are_needed = vec![false; self.calls.len() + 1];
        for allocated in allocated {
            are_needed[allocated.call] = true;
        }
        for (ix, call) in self.calls.iter().enumerate().rev() {
            are_needed[call.caller] |= are_needed[ix + 1];
        }
        let mut stacks: Vec<Option<StackIx>> = Vec::with_capacity(self.calls.len());
        for (call, is_needed) in self.calls.iter().zip(&are_needed[1..]) {
            let is_own = call.depth <= own_frames;
            stacks.push(if *is_needed && !is_own {
                let caller = call.caller.checked_sub(1).and_then(|ix| stacks[ix]);
                Some(builder.call(caller, call.location)?)
            } else {
                None
            });
        }
        Ok(stacks)
    }
}
