//! Output of macOS's `sample` and Activity Monitor.
//!
//! Source: `sample(1)` of macOS.

use crate::names::{NamedFrame, nanoseconds_in, without_rust_mangling};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report::{CallPath, Report};
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines};
use sto_model::units::{Cost, Unit};

const BEGIN: &[u8] = b"Call graph:";
const END: &[u8] = b"Total number in stack";

/// Returns `true` if a profile begins with the sampled process and has a call graph.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let mut lines = lines(head.bytes).map(|(_, line)| line);
    let says_so = |line: &[u8]| {
        line.starts_with(b"Analysis of sampling ") || line.starts_with(b"Sampling process ")
    };
    lines
        .by_ref()
        .find(|line| !line.is_empty())
        .is_some_and(says_so)
        && lines.any(|line| line.starts_with(BEGIN))
}

#[derive(Default)]
pub(super) struct Sample {
    pid: u32,
    program: String,
    thread: Option<ThreadIx>,
    /// Sampling interval in nanoseconds, if the header has it.
    interval: Option<u64>,
    section: Section,
    path: CallPath,
    /// Samples of the current thread outside of its calls.
    outside_calls: u64,
    total: u64,
}

#[derive(Default)]
enum Section {
    #[default]
    Header,
    CallGraph,
    AfterCallGraph,
}

impl Report for Sample {
    const HAS_END: bool = true;

    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        match self.section {
            Section::Header if line.starts_with(BEGIN) => self.section = Section::CallGraph,
            Section::Header => self.header(line, builder),
            Section::CallGraph if line.starts_with(END) => {
                self.leave_thread(builder)?;
                self.section = Section::AfterCallGraph;
            }
            Section::CallGraph if line.trim_ascii().is_empty() => {}
            Section::CallGraph => self.node(line, builder)?,
            Section::AfterCallGraph => {}
        }
        Ok(())
    }

    fn cut(&self) -> Option<&'static str> {
        match self.section {
            Section::AfterCallGraph => None,
            _ => Some("its call graph"),
        }
    }

    fn finish(mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.leave_thread(builder)?;
        let total = self.total.saturating_mul(self.interval.unwrap_or(1));
        builder
            .warnings
            .extend(builder.check_total(SampleTypeIx(0), total, (0, 0)));
        match self.interval {
            Some(_) => builder.sample_type("wall", Unit::Nanoseconds),
            None => builder.sample_type("samples", Unit::Samples),
        };
        Ok(())
    }
}

impl Sample {
    /// `Analysis of sampling app (pid 93) every 1 millisecond`.
    fn header(&mut self, line: &[u8], builder: &mut RecordingBuilder) {
        let sampled = line.strip_prefix(b"Analysis of sampling ");
        let sampled = builder.text(sampled.unwrap_or_default());
        let Some((program, rest)) = sampled.rsplit_once(" (pid ") else {
            return;
        };
        program.clone_into(&mut self.program);
        let mut words = rest.split_whitespace();
        let pid = words
            .next()
            .and_then(|pid| pid.strip_suffix(')')?.parse().ok());
        self.pid = pid.unwrap_or(0);
        self.interval = words.nth(1).and_then(|number| {
            let factor = nanoseconds_in(words.next()?.as_bytes())?;
            number.parse::<u64>().ok()?.checked_mul(factor)
        });
    }

    /// `    + ! 4282 work  (in app) + 34  [0x10d6c1f22]  work.c:12`, with two more characters in
    /// front per caller.
    fn node(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let expected = || {
            format!(
                "expected a count and what was called, as in `    + 12 main  (in app) + 34`, found {}",
                excerpt(line)
            )
        };
        let inside = line.strip_prefix(b"    ").ok_or_else(expected)?;
        let indent = inside
            .iter()
            .take_while(|byte| b" +|:!".contains(byte))
            .count();
        let (count, called) = {
            let text = &inside[indent..];
            let end = memchr::memchr(b' ', text).ok_or_else(expected)?;
            (
                decimal(&text[..end]).ok_or_else(expected)?,
                text[end..].trim_ascii(),
            )
        };
        if indent % 2 != 0 {
            return Err(expected());
        }
        if indent == 0 {
            self.leave_thread(builder)?;
            let (tid, name) = thread(&builder.text(called));
            let process = builder.process(self.pid, &self.program);
            self.thread = Some(builder.new_thread(process, tid, &name));
            self.outside_calls = count;
            self.total = self.total.saturating_add(count);
            return Ok(());
        }
        if self.thread.is_none() {
            return Err(format!(
                "expected a thread before its calls, found {}",
                excerpt(line)
            ));
        }
        let location = frame(called, builder)?;
        let depth = indent / 2 - 1;
        if depth == 0 {
            self.outside_calls = self.outside_calls.saturating_sub(count);
        }
        let own = self.own();
        self.path.enter(depth, location, count, builder, own)?;
        Ok(())
    }

    fn leave_thread(&mut self, builder: &mut RecordingBuilder) -> Built<()> {
        let own = self.own();
        self.path.leave(0, builder, &own)?;
        match std::mem::take(&mut self.outside_calls) {
            0 => Ok(()),
            outside => {
                let unknown = builder.stack(&[])?;
                own(builder, unknown, outside)
            }
        }
    }

    /// Returns a function that adds samples of a stack of the current thread.
    fn own(&self) -> impl Fn(&mut RecordingBuilder, StackIx, u64) -> Built<()> + use<> {
        let thread = self.thread.unwrap_or(ThreadIx(0));
        let interval = self.interval.unwrap_or(1);
        move |builder, stack, samples| {
            let value = samples.checked_mul(interval);
            let value =
                value.ok_or_else(|| format!("{samples} samples last longer than 2^64 ns"))?;
            builder.add_cost(thread, SampleTypeIx(0), stack, Cost { samples, value })
        }
    }
}

/// `Thread_8749954   DispatchQueue_1: com.apple.main-thread  (serial)`; the id differs from run to
/// run.
fn thread(text: &str) -> (u32, String) {
    let (id, name) = text.split_once([' ', ':']).unwrap_or((text, ""));
    match id.strip_prefix("Thread_") {
        Some(id) => {
            let name = name.trim_start_matches([' ', ':']);
            (id.parse().unwrap_or(0), name.to_owned())
        }
        None => (0, text.to_owned()),
    }
}

/// `main  (in app) + 34  [0x10d6c1f22]  work.c:12`
fn frame(text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let address = memchr::memmem::rfind(text, b"  [0x").unwrap_or(text.len());
    let (called, source) = text.split_at(address);
    let (symbol, module) = match memchr::memmem::rfind(called, b"  (in ") {
        Some(at) => {
            let module = &called[at + 6..];
            let end = memchr::memchr(b')', module).unwrap_or(module.len());
            (&called[..at], &module[..end])
        }
        None => (called, &b""[..]),
    };
    let symbol = match symbol.trim_ascii() {
        b"???" => b"",
        symbol => symbol,
    };
    let source = memchr::memmem::find(source, b"]  ").map_or(&b""[..], |at| &source[at + 3..]);
    let (file, line) = match memchr::memrchr(b':', source) {
        Some(colon) => (&source[..colon], decimal(&source[colon + 1..])),
        None => (source, None),
    };
    let frame = NamedFrame {
        symbol: &without_rust_mangling(symbol),
        module,
        file,
        line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
        kind: None,
    };
    frame.add(builder)
}
