//! Raw recordings of rbspy, `--raw-file` or `~/.cache/rbspy/records/*.raw.gz`: a line with the
//! version, a line about the recording, and one Ruby stack per line, leaf first, in JSON.
//!
//! Source: `src/storage/` and `src/core/types.rs` of rbspy.

use crate::names::NamedFrame;
use crate::recording::{LocationIx, RecordingBuilder, SampleTypeIx};
use crate::report::Report;
use crate::source::Head;
use crate::wire::json::Text;
use crate::wire::text::excerpt;
use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use sto_model::units::{Cost, Nanoseconds, Unit, UnixSeconds};

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.bytes.starts_with(b"rbspy")
        && head
            .first_line()
            .is_some_and(|line| version(line).is_some())
}

/// The version. Version 2 is the first with a line about the recording, version 1 the first with
/// more than frames.
fn version(line: &[u8]) -> Option<u8> {
    match line {
        b"rbspy01" => Some(1),
        b"rbspy02" => Some(2),
        _ => None,
    }
}

#[derive(Default)]
pub(super) struct Rbspy {
    next: Next,
    /// Locations by the frames' text.
    known: HashMap<Box<str>, LocationIx>,
    stack: Vec<LocationIx>,
    start: Option<Nanoseconds>,
}

#[derive(Default)]
enum Next {
    #[default]
    Version,
    About,
    Stack,
}

#[derive(Deserialize)]
struct About {
    start_time: Option<Time>,
}

#[derive(Deserialize)]
struct Stack<'b> {
    #[serde(borrow)]
    trace: Vec<&'b RawValue>,
    pid: Option<u32>,
    /// The system's thread id, or an address of the thread's structure.
    thread_id: Option<u64>,
    time: Option<Time>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Frame<'b> {
    name: Text<'b>,
    relative_path: Text<'b>,
    #[serde(default)]
    absolute_path: Option<Text<'b>>,
    lineno: Option<u32>,
}

/// Time since 1970.
#[derive(Clone, Copy, Deserialize)]
struct Time {
    secs_since_epoch: u64,
    nanos_since_epoch: u32,
}

impl Report for Rbspy {
    fn block(&mut self, _lines: &[u8]) {
        // The names may be many and long.
        self.known.clear();
    }

    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        match self.next {
            Next::Version => {
                self.next = match version(line) {
                    Some(1) => Next::Stack,
                    Some(_) => Next::About,
                    None => {
                        return Err(format!(
                            "expected `rbspy01` or `rbspy02`, found {}",
                            excerpt(line)
                        ));
                    }
                };
                builder.sample_type("samples", Unit::Samples);
            }
            Next::About => {
                let about: About = json(line)?;
                let start = about.start_time;
                builder.origin.recorded = start.map(|time| UnixSeconds(time.secs_since_epoch));
                self.next = Next::Stack;
            }
            Next::Stack => self.stack(&json(line)?, builder)?,
        }
        Ok(())
    }
}

impl Rbspy {
    fn stack(&mut self, stack: &Stack<'_>, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.stack.clear();
        for &frame in stack.trace.iter().rev() {
            let location = self.location(frame.get(), builder)?;
            self.stack.push(location);
        }
        let process = builder.process(stack.pid.unwrap_or(0), "");
        let id = stack.thread_id.unwrap_or(0);
        let thread = match u32::try_from(id) {
            Ok(id) => builder.thread_unchecked(process, id, ""),
            Err(_) => builder.thread_unchecked(process, 0, &format!("{id:#x}")),
        };
        let now = stack.time.and_then(|time| {
            let seconds = time.secs_since_epoch.checked_mul(1_000_000_000)?;
            seconds
                .checked_add(time.nanos_since_epoch.into())
                .map(Nanoseconds)
        });
        let start = *self.start.get_or_insert(now.unwrap_or_default());
        let time = now.map(|now| Nanoseconds(now.0.saturating_sub(start.0)));
        let stack = builder.stack(&self.stack)?;
        builder.push((thread, SampleTypeIx(0)), stack, time, Cost::from_count(1));
        Ok(())
    }

    fn location(
        &mut self,
        text: &str,
        builder: &mut RecordingBuilder,
    ) -> Result<LocationIx, String> {
        if let Some(&known) = self.known.get(text) {
            return Ok(known);
        }
        let frame: Frame<'_> = json(text.as_bytes())?;
        let path = frame.absolute_path.unwrap_or(frame.relative_path);
        let named = NamedFrame {
            symbol: &frame.name.0,
            file: match &*path.0 {
                b"(unknown)" => b"",
                path => path,
            },
            line: frame.lineno.unwrap_or(0),
            ..NamedFrame::default()
        };
        let location = named.add(builder)?;
        self.known.insert(text.into(), location);
        Ok(location)
    }
}

fn json<'b, T: Deserialize<'b>>(line: &'b [u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| format!("{error}, in {}", excerpt(line)))
}
