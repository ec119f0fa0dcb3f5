//! What the page's script works on: the records of a run as flat lists of numbers.

use crate::calls::{CalledRun, ProminentFunction, nested};
use crate::render::html::short_name;
use crate::text::printable;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use sto_core::intern::NodeIx;
use sto_core::trace::{LongCall, Record, ThreadCalls};
use sto_core::units::Nanoseconds;

/// Most records of the page, of some 20 bytes each. What takes least time goes first.
const MAX_RECORDS: usize = 90_000;

/// What the script works on. All times are nanoseconds since the run's first call.
#[derive(Serialize)]
pub(super) struct Data {
    /// From when to when the run is shown.
    from: u64,
    to: u64,
    /// The functions, the most prominent first.
    functions: Vec<String>,
    /// Of each stack its caller's, or -1, and its function.
    parents: Vec<i64>,
    of: Vec<usize>,
    threads: Vec<ThreadData>,
    /// Of each outlier: thread, stack, begin, length, the typical length, number of calls; and of each thing that
    /// other threads did meanwhile thread, stack or -1, and time.
    outliers: Vec<(Vec<u64>, Vec<i64>)>,
    /// Of each wait: thread, stack, begin, length; and of the call that ended it the same, if any.
    waits: Vec<Vec<u64>>,
}

#[derive(Serialize)]
struct ThreadData {
    name: String,
    begin: u64,
    end: u64,
    calls: u64,
    /// The shortest gap.
    gap: u64,
    /// The records: how many stacks, depth, begin since the last one's, length; a long call has no stacks and then
    /// its own, an expression of each of its stacks that, calls, and duration.
    records: Vec<u64>,
    /// Functions that only records have that were left out.
    also: Vec<usize>,
}

/// What was left out of the page.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    /// Number of records.
    pub(super) records: u64,
    /// How long the longest of them took.
    pub(super) below: Nanoseconds,
}

/// Stacks and functions of the page, by number.
struct Numbers<'a> {
    run: &'a CalledRun,
    functions: HashMap<&'a str, usize>,
    stacks: HashMap<NodeIx, usize>,
    parents: Vec<i64>,
    of: Vec<usize>,
}

impl Data {
    pub(super) fn of(run: &CalledRun, functions: &[ProminentFunction]) -> (Data, LeftOut) {
        let (first, last) = run.time();
        let (from, to) = run.part().unwrap_or((first, last));
        let since = |time: Nanoseconds| time.0.saturating_sub(first.0);
        let least = least_duration(run);
        let mut left_out = LeftOut {
            records: 0,
            below: least,
        };
        let named = functions.iter().enumerate();
        let mut numbers = Numbers {
            run,
            functions: named.map(|(ix, of)| (&*of.name, ix)).collect(),
            stacks: HashMap::new(),
            parents: Vec::new(),
            of: Vec::new(),
        };
        let names = run.thread_names();
        let threads = run.calls.threads.iter().zip(names);
        let threads = threads.map(|(of, name)| {
            let gap = run.calls.thresholds.call_gap;
            let (records, also) = numbers.records(of, first, &mut left_out);
            ThreadData {
                // What is hidden in it would be no JSON where the page shows it.
                name: printable(&name).into_owned(),
                begin: since(of.begin),
                end: since(of.end),
                calls: of.calls,
                gap: gap.of(Nanoseconds(of.end.0.saturating_sub(of.begin.0))).0,
                records,
                also,
            }
        });
        let threads: Vec<ThreadData> = threads.collect();
        let mut call = |thread: u32, call: &LongCall<NodeIx>| {
            let stack = numbers.stack(call.stack) as u64;
            let length = call.end.0.saturating_sub(call.begin.0);
            [u64::from(thread), stack, since(call.begin), length]
        };
        let waits = run.calls.waits.iter().map(|wait| {
            let by = wait.ended_by.as_ref();
            let by = by.map(|(thread, by)| call(*thread, by));
            let by = by.into_iter().flatten().collect::<Vec<u64>>();
            [&call(wait.thread, &wait.call)[..], &by].concat()
        });
        let waits = waits.collect();
        let outliers = run.calls.outliers.iter().map(|outlier| {
            let mut of = call(outlier.thread, &outlier.call).to_vec();
            of.extend([outlier.typical.0, outlier.calls]);
            (of, Vec::new())
        });
        let mut outliers: Vec<(Vec<u64>, Vec<i64>)> = outliers.collect();
        for ((_, meanwhile), outlier) in outliers.iter_mut().zip(&run.calls.outliers) {
            for of in &outlier.meanwhile {
                let stack = of.stack.map_or(-1, |stack| numbers.stack(stack) as i64);
                meanwhile.extend([i64::from(of.thread), stack, of.time.0 as i64]);
            }
        }
        let mut functions = vec![String::new(); numbers.functions.len()];
        for (name, number) in numbers.functions {
            functions[number] = short_name(name);
        }
        let data = Data {
            from: since(from),
            to: since(to),
            functions,
            parents: numbers.parents,
            of: numbers.of,
            threads,
            outliers,
            waits,
        };
        (data, left_out)
    }
}

impl<'a> Numbers<'a> {
    /// The records of a thread that are not shorter than what is left out, and functions that only others have.
    fn records(
        &mut self,
        thread: &'a ThreadCalls<NodeIx>,
        first: Nanoseconds,
        left_out: &mut LeftOut,
    ) -> (Vec<u64>, Vec<usize>) {
        let nested = nested(thread, &self.run.view.tree);
        let mut depths: Vec<u64> = Vec::with_capacity(nested.len());
        let mut records = Vec::new();
        let mut before = first;
        let mut shown = HashSet::new();
        let mut also = HashSet::new();
        for of in &nested {
            let depth = of.caller.map_or(0, |caller| depths[caller] + 1);
            depths.push(depth);
            let mut head = |stacks: usize, begin: Nanoseconds, end: Nanoseconds| {
                let since = begin.0.saturating_sub(before.0);
                before = begin;
                records.extend([stacks as u64, depth, since, end.0.saturating_sub(begin.0)]);
            };
            match of.record {
                Record::Call(call) => {
                    if call.end.0.saturating_sub(call.begin.0) < left_out.below.0 {
                        left_out.records += 1;
                        also.insert(self.function(call.stack));
                        continue;
                    }
                    head(0, call.begin, call.end);
                    shown.insert(self.function(call.stack));
                    records.push(self.stack(call.stack) as u64);
                }
                Record::Expression(expression) => {
                    let is_kept = |duration: Nanoseconds| duration >= left_out.below;
                    let kept = expression.stacks.iter().filter(|of| is_kept(of.duration));
                    let count = kept.clone().count();
                    left_out.records += (expression.stacks.len() - count) as u64;
                    let others = expression.stacks.iter().filter(|of| !is_kept(of.duration));
                    also.extend(others.map(|of| self.function(of.stack)));
                    // All of it is said to be there where nothing of it is.
                    if count > 0 {
                        head(count, expression.begin, expression.end);
                        for of in kept {
                            shown.insert(self.function(of.stack));
                            records.extend([self.stack(of.stack) as u64, of.calls, of.duration.0]);
                        }
                    }
                }
            }
        }
        let mut also: Vec<usize> = also.difference(&shown).copied().collect();
        also.sort_unstable();
        (records, also)
    }

    fn function(&mut self, stack: NodeIx) -> usize {
        // A caller may be inlined code, which nobody called.
        let next = self.functions.len();
        *self
            .functions
            .entry(self.run.function(stack))
            .or_insert(next)
    }

    /// The number of a stack, whose callers have lower ones.
    fn stack(&mut self, stack: NodeIx) -> usize {
        if let Some(&number) = self.stacks.get(&stack) {
            return number;
        }
        let tree = &self.run.view.tree;
        let up = std::iter::successors(Some(stack), |&node| tree.parent(node));
        let unknown: Vec<NodeIx> = up
            .take_while(|node| !self.stacks.contains_key(node))
            .collect();
        for node in unknown.into_iter().rev() {
            let caller = self.run.view.tree.parent(node);
            self.parents
                .push(caller.map_or(-1, |caller| self.stacks[&caller] as i64));
            let function = self.function(node);
            self.of.push(function);
            self.stacks.insert(node, self.stacks.len());
        }
        self.stacks[&stack]
    }
}

/// The shortest duration of records that may stay.
fn least_duration(run: &CalledRun) -> Nanoseconds {
    let records = run.calls.threads.iter().flat_map(|thread| &thread.records);
    let mut durations: Vec<u64> = Vec::new();
    for record in records {
        match record {
            Record::Call(call) => durations.push(call.end.0.saturating_sub(call.begin.0)),
            Record::Expression(of) => durations.extend(of.stacks.iter().map(|of| of.duration.0)),
        }
    }
    if durations.len() <= MAX_RECORDS {
        return Nanoseconds(0);
    }
    let at = durations.len() - MAX_RECORDS;
    let (_, longest, _) = durations.select_nth_unstable(at - 1);
    Nanoseconds(*longest + 1)
}
