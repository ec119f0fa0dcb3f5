//! Goroutine dumps of Go: printed by a panic, `kill -QUIT`, `/debug/pprof/goroutine?debug=2` or
//! `runtime.Stack`, possibly between other lines of a log.
//!
//! Source: `src/runtime/traceback.go` of Go (`goroutineheader`, `traceback2`).

use super::{Dumps, Thread};
use crate::error::{At, DecodeError, Decoded};
use crate::labels::ThreadName;
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::source::Head;
use crate::wire::text::{decimal, lines};
use sto_model::FrameKind;

const GOROUTINE: &[u8] = b"goroutine ";

pub(crate) fn matches(head: &Head<'_>) -> bool {
    let mut begins = memchr::memmem::find_iter(head.bytes, GOROUTINE);
    begins.any(|at| {
        let line = || lines(&head.bytes[at..]).next();
        let begins_line = at == 0 || head.bytes[at - 1] == b'\n';
        begins_line && line().is_some_and(|(_, line)| header(line).is_some())
    })
}

pub(crate) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let mut reader = Reader::default();
    for (number, line) in lines(bytes).chain([(0, &b""[..])]) {
        let read = reader.line(line);
        read.map_err(DecodeError::at(At::Line(number)))?;
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct Reader<'b> {
    dumps: Dumps,
    goroutine: Option<Thread<'b>>,
    /// The last function, whose place is on the next line.
    called: Option<&'b [u8]>,
    /// Number of goroutines with missing frames.
    elided: u64,
}

impl<'b> Reader<'b> {
    /// Reads the next line; a blank line ends a goroutine.
    fn line(&mut self, line: &'b [u8]) -> Built<()> {
        let next = header(line);
        if line.trim_ascii().is_empty() || next.is_some() {
            self.place(b"")?;
            if let Some(goroutine) = self.goroutine.take() {
                // A goroutine running on another thread has no frames.
                self.dumps.add(goroutine)?;
            }
            self.goroutine = next;
        } else if self.goroutine.is_none() {
            // An unrelated line of the log.
        } else if let Some(place) = line.strip_prefix(b"\t") {
            self.place(place)?;
        } else {
            self.place(b"")?;
            if line.starts_with(b"...") && line.ends_with(b" frames elided...") {
                self.elided += 1;
            } else if !line.starts_with(b"created by ") {
                self.called = Some(line);
            }
        }
        Ok(())
    }

    /// Adds the last function with its place.
    fn place(&mut self, place: &[u8]) -> Built<()> {
        if let (Some(called), Some(goroutine)) = (self.called.take(), &mut self.goroutine) {
            let frame = frame(called, place, &mut self.dumps.builder)?;
            goroutine.frames.push(frame);
        }
        Ok(())
    }

    fn finish(self) -> RecordingBuilder {
        let mut builder = self.dumps.finish();
        if self.elided > 0 {
            builder.warnings.push(format!(
                "{} stacks are incomplete: if there are more than 100 frames, Go leaves some out.",
                self.elided
            ));
        }
        builder
    }
}

/// `goroutine 18 [chan receive, 2 minutes]:`; newer versions have more words before and after the
/// state. Only the state is kept.
fn header(line: &[u8]) -> Option<Thread<'_>> {
    let text = line
        .strip_prefix(GOROUTINE)?
        .trim_ascii_end()
        .strip_suffix(b":")?;
    let id = &text[..memchr::memchr(b' ', text)?];
    let state = &text[memchr::memchr(b'[', text)? + 1..];
    let state = &state[..memchr::memchr(b']', state)?];
    let end = memchr::memchr(b',', state).unwrap_or(state.len());
    let name = ThreadName {
        tid: u32::try_from(decimal(id)?).unwrap_or(0),
        ..ThreadName::default()
    };
    Some(Thread {
        name,
        state: &state[..end],
        frames: Vec::new(),
    })
}

/// `main.(*T).work(0xc0000a0150, {0x0, 0x0})` at `/src/work.go:12 +0x1d`; the arguments are `...`
/// for inlined functions.
fn frame(called: &[u8], place: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let arguments = if called.ends_with(b")") {
        memchr::memrchr(b'(', called)
    } else {
        None
    };
    let (symbol, arguments) = called.split_at(arguments.unwrap_or(called.len()));
    let place = &place[..memchr::memmem::rfind(place, b" +0x").unwrap_or(place.len())];
    let colon = memchr::memrchr(b':', place);
    let line = colon.and_then(|colon| decimal(&place[colon + 1..]));
    let frame = NamedFrame {
        symbol,
        file: &place[..colon.filter(|_| line.is_some()).unwrap_or(0)],
        line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
        kind: (arguments == b"(...)").then_some(FrameKind::Inlined),
        ..NamedFrame::default()
    };
    frame.add(builder)
}
