//! Tracks: threads, processes, and tracks within them.

use super::schema::{Process, Thread, Track};
use crate::call_events::Functions;
use crate::error::{DecodeError, Decoded};
use crate::recording::RecordingBuilder;
use crate::wire::protobuf::Message;
use hashbrown::HashMap;
use sto_model::trace::CallThread;
use sto_model::trace::paths::TraceFunctionIx;

/// All tracks, by uuid, and the names of threads and processes.
#[derive(Default)]
pub(super) struct Tracks {
    tracks: HashMap<u64, Known>,
    threads: HashMap<(u32, u32), String>,
    processes: HashMap<u32, String>,
    /// Process and thread id of each thread with calls.
    numbers: Vec<(u32, u32)>,
    number_of: HashMap<(u32, u32), u32>,
}

#[derive(Clone, Copy)]
struct Known {
    parent: u64,
    name: Option<TraceFunctionIx>,
    process: Option<u32>,
    thread: Option<(u32, u32)>,
}

/// The owner of a track.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A thread, by process and thread id.
    Thread(u32, u32),
    /// A process, or 0 for none, and the name of the track.
    Process(u32, Option<TraceFunctionIx>),
}

/// Limit to the nesting of tracks.
const MAX_PARENTS: usize = 64;

impl Tracks {
    pub(super) fn add(
        &mut self,
        track: Message<'_>,
        functions: &mut Functions,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let at = track.at();
        let track = Track::read(track)?;
        if let Some(process) = track.process {
            self.process(process, builder);
        }
        if let Some(thread) = track.thread {
            self.thread(thread, builder);
        }
        if track.is_counter {
            return Ok(());
        }
        let name = track.name.filter(|name| !name.is_empty());
        let name = name.map(|name| functions.number(name, builder)).transpose();
        let known = Known {
            parent: track.parent,
            name: name.map_err(DecodeError::at(at))?,
            process: track.process.map(|process| process.pid),
            thread: track.thread.map(|thread| (thread.pid, thread.tid)),
        };
        self.tracks.insert(track.id, known);
        Ok(())
    }

    pub(super) fn process(&mut self, process: Process<'_>, builder: &mut RecordingBuilder) {
        if !process.name.is_empty() {
            let name = builder.text(process.name).into_owned();
            self.processes.insert(process.pid, name);
        }
    }

    pub(super) fn thread(&mut self, thread: Thread<'_>, builder: &mut RecordingBuilder) {
        if !thread.name.is_empty() {
            let name = builder.text(thread.name).into_owned();
            self.threads.insert((thread.pid, thread.tid), name);
        }
    }

    /// The owner of the track with a uuid; `None` if the trace does not define it.
    pub(super) fn place(&self, uuid: u64) -> Option<Place> {
        let track = match self.tracks.get(&uuid) {
            Some(track) => track,
            None if uuid == 0 => return Some(Place::Process(0, None)),
            None => return None,
        };
        if let Some((pid, tid)) = track.thread {
            return Some(Place::Thread(pid, tid));
        }
        let mut around = track;
        for _ in 0..MAX_PARENTS {
            let process = around.process.or(around.thread.map(|(pid, _)| pid));
            if let Some(pid) = process {
                return Some(Place::Process(pid, track.name));
            }
            match self.tracks.get(&around.parent) {
                Some(parent) => around = parent,
                None => break,
            }
        }
        Some(Place::Process(0, track.name))
    }

    /// The number of a thread.
    pub(super) fn number(&mut self, thread: (u32, u32)) -> u32 {
        *self.number_of.entry(thread).or_insert_with(|| {
            self.numbers.push(thread);
            self.numbers.len() as u32 - 1
        })
    }

    pub(super) fn thread_of(&self, number: u32) -> CallThread {
        self.named_thread(self.numbers[number as usize])
    }

    /// The thread with these ids, with its name and its process's.
    pub(super) fn named_thread(&self, (pid, tid): (u32, u32)) -> CallThread {
        CallThread {
            tid,
            name: self.threads.get(&(pid, tid)).cloned().unwrap_or_default(),
            ..self.thread_of_process(pid, "")
        }
    }

    pub(super) fn thread_of_process(&self, pid: u32, name: &str) -> CallThread {
        CallThread {
            pid,
            program: self.processes.get(&pid).cloned().unwrap_or_default(),
            tid: 0,
            name: name.to_owned(),
        }
    }
}
