//! Output of R's profiler, `Rprof("Rprof.out")`: one sample per line, leaf first, each function in quotes.
//!
//! ```text
//! memory profiling: GC profiling: line profiling: sample.interval=20000
//! #File 1: work.R
//! :266566:1076531:27470856:0:"runif" 1#6 "FUN" "lapply" 1#6 "allocate"
//! ```
//!
//! A function is preceded by its file and line. The line begins with the memory in use: small and large vectors in
//! units of 8 bytes, bytes of other nodes, and the number of calls of `duplicate`. The cost of a sample is the growth
//! of the first three since the previous one, as in `summaryRprof(memory = "both")`.
//!
//! Source: `src/main/eval.c` of R, `help(Rprof)`, and `summaryRprof` of its package utils.

use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::report::{Report, add_to_only_thread};
use crate::source::Head;
use crate::wire::text::{decimal, excerpt};
use hashbrown::HashMap;
use sto_model::units::{Cost, Unit};

/// Returns `true` if the first line has the sampling interval.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.first_line()
        .is_some_and(|line| interval(line).is_some())
}

/// The interval in microseconds.
fn interval(line: &[u8]) -> Option<u64> {
    let line = line.trim_ascii_end();
    let at = memchr::memmem::find(line, INTERVAL)?;
    let is_header = at == 0 || line[..at].ends_with(b" profiling: ");
    decimal(&line[at + INTERVAL.len()..]).filter(|_| is_header)
}

const INTERVAL: &[u8] = b"sample.interval=";

#[derive(Default)]
pub(super) struct Rprof {
    interval: Option<u64>,
    has_memory: bool,
    /// Bytes at the previous sample.
    memory: Option<[u64; 3]>,
    files: HashMap<u64, Box<[u8]>>,
    known: HashMap<Box<[u8]>, LocationIx>,
    stack: Vec<LocationIx>,
}

impl Report for Rprof {
    fn block(&mut self, _lines: &[u8]) {
        // The names may be many and long.
        self.known.clear();
    }

    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let line = line.trim_ascii();
        let Some(interval) = self.interval else {
            return self.header(line, builder);
        };
        if let Some(file) = line.strip_prefix(b"#File ") {
            return self.file(file);
        }
        if line.is_empty() {
            return Ok(());
        }
        let (grown, stack) = if self.has_memory {
            self.grown(line)?
        } else {
            (0, line)
        };
        // No R function was running.
        if stack.is_empty() {
            return Ok(());
        }
        self.read_stack(stack, builder)?;
        let stack = builder.stack(&self.stack)?;
        let sample = |value| Cost { samples: 1, value };
        add_to_only_thread(builder, 0, stack, sample(interval))?;
        if grown > 0 {
            add_to_only_thread(builder, 1, stack, sample(grown))?;
        }
        Ok(())
    }
}

impl Rprof {
    fn header(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let nanoseconds = interval(line).and_then(|time| time.checked_mul(1000));
        self.interval = Some(nanoseconds.ok_or_else(|| {
            format!(
                "expected `sample.interval=` and microseconds, found {}",
                excerpt(line)
            )
        })?);
        builder.sample_type("time", Unit::Nanoseconds);
        self.has_memory = line.starts_with(b"memory profiling: ");
        if self.has_memory {
            builder.sample_type("memory", Unit::Bytes);
        }
        Ok(())
    }

    fn file(&mut self, text: &[u8]) -> Result<(), String> {
        let parts = memchr::memmem::find(text, b": ").map(|at| (&text[..at], &text[at + 2..]));
        let numbered = parts.and_then(|(number, file)| Some((decimal(number)?, file)));
        let (number, file) = numbered.ok_or_else(|| {
            format!(
                "expected a number, a colon and a file after `#File`, found {}",
                excerpt(text)
            )
        })?;
        self.files.insert(number, file.into());
        // From here on, the number means another file.
        self.known.clear();
        Ok(())
    }

    /// Splits off the memory counts before a stack; returns by how much they grew, and the stack.
    fn grown<'l>(&mut self, line: &'l [u8]) -> Result<(u64, &'l [u8]), String> {
        let mut fields = line.splitn(6, |&byte| byte == b':');
        let is_first_empty = fields.next() == Some(b"");
        let mut bytes = |unit| decimal(fields.next()?)?.checked_mul(unit);
        let memory = [bytes(8), bytes(8), bytes(1), bytes(1)];
        let ([Some(small), Some(large), Some(nodes), Some(_)], Some(stack), true) =
            (memory, fields.next(), is_first_empty)
        else {
            return Err(format!(
                "expected four numbers, each after a colon, and a stack after one more, found {}",
                excerpt(line)
            ));
        };
        let now = [small, large, nodes];
        let before = self.memory.replace(now).unwrap_or(now);
        let grown = now
            .iter()
            .zip(before)
            .try_fold(0u64, |sum, (&now, before)| {
                sum.checked_add(now.saturating_sub(before))
            });
        let grown =
            grown.ok_or_else(|| format!("memory of more than 2^64 bytes: {}", excerpt(line)))?;
        Ok((grown, stack.trim_ascii()))
    }

    /// Reads a stack and returns it root first.
    fn read_stack(&mut self, text: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        self.stack.clear();
        let mut rest = text;
        while !rest.is_empty() {
            let end = end_of_frame(rest).ok_or_else(|| {
                format!(
                    "expected quoted functions separated by spaces, found {}",
                    excerpt(rest)
                )
            })?;
            let location = self.location(&rest[..end], builder)?;
            self.stack.push(location);
            rest = rest[end..].trim_ascii_start();
        }
        self.stack.reverse();
        Ok(())
    }

    /// A function such as `1#6 "FUN"`.
    fn location(&mut self, text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
        if let Some(&known) = self.known.get(text) {
            return Ok(known);
        }
        let (place, symbol) = match memchr::memchr(b'"', text) {
            Some(quote) => (&text[..quote], &text[quote + 1..text.len() - 1]),
            // Code outside of functions.
            None => (text, &b"<TopLevel>"[..]),
        };
        let place = place.trim_ascii();
        let (file, line) = match memchr::memchr(b'#', place) {
            Some(at) => (decimal(&place[..at]), decimal(&place[at + 1..])),
            None => (None, None),
        };
        let frame = NamedFrame {
            symbol,
            file: file
                .and_then(|file| self.files.get(&file))
                .map_or(b"", |file| file),
            line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
            ..NamedFrame::default()
        };
        let location = frame.add(builder)?;
        self.known.insert(text.into(), location);
        Ok(location)
    }
}

/// The end of a stack's first function, whose name may contain quotes.
fn end_of_frame(stack: &[u8]) -> Option<usize> {
    let Some(quote) = memchr::memchr(b'"', stack) else {
        return Some(stack.len()).filter(|_| memchr::memchr(b'#', stack).is_some());
    };
    let name = &stack[quote + 1..];
    let end = memchr::memmem::find(name, b"\" ")
        .or_else(|| name.ends_with(b"\"").then(|| name.len() - 1));
    Some(quote + 1 + end? + 1)
}
