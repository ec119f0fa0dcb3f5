//! A run with its calls.

use crate::select::{SelectError, Selection, full_name};
use crate::text::printable;
use crate::tree::{View, Window, WindowError};
use serde::Serialize;
use std::collections::HashMap;
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::{KeptCalls, Snapshot, StoreError, StoredProfile};
use sto_core::trace::{CALLS, CallThread, CallThresholds, LongCall, RunCalls, is_time_of_calls};
use sto_core::tree::NodeIx;
use sto_core::units::{Cost, Nanoseconds};

/// A call, by the function, the thread and the time. Times are since the run's first call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledCall {
    /// The function.
    pub function: String,
    /// The functions, root first, of which it is the last one.
    pub frames: Vec<String>,
    /// The thread's name, with its id where another thread has that name.
    pub thread: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
}

/// A run, and what its threads called.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CalledRun {
    /// Its stacks, and what they cost.
    pub view: View,
    /// Number of the runs that were selected, of which it is the newest.
    pub runs: usize,
    /// Its calls, whose stacks are those of the view.
    pub calls: RunCalls<NodeIx>,
    /// Every one of them, where they were kept.
    pub(crate) kept: Option<KeptCalls>,
    /// Whether it is of a store, and not of a file that was read.
    pub(crate) is_stored: bool,
    /// From when to when there were calls in the whole run, and the part of that time that `calls` are of.
    part: Option<[(Nanoseconds, Nanoseconds); 2]>,
}

impl CallsError {
    /// What can be done about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            CallsError::Compressed { .. } => Some(Hint::KeepCalls),
            CallsError::NoTime => Some(Hint::ListPhases),
            CallsError::Select(error) => error.hint(),
            CallsError::Store(error) => error.hint(),
            _ => None,
        }
    }
}

/// Why what a run's threads called is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallsError {
    /// There is no run.
    #[error("{} has no run", printable(.build))]
    NoRun {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// It was sampled, or is of a format that has no calls.
    #[error(
        "run {profile} of {} is no trace of calls; uftrace, XRay and ftrace's function_graph record these",
        printable(.build)
    )]
    NoCalls {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// Its calls were compressed when it was stored, and are not all there to be compressed by other thresholds.
    #[error(
        "the calls of run {profile} of {} were compressed when it was stored, and are not all there to be compressed \
         anew: name the file of the trace instead",
        printable(.build)
    )]
    Compressed {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// Of a phase, or the rest of its time, calls are not shown.
    #[error("calls are shown from one time to another, and not by phases")]
    NoTime,
    /// There is no such part of its time.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The run cannot be loaded.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CalledRun {
    /// Loads the newest run of a selection; averages are no runs.
    ///
    /// # Errors
    /// Where there is none, it is no trace of calls, or the store cannot be read.
    pub fn load(store: &Snapshot, selection: Selection) -> Result<CalledRun, CallsError> {
        let build = || full_name(&selection.build);
        let runs = selection.profiles.iter();
        let runs: Vec<&StoredProfile> =
            runs.filter(|stored| !stored.profile.is_average()).collect();
        let newest = runs
            .last()
            .ok_or_else(|| CallsError::NoRun { build: build() })?;
        let loaded = store
            .load_calls(newest.id)?
            .ok_or_else(|| CallsError::NoCalls {
                build: build(),
                profile: newest.id,
            })?;
        let kept = store.kept_calls(newest.id)?;
        let (runs, newest) = (runs.len(), (*newest).clone());
        // Its stacks are those of the calls.
        let view = View::load(store, Selection::new(selection.build, vec![newest]))?;
        Ok(CalledRun {
            kept,
            ..CalledRun::new(view, runs, loaded.calls)
        })
    }

    /// A run of these stacks, of which not every call is kept.
    pub fn new(view: View, runs: usize, calls: RunCalls<NodeIx>) -> CalledRun {
        CalledRun {
            view,
            runs,
            calls,
            kept: None,
            is_stored: false,
            part: None,
        }
    }

    /// The same with every call compressed anew.
    ///
    /// # Errors
    /// Where they were not kept, or the store cannot be read.
    pub fn compressed(self, thresholds: CallThresholds) -> Result<CalledRun, CallsError> {
        let Some(kept) = &self.kept else {
            return Err(CallsError::Compressed {
                build: full_name(&self.view.selection.build),
                profile: self.view.selection.profiles[0].id,
            });
        };
        let calls = match self.part {
            Some([_, part]) => kept.compressed(thresholds, Some(part)),
            None => kept.compressed(thresholds, None),
        };
        Ok(CalledRun {
            calls: calls?,
            ..self
        })
    }

    /// The same of a part of the time, from its first call: its calls, compressed by these thresholds, or as usual, of
    /// their threads' time in that part; where they were not kept, and no thresholds are given, the records that overlap
    /// it.
    ///
    /// # Errors
    /// Where there is no such part, or it is not from one time to another, the calls were not kept and are to be compressed, or the store cannot be read.
    pub fn during(
        self,
        window: Window,
        thresholds: Option<CallThresholds>,
    ) -> Result<CalledRun, CallsError> {
        let Window::Time { from, to } = window else {
            return Err(CallsError::NoTime);
        };
        let (first, last) = self.time();
        let duration = Nanoseconds(last.0 - first.0);
        if let Some(to) = to.filter(|&to| to <= from) {
            return Err(WindowError::Empty { from, to }.into());
        }
        if from >= duration {
            return Err(WindowError::Outside {
                build: full_name(&self.view.selection.build),
                profile: self.view.selection.profiles[0].id.to_string(),
                from,
                duration,
            }
            .into());
        }
        let end = first.0 + to.unwrap_or(duration).min(duration).0;
        let part = (Nanoseconds(first.0 + from.0), Nanoseconds(end));
        let run = CalledRun {
            part: Some([(first, last), part]),
            ..self
        };
        match (&run.kept, thresholds) {
            (None, None) => Ok(CalledRun {
                calls: run.calls.during(part),
                ..run
            }),
            _ => run.compressed(thresholds.unwrap_or_default()),
        }
    }

    /// The part of the time that it was asked for, by the recording's clock.
    pub(crate) fn part(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        self.part.map(|[_, part]| part)
    }

    /// From when to when there were calls in the whole run, by the recording's clock; 0 to 0 where no thread called
    /// anything.
    pub fn time(&self) -> (Nanoseconds, Nanoseconds) {
        if let Some([whole, _]) = self.part {
            return whole;
        }
        let begins = self.calls.threads.iter().map(|thread| thread.begin);
        let ends = self.calls.threads.iter().map(|thread| thread.end);
        (
            begins.min().unwrap_or_default(),
            ends.max().unwrap_or_default(),
        )
    }

    /// The function that is the leaf of a stack.
    pub(crate) fn function(&self, stack: NodeIx) -> &str {
        let frame = self.view.frames.frame(self.view.tree.frame(stack));
        match frame.symbol {
            "" => "[unknown]",
            symbol => symbol,
        }
    }

    /// The functions of a stack, root first.
    pub(crate) fn frames(&self, stack: NodeIx) -> Vec<String> {
        let up = std::iter::successors(Some(stack), |&node| self.view.tree.parent(node));
        let mut frames: Vec<String> = up.map(|node| self.function(node).to_owned()).collect();
        frames.reverse();
        frames
    }

    /// A call of a thread, of which these are the names.
    pub(crate) fn called(
        &self,
        thread: u32,
        call: &LongCall<NodeIx>,
        names: &[String],
    ) -> CalledCall {
        let (first, _) = self.time();
        let of = &self.calls.threads[thread as usize].thread;
        CalledCall {
            function: self.function(call.stack).to_owned(),
            frames: self.frames(call.stack),
            thread: names[thread as usize].clone(),
            pid: of.pid,
            tid: of.tid,
            start_ns: call.begin.0.saturating_sub(first.0),
            end_ns: call.end.0.saturating_sub(first.0),
            duration_ns: call.end.0.saturating_sub(call.begin.0),
        }
    }

    /// Of each stack, the time of its calls without that of those that they made, in nanoseconds, and as samples how
    /// many calls there were.
    pub(crate) fn costs(&self) -> Vec<Cost> {
        let types = &self.view.sample_types;
        let time = types.iter().position(|of| is_time_of_calls(of, types));
        let calls = types.iter().position(|of| of.event == CALLS);
        let [time, calls] =
            [time, calls].map(|column| self.view.self_costs(column.unwrap_or(usize::MAX)));
        let both = time.into_iter().zip(calls);
        let cost = both.map(|(time, calls)| Cost {
            samples: calls.value,
            value: time.value,
        });
        cost.collect()
    }

    /// What each thread is called: its name, with its id where another thread has that name, and with that of its
    /// process where another has both.
    pub(crate) fn thread_names(&self) -> Vec<String> {
        let threads = || self.calls.threads.iter().map(|of| &of.thread);
        let named =
            |with: fn(&CallThread) -> String| -> Vec<String> { threads().map(with).collect() };
        let (mut names, by_id, by_process) = (named(name), named(with_id), named(with_process));
        for longer in [by_id, by_process] {
            let mut count: HashMap<String, usize> = HashMap::new();
            for name in &names {
                *count.entry(name.clone()).or_default() += 1;
            }
            for (name, longer) in names.iter_mut().zip(longer) {
                if count[name] > 1 {
                    *name = longer;
                }
            }
        }
        names
    }
}

fn name(thread: &CallThread) -> String {
    match thread.name.as_str() {
        "" => format!("thread {}", thread.tid),
        name => name.to_owned(),
    }
}

fn with_id(thread: &CallThread) -> String {
    match thread.name.as_str() {
        "" => name(thread),
        name => format!("{name} ({})", thread.tid),
    }
}

fn with_process(thread: &CallThread) -> String {
    format!("{} of process {}", with_id(thread), thread.pid)
}
