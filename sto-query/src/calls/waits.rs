//! Time that a run's threads spent waiting.

use super::{CallTrace, CalledCall};
use crate::answer::{Answer, truncate};
use crate::tree::{Subject, totals};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use sto_core::trace::is_wait_function;
use sto_core::tree::NodeIx;

/// Time that a run's threads spent in functions that wait for locks, conditions, input or output.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Waits {
    /// The run.
    #[serde(flatten)]
    pub subject: Subject,
    /// Number of selected runs; this is the newest of them.
    pub runs: usize,
    /// Time from the first call of any thread to the end of the last call.
    pub duration_ns: u64,
    /// Number of threads with calls.
    pub threads: usize,
    /// Sum over the threads of the time from first to last call.
    pub thread_time_ns: u64,
    /// Time spent waiting.
    pub waited_ns: u64,
    /// Waiting functions by caller, most time first.
    pub functions: Vec<WaitingFunction>,
    /// Number of functions that a limit left out.
    pub omitted_functions: usize,
    /// The longest waits, longest first: the longest of each stack, from the 256 longest of all.
    pub longest: Vec<Waited>,
    /// Number of waits that a limit left out.
    pub omitted_longest: usize,
}

impl Answer for Waits {
    const SCHEMA: &'static str = "sto.waits/1";
}

/// A function that waits, with its caller.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WaitingFunction {
    /// The function.
    pub function: String,
    /// The caller; `None` without one.
    pub caller: Option<String>,
    /// Number of these calls.
    pub calls: u64,
    /// Total duration.
    pub total_ns: u64,
    /// Duration of the longest call.
    pub longest_ns: u64,
}

/// A call in which a thread waited.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Waited {
    /// The call.
    #[serde(flatten)]
    pub call: CalledCall,
    /// The call of another thread during which the wait ended; `None` if all others waited, too.
    pub ended_during: Option<CalledCall>,
}

/// Returns the waits of a run, with at most `limit` functions and `limit` longest waits.
pub fn waits(run: &CallTrace, limit: Option<usize>) -> Waits {
    let (first, last) = run.time();
    let names = run.thread_names();
    let mut functions = functions(run);
    let waited_ns = functions.iter().map(|of| of.total_ns).sum();
    let omitted_functions = truncate(&mut functions, limit);
    let longest = run.calls.waits.iter().map(|wait| Waited {
        call: run.describe_call(wait.thread, &wait.call, &names),
        ended_during: wait
            .ended_by
            .map(|(thread, call)| run.describe_call(thread, &call, &names)),
    });
    let mut longest: Vec<Waited> = longest.collect();
    let omitted_longest = truncate(&mut longest, limit);
    let times = run
        .calls
        .threads
        .iter()
        .map(|of| of.end.0.saturating_sub(of.begin.0));
    Waits {
        subject: Subject::new(&run.view, 0),
        runs: run.runs,
        duration_ns: last.0 - first.0,
        threads: run.calls.threads.len(),
        thread_time_ns: times.sum(),
        waited_ns,
        functions,
        omitted_functions,
        longest,
        omitted_longest,
    }
}

/// Returns all functions that wait, by caller, most time first.
fn functions(run: &CallTrace) -> Vec<WaitingFunction> {
    let tree = &run.view.tree;
    let costs = run.costs();
    let total = totals(tree, &costs);
    let mut longest: HashMap<NodeIx, u64> = HashMap::new();
    for wait in &run.calls.waits {
        let known = longest.entry(wait.call.stack).or_default();
        *known = (*known).max(wait.call.end.0 - wait.call.begin.0);
    }
    let mut waits = vec![false; tree.len()];
    let mut sums: HashMap<(&str, Option<&str>), WaitingFunction> = HashMap::new();
    for node in tree.nodes() {
        let parent = tree.parent(node);
        let is_within = parent.is_some_and(|parent| waits[parent.get()]);
        let function = run.function(node);
        waits[node.get()] = is_within || is_wait_function(function);
        if is_within || !waits[node.get()] {
            continue;
        }
        let caller = parent.map(|parent| run.function(parent));
        let sum = sums
            .entry((function, caller))
            .or_insert_with(|| WaitingFunction {
                function: function.to_owned(),
                caller: caller.map(str::to_owned),
                calls: 0,
                total_ns: 0,
                longest_ns: 0,
            });
        sum.calls += costs[node.get()].samples;
        sum.total_ns += total[node.get()].value;
        sum.longest_ns = sum.longest_ns.max(longest.get(&node).copied().unwrap_or(0));
    }
    let mut functions: Vec<WaitingFunction> = sums.into_values().collect();
    functions.sort_by(|a, b| {
        let order = |of: &WaitingFunction| (Reverse(of.total_ns), Reverse(of.calls));
        let names = (&a.function, &a.caller).cmp(&(&b.function, &b.caller));
        order(a).cmp(&order(b)).then(names)
    });
    functions
}
