//! Stacks of threads printed by gdb, `gdb -p PID -batch -ex 'thread apply all bt'`, once or
//! repeatedly like a poor man's profiler. Each stack is a sample.
//!
//! Source: chapters *Backtraces* and *Threads* of gdb's manual; `stack.c` of gdb.

use crate::names::{NamedFrame, module_name};
use crate::recording::{LocationIx, RecordingBuilder, SampleTypeIx, ThreadIx};
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines, words};
use sto_model::units::{Cost, Unit};

/// Number of bytes searched for the first stack.
const MAX_HEAD: usize = 1 << 16;

/// Returns `true` if a profile has a stack that begins with a frame in gdb's format.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let head = &head.bytes[..head.bytes.len().min(MAX_HEAD)];
    lines(head).any(|(_, line)| {
        frame_of(line).is_some_and(|(number, frame)| number == 0 && frame.arguments.is_some())
    })
}

#[derive(Default)]
pub(super) struct Gdb {
    thread: Option<ThreadIx>,
    /// Leaf first.
    stack: Vec<LocationIx>,
}

impl Report for Gdb {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        if line.starts_with(b"Thread ") && line.trim_ascii_end().ends_with(b":") {
            self.flush(builder)?;
            self.thread = Some(thread(line, builder)?);
            return Ok(());
        }
        // Text between stacks, or local variables printed by `bt full`.
        let Some((number, frame)) = frame_of(line) else {
            return Ok(());
        };
        if number == 0 {
            self.flush(builder)?;
        }
        if number != self.stack.len() as u64 {
            return Err(format!(
                "the frame {} after {} others of its stack; was a line lost?",
                excerpt(line),
                self.stack.len()
            ));
        }
        // A frame without an address is the function that the previous frame was inlined into.
        if !frame.has_address
            && let Some(last) = self.stack.last_mut()
        {
            *last = builder.as_inlined(*last)?;
        }
        self.stack.push(frame.named.add(builder)?);
        Ok(())
    }

    fn finish(mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.flush(builder)?;
        builder.sample_type("samples", Unit::Samples);
        Ok(())
    }
}

impl Gdb {
    fn flush(&mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        if self.stack.is_empty() {
            return Ok(());
        }
        self.stack.reverse();
        let stack = builder.stack(&self.stack)?;
        self.stack.clear();
        let thread = self.thread.unwrap_or_else(|| {
            let process = builder.process(0, "");
            builder.thread_unchecked(process, 0, "")
        });
        builder.add_cost(thread, SampleTypeIx(0), stack, Cost::from_count(1))?;
        Ok(())
    }
}

/// `Thread 2 (Thread 0x7f774bc1d6c0 (LWP 23450) "work"):`, without the name before gdb 10.
fn thread(line: &[u8], builder: &mut RecordingBuilder) -> Result<ThreadIx, String> {
    let id = [&b"LWP "[..], b"process "].into_iter().find_map(|before| {
        let start = memchr::memmem::find(line, before)? + before.len();
        let digits = line[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        u32::try_from(decimal(&line[start..start + digits])?).ok()
    });
    let quotes = memchr::memchr(b'"', line).zip(memchr::memrchr(b'"', line));
    let name = quotes.and_then(|(start, end)| line.get(start + 1..end));
    let name = builder.text(name.unwrap_or_default()).into_owned();
    let process = builder.process(0, "");
    Ok(builder.thread_unchecked(process, id.unwrap_or(0), &name))
}

struct Line<'b> {
    has_address: bool,
    arguments: Option<&'b [u8]>,
    named: NamedFrame<'b>,
}

/// `#12 0x00007f in work (rounds=4000) at work.cc:30`, `#3  f<int> (this=...) from /lib/libc.so.6`,
/// `#1  <signal handler called>`.
fn frame_of(line: &[u8]) -> Option<(u64, Line<'_>)> {
    let line = line.strip_prefix(b"#")?;
    let end = memchr::memchr(b' ', line)?;
    let number = decimal(&line[..end])?;
    let mut text = line[end..].trim_ascii();
    let has_address = text.starts_with(b"0x");
    if has_address {
        let address = words(text).next().unwrap_or_default().len();
        text = text[address..].trim_ascii_start();
        text = text.strip_prefix(b"in ").unwrap_or(text);
    }
    let mut named = NamedFrame::default();
    let Some(start) = arguments_at(text) else {
        named.symbol = text;
        let line = Line {
            has_address,
            arguments: None,
            named,
        };
        return (text.starts_with(b"<")).then_some((number, line));
    };
    named.symbol = &text[..start];
    let mut arguments = &text[start + 1..];
    if let Some(at) = memchr::memmem::rfind(arguments, b") at ") {
        let place = &arguments[at + 5..];
        let colon = memchr::memrchr(b':', place).unwrap_or(place.len());
        let number = place.get(colon + 1..).and_then(decimal);
        named.file = &place[..colon];
        named.line = number
            .and_then(|number| u32::try_from(number).ok())
            .unwrap_or(0);
        arguments = &arguments[..=at];
    } else if let Some(from) = memchr::memmem::rfind(arguments, b") from ") {
        named.module = module_name(&arguments[from + 7..]);
        arguments = &arguments[..=from];
    }
    let line = Line {
        has_address,
        arguments: Some(arguments),
        named,
    };
    arguments.ends_with(b")").then_some((number, line))
}

/// The position of the space before the arguments. Spaces within template arguments do not count.
fn arguments_at(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[..at].ends_with(b"operator") {
            // `operator<<`, `operator->`
            at += text[at..]
                .iter()
                .take_while(|byte| b"<>=-".contains(byte))
                .count();
        }
        match text.get(at)? {
            b'<' => depth += 1,
            b'>' if at > 0 && text[at - 1] != b'-' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && text[at + 1..].starts_with(b"(") => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
