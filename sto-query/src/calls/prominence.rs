//! Prominence of functions in a drawing of calls.

use super::CallTrace;
use std::collections::HashMap;
use sto_core::trace::CallRecord;

/// A function, with the number of its appearances in the records of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProminentFunction {
    /// The function.
    pub name: String,
    /// Number of its long calls, and of stacks in expressions that end in it.
    pub appearances: u64,
    /// Number of threads that called it.
    pub threads: u64,
}

impl ProminentFunction {
    /// Appearances times threads: the prominence score of section 3.4 of the paper on NonSequitur.
    pub fn prominence(&self) -> u64 {
        self.appearances * self.threads
    }
}

/// Returns all functions that were called, most prominent first, equal ones by name.
pub fn prominence(run: &CallTrace) -> Vec<ProminentFunction> {
    // Appearances, threads, and the last thread counted, by function.
    let mut counts: HashMap<&str, (u64, u64, usize)> = HashMap::new();
    for (thread, of) in run.calls.threads.iter().enumerate() {
        let mut count = |stack| {
            let count = counts
                .entry(run.function(stack))
                .or_insert((0, 0, usize::MAX));
            count.0 += 1;
            if count.2 != thread {
                count.1 += 1;
                count.2 = thread;
            }
        };
        for record in &of.records {
            match record {
                CallRecord::Call(call) => count(call.stack),
                CallRecord::Expression(expression) => {
                    expression.stacks.iter().for_each(|of| count(of.stack));
                }
            }
        }
    }
    let functions = counts.into_iter();
    let functions = functions.map(|(name, (appearances, threads, _))| ProminentFunction {
        name: name.to_owned(),
        appearances,
        threads,
    });
    let mut functions: Vec<ProminentFunction> = functions.collect();
    functions.sort_by(|a, b| {
        let order = b.prominence().cmp(&a.prominence());
        order.then_with(|| a.name.cmp(&b.name))
    });
    functions
}
