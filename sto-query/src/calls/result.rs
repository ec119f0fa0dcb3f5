//! What the threads of a run called, as plain data.

use super::CalledRun;
use super::nesting::{Nested, gaps, nested};
use crate::answer::{Answer, limited};
use crate::tree::Subject;
use serde::Serialize;
use std::collections::HashMap;
use sto_core::trace::{Expression, Record, ThreadCalls};
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::Nanoseconds;

/// What the threads of a run called, and when. All times are since the run's first call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallTimeline {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of the runs that were selected, of which it is the newest.
    pub runs: usize,
    /// From the first call of any thread to the end of the last one.
    pub duration_ns: u64,
    /// The part of that time that threads are shown of; JSON leaves it out where it is all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<CallWindow>,
    /// Whether every call is kept. A part of the time then has exactly its calls, compressed by the threads' time in it;
    /// otherwise it has the records of the run that overlap it.
    pub every_call_kept: bool,
    /// Number of calls of all threads.
    pub calls: u64,
    /// Number of records that they were compressed to.
    pub records: u64,
    /// Calls that took longer are kept each: a share of the thread's time (`1%`), or a time (`2000ns`).
    pub call_duration: String,
    /// A longer time between two calls of one caller is a gap.
    pub call_gap: String,
    /// An expression that has become longer ends.
    pub total_time: String,
    /// The threads, in the order of their first call.
    pub threads: Vec<CalledThread>,
    /// Number of threads that a limit left out.
    pub omitted: usize,
}

impl Answer for CallTimeline {
    const SCHEMA: &'static str = "sto.calls/1";
}

/// A part of a run's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallWindow {
    /// When it begins.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
}

/// What a thread called. Of a part of the time, this has what overlaps it, as it was, but that the thread begins, ends
/// and spends its time within it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledThread {
    /// Its name, with its id where another thread has that name.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// When its first call began.
    pub start_ns: u64,
    /// When its last call ended.
    pub end_ns: u64,
    /// Number of its calls.
    pub calls: u64,
    /// Number of records that they were compressed to: long calls, and distinct stacks of each expression.
    pub records: u64,
    /// Its calls that are not kept each, by their begin.
    pub expressions: Vec<CalledExpression>,
    /// Its calls that took longer than the threshold, by their begin, a call before those that it made.
    pub long_calls: Vec<TimedCall>,
    /// Times between its calls that were longer than the threshold, by their begin.
    pub gaps: Vec<CallGap>,
    /// When each of its calls began that took unusually long, of those that are kept of the run.
    pub outliers_ns: Vec<u64>,
}

/// Short calls in a row, with all that they called.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledExpression {
    /// When the first of them began.
    pub start_ns: u64,
    /// When the last of them ended.
    pub end_ns: u64,
    /// Their distinct stacks, in the order in which they were called first.
    pub stacks: Vec<CalledFrames>,
}

/// The calls of an expression that have one stack.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledFrames {
    /// The functions, root first; the last one was called.
    pub frames: Vec<String>,
    /// How often.
    pub calls: u64,
    /// How long these calls took together.
    pub duration_ns: u64,
    /// The same without what they called.
    pub self_ns: u64,
}

/// A call that is kept by itself.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TimedCall {
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// The functions, root first; the last one was called.
    pub frames: Vec<String>,
    /// How long it took without the long calls that it made, and its expressions.
    pub self_ns: u64,
}

/// Time between two calls of one caller.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallGap {
    /// When the call before it ended.
    pub start_ns: u64,
    /// When the call after it began.
    pub end_ns: u64,
    /// The functions of the caller, root first; none where nobody called the two.
    pub frames: Vec<String>,
}

/// What the threads of a run called: the first ones, as many as there may be.
pub fn call_timeline(run: &CalledRun, limit: Option<usize>) -> CallTimeline {
    let (first, last) = run.time();
    let calls = &run.calls;
    let mut threads: Vec<usize> = (0..calls.threads.len()).collect();
    let omitted = limited(&mut threads, limit);
    let names = run.thread_names();
    let records = calls.threads.iter().map(ThreadCalls::record_count);
    CallTimeline {
        subject: Subject::of(&run.view, 0),
        runs: run.runs,
        duration_ns: last.0 - first.0,
        window: run.part().map(|(begin, end)| CallWindow {
            start_ns: begin.0 - first.0,
            end_ns: end.0 - first.0,
        }),
        every_call_kept: run.kept.is_some(),
        calls: calls.threads.iter().map(|thread| thread.calls).sum(),
        records: records.map(|count| count as u64).sum(),
        call_duration: calls.thresholds.call_duration.to_string(),
        call_gap: calls.thresholds.call_gap.to_string(),
        total_time: calls.thresholds.total_time.to_string(),
        threads: threads
            .into_iter()
            .map(|ix| thread(run, ix, names[ix].clone(), first))
            .collect(),
        omitted,
    }
}

fn thread(run: &CalledRun, ix: usize, name: String, first: Nanoseconds) -> CalledThread {
    let of = &run.calls.threads[ix];
    let nested = nested(&of.records, &run.view.tree);
    let since = |time: Nanoseconds| time.0.saturating_sub(first.0);
    let mut own = own_times(&nested, (of.begin, of.end)).into_iter();
    let mut expressions = Vec::new();
    let mut long_calls = Vec::new();
    for record in &of.records {
        let (begin, end) = record.time();
        let own = own.next().unwrap_or_default();
        match record {
            Record::Call(call) => long_calls.push(TimedCall {
                start_ns: since(begin),
                end_ns: since(end),
                frames: run.frames(call.stack),
                self_ns: own,
            }),
            Record::Expression(expression) => expressions.push(CalledExpression {
                start_ns: since(begin),
                end_ns: since(end),
                stacks: stacks(run, expression),
            }),
        }
    }
    let longer_than = run
        .calls
        .thresholds
        .call_gap
        .of(Nanoseconds(of.end.0.saturating_sub(of.begin.0)));
    let frames = |caller: usize| match nested[caller].record {
        Record::Call(call) => run.frames(call.stack),
        Record::Expression(_) => Vec::new(),
    };
    let gaps = gaps(&nested, longer_than).into_iter().map(|gap| CallGap {
        start_ns: since(gap.begin),
        end_ns: since(gap.end),
        frames: gap.caller.map_or(Vec::new(), frames),
    });
    let outliers = run.calls.outliers.iter();
    let mut outliers_ns: Vec<u64> = outliers
        .filter(|outlier| outlier.thread as usize == ix)
        .map(|outlier| since(outlier.call.begin))
        .collect();
    outliers_ns.sort_unstable();
    CalledThread {
        name,
        pid: of.thread.pid,
        tid: of.thread.tid,
        start_ns: since(of.begin),
        end_ns: since(of.end),
        calls: of.calls,
        records: of.record_count() as u64,
        expressions,
        long_calls,
        gaps: gaps.collect(),
        outliers_ns,
    }
}

/// How long each record took without those in it, within a time.
fn own_times(nested: &[Nested], (from, to): (Nanoseconds, Nanoseconds)) -> Vec<u64> {
    let length = |of: &Nested| {
        let (begin, end) = of.record.time();
        end.min(to).0.saturating_sub(begin.max(from).0)
    };
    let mut own: Vec<u64> = nested.iter().map(length).collect();
    for of in nested {
        if let Some(caller) = of.caller {
            own[caller] = own[caller].saturating_sub(length(of));
        }
    }
    own
}

fn stacks(run: &CalledRun, expression: &Expression<NodeIx>) -> Vec<CalledFrames> {
    let own = own_durations(&run.view.tree, expression);
    let stacks = expression.stacks.iter().zip(own);
    let stacks = stacks.map(|(of, own)| CalledFrames {
        frames: run.frames(of.stack),
        calls: of.calls,
        duration_ns: of.duration.0,
        self_ns: own,
    });
    stacks.collect()
}

/// How long the calls of each stack of an expression took without what they called.
fn own_durations(tree: &StackTree, expression: &Expression<NodeIx>) -> Vec<u64> {
    let of = &expression.stacks;
    let index: HashMap<NodeIx, usize> = (0..of.len()).map(|ix| (of[ix].stack, ix)).collect();
    let mut own: Vec<u64> = of.iter().map(|of| of.duration.0).collect();
    for called in of {
        let callers = std::iter::successors(tree.parent(called.stack), |&node| tree.parent(node));
        if let Some(caller) = callers.filter_map(|node| index.get(&node)).next() {
            own[*caller] = own[*caller].saturating_sub(called.duration.0);
        }
    }
    own
}
