//! Calls of a run that took unusually long.

use super::{CalledCall, CalledRun};
use crate::answer::Answer;
use crate::tree::Subject;
use serde::Serialize;
use std::collections::HashSet;
use sto_core::trace::{Outlier, is_wait_function};
use sto_core::tree::NodeIx;

/// Calls of a run that took unusually long for their function and callers, those that lost most time first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Outliers {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of the runs that were selected, of which it is the newest.
    pub runs: usize,
    /// From the first call of any thread to the end of the last one.
    pub duration_ns: u64,
    /// Number of threads that called anything.
    pub threads: usize,
    /// Number of calls of all threads.
    pub calls: u64,
    /// The outliers, no more than 256 of a run.
    pub outliers: Vec<SlowCall>,
    /// Number of outliers that a limit left out.
    pub omitted: usize,
}

impl Answer for Outliers {
    const SCHEMA: &'static str = "sto.outliers/1";
}

/// A call that took unusually long.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SlowCall {
    /// The call.
    #[serde(flatten)]
    pub call: CalledCall,
    /// The median of all calls of these frames, in all threads; 0 where most calls of their caller do not call it.
    pub typical_ns: u64,
    /// How much longer it took than that.
    pub lost_ns: u64,
    /// How many calls of these frames there were.
    pub calls: u64,
    /// What its own thread did meanwhile, longest first: at most three stacks.
    pub within: Vec<InStack>,
    /// What the other threads did meanwhile, by the time that each was longest in one stack, threads that did not
    /// wait first.
    pub meanwhile: Vec<ThreadMeanwhile>,
}

/// What a thread did during a call of another one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ThreadMeanwhile {
    /// Its name, with its id where another thread has that name.
    pub thread: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Whether what it did longest is a function that waits.
    pub waited: bool,
    /// What it did, longest first: at most three stacks.
    pub stacks: Vec<InStack>,
}

/// How long a thread was in a stack.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InStack {
    /// The functions, root first, of which the last one was innermost; none where it was in no call.
    pub frames: Vec<String>,
    /// For how long.
    pub time_ns: u64,
}

/// The calls of a run that took unusually long: those of as many stacks as there may be.
pub fn outliers(run: &CalledRun, stacks: Option<usize>) -> Outliers {
    let (first, last) = run.time();
    let mut known: HashSet<NodeIx> = HashSet::new();
    let is_shown = |of: &&Outlier<NodeIx>| {
        let is_known = known.contains(&of.call.stack);
        is_known || stacks.is_none_or(|most| known.len() < most) && known.insert(of.call.stack)
    };
    let shown: Vec<&Outlier<NodeIx>> = run.calls.outliers.iter().filter(is_shown).collect();
    let names = run.thread_names();
    Outliers {
        subject: Subject::of(&run.view, 0),
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

fn slow_call(run: &CalledRun, of: &Outlier<NodeIx>, names: &[String]) -> SlowCall {
    let mut within = Vec::new();
    let mut others: Vec<(u32, ThreadMeanwhile)> = Vec::new();
    for meanwhile in &of.meanwhile {
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
        // What is in its outermost function alone, does what was not traced.
        let is_busy = !of.waited && longest.frames.len() > 1;
        (!is_busy, std::cmp::Reverse(longest.time_ns))
    });
    let call = run.called(of.thread, &of.call, names);
    SlowCall {
        typical_ns: of.typical.0,
        lost_ns: call.duration_ns.saturating_sub(of.typical.0),
        call,
        calls: of.calls,
        within,
        meanwhile,
    }
}
