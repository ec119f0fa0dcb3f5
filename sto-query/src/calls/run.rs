//! A run with its calls.

use crate::select::{SelectError, Selection, full_name};
use crate::text::printable;
use crate::tree::{View, Window, WindowError};
use serde::Serialize;
use std::collections::HashMap;
use sto_core::Hint;
use sto_core::id::ProfileId;
use sto_core::store::{KeptCalls, Snapshot, StoreError, StoredProfile};
use sto_core::trace::{CALLS_EVENT, CallThread, CallThresholds, LongCall, RunCalls, is_call_time};
use sto_core::tree::NodeIx;
use sto_core::units::{Cost, Nanoseconds};

/// A call with its function, thread and time. Times are relative to the run's first call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledCall {
    /// The function.
    pub function: String,
    /// The functions of the stack, root first; the last one is `function`.
    pub frames: Vec<String>,
    /// Thread name, with the thread id if another thread has the same name.
    pub thread: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Start of the call.
    pub start_ns: u64,
    /// End of the call.
    pub end_ns: u64,
    /// Duration of the call.
    pub duration_ns: u64,
}

/// A run and the calls of its threads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallTrace {
    /// The stacks and their costs.
    pub view: View,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// The calls, whose stacks refer to the view.
    pub calls: RunCalls<NodeIx>,
    /// Every individual call, if stored.
    pub(crate) kept: Option<KeptCalls>,
    /// Whether the run comes from a store rather than a file.
    pub(crate) is_stored: bool,
    /// Time range of all calls in the run, and the window that `calls` covers.
    part: Option<[(Nanoseconds, Nanoseconds); 2]>,
}

impl CallsError {
    /// Returns a hint about how to resolve the error.
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

/// Error of loading a run's calls.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallsError {
    /// The build has no run.
    #[error("{} has no run", printable(.build))]
    NoRun {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The run was sampled, or its format has no calls.
    #[error(
        "run {profile} of {} is not a trace of calls, which uftrace, XRay and ftrace's function_graph record",
        printable(.build)
    )]
    NoCalls {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// The run's calls were compressed when it was stored, so they cannot be compressed with other thresholds.
    #[error(
        "the calls of run {profile} of {} were compressed when it was stored, so they cannot be compressed \
         again: name the file of the trace instead",
        printable(.build)
    )]
    Compressed {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The run.
        profile: ProfileId,
    },
    /// Calls cannot be selected by phase.
    #[error("calls can only be selected by a range of time, not by phase")]
    NoTime,
    /// The run has no such time window.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The run cannot be loaded.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CallTrace {
    /// Loads the newest run of a selection that is not an average.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no run, if it is not a trace of calls, or if the store cannot be read.
    pub fn load(store: &Snapshot, selection: Selection) -> Result<CallTrace, CallsError> {
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
        Ok(CallTrace {
            kept,
            ..CallTrace::new(view, runs, loaded.calls)
        })
    }

    /// Creates a run whose individual calls are not stored.
    pub fn new(view: View, runs: usize, calls: RunCalls<NodeIx>) -> CallTrace {
        CallTrace {
            view,
            runs,
            calls,
            kept: None,
            is_stored: false,
            part: None,
        }
    }

    /// Compresses every call again with other thresholds.
    ///
    /// # Errors
    ///
    /// Returns an error if the individual calls were not stored, or if the store cannot be read.
    pub fn compressed(self, thresholds: CallThresholds) -> Result<CallTrace, CallsError> {
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
        Ok(CallTrace {
            calls: calls?,
            ..self
        })
    }

    /// Restricts the run to a time window, relative to its first call. If the individual calls were stored, those in
    /// the window are compressed with these thresholds, or the default ones, relative to their threads' time in it.
    /// If they were not stored, and no thresholds are given, the records that overlap the window remain.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such window, if it is not a range of time, if thresholds are given for calls
    /// that were not stored, or if the store cannot be read.
    pub fn restrict(
        self,
        window: Window,
        thresholds: Option<CallThresholds>,
    ) -> Result<CallTrace, CallsError> {
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
        let run = CallTrace {
            part: Some([(first, last), part]),
            ..self
        };
        match (&run.kept, thresholds) {
            (None, None) => Ok(CallTrace {
                calls: run.calls.during(part),
                ..run
            }),
            _ => run.compressed(thresholds.unwrap_or_default()),
        }
    }

    /// The selected time window, by the recording's clock.
    pub(crate) fn window(&self) -> Option<(Nanoseconds, Nanoseconds)> {
        self.part.map(|[_, part]| part)
    }

    /// Time range of all calls in the run, by the recording's clock; 0 to 0 if there are none.
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

    /// Returns the name of the last function of a stack.
    pub(crate) fn function(&self, stack: NodeIx) -> &str {
        let frame = self.view.frames.frame(self.view.tree.frame(stack));
        match frame.symbol {
            "" => "[unknown]",
            symbol => symbol,
        }
    }

    /// Returns the functions of a stack, root first.
    pub(crate) fn frames(&self, stack: NodeIx) -> Vec<String> {
        let up = std::iter::successors(Some(stack), |&node| self.view.tree.parent(node));
        let mut frames: Vec<String> = up.map(|node| self.function(node).to_owned()).collect();
        frames.reverse();
        frames
    }

    /// Describes a call of a thread; `names` are the names of all threads.
    pub(crate) fn describe_call(
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

    /// Returns the self cost of each stack: the time of its calls without their callees, in nanoseconds, and the
    /// number of calls as samples.
    pub(crate) fn costs(&self) -> Vec<Cost> {
        let types = &self.view.sample_types;
        let time = types.iter().position(|of| is_call_time(of, types));
        let calls = types.iter().position(|of| of.event == CALLS_EVENT);
        let [time, calls] =
            [time, calls].map(|column| self.view.self_costs(column.unwrap_or(usize::MAX)));
        let both = time.into_iter().zip(calls);
        let cost = both.map(|(time, calls)| Cost {
            samples: calls.value,
            value: time.value,
        });
        cost.collect()
    }

    /// Returns the name of each thread, with the thread id if the name is ambiguous, and the process id if both are.
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
