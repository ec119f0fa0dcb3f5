//! Thread dumps of HotSpot: printed by `jstack`, `jcmd PID Thread.print` or `kill -QUIT`, possibly
//! between other lines of a log.
//!
//! Source: `src/hotspot/share/runtime/threads.cpp` (`Threads::print_on`) and `vframe.cpp`
//! (`javaVFrame::print_lock_info_on`) of the JDK.

use super::{Dumps, Thread};
use crate::error::{At, DecodeError, Decoded};
use crate::labels::ThreadName;
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::source::Head;
use crate::wire::text::{base_name, decimal, excerpt, excerpts, lines, words};
use std::collections::BTreeSet;

const BEGIN: &[u8] = b"Full thread dump ";
/// Begins the line after the last thread.
const END: &[u8] = b"JNI global ref";
const STATE: &[u8] = b"java.lang.Thread.State: ";

pub(crate) fn matches(head: &Head<'_>) -> bool {
    let mut begins = memchr::memmem::find_iter(head.bytes, BEGIN);
    begins.any(|at| at == 0 || head.bytes[at - 1] == b'\n')
}

pub(crate) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let mut reader = Reader::default();
    for (number, line) in lines(bytes) {
        let read = reader.line(line);
        read.map_err(DecodeError::at(At::Line(number)))?;
    }
    reader.finish()
}

#[derive(Default)]
struct Reader<'b> {
    dumps: Dumps,
    is_in_dump: bool,
    thread: Option<Thread<'b>>,
    /// Names of threads without frames, mostly the virtual machine's own.
    without_frames: BTreeSet<&'b [u8]>,
}

impl<'b> Reader<'b> {
    fn line(&mut self, line: &'b [u8]) -> Built<()> {
        let text = line.trim_ascii_start();
        if line.starts_with(BEGIN) {
            self.leave_thread()?;
            self.is_in_dump = true;
        } else if line.starts_with(END) {
            // What follows is the log, or deadlocks, which repeat the stacks of their threads.
            self.leave_thread()?;
            self.is_in_dump = false;
        } else if self.is_in_dump && line.starts_with(b"\"") {
            self.leave_thread()?;
            self.thread = header(line);
        } else if let Some(thread) = &mut self.thread {
            if let Some(state) = text.strip_prefix(STATE) {
                thread.state = state;
            } else if let Some(called) = text.strip_prefix(b"at ") {
                thread.frames.push(frame(called, &mut self.dumps.builder)?);
            }
        }
        Ok(())
    }

    fn leave_thread(&mut self) -> Built<()> {
        match self.thread.take() {
            Some(thread) if thread.frames.is_empty() => {
                self.without_frames.insert(thread.name.name);
                Ok(())
            }
            Some(thread) => self.dumps.add(thread),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Decoded<RecordingBuilder> {
        self.leave_thread()
            .map_err(DecodeError::at("the last line"))?;
        let warnings = &mut self.dumps.builder.warnings;
        warnings.extend(
            excerpts(&self.without_frames)
                .map(|names| format!("Threads without Java frames were left out: {names}.")),
        );
        if self.is_in_dump {
            warnings.push(
                "The last dump has no end (`JNI global refs`): if it was cut short, its last stack is too."
                    .to_owned(),
            );
        }
        Ok(self.dumps.finish())
    }
}

/// `"main" #1 prio=5 os_prio=0 cpu=43.19ms elapsed=3.75s tid=0x00007f34e0017ea0 nid=0x4730 runnable
/// [0x...]`, where the name may contain quotes.
fn header(line: &[u8]) -> Option<Thread<'_>> {
    let end = memchr::memrchr(b'"', line).filter(|&end| end > 0)?;
    let nid = words(&line[end..]).find_map(|word| word.strip_prefix(b"nid="))?;
    let tid = match nid.strip_prefix(b"0x") {
        Some(digits) => std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| u32::from_str_radix(digits, 16).ok()),
        None => decimal(nid).and_then(|tid| u32::try_from(tid).ok()),
    };
    let name = ThreadName {
        tid: tid.unwrap_or(0),
        name: &line[1..end],
        ..ThreadName::default()
    };
    Some(Thread {
        name,
        state: b"",
        frames: Vec::new(),
    })
}

/// `java.lang.Thread.run(java.base@17.0.15/Thread.java:840)`, `Work.main(Work.java:5)`, `Work$$Lambda$1/0x7f.run(Unknown
/// Source)`.
fn frame(text: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let place = memchr::memrchr(b'(', text).filter(|&place| place > 0);
    let place = place.ok_or_else(|| {
        format!(
            "expected a method and where it is, as in `at Work.main(Work.java:5)`, found {}",
            excerpt(text)
        )
    })?;
    let (symbol, place) = (&text[..place], &text[place + 1..]);
    let place = base_name(place.trim_ascii_end().strip_suffix(b")").unwrap_or(place));
    let (file, line) = match memchr::memrchr(b':', place) {
        Some(colon) => (&place[..colon], decimal(&place[colon + 1..])),
        None => (place, None),
    };
    let frame = NamedFrame {
        symbol,
        file: match file {
            b"Native Method" | b"Unknown Source" => b"",
            file => file,
        },
        line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
        ..NamedFrame::default()
    };
    frame.add(builder)
}
