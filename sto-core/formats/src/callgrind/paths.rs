//! The call paths among which costs are divided.

use super::flow::{Flow, FlowIx};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Limit to the pieces that the costs of a graph are divided into, if each function with a cost by
/// line has one.
const MAX_PIECES: usize = 1 << 18;

/// A function on one call path from a root.
pub(super) struct Context {
    pub(super) function: FlowIx,
    pub(super) caller: Option<usize>,
    /// Share of the function's cost on this path, from 0 to 1.
    pub(super) share: f64,
}

/// The selected paths, at least one per function.
pub(super) struct Paths<'f> {
    flow: &'f Flow<'f>,
    pub(super) contexts: Vec<Context>,
    pub(super) pieces: usize,
}

impl<'f> Paths<'f> {
    /// Selects paths with at most `most` pieces, or one per function.
    pub(super) fn new(flow: &'f Flow<'f>, most: usize) -> Paths<'f> {
        let mut paths = Paths {
            flow,
            contexts: Vec::new(),
            pieces: 0,
        };
        paths.seed();
        paths.grow(most.min(MAX_PIECES));
        paths
    }

    /// Gives each function one context, its most expensive path.
    fn seed(&mut self) {
        // The most expensive path to each function so far: its share and its caller's context.
        let mut ways: Vec<(f64, Option<usize>)> = (0..self.flow.functions.len())
            .map(|function| {
                (
                    self.flow.root_cost[function] / self.flow.total[function],
                    None,
                )
            })
            .collect();
        for &function in &self.flow.order {
            let (share, caller) = ways[function];
            let context = self.contexts.len();
            self.contexts.push(Context {
                function,
                caller,
                share,
            });
            for call in &self.flow.calls[function] {
                let way = &mut ways[call.called];
                let share = share * call.cost as f64 / self.flow.total[call.called];
                if share > way.0 {
                    *way = (share, Some(context));
                }
            }
        }
    }

    /// Adds contexts, most expensive first, until all are there or there are enough pieces.
    fn grow(&mut self, most: usize) {
        let seeds = self.contexts.len();
        let mut seed_of = vec![0; self.flow.functions.len()];
        let mut ways = BinaryHeap::new();
        for context in 0..seeds {
            let function = self.contexts[context].function;
            seed_of[function] = context;
            self.pieces += self.flow.own[function].len();
            if self.contexts[context].caller.is_some() && self.flow.root_cost[function] > 0.0 {
                let cost = self.flow.root_cost[function];
                let target = Target::Root(function);
                ways.push(Way { cost, target });
            }
            ways.extend(self.way(context, 0));
        }
        while let Some(Way { target, .. }) = ways.pop() {
            let (function, caller, share) = match target {
                Target::Root(function) => (
                    function,
                    None,
                    self.flow.root_cost[function] / self.flow.total[function],
                ),
                Target::Call(caller, index) => {
                    ways.extend(self.way(caller, index + 1));
                    let call = &self.flow.calls[self.contexts[caller].function][index];
                    let share = self.contexts[caller].share * call.cost as f64;
                    let share = share / self.flow.total[call.called];
                    (call.called, Some(caller), share)
                }
            };
            if caller.is_some() && self.contexts[seed_of[function]].caller == caller {
                continue;
            }
            let more = self.flow.own[function].len().max(1);
            if self.pieces + more > most {
                return;
            }
            self.pieces += more;
            self.contexts.push(Context {
                function,
                caller,
                share,
            });
            ways.extend(self.way(self.contexts.len() - 1, 0));
        }
    }

    /// The call at an index of a context's function, if it costs at least half a unit there.
    fn way(&self, caller: usize, index: usize) -> Option<Way> {
        let Context {
            function, share, ..
        } = self.contexts[caller];
        let cost = share * self.flow.calls[function].get(index)?.cost as f64;
        let target = Target::Call(caller, index);
        (cost >= 0.5).then_some(Way { cost, target })
    }
}

/// A context that may be added, and the costs of its calls and its own.
struct Way {
    cost: f64,
    target: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Root(FlowIx),
    /// A context, and the index of one of its function's calls.
    Call(usize, usize),
}

impl Ord for Way {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cost = self.cost.total_cmp(&other.cost);
        by_cost.then_with(|| other.target.cmp(&self.target))
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Way {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Way {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callgrind::graph::Graph;
    use crate::callgrind::names::FunctionIx;

    /// The number of paths is exponential if each function calls all that follow.
    #[test]
    fn limits_paths_but_keeps_one_per_function() {
        let all = || (0..24).map(FunctionIx);
        let own = all().map(|function| (function, 1, 1 << 40)).collect();
        let pairs = all().flat_map(|caller| all().map(move |called| (caller, called)));
        let calls = pairs.filter(|(caller, called)| caller < called);
        let calls = calls
            .map(|(caller, called)| (caller, called, 1 << 40))
            .collect();
        let graph = Graph { own, calls };
        let flow = Flow::new(&graph);
        for (most, expected) in [(1000, 1000), (0, 24)] {
            let paths = Paths::new(&flow, most);
            assert_eq!((paths.pieces, paths.contexts.len()), (expected, expected));
        }
    }
}
