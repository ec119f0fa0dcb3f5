//! Calls of a run's threads as plain data.

use super::CallTrace;
use super::frames::{CallFrames, FrameNames};
use super::nesting::{NestedRecord, gaps, nest_records};
use crate::answer::{Answer, truncate};
use crate::tree::Subject;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use sto_core::trace::{CallRecord, Expression, ThreadCalls};
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::Nanoseconds;

/// The calls of a run's threads. All times are relative to the run's first call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallTimeline {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// Time from the first call of any thread to the end of the last call.
    pub duration_ns: u64,
    /// Time window that is shown; omitted from JSON if it is the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<CallWindow>,
    /// Whether every call is stored. If so, a time window has exactly its calls, compressed relative to the threads'
    /// time in it; otherwise it has the run's records that overlap it.
    pub every_call_kept: bool,
    /// Number of calls in all threads.
    pub calls: u64,
    /// Number of records after compression.
    pub records: u64,
    /// Duration above which calls are stored individually: a share of the thread's time (`1%`), or a time (`2000ns`).
    pub call_duration: String,
    /// Time between two calls of the same caller above which it is a gap.
    pub call_gap: String,
    /// Duration at which an expression ends.
    pub total_time: String,
    /// The threads, by their first call.
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
    /// Start.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
}

/// Calls of a thread. In a time window, it has the unmodified records that overlap the window, but start, end and
/// self times are clipped to the window.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledThread {
    /// Thread name, with the thread id if another thread has the same name.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Start of its first call.
    pub start_ns: u64,
    /// End of its last call.
    pub end_ns: u64,
    /// Number of its calls.
    pub calls: u64,
    /// Number of records after compression: long calls, and distinct stacks of each expression.
    pub records: u64,
    /// Expressions, which contain the calls that are not stored individually, by start.
    pub expressions: Vec<CalledExpression>,
    /// Calls longer than the threshold, by start, callers before their callees.
    pub long_calls: Vec<TimedCall>,
    /// Gaps between calls that are longer than the threshold, by start.
    pub gaps: Vec<CallGap>,
    /// Start of each stored unusually long call.
    pub outliers_ns: Vec<u64>,
}

/// A sequence of short calls, including everything they called.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledExpression {
    /// Start of the first call.
    pub start_ns: u64,
    /// End of the last call.
    pub end_ns: u64,
    /// Distinct stacks, in order of their first call.
    pub stacks: Vec<CalledFrames>,
}

/// Calls of an expression with the same stack.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalledFrames {
    /// The functions, root first; the last one is the callee.
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<String>"))]
    pub frames: CallFrames,
    /// Number of calls.
    pub calls: u64,
    /// Total duration of the calls.
    pub duration_ns: u64,
    /// Duration of the calls without their callees.
    pub self_ns: u64,
}

/// A call that is stored individually.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TimedCall {
    /// Start of the call.
    pub start_ns: u64,
    /// End of the call.
    pub end_ns: u64,
    /// The functions, root first; the last one is the callee.
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<String>"))]
    pub frames: CallFrames,
    /// Duration without the long calls and expressions inside it.
    pub self_ns: u64,
}

/// Time between two consecutive calls of the same caller.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallGap {
    /// End of the call before.
    pub start_ns: u64,
    /// Start of the call after.
    pub end_ns: u64,
    /// The functions of the caller, root first; empty without a caller.
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<String>"))]
    pub frames: CallFrames,
}

/// Returns the calls of a run's threads, at most `limit` threads.
pub fn call_timeline(run: &CallTrace, limit: Option<usize>) -> CallTimeline {
    let (first, last) = run.time();
    let calls = &run.calls;
    let mut threads: Vec<usize> = (0..calls.threads.len()).collect();
    let omitted = truncate(&mut threads, limit);
    let names = run.thread_names();
    let frames = FrameNames::new(run);
    let records = calls.threads.iter().map(ThreadCalls::record_count);
    CallTimeline {
        subject: Subject::new(&run.view, 0),
        runs: run.runs,
        duration_ns: last.0 - first.0,
        window: run.window().map(|(begin, end)| CallWindow {
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
            .map(|ix| thread((run, &frames), ix, names[ix].clone(), first))
            .collect(),
        omitted,
    }
}

fn thread(
    (run, frames): (&CallTrace, &Arc<FrameNames>),
    ix: usize,
    name: String,
    first: Nanoseconds,
) -> CalledThread {
    let of = &run.calls.threads[ix];
    let nested = nest_records(&of.records, &run.view.tree);
    let since = |time: Nanoseconds| time.0.saturating_sub(first.0);
    let mut own = own_times(&nested, (of.begin, of.end)).into_iter();
    let mut expressions = Vec::new();
    let mut long_calls = Vec::new();
    for record in &of.records {
        let (begin, end) = record.time();
        let own = own.next().unwrap_or_default();
        match record {
            CallRecord::Call(call) => long_calls.push(TimedCall {
                start_ns: since(begin),
                end_ns: since(end),
                frames: frames.of(Some(call.stack)),
                self_ns: own,
            }),
            CallRecord::Expression(expression) => expressions.push(CalledExpression {
                start_ns: since(begin),
                end_ns: since(end),
                stacks: stacks(run, frames, expression),
            }),
        }
    }
    let longer_than = run
        .calls
        .thresholds
        .call_gap
        .resolve(Nanoseconds(of.end.0.saturating_sub(of.begin.0)));
    let stack = |caller: usize| match nested[caller].record {
        CallRecord::Call(call) => Some(call.stack),
        CallRecord::Expression(_) => None,
    };
    let gaps = gaps(&nested, longer_than).into_iter().map(|gap| CallGap {
        start_ns: since(gap.begin),
        end_ns: since(gap.end),
        frames: frames.of(gap.caller.and_then(stack)),
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

/// Returns the duration of each record without the records in it, clipped to a time window.
fn own_times(nested: &[NestedRecord], (from, to): (Nanoseconds, Nanoseconds)) -> Vec<u64> {
    let length = |of: &NestedRecord| {
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

fn stacks(
    run: &CallTrace,
    frames: &Arc<FrameNames>,
    expression: &Expression<NodeIx>,
) -> Vec<CalledFrames> {
    let own = own_durations(&run.view.tree, expression);
    let stacks = expression.stacks.iter().zip(own);
    let stacks = stacks.map(|(of, own)| CalledFrames {
        frames: frames.of(Some(of.stack)),
        calls: of.calls,
        duration_ns: of.duration.0,
        self_ns: own,
    });
    stacks.collect()
}

/// Returns the duration of each stack's calls in an expression without their callees.
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
