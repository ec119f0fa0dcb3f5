//! What `sample` and Activity Monitor of macOS print.
//!
//! Source: `sample(1)` of macOS.

use super::call_path::CallPath;
use super::report::{About, Report};
use super::source::Head;
use super::summed::Summed;
use super::wire::text::{decimal, lines};
use super::{Format, excerpt, kind_by_names};
use crate::binary::source_path;
use crate::limits::{MAX_PROCESS_NAME, cut};
use crate::model::Frame;
use crate::recording::{LocationIx, ProcessIx, SampleTypeIx, StackIx, Thread, ThreadIx};
use crate::units::{Cost, SampleType, Unit};
use std::sync::Arc;

const BEGIN: &[u8] = b"Call graph:";
const END: &[u8] = b"Total number in stack";

/// Whether a profile begins with what was sampled, and has a call graph.
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
    about: About,
    /// Time between samples, in nanoseconds, where the header says it.
    interval: Option<u64>,
    place: Place,
    path: CallPath,
    /// Samples of the last thread that are in none of its calls.
    outside_calls: u64,
    /// Samples of all threads.
    total: u64,
}

#[derive(Default)]
enum Place {
    #[default]
    Header,
    CallGraph,
    Behind,
}

impl Report for Sample {
    const FORMAT: Format = Format::Sample;
    const HAS_END: bool = true;

    fn line(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String> {
        match self.place {
            Place::Header if line.starts_with(BEGIN) => self.place = Place::CallGraph,
            Place::Header => self.header(line, summed),
            Place::CallGraph if line.starts_with(END) => {
                self.leave_thread(summed)?;
                self.place = Place::Behind;
            }
            Place::CallGraph if line.trim_ascii().is_empty() => {}
            Place::CallGraph => self.node(line, summed)?,
            Place::Behind => {}
        }
        Ok(())
    }

    fn cut(&self) -> Option<&'static str> {
        match self.place {
            Place::Behind => None,
            _ => Some("its call graph"),
        }
    }

    fn finish(mut self, summed: &mut Summed) -> Result<About, String> {
        self.leave_thread(summed)?;
        let total = self.total.saturating_mul(self.interval.unwrap_or(1));
        let off = summed.differs_from(0, total, (0, 0));
        self.about.warnings.extend(off);
        let (event, unit) = match self.interval {
            Some(_) => ("wall", Unit::Nanoseconds),
            None => ("samples", Unit::Samples),
        };
        Ok(About {
            sample_types: vec![SampleType {
                event: event.to_owned(),
                unit,
            }],
            ..self.about
        })
    }
}

impl Sample {
    /// `Analysis of sampling app (pid 93) every 1 millisecond`.
    fn header(&mut self, line: &[u8], summed: &mut Summed) {
        let Some(told) = line.strip_prefix(b"Analysis of sampling ") else {
            return;
        };
        let told = summed.named.text(told);
        let Some((program, told)) = told.rsplit_once(" (pid ") else {
            return;
        };
        program.clone_into(&mut self.about.program);
        cut(&mut self.about.program, MAX_PROCESS_NAME);
        let mut words = told.split_whitespace();
        let pid = words
            .next()
            .and_then(|pid| pid.strip_suffix(')')?.parse().ok());
        self.about.pid = pid.unwrap_or(0);
        self.interval = words.nth(1).and_then(|number| {
            let factor = match words.next()? {
                "millisecond" | "milliseconds" => 1_000_000,
                "microsecond" | "microseconds" => 1_000,
                _ => return None,
            };
            number.parse::<u64>().ok()?.checked_mul(factor)
        });
    }

    /// `    + ! 4282 work  (in app) + 34  [0x10d6c1f22]  work.c:12`, with two more characters in front
    /// for each caller.
    fn node(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String> {
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
            self.leave_thread(summed)?;
            self.about.threads.push(thread(&summed.named.text(called)));
            self.outside_calls = count;
            self.total = self.total.saturating_add(count);
            return Ok(());
        }
        if self.about.threads.is_empty() {
            return Err(format!(
                "expected a thread before its calls, found {}",
                excerpt(line)
            ));
        }
        let location = frame(called, summed)?;
        let depth = indent / 2 - 1;
        if depth == 0 {
            self.outside_calls = self.outside_calls.saturating_sub(count);
        }
        let own = self.own();
        self.path.enter(depth, location, count, summed, own)?;
        Ok(())
    }

    fn leave_thread(&mut self, summed: &mut Summed) -> Result<(), String> {
        let own = self.own();
        self.path.leave(0, summed, &own)?;
        match std::mem::take(&mut self.outside_calls) {
            0 => Ok(()),
            outside => {
                let unknown = summed.named.stack(&[])?;
                own(summed, unknown, outside)
            }
        }
    }

    /// Adds samples of a stack of the last thread.
    fn own(&self) -> impl Fn(&mut Summed, StackIx, u64) -> Result<(), String> + use<> {
        let thread = ThreadIx(self.about.threads.len().saturating_sub(1) as u32);
        let interval = self.interval.unwrap_or(1);
        move |summed, stack, samples| {
            let value = samples.checked_mul(interval);
            let value =
                value.ok_or_else(|| format!("{samples} samples last longer than 2^64 ns"))?;
            summed.add_stack(thread, SampleTypeIx(0), stack, Cost { samples, value })
        }
    }
}

/// `Thread_8749954   DispatchQueue_1: com.apple.main-thread  (serial)`: its id differs from run to run.
fn thread(text: &str) -> Thread {
    let (id, name) = text.split_once([' ', ':']).unwrap_or((text, ""));
    let (id, name) = match id.strip_prefix("Thread_") {
        Some(id) => (id, name.trim_start_matches([' ', ':'])),
        None => ("", text),
    };
    let mut name = name.to_owned();
    cut(&mut name, MAX_PROCESS_NAME);
    Thread {
        tid: id.parse().unwrap_or(0),
        name,
        process: ProcessIx(0),
        labels: Arc::default(),
    }
}

/// `main  (in app) + 34  [0x10d6c1f22]  work.c:12`
fn frame(text: &[u8], summed: &mut Summed) -> Result<LocationIx, String> {
    let address = memchr::memmem::rfind(text, b"  [0x").unwrap_or(text.len());
    let (called, place) = text.split_at(address);
    let (symbol, module) = match memchr::memmem::rfind(called, b"  (in ") {
        Some(at) => {
            let module = &called[at + 6..];
            let end = memchr::memchr(b')', module).unwrap_or(module.len());
            (&called[..at], &module[..end])
        }
        None => (called, &b""[..]),
    };
    let symbol = match symbol.trim_ascii() {
        b"" | b"???" => b"[unknown]",
        symbol => symbol,
    };
    let place = memchr::memmem::find(place, b"]  ").map_or(&b""[..], |at| &place[at + 3..]);
    let (file, line) = match memchr::memrchr(b':', place) {
        Some(colon) => (&place[..colon], decimal(&place[colon + 1..])),
        None => (place, None),
    };
    let named = &mut summed.named;
    let (symbol, module, file) = (named.text(symbol), named.text(module), named.text(file));
    named.frame_at_line(Frame {
        module: &module,
        symbol: &symbol,
        kind: kind_by_names(&symbol, &module),
        file: &source_path(&file),
        line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
    })
}
