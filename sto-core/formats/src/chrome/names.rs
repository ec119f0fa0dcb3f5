//! Names of processes and threads, and the time of the first event.

use super::event::Event;
use crate::error::Decoded;
use crate::recording::{RecordingBuilder, ThreadIx};
use crate::wire::json::{Text, leading_number};
use hashbrown::HashMap;
use serde::Deserialize;
use sto_model::trace::CallThread;

/// Names of processes and threads, by id.
#[derive(Default)]
pub(crate) struct Names {
    pub(super) processes: HashMap<String, Vec<u8>>,
    threads: HashMap<(String, String), Vec<u8>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Name<'b> {
    #[serde(default)]
    name: Text<'b>,
}

/// Reads times and keeps the earliest.
pub(super) struct Times<'t> {
    pub(super) zero: &'t mut Option<i64>,
    /// The path of the event.
    pub(super) at: &'t dyn Fn() -> String,
}

impl Times<'_> {
    pub(super) fn read(&mut self, event: &Event<'_>) -> Decoded<i64> {
        let time = event.needed_time(self.at)?;
        self.observe(time);
        Ok(time)
    }

    pub(super) fn observe(&mut self, time: i64) {
        *self.zero = Some(self.zero.map_or(time, |zero| zero.min(time)));
    }
}

impl Names {
    pub(crate) fn add(&mut self, event: &Event<'_>, at: &dyn Fn() -> String) -> Decoded<()> {
        let name = || {
            event
                .args::<Name<'_>>(&at())
                .map(|args| args.name.0.into_owned())
        };
        if event.is(b'M', "thread_name") {
            let key = (event.pid.to_string(), event.tid.to_string());
            self.threads.insert(key, name()?);
        } else if event.is(b'M', "process_name") {
            self.processes.insert(event.pid.to_string(), name()?);
        }
        Ok(())
    }

    /// A thread by the ids of its process and itself. An id that is not a number is used as the
    /// name if there is none.
    pub(super) fn call_thread(
        &self,
        pid: &str,
        tid: &str,
        builder: &mut RecordingBuilder,
    ) -> CallThread {
        let mut name = |known: Option<&Vec<u8>>, id: &str| match known {
            Some(name) => builder.text(name).into_owned(),
            None if id.starts_with(|c: char| c.is_ascii_digit()) => String::new(),
            None => builder.text(id.as_bytes()).into_owned(),
        };
        let key = (pid.to_owned(), tid.to_owned());
        CallThread {
            program: name(self.processes.get(pid), pid),
            name: name(self.threads.get(&key), tid),
            pid: leading_number(pid),
            // uftrace names only the process of its first thread.
            tid: leading_number(if tid.is_empty() { pid } else { tid }),
        }
    }

    pub(crate) fn thread(&self, pid: &str, tid: &str, builder: &mut RecordingBuilder) -> ThreadIx {
        let thread = self.call_thread(pid, tid, builder);
        let process = builder.process(thread.pid, &thread.program);
        builder.thread_unchecked(process, thread.tid, &thread.name)
    }
}
