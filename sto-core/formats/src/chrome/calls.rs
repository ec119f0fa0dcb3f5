//! Calls in a trace: complete events (`X`), begin and end events (`B`, `E`), and asynchronous
//! events (`b`, `e`).

use super::event::{AsyncId, Event};
use super::names::{Names, Times};
use crate::call_events::{CallEvents, Functions, OutermostCall, ThreadKind, Track, key_of};
use crate::calls;
use crate::error::{DecodeError, Decoded};
use crate::recording::RecordingBuilder;
use crate::source::ReadOptions;
use hashbrown::HashMap;
use sto_model::trace::arguments::UNNAMED_FUNCTION;
use sto_model::trace::log::CallLogWriter;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::trace::{CallThread, SPANS_EVENT, WALL_EVENT};
use sto_model::units::Bytes;

/// The calls of all threads.
pub(super) struct Calls {
    options: ReadOptions,
    events: CallEvents,
    threads: Interned,
    /// The last thread, cached because consecutive events often share it.
    last: (Vec<u8>, u32),
    processes: Interned,
    functions: Functions,
    /// Number of asynchronous events without an id.
    without_id: u64,
    /// Number of events without a time.
    without_time: u64,
    key: Vec<u8>,
}

/// Names by number: of a process, or of a process and a thread.
#[derive(Default)]
struct Interned {
    numbers: HashMap<Vec<u8>, u32>,
    ids: Vec<(String, String)>,
}

impl Interned {
    fn number(&mut self, key: &[u8], (pid, tid): (&str, &str)) -> u32 {
        if let Some(&known) = self.numbers.get(key) {
            return known;
        }
        let number = self.ids.len() as u32;
        self.ids.push((pid.to_owned(), tid.to_owned()));
        self.numbers.insert(key.to_owned(), number);
        number
    }
}

impl Calls {
    pub(super) fn new(options: &ReadOptions) -> Calls {
        Calls {
            options: options.clone(),
            events: CallEvents::new(options),
            threads: Interned::default(),
            last: (Vec::new(), 0),
            processes: Interned::default(),
            functions: Functions::default(),
            without_id: 0,
            without_time: 0,
            key: Vec::new(),
        }
    }

    /// Adds an event that begins or ends a call.
    pub(super) fn add(
        &mut self,
        event: &Event<'_>,
        times: &mut Times<'_>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        if !event.has_time() {
            self.without_time += 1;
            return Ok(());
        }
        let time = times.read(event)?;
        let at = times.at;
        // An end without a name ends the innermost open call.
        let name = match &event.name {
            Some(name) => Some(&*name.0),
            None => (!matches!(event.phase(), b'E' | b'e')).then_some(&b"(unnamed)"[..]),
        };
        let function = match name {
            Some(name) => Some(
                self.functions
                    .number(name, builder)
                    .map_err(|limit| DecodeError::new(at(), limit))?,
            ),
            None => None,
        };
        let function = match &event.arguments[..] {
            [] => function,
            arguments => {
                let function = function.unwrap_or(UNNAMED_FUNCTION);
                Some(self.events.arguments().intern(function, arguments))
            }
        };
        let begun = function.unwrap_or(UNNAMED_FUNCTION);
        match event.phase() {
            b'X' => {
                let end = event.end(time, at)?;
                let thread = self.thread(event);
                self.events.call(thread, begun, time, end)
            }
            b'B' => {
                let track = Track::Thread(self.thread(event));
                self.events.begin(track, begun, time)
            }
            b'E' => {
                let track = Track::Thread(self.thread(event));
                self.events.end(track, function, time)
            }
            phase => {
                let Some(track) = self.floating(event) else {
                    self.without_id += 1;
                    return Ok(());
                };
                match phase {
                    b'b' => self.events.begin(track, begun, time),
                    _ => self.events.end(track, function, time),
                }
            }
        }
    }

    fn thread(&mut self, event: &Event<'_>) -> u32 {
        self.key.clear();
        self.key.extend_from_slice(event.pid.as_bytes());
        self.key.push(0);
        self.key.extend_from_slice(event.tid.as_bytes());
        if self.key != self.last.0 {
            self.last.1 = self.threads.number(&self.key, (&event.pid, &event.tid));
            self.last.0.clone_from(&self.key);
        }
        self.last.1
    }

    /// The track of an asynchronous event; events with the same category and id belong together.
    fn floating(&mut self, event: &Event<'_>) -> Option<Track> {
        let (scope, id) = match event.async_id()? {
            AsyncId::Local(id) => (&*event.pid, id),
            AsyncId::Global(id) => ("", id),
        };
        let pid = &*event.pid;
        Some(Track::Floating {
            process: self.processes.number(pid.as_bytes(), (pid, "")).into(),
            key: key_of([scope.as_bytes(), &event.cat.0, id.as_bytes()]),
        })
    }

    /// Finishes the recording of these calls, with times relative to `zero`.
    pub(super) fn finish(
        self,
        zero: i64,
        size: usize,
        names: &Names,
        mut builder: RecordingBuilder,
    ) -> Decoded<RecordingBuilder> {
        if self.without_id > 0 {
            builder.warnings.push(format!(
                "{} asynchronous events have no `id`; they were left out.",
                self.without_id
            ));
        }
        if self.without_time > 0 {
            builder.warnings.push(format!(
                "{} events have no time (`ts`); they were left out.",
                self.without_time
            ));
        }
        let mut log = CallLogWriter::new(self.options.call_folder.as_deref());
        let row = |row: ThreadKind| match row {
            ThreadKind::Thread(thread) => {
                let (pid, tid) = &self.threads.ids[thread as usize];
                names.call_thread(pid, tid, &mut builder)
            }
            ThreadKind::Group(group) => {
                let (pid, _) = &self.processes.ids[(group >> 32) as usize];
                CallThread {
                    name: self
                        .functions
                        .name(TraceFunctionIx(group as u32))
                        .to_owned(),
                    ..names.call_thread(pid, "", &mut builder)
                }
            }
        };
        let size = Bytes(size as u64);
        // Calls whose outermost call has the same name share threads.
        let group = |of: OutermostCall| of.process << 32 | u64::from(of.function.0);
        let misfits = self.events.pair(group)?.write(zero, size, &mut log, row)?;
        builder.warnings.extend(misfits);
        let event = if builder.samples.is_empty() {
            WALL_EVENT
        } else {
            SPANS_EVENT
        };
        calls::finish_as(
            event,
            builder,
            log,
            self.functions.locations(),
            &self.options,
        )
    }
}
