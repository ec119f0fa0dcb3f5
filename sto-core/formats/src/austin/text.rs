//! Lines `P93;T0:93;app.py:main:12;app.py:work:3 1104`, after lines `# key: value`.

use super::{Metrics, Mode, Session, collector, invalid, kernel, split, thread};
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines};
use hashbrown::HashMap;

/// Returns `true` if a text begins with Austin's version or memory mappings, or if its first line
/// is a sample with a frame.
pub(in super::super) fn matches(head: &Head<'_>) -> bool {
    let first = lines(head.whole_lines()).next();
    let says_so = first
        .is_some_and(|(_, line)| line.starts_with(b"# austin: ") || line.starts_with(b"# map: "));
    says_so || head.first_line().is_some_and(is_sample)
}

fn is_sample(line: &[u8]) -> bool {
    Sample::parse(line.trim_ascii_end()).is_some_and(|sample| {
        let first = sample.frames.split(|&byte| byte == b';').next();
        let is_frame = first.is_some_and(|frame| Frame::parse(frame).is_some());
        is_frame && numbers(sample.metrics).is_some()
    })
}

#[derive(Default)]
pub(in super::super) struct AustinText {
    session: Session,
    known: HashMap<Box<[u8]>, LocationIx>,
    stack: Vec<LocationIx>,
}

impl Report for AustinText {
    fn block(&mut self, _lines: &[u8]) {
        // The names may be many and long.
        self.known.clear();
    }

    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let line = line.trim_ascii_end();
        if let Some(metadata) = line.strip_prefix(b"#") {
            if let Some((key, value)) = split(metadata, b':') {
                let (key, value) = (key.trim_ascii(), value.trim_ascii());
                self.session.metadata(key, value, builder);
            }
            return Ok(());
        }
        if line.is_empty() {
            return Ok(());
        }
        let problem = |expected: &str| format!("expected {expected}, found {}", excerpt(line));
        let sample = Sample::parse(line).ok_or_else(|| {
            problem("a process, a thread, a stack and what it cost, as in `P93;T0:93;app.py:main:12 1104`")
        })?;
        let numbers = numbers(sample.metrics).unwrap_or_default();
        if numbers.len() == 3 {
            self.session.mode = Mode::Full;
        }
        let metrics = metrics(&numbers, self.session.mode);
        let metrics = metrics.ok_or_else(|| {
            problem("a number, or three with a comma between, at the end of the line")
        })?;
        let (_, tid) = split(sample.thread, b':').unwrap_or((b"", sample.thread));
        let thread = thread(sample.process, decimal(tid), tid, builder);
        self.stack.clear();
        for frame in sample.frames.split(|&byte| byte == b';') {
            if !frame.is_empty() {
                let location = self.location(frame, builder)?;
                self.stack.push(location);
            }
        }
        let stack = builder.stack(&self.stack)?;
        self.session.add(thread, stack, metrics, builder)?;
        Ok(())
    }
}

impl AustinText {
    fn location(&mut self, text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
        if let Some(&known) = self.known.get(text) {
            return Ok(known);
        }
        let location = match (text, Frame::parse(text)) {
            (b":INVALID:", _) => invalid(builder),
            (b":GC:", _) => collector(builder),
            (
                _,
                Some(Frame {
                    file: b"kernel",
                    symbol,
                    line: 0,
                }),
            ) => kernel(symbol, builder),
            (_, Some(frame)) => {
                let frame = (frame.file, frame.symbol, frame.line);
                self.session.frame(frame, builder)
            }
            (_, None) => self.session.frame((b"", text, 0), builder),
        }?;
        self.known.insert(text.into(), location);
        Ok(location)
    }
}

struct Sample<'l> {
    process: u64,
    /// The thread, preceded by its interpreter since version 3.5.
    thread: &'l [u8],
    frames: &'l [u8],
    metrics: &'l [u8],
}

impl<'l> Sample<'l> {
    fn parse(line: &'l [u8]) -> Option<Sample<'l>> {
        let space = memchr::memrchr(b' ', line)?;
        let (stack, metrics) = (&line[..space], &line[space + 1..]);
        let (process, rest) = split(stack.strip_prefix(b"P")?, b';')?;
        let rest = rest.strip_prefix(b"T")?;
        let (thread, frames) = split(rest, b';').unwrap_or((rest, b""));
        Some(Sample {
            process: decimal(process)?,
            thread,
            frames,
            metrics,
        })
    }
}

struct Frame<'l> {
    file: &'l [u8],
    symbol: &'l [u8],
    line: u64,
}

impl<'l> Frame<'l> {
    fn parse(text: &'l [u8]) -> Option<Frame<'l>> {
        let after = memchr::memrchr(b':', text)?;
        let before = memchr::memrchr(b':', &text[..after])?;
        let line = match &text[after + 1..] {
            b"" => 0,
            digits => decimal(digits)?,
        };
        Some(Frame {
            file: &text[..before],
            symbol: &text[before + 1..after],
            line,
        })
    }
}

/// One number, or three.
fn numbers(text: &[u8]) -> Option<Vec<i64>> {
    let numbers = text.split(|&byte| byte == b',');
    let numbers: Option<Vec<i64>> = numbers
        .map(|number| std::str::from_utf8(number).ok()?.parse().ok())
        .collect();
    numbers.filter(|numbers| matches!(numbers.len(), 1 | 3))
}

fn metrics(numbers: &[i64], mode: Mode) -> Option<Metrics> {
    let metrics = match *numbers {
        [bytes] if mode == Mode::Memory => Metrics {
            bytes,
            ..Metrics::default()
        },
        [time] => Metrics {
            microseconds: u64::try_from(time).ok()?,
            ..Metrics::default()
        },
        [time, is_idle, bytes] => Metrics {
            microseconds: u64::try_from(time).ok()?,
            is_idle: is_idle != 0,
            bytes,
        },
        _ => return None,
    };
    Some(metrics)
}
