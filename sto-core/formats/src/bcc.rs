//! Stacks printed by bcc's tools `profile`, `offcputime`, `stackcount` and `memleak`, without `-f`,
//! and by `offcputime` of `libbpf-tools`, whose output has no title.
//!
//! Source: `tools/profile.py`, `offcputime.py`, `stackcount.py` and `memleak.py`, and
//! `libbpf-tools/offcputime.c`, of <https://github.com/iovisor/bcc>.

use crate::names::{NamedFrame, module_name};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report::{Report, time};
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines, words};
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

/// Number of bytes searched for the tool's title.
const MAX_HEAD: usize = 1 << 12;

/// The tool, which determines the unit.
#[derive(Clone, Copy, Default, PartialEq)]
enum Tool {
    Profile,
    #[default]
    OffCpu,
    StackCount,
    MemLeak,
}

impl Tool {
    fn from_title(line: &[u8]) -> Option<Tool> {
        let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
        if line.starts_with(b"Sampling at ") && has(b" stack") {
            Some(Tool::Profile)
        } else if line.starts_with(b"Tracing off-CPU time (us)") {
            Some(Tool::OffCpu)
        } else if line.starts_with(b"Tracing ") && has(b" functions for \"") {
            Some(Tool::StackCount)
        } else if has(b" stacks with outstanding allocations:") {
            Some(Tool::MemLeak)
        } else {
            None
        }
    }
}

/// Returns `true` if a text has a tool's title, or a stack that ends as in `offcputime`: `    -
/// cp (9036)`.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let head = &head.bytes[..head.bytes.len().min(MAX_HEAD)];
    let is_process = |line: &[u8]| line.starts_with(b"    -        ") && line.ends_with(b")");
    lines(head).any(|(_, line)| Tool::from_title(line).is_some() || is_process(line))
}

#[derive(Default)]
pub(super) struct Bcc {
    tool: Tool,
    /// Leaf first.
    stack: Vec<LocationIx>,
    thread: Option<ThreadIx>,
    /// memleak's last report, which it prints repeatedly: bytes and allocations.
    leaked: Vec<(StackIx, Cost)>,
    leak: Option<Cost>,
}

impl Report for Bcc {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        if let Some(tool) = Tool::from_title(line) {
            self.end_of_leak(builder)?;
            self.tool = tool;
            self.stack.clear();
            self.leaked.clear();
            return Ok(());
        }
        let text = line.trim_ascii();
        let is_indented = line.first().is_some_and(u8::is_ascii_whitespace);
        if text.is_empty() || !is_indented {
            self.end_of_leak(builder)?;
            self.stack.clear();
            return Ok(());
        }
        if self.tool == Tool::MemLeak {
            return self.leak(text, builder);
        }
        if text.iter().all(u8::is_ascii_digit) {
            let count = decimal(text)
                .ok_or_else(|| format!("the count {} is larger than 2^64 - 1", excerpt(text)))?;
            return self.count(count, builder);
        }
        match text {
            // Separates kernel and user frames.
            b"--" => Ok(()),
            [b'-', b' ', name @ ..] => self.process(name.trim_ascii(), b'(', builder),
            name if self.tool == Tool::StackCount && line.starts_with(b"    ") => {
                self.process(name, b'[', builder)
            }
            text => {
                self.stack.push(frame(text, builder)?);
                Ok(())
            }
        }
    }

    fn finish(mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.end_of_leak(builder)?;
        match self.tool {
            Tool::Profile => builder.sample_type("samples", Unit::Samples),
            Tool::OffCpu => builder.sample_type("off-cpu", Unit::Nanoseconds),
            Tool::StackCount => builder.sample_type("calls", Unit::Events),
            Tool::MemLeak => builder.sample_type("outstanding", Unit::Bytes),
        };
        for (stack, cost) in std::mem::take(&mut self.leaked) {
            super::report::add_to_only_thread(builder, 0, stack, cost)?;
        }
        Ok(())
    }
}

impl Bcc {
    /// `cp (9036)`, `tar [15069]`
    fn process(
        &mut self,
        name: &[u8],
        bracket: u8,
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let unexpected = || format!("expected a process with its id, found {}", excerpt(name));
        let start = memchr::memrchr(bracket, name).ok_or_else(unexpected)?;
        let id = name[start + 1..]
            .split_last()
            .and_then(|(_, id)| decimal(id));
        let id = id.and_then(|id| u32::try_from(id).ok());
        let id = id.ok_or_else(unexpected)?;
        let name = builder.text(name[..start].trim_ascii()).into_owned();
        let process = builder.process(id, &name);
        self.thread = Some(builder.thread_unchecked(process, id, &name));
        Ok(())
    }

    fn count(&mut self, count: u64, builder: &mut RecordingBuilder) -> Result<(), String> {
        let cost = match self.tool {
            Tool::OffCpu => {
                let nanoseconds = count.checked_mul(1000);
                time(nanoseconds.ok_or("a time of more than 2^64 ns")?)
            }
            _ => Cost::from_count(count),
        };
        self.stack.reverse();
        let stack = builder.stack(&self.stack)?;
        self.stack.clear();
        let thread = self.thread.take().unwrap_or_else(|| {
            let process = builder.process(0, "");
            builder.thread_unchecked(process, 0, "")
        });
        Ok(builder.add_cost(thread, SampleTypeIx(0), stack, cost)?)
    }

    /// `80 bytes in 5 allocations from stack`, or a frame below it.
    fn leak(&mut self, text: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let columns: Vec<&[u8]> = words(text).take(8).collect();
        if let [bytes, b"bytes", b"in", samples, b"allocations", ..] = columns[..] {
            self.end_of_leak(builder)?;
            let cost = (decimal(samples), decimal(bytes));
            let (Some(samples), Some(value)) = cost else {
                return Err(format!("expected numbers, found {}", excerpt(text)));
            };
            self.leak = Some(Cost { samples, value });
        } else if self.leak.is_some() {
            self.stack.push(frame(text, builder)?);
        }
        Ok(())
    }

    fn end_of_leak(&mut self, builder: &mut RecordingBuilder) -> Built<()> {
        if let Some(cost) = self.leak.take() {
            self.stack.reverse();
            let stack = builder.stack(&self.stack)?;
            self.stack.clear();
            self.leaked.push((stack, cost));
        }
        Ok(())
    }
}

/// `do_page_fault`, `b'main'`, `main+0x6d [allocs]`, `0x7f92 main+0x6d [libc.so.6]`
fn frame(text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let bytes = text
        .strip_prefix(b"b'")
        .and_then(|text| text.strip_suffix(b"'"));
    let mut symbol = bytes.unwrap_or(text);
    let mut frame = NamedFrame::default();
    let address = words(symbol).next().unwrap_or_default();
    if address.starts_with(b"0x") && address.len() < symbol.len() {
        symbol = symbol[address.len()..].trim_ascii_start();
    }
    let module = symbol.strip_suffix(b"]").and_then(|text| {
        let start = memchr::memmem::rfind(text, b" [")?;
        Some((&text[..start], &text[start + 2..]))
    });
    if let Some((named, module)) = module {
        symbol = named;
        (frame.module, frame.kind) = match module {
            b"kernel" => (&b"[kernel]"[..], Some(FrameKind::Kernel)),
            module => (module_name(module), None),
        };
    }
    let plus = memchr::memmem::rfind(symbol, b"+0x");
    let is_offset = |&at: &usize| symbol[at + 3..].iter().all(u8::is_ascii_hexdigit);
    frame.symbol = &symbol[..plus.filter(is_offset).unwrap_or(symbol.len())];
    frame.add(builder)
}
