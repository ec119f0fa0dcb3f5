//! Rules for calls over time, checked when they are stored and when they are loaded.

use crate::codec::{
    DecodeError, claimed_by_arguments, claimed_by_calls, unpack_arguments, unpack_calls,
};
use crate::error::{InternalError, Result};
use crate::read::counts::CallPacks;
use sto_model::limits::{MAX_CALL_RECORDS, MAX_CALL_THREADS, MAX_USER_STRING};
use sto_model::memory;
use sto_model::trace::{
    CallRecord, CallThresholds, CallsAtValue, CallsByArgument, LongCall, RunCalls, ThreadCalls,
    Threshold,
};
use sto_model::tree::{NodeIx, ProfileData, StackTree};
use sto_model::units::{Bytes, Nanoseconds};

/// Checks the rules that the types do not enforce.
pub(crate) fn check(run: &RunCalls<NodeIx>, interned: &ProfileData) -> Result<()> {
    let broken = broken_rule(run, interned.tree.len());
    // Calls name nodes by index in the loaded tree, which only has stacks with costs and their callers.
    let rule = "it has calls over time, and stacks without a cost";
    let broken = broken.or_else(|| (!all_have_costs(interned)).then_some(rule));
    broken.map_or(Ok(()), |why| Err(InternalError::Refused(why)))
}

/// Whether each node has a self cost or a descendant with one.
fn all_have_costs(interned: &ProfileData) -> bool {
    let tree: &StackTree = &interned.tree;
    let mut has_cost = vec![false; tree.len()];
    for &(node, _) in interned.costs.iter().flatten() {
        has_cost[node.get()] = true;
    }
    for node in tree.nodes().rev() {
        if let (true, Some(parent)) = (has_cost[node.get()], tree.parent(node)) {
            has_cost[parent.get()] = true;
        }
    }
    has_cost.into_iter().all(|has_cost| has_cost)
}

/// Returns the first rule that the calls of a run break; the tree has `nodes` nodes.
fn broken_rule(run: &RunCalls<NodeIx>, nodes: usize) -> Option<&'static str> {
    let RunCalls {
        thresholds,
        threads,
        outliers,
        waits,
        arguments,
    } = run;
    let CallThresholds {
        call_duration,
        call_gap,
        total_time,
    } = thresholds;
    let is_share = |threshold: &&Threshold| match threshold {
        Threshold::Share(share) => (0.0..=1.0).contains(share),
        Threshold::Time(_) => true,
    };
    let is_node = |node: NodeIx| node.get() < nodes;
    let is_thread = |thread: u32| (thread as usize) < threads.len();
    let is_call = |&(thread, call): &(u32, LongCall<NodeIx>)| {
        is_thread(thread)
            && is_node(call.stack)
            && threads[thread as usize].begin <= call.begin
            && call.begin <= call.end
    };
    let of_outliers = outliers
        .iter()
        .map(|outlier| (outlier.thread, outlier.call));
    let of_waits = waits.iter().map(|wait| (wait.thread, wait.call));
    let ended_by = waits.iter().filter_map(|wait| wait.ended_by);
    let mut meanwhile = outliers.iter().flat_map(|outlier| &outlier.activities);
    let records: usize = threads.iter().map(|thread| thread.records.len()).sum();
    let rules = [
        (
            [call_duration, call_gap, total_time].iter().all(is_share),
            "a threshold of its calls is not a fraction from 0 to 1",
        ),
        (
            threads.len() <= MAX_CALL_THREADS
                && records.max(outliers.len()).max(waits.len()) <= MAX_CALL_RECORDS
                && stacks(run).count() <= MAX_CALL_RECORDS
                && meanwhile.clone().count() <= MAX_CALL_RECORDS,
            "its calls have more than 1048576 threads, or more than 2^26 records or stacks",
        ),
        (
            threads.iter().all(|calls| {
                calls.thread.name.len().max(calls.thread.program.len()) <= MAX_USER_STRING
            }),
            "a thread's name is longer than 4096 bytes",
        ),
        (
            threads.is_sorted_by_key(|thread| thread.begin),
            "the threads of its calls are not in the order of their first calls",
        ),
        (
            threads.iter().all(is_consistent),
            "the calls of a thread overlap, or do not match its records",
        ),
        (
            threads
                .iter()
                .flat_map(|thread| &thread.records)
                .all(|record| match record {
                    CallRecord::Call(call) => is_node(call.stack),
                    CallRecord::Expression(expression) => {
                        let mut stacks = expression.stacks.iter();
                        !expression.stacks.is_empty()
                            && stacks.all(|stack| is_node(stack.stack) && stack.calls > 0)
                    }
                }),
            "a call's stack does not exist, or has a call count of zero",
        ),
        (
            of_outliers
                .chain(of_waits)
                .chain(ended_by)
                .all(|call| is_call(&call))
                && outliers.iter().all(|outlier| outlier.calls > 0)
                && meanwhile
                    .all(|other| is_thread(other.thread) && other.stack.is_none_or(is_node)),
            "an outlier or a wait has a thread, stack or time that does not exist",
        ),
        (
            arguments.len() <= MAX_CALL_RECORDS
                && arguments.iter().map(|list| list.calls.len()).sum::<usize>() <= MAX_CALL_RECORDS,
            "it has more than 2^26 calls by argument",
        ),
        (
            arguments
                .iter()
                .all(|list| is_thread(list.thread) && is_node(list.stack) && has_valid_calls(list)),
            "calls by argument have no such thread or stack, are out of order, or are invalid",
        ),
    ];
    rules.iter().find(|(kept, _)| !kept).map(|&(_, why)| why)
}

fn stacks(run: &RunCalls<NodeIx>) -> impl Iterator {
    run.threads.iter().flat_map(ThreadCalls::expression_stacks)
}

/// Whether calls are in ascending order of their arguments, which are finite, and no self time exceeds the total time.
fn has_valid_calls(list: &CallsByArgument<NodeIx>) -> bool {
    let is_call = |call: &CallsAtValue| {
        call.value.is_finite() && call.calls > 0 && call.self_duration <= call.duration
    };
    list.argument.len() <= MAX_USER_STRING
        && list.calls.iter().all(is_call)
        && list.calls.is_sorted_by(|a, b| a.value <= b.value)
}

/// Whether a thread has records, callers come before callees, no calls of one caller overlap, and the thread's
/// begin, end and number of calls match the records.
fn is_consistent(thread: &ThreadCalls<NodeIx>) -> bool {
    // Ends of the calls that may be callers of the next record, innermost last.
    let mut callers: Vec<Nanoseconds> = Vec::new();
    let mut free = Nanoseconds(0);
    let mut last_end = Nanoseconds(0);
    let mut calls = Some(0u64);
    for record in &thread.records {
        let (begin, end) = record.time();
        while callers.last().is_some_and(|&caller| caller <= begin) {
            callers.pop();
        }
        if begin < free || begin > end || callers.last().is_some_and(|&caller| end > caller) {
            return false;
        }
        match record {
            CallRecord::Call(_) => callers.push(end),
            CallRecord::Expression(_) => free = end,
        }
        last_end = last_end.max(end);
        calls = calls
            .zip(record.calls())
            .and_then(|(a, b)| a.checked_add(b));
    }
    let begin = thread.records.first().map(|record| record.time().0);
    begin == Some(thread.begin) && last_end == thread.end && calls == Some(thread.calls)
}

/// Unpacks the calls of a profile whose tree has `nodes` nodes.
pub(crate) fn unpacked(
    packs: &CallPacks,
    [at, at_arguments]: [impl ToString + Copy; 2],
    nodes: usize,
) -> Result<RunCalls<NodeIx>> {
    let claimed = claimed_by_calls(&packs.calls).map_err(|error| error.at(at))?;
    memory::check_limit(Bytes(claimed))?;
    let mut run = unpack_calls(&packs.calls).map_err(|error| error.at(at))?;
    if let Some(pack) = &packs.arguments {
        let claimed = claimed_by_arguments(pack).map_err(|error| error.at(at_arguments))?;
        memory::check_limit(Bytes(claimed))?;
        run.arguments = unpack_arguments(pack).map_err(|error| error.at(at_arguments))?;
    }
    match broken_rule(&run, nodes) {
        Some(why) => Err(DecodeError(why).at(at)),
        None => Ok(run),
    }
}
