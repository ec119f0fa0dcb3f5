//! Chrome trace events, as an array or in an object: calls that begin and end, V8's samples,
//! and counters.
//!
//! Source: "Trace Event Format", <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

mod calls;
mod counters;
mod profiles;

use super::error::{DecodeError, Decoded};
use super::json::add_thread;
use super::source::Head;
use super::wire::json::{Id, Number, Text, first_keys, parse, syntax};
use crate::recording::{RecordingBuilder, ThreadIx};
use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Whether a file begins with an event, or an object that has events.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let start = head.bytes.trim_ascii_start();
    match start.strip_prefix(b"[") {
        Some(first) => first_keys(first.trim_ascii_start()).contains(&&b"ph"[..]),
        None => first_keys(start).contains(&&b"traceEvents"[..]),
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Trace<'b> {
    trace_events: Vec<Event<'b>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Event<'b> {
    ph: Text<'b>,
    name: Option<Text<'b>>,
    /// Microseconds.
    ts: Option<Number>,
    dur: Option<Number>,
    #[serde(default)]
    pid: Id,
    #[serde(default)]
    tid: Id,
    #[serde(default)]
    id: Id,
    args: Option<&'b RawValue>,
}

impl<'b> Event<'b> {
    fn is(&self, ph: &str, name: &str) -> bool {
        *self.ph.0 == *ph.as_bytes()
            && self
                .name
                .as_ref()
                .is_some_and(|own| *own.0 == *name.as_bytes())
    }

    /// Nanoseconds by the trace's clock.
    fn time(&self, at: &str) -> Decoded<i128> {
        let time = self.ts.and_then(|ts| ts.times(1000));
        time.ok_or_else(|| {
            DecodeError::new(format!("{at}.ts"), "expected microseconds, found none")
        })
    }

    fn args<T: Deserialize<'b>>(&self, at: &str) -> Decoded<T> {
        let text = self.args.map_or("{}", RawValue::get);
        serde_json::from_str(text)
            .map_err(|error| DecodeError::new(format!("{at}.args"), error.to_string()))
    }
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let start = bytes.len() - bytes.trim_ascii_start().len();
    let is_array = bytes.get(start) == Some(&b'[');
    let (events, ends) = match is_array {
        true => array(bytes, start + 1)?,
        false => (parse::<Trace<'_>>(bytes)?.trace_events, true),
    };
    let at = |ix: usize| match is_array {
        true => format!("[{ix}]"),
        false => format!("traceEvents[{ix}]"),
    };
    let mut trace = Recorder::new(bytes.len(), &events, &at)?;
    let left_out = profiles::add(&events, &at, &mut trace)?;
    let mut warnings = calls::add(&events, &at, &mut trace)?;
    warnings.extend(left_out);
    warnings.extend(counters::add(&events, &at, &mut trace));
    if !ends {
        warnings.push(
            "The array of events does not end, as is allowed; if the file was cut short there, events \
             are missing."
                .to_owned(),
        );
    }
    trace.builder.warnings = warnings;
    Ok(trace.builder)
}

/// The events of an array, and whether it ends: a program that dies cannot end it.
fn array(bytes: &[u8], start: usize) -> Decoded<(Vec<Event<'_>>, bool)> {
    let mut events = Vec::new();
    let mut at = start;
    let skip_space = |at: usize| bytes.len() - bytes[at..].trim_ascii_start().len();
    loop {
        at = skip_space(at);
        match bytes.get(at) {
            None => return Ok((events, false)),
            Some(b']') => break,
            Some(b',') if !events.is_empty() => {
                at = skip_space(at + 1);
                // Writers end each event with a comma.
                if matches!(bytes.get(at), None | Some(b']')) {
                    continue;
                }
            }
            Some(_) if events.is_empty() => {}
            Some(_) => {
                return Err(DecodeError::new(
                    format!("byte {at}"),
                    "expected `,` or `]` after an event",
                ));
            }
        }
        let mut stream = serde_json::Deserializer::from_slice(&bytes[at..]).into_iter();
        match stream.next() {
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => return Err(syntax(bytes, at, &error)),
            None => return Ok((events, false)),
        }
        at += stream.byte_offset();
    }
    let rest = skip_space(at + 1);
    match rest == bytes.len() {
        true => Ok((events, true)),
        false => Err(DecodeError::new(
            format!("byte {rest}"),
            "more after the events; expected the end of the file",
        )),
    }
}

/// What is read so far, and the threads that events name.
struct Recorder<'b> {
    names: HashMap<(Id, Id), Text<'b>>,
    /// By process id.
    programs: HashMap<Id, Text<'b>>,
    known: HashMap<(Id, Id), ThreadIx>,
    builder: RecordingBuilder,
    /// Time of the first event, which times count from.
    zero: i128,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Name<'b> {
    #[serde(default)]
    name: Text<'b>,
}

impl<'b> Recorder<'b> {
    fn new(
        file: usize,
        events: &[Event<'b>],
        at: &dyn Fn(usize) -> String,
    ) -> Decoded<Recorder<'b>> {
        let (mut names, mut programs) = (HashMap::new(), HashMap::new());
        let mut zero = None;
        for (ix, event) in events.iter().enumerate() {
            if event.is("M", "thread_name") {
                let key = (event.pid.clone(), event.tid.clone());
                names.insert(key, event.args::<Name<'b>>(&at(ix))?.name);
            } else if event.is("M", "process_name") {
                programs.insert(event.pid.clone(), event.args::<Name<'b>>(&at(ix))?.name);
            } else if let (b"B" | b"E" | b"X" | b"P", Some(_)) = (&*event.ph.0, event.ts) {
                let time = event.time(&at(ix))?;
                zero = Some(zero.map_or(time, |zero: i128| zero.min(time)));
            }
        }
        Ok(Recorder {
            names,
            programs,
            known: HashMap::new(),
            builder: RecordingBuilder::of_file(file),
            zero: zero.unwrap_or(0),
        })
    }

    fn thread(&mut self, pid: &Id, tid: &Id) -> ThreadIx {
        let key = (pid.clone(), tid.clone());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let name = self.names.get(&key).cloned().unwrap_or_default();
        let program = self.programs.get(pid).cloned().unwrap_or_default();
        let thread = add_thread(&mut self.builder, (pid, &program), (tid, &name));
        self.known.insert(key, thread);
        thread
    }
}
