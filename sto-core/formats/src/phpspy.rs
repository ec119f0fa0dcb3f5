//! Output of phpspy, a profiler of PHP: stacks, leaf first, with a line for each frame and for each fact about the
//! stack. Blank lines separate them.
//!
//! ```text
//! 0 usleep <internal>:-1
//! 1 helper /srv/work.php:8
//! # trace_ts = 1795649169.009692
//! # pid = 2391
//! ```
//!
//! Source: `event_fout.c` of phpspy.

use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx};
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, scaled};
use hashbrown::HashMap;
use sto_model::units::{Cost, Nanoseconds, Unit, UnixSeconds};

/// Returns `true` if the first line is the leaf of a stack.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let leaf = head
        .first_line()
        .and_then(|line| Frame::parse(line.trim_ascii_end()));
    leaf.is_some_and(|frame| frame.depth == 0)
}

struct Frame<'l> {
    depth: u64,
    /// The function with file and line.
    function: &'l [u8],
    symbol: &'l [u8],
    file: &'l [u8],
    line: u32,
}

impl<'l> Frame<'l> {
    fn parse(line: &'l [u8]) -> Option<Frame<'l>> {
        let space = memchr::memchr(b' ', line)?;
        let (depth, function) = (decimal(&line[..space])?, &line[space + 1..]);
        let space = memchr::memchr(b' ', function).filter(|&space| space > 0)?;
        let (symbol, place) = (&function[..space], &function[space + 1..]);
        let colon = memchr::memrchr(b':', place)?;
        let (file, line) = (&place[..colon], &place[colon + 1..]);
        let line = match line {
            b"-1" => 0,
            line => u32::try_from(decimal(line)?).ok()?,
        };
        Some(Frame {
            depth,
            function,
            symbol,
            file: if file == b"<internal>" { b"" } else { file },
            line,
        })
    }
}

#[derive(Default)]
pub(super) struct Phpspy {
    known: HashMap<Box<[u8]>, LocationIx>,
    /// The current stack, leaf first.
    stack: Vec<LocationIx>,
    pid: u32,
    time: Option<Nanoseconds>,
    /// Time of the first stack.
    start: Option<Nanoseconds>,
}

impl Report for Phpspy {
    fn block(&mut self, _lines: &[u8]) {
        // The names may be many and long.
        self.known.clear();
    }

    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Ok(self.end_stack(builder)?);
        }
        if let Some(said) = line.strip_prefix(b"# ") {
            return self.said(said);
        }
        let frame = Frame::parse(line).ok_or_else(|| {
            format!(
                "expected a frame, as in `0 work /srv/app.php:12`, found {}",
                excerpt(line)
            )
        })?;
        if frame.depth == 0 {
            self.end_stack(builder)?;
        }
        if frame.depth != self.stack.len() as u64 {
            return Err(format!(
                "frame {} of a stack, where {} is next; was a line lost?",
                frame.depth,
                self.stack.len()
            ));
        }
        let location = self.location(&frame, builder)?;
        self.stack.push(location);
        Ok(())
    }

    fn finish(mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.end_stack(builder)?;
        builder.sample_type("samples", Unit::Samples);
        builder.origin.recorded = self.start.map(|start| UnixSeconds(start.0 / SECOND));
        Ok(())
    }
}

const SECOND: u64 = 1_000_000_000;

impl Phpspy {
    /// A line below a stack: `trace_ts = 1795649169.009692`.
    fn said(&mut self, said: &[u8]) -> Result<(), String> {
        if let Some(pid) = said.strip_prefix(b"pid = ") {
            self.pid = decimal(pid)
                .and_then(|pid| u32::try_from(pid).ok())
                .unwrap_or(0);
        }
        if let Some(time) = said.strip_prefix(b"trace_ts = ") {
            self.time = Some(Nanoseconds(scaled(time, 9)?));
        }
        Ok(())
    }

    fn end_stack(&mut self, builder: &mut RecordingBuilder) -> Built<()> {
        if !self.stack.is_empty() {
            self.stack.reverse();
            let stack = builder.stack(&self.stack)?;
            let process = builder.process(self.pid, "");
            let thread = builder.thread_unchecked(process, self.pid, "");
            let now = self.time.take();
            self.start = self.start.or(now);
            let since = now.zip(self.start);
            let time = since.map(|(now, start)| Nanoseconds(now.0.saturating_sub(start.0)));
            builder.push((thread, SampleTypeIx(0)), stack, time, Cost::from_count(1));
            self.stack.clear();
        }
        Ok(())
    }

    fn location(&mut self, frame: &Frame<'_>, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        if let Some(&known) = self.known.get(frame.function) {
            return Ok(known);
        }
        let named = NamedFrame {
            symbol: frame.symbol,
            file: frame.file,
            line: frame.line,
            ..NamedFrame::default()
        };
        let location = named.add(builder)?;
        self.known.insert(frame.function.into(), location);
        Ok(location)
    }
}
