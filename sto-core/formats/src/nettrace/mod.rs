//! .NET traces, written by `dotnet-trace collect` and `DOTNET_EnableEventPipe=1`: stacks of all
//! threads at each tick of the sample profiler, and allocations.
//!
//! Source: `documentation/NetTrace/NetTraceFormat_v5.md` of
//! <https://github.com/microsoft/perfview>, version 4 of the format; events by
//! `src/coreclr/vm/ClrEtwAll.man` of <https://github.com/dotnet/runtime>.

mod blocks;
mod methods;

use crate::error::{DecodeError, Decoded};
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use crate::source::{Head, ReadOptions};
use crate::wire::text::base_name;
use blocks::{Event, MAGIC, Object, Trace, events, objects, read_pointer, stacks, text};
use hashbrown::HashMap;
use methods::Methods;
use sto_model::FrameKind;
use sto_model::bytes::Cursor;
use sto_model::units::{Cost, Nanoseconds, Unit};

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(MAGIC)
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let mut reader = Reader::default();
    objects(bytes, |object| reader.object(object))?;
    reader.finish(options.builder())
}

/// The events that are read.
#[derive(Clone, Copy)]
enum Kind {
    Sample,
    Allocation,
    Method,
    Module,
    ProcessInfo,
    Other,
}

#[derive(Default)]
struct Reader<'b> {
    trace: Option<Trace>,
    kinds: HashMap<u64, Kind>,
    methods: Methods,
    /// Stacks by number since the last sequence point; addresses are leaf first.
    numbers: HashMap<u64, u32>,
    stacks: Vec<Vec<u64>>,
    known: HashMap<&'b [u8], u32>,
    samples: Vec<Sample>,
    program: String,
    /// Number of other events with a stack.
    others: u64,
}

struct Sample {
    is_allocation: bool,
    /// Whether the thread ran or waited in native code.
    is_native: bool,
    thread: u64,
    time: u64,
    stack: Option<u32>,
    value: u64,
}

/// The value of `ThreadSample` for native code.
const EXTERNAL: u64 = 1;

impl<'b> Reader<'b> {
    fn object(&mut self, object: Object<'b>) -> Decoded<()> {
        match object {
            Object::Trace(trace) => self.trace = Some(trace),
            Object::Events(block) => events(block, |event| self.event(event))?,
            Object::Stacks(block) => {
                let pointer = self.trace.map_or(8, |trace| trace.pointer);
                stacks(block, |number, addresses| {
                    self.stack(number, addresses, pointer)
                })?;
            }
            Object::SequencePoint => self.numbers.clear(),
        }
        Ok(())
    }

    fn stack(&mut self, number: u64, mut addresses: Cursor<'b>, pointer: usize) -> Decoded<()> {
        let key = addresses.rest();
        let next = self.stacks.len() as u32;
        let known = *self.known.entry(key).or_insert(next);
        if known == next {
            let mut stack = Vec::with_capacity(key.len() / pointer);
            while !addresses.is_empty() {
                stack.push(read_pointer(&mut addresses, pointer)?);
            }
            self.stacks.push(stack);
        }
        self.numbers.insert(number, known);
        Ok(())
    }

    fn event(&mut self, event: Event<'b>) -> Decoded<()> {
        let mut payload = event.payload;
        if event.metadata == 0 {
            return self.metadata(payload);
        }
        let kind = self
            .kinds
            .get(&event.metadata)
            .copied()
            .unwrap_or(Kind::Other);
        let (is_allocation, value) = match kind {
            Kind::Sample => (false, payload.u32()?.into()),
            Kind::Allocation => {
                payload.take(10)?;
                (true, payload.u64()?)
            }
            Kind::Method => return self.methods.method(payload),
            Kind::Module => return self.methods.module(payload),
            Kind::ProcessInfo => {
                let command = text(&mut payload)?;
                let program = command.split(' ').next().unwrap_or_default();
                let program = base_name(program.as_bytes());
                self.program = String::from_utf8_lossy(program).into_owned();
                return Ok(());
            }
            Kind::Other => {
                self.others += u64::from(event.stack != 0);
                return Ok(());
            }
        };
        self.samples.push(Sample {
            is_allocation,
            is_native: !is_allocation && value == EXTERNAL,
            thread: event.thread,
            time: event.time,
            stack: self.numbers.get(&event.stack).copied(),
            value: if is_allocation { value } else { 1 },
        });
        Ok(())
    }

    /// Reads the description of an event.
    fn metadata(&mut self, mut payload: Cursor<'b>) -> Decoded<()> {
        let (number, provider, id) = (payload.u32()?, text(&mut payload)?, payload.u32()?);
        let kind = match (&*provider, id) {
            ("Microsoft-DotNETCore-SampleProfiler", _) => Kind::Sample,
            ("Microsoft-Windows-DotNETRuntime", 10) => Kind::Allocation,
            ("Microsoft-Windows-DotNETRuntime", 143) => Kind::Method,
            ("Microsoft-Windows-DotNETRuntimeRundown", 143 | 144) => Kind::Method,
            ("Microsoft-Windows-DotNETRuntime", 152) => Kind::Module,
            ("Microsoft-Windows-DotNETRuntimeRundown", 153 | 154) => Kind::Module,
            ("Microsoft-DotNETCore-EventPipe", 1) => Kind::ProcessInfo,
            _ => Kind::Other,
        };
        self.kinds.insert(number.into(), kind);
        Ok(())
    }

    fn finish(mut self, mut builder: RecordingBuilder) -> Decoded<RecordingBuilder> {
        let Some(trace) = self.trace else {
            return Err(DecodeError::new(
                0,
                "no object `Trace`, which is needed to read the file",
            ));
        };
        let process = builder.process(trace.pid, &self.program);
        let native = builder.function(FrameKind::User, "(unmanaged code)", "");
        let native = native.map_err(DecodeError::at("the trace"))?;
        let mut known: HashMap<(Option<u32>, bool), StackIx> = HashMap::new();
        // The first type is shown by default, whatever occurs first in the file.
        let types = [
            (false, "samples", Unit::Samples),
            (true, "alloc_space", Unit::Bytes),
        ];
        let types = types.map(|(is_allocation, event, unit)| {
            let mut samples = self.samples.iter();
            let is_any = samples.any(|sample| sample.is_allocation == is_allocation);
            is_any.then(|| builder.sample_type(event, unit))
        });
        for sample in &self.samples {
            let key = (sample.stack, sample.is_native);
            let stack = match known.get(&key) {
                Some(&known) => known,
                None => {
                    let addresses = sample
                        .stack
                        .and_then(|stack| self.stacks.get(stack as usize));
                    let addresses = addresses.map_or(&[][..], Vec::as_slice);
                    let stack = resolved(
                        addresses,
                        &mut self.methods,
                        sample.is_native.then_some(native),
                        &mut builder,
                    );
                    let stack = stack.map_err(DecodeError::at("the stacks"))?;
                    known.insert(key, stack);
                    stack
                }
            };
            let Some(of) = types[usize::from(sample.is_allocation)] else {
                continue;
            };
            let thread = builder.thread_unchecked(process, sample.thread as u32, "");
            let ticks = u128::from(sample.time.saturating_sub(trace.start));
            let time = ticks * 1_000_000_000 / u128::from(trace.frequency);
            let time = Nanoseconds(u64::try_from(time).unwrap_or(u64::MAX));
            let cost = Cost {
                samples: 1,
                value: sample.value,
            };
            builder.push((thread, of), stack, Some(time), cost);
        }
        if self.others > 0 {
            builder.warnings.push(format!(
                "Samples and allocations are read; stacks of {} other events were ignored.",
                self.others
            ));
        }
        Ok(builder)
    }
}

/// The stack of addresses, leaf first; with `native`, below a frame for native code.
fn resolved(
    addresses: &[u64],
    methods: &mut Methods,
    native: Option<LocationIx>,
    builder: &mut RecordingBuilder,
) -> Built<StackIx> {
    let mut stack = Vec::with_capacity(addresses.len() + 1);
    for (depth, &address) in addresses.iter().enumerate().rev() {
        let is_call = depth > 0 || native.is_some();
        let address = address.saturating_sub(u64::from(is_call));
        stack.push(methods.location(address, builder)?);
    }
    stack.extend(native);
    builder.stack(&stack)
}
