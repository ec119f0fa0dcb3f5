//! Unusually long calls of a run.

use super::{CallTrace, CalledCall};
use crate::answer::Answer;
use crate::tree::Subject;
use serde::Serialize;
use std::collections::HashSet;
use sto_core::trace::{Outlier, is_wait_function};
use sto_core::tree::NodeIx;

/// Calls of a run that were unusually long for their function and callers, greatest loss of time first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Outliers {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// Time from the first call of any thread to the end of the last call.
    pub duration_ns: u64,
    /// Number of threads with calls.
    pub threads: usize,
    /// Number of calls in all threads.
    pub calls: u64,
    /// The outliers, at most 256.
    pub outliers: Vec<SlowCall>,
    /// Number of outliers that a limit left out.
    pub omitted: usize,
}

impl Answer for Outliers {
    const SCHEMA: &'static str = "sto.outliers/1";
}

/// An unusually long call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SlowCall {
    /// The call.
    #[serde(flatten)]
    pub call: CalledCall,
    /// Median duration of all calls with these frames in all threads; 0 if most calls of the caller do not call the
    /// function.
    pub typical_ns: u64,
    /// Excess of the duration over the median.
    pub lost_ns: u64,
    /// Number of calls with these frames.
    pub calls: u64,
    /// Stacks of the call's thread during the call, longest first; at most three.
    pub within: Vec<InStack>,
    /// Other threads during the call, those that did not wait first, then by their longest time in one stack.
    pub meanwhile: Vec<ThreadMeanwhile>,
}

/// Activity of a thread during a call of another one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ThreadMeanwhile {
    /// Thread name, with the thread id if another thread has the same name.
    pub thread: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Whether its longest stack ends in a function that waits.
    pub waited: bool,
    /// Its stacks, longest first; at most three.
    pub stacks: Vec<InStack>,
}

/// Time of a thread in a stack.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InStack {
    /// The functions, root first; empty if the thread was in no call.
    pub frames: Vec<String>,
    /// Time in the stack.
    pub time_ns: u64,
}

/// Returns the unusually long calls of a run, with at most `stacks` distinct stacks.
pub fn outliers(run: &CallTrace, stacks: Option<usize>) -> Outliers {
    let (first, last) = run.time();
    let mut known: HashSet<NodeIx> = HashSet::new();
    let is_shown = |of: &&Outlier<NodeIx>| {
        let is_known = known.contains(&of.call.stack);
        is_known || stacks.is_none_or(|most| known.len() < most) && known.insert(of.call.stack)
    };
    let shown: Vec<&Outlier<NodeIx>> = run.calls.outliers.iter().filter(is_shown).collect();
    let names = run.thread_names();
    Outliers {
        subject: Subject::new(&run.view, 0),
        runs: run.runs,
        duration_ns: last.0 - first.0,
        threads: run.calls.threads.len(),
        calls: run.calls.threads.iter().map(|thread| thread.calls).sum(),
        omitted: run.calls.outliers.len() - shown.len(),
        outliers: shown
            .into_iter()
            .map(|of| slow_call(run, of, &names))
            .collect(),
    }
}

fn slow_call(run: &CallTrace, of: &Outlier<NodeIx>, names: &[String]) -> SlowCall {
    let mut within = Vec::new();
    let mut others: Vec<(u32, ThreadMeanwhile)> = Vec::new();
    for meanwhile in &of.activities {
        let in_stack = InStack {
            frames: meanwhile
                .stack
                .map_or(Vec::new(), |stack| run.frames(stack)),
            time_ns: meanwhile.time.0,
        };
        if meanwhile.thread == of.thread {
            within.push(in_stack);
        } else if let Some((_, known)) = others
            .last_mut()
            .filter(|(thread, _)| *thread == meanwhile.thread)
        {
            known.stacks.push(in_stack);
        } else {
            let thread = &run.calls.threads[meanwhile.thread as usize].thread;
            let does = ThreadMeanwhile {
                thread: names[meanwhile.thread as usize].clone(),
                pid: thread.pid,
                tid: thread.tid,
                waited: in_stack
                    .frames
                    .iter()
                    .any(|function| is_wait_function(function)),
                stacks: vec![in_stack],
            };
            others.push((meanwhile.thread, does));
        }
    }
    let mut meanwhile: Vec<ThreadMeanwhile> = others.into_iter().map(|(_, of)| of).collect();
    meanwhile.sort_by_key(|of| {
        let longest = &of.stacks[0];
        // A thread only in its outermost function does something that was not traced.
        let is_busy = !of.waited && longest.frames.len() > 1;
        (!is_busy, std::cmp::Reverse(longest.time_ns))
    });
    let call = run.describe_call(of.thread, &of.call, names);
    SlowCall {
        typical_ns: of.typical.0,
        lost_ns: call.duration_ns.saturating_sub(of.typical.0),
        call,
        calls: of.calls,
        within,
        meanwhile,
    }
}
