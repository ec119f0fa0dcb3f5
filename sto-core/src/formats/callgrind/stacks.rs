//! From a call graph to stacks.
//!
//! A call graph tells what each function called by each of its callers cost, but not what these were
//! called by in turn. What a function costs is divided among its callers in proportion of what
//! their calls cost, as gprof does (Graham, Kessler, McKusick: *gprof: a call graph execution
//! profiler*, 1982). Each function's own cost stays what it is, and so does that of calls and
//! totals, as far as there is no recursion. Stacks of functions that all have one caller are exact.

use super::graph::Graph;
use super::names::FunctionIx;
use crate::formats::named::Limit;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How many pieces costs are divided into at most, where each function with a cost by line has one.
const MAX_PIECES: usize = 1 << 19;

/// What to say of a graph that was divided.
#[derive(Default)]
pub(super) struct Divided {
    pub(super) cost: u64,
    /// Of that, what several callers share, so that the stacks above are an estimate.
    pub(super) estimated: u64,
    /// Of that, what stands on the larger stacks of its function, as there were too many.
    pub(super) moved: f64,
    pub(super) has_recursion: bool,
}

/// A function of the graph, by its place in [`Division::functions`].
type Place = usize;

/// A function on one path of calls from a root.
struct Context {
    function: Place,
    caller: Option<usize>,
    /// How much of all its function's cost belongs to this path, from 0 to 1.
    share: f64,
}

struct Call {
    called: Place,
    cost: u64,
}

struct Division<'g> {
    functions: Vec<FunctionIx>,
    /// By function: what its lines cost.
    own: Vec<&'g [(FunctionIx, u32, u64)]>,
    /// By function: calls, the dearest first, without those that close a cycle.
    calls: Vec<Vec<Call>>,
    /// By function: what of it no caller called.
    root_cost: Vec<f64>,
    /// By function: the sum of its root cost and what its callers' calls cost.
    total: Vec<f64>,
    /// Callers stand before what they call.
    order: Vec<Place>,
    contexts: Vec<Context>,
}

/// Divides a graph into stacks, root first, of which each is given to `stack` with the line of its
/// leaf and a cost.
pub(super) fn divide(
    graph: &Graph,
    mut stack: impl FnMut(&[FunctionIx], u32, u64) -> Result<(), Limit>,
) -> Result<Divided, Limit> {
    let mut division = Division::of(graph);
    let mut divided = Divided {
        has_recursion: division.break_cycles(),
        ..Divided::default()
    };
    division.weigh(graph);
    division.seed();
    division.grow();
    division.give_out(&mut divided, &mut stack)?;
    Ok(divided)
}

impl<'g> Division<'g> {
    fn of(graph: &'g Graph) -> Self {
        let own = graph.own.iter().map(|&(function, ..)| function);
        let ends = graph.calls.iter().flat_map(|&(a, b, _)| [a, b]);
        let mut functions: Vec<_> = own.chain(ends).collect();
        functions.sort_unstable();
        functions.dedup();
        let mut division = Division {
            own: vec![&[]; functions.len()],
            calls: functions.iter().map(|_| Vec::new()).collect(),
            root_cost: vec![0.0; functions.len()],
            total: vec![0.0; functions.len()],
            order: Vec::with_capacity(functions.len()),
            contexts: Vec::new(),
            functions,
        };
        for lines in graph.own.chunk_by(|a, b| a.0 == b.0) {
            let place = division.place(lines[0].0);
            division.own[place] = lines;
        }
        for &(caller, called, cost) in &graph.calls {
            // A function that calls itself is on the stack already.
            if caller != called {
                let (caller, called) = (division.place(caller), division.place(called));
                division.calls[caller].push(Call { called, cost });
            }
        }
        for calls in &mut division.calls {
            calls.sort_by_key(|call| Reverse(call.cost));
        }
        division
    }

    fn place(&self, function: FunctionIx) -> Place {
        let found = self.functions.binary_search(&function);
        found.expect("every function of the graph is listed")
    }

    fn own_cost(&self, function: Place) -> u64 {
        self.own[function].iter().map(|&(_, _, cost)| cost).sum()
    }

    /// Takes out calls of functions that are on the stack, and finds the order; whether there were any.
    fn break_cycles(&mut self) -> bool {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut state = vec![State::New; self.functions.len()];
        let mut any = false;
        let mut open: Vec<(Place, usize)> = Vec::new();
        for root in self.roots_first() {
            if state[root] == State::New {
                state[root] = State::Open;
                open.push((root, 0));
            }
            while let Some((function, next)) = open.last_mut() {
                let Some(call) = self.calls[*function].get(*next) else {
                    state[*function] = State::Done;
                    self.order.push(*function);
                    open.pop();
                    continue;
                };
                match state[call.called] {
                    State::Open => {
                        any = true;
                        self.calls[*function][*next].cost = 0;
                        *next += 1;
                    }
                    State::Done => *next += 1,
                    State::New => {
                        *next += 1;
                        let called = call.called;
                        state[called] = State::Open;
                        open.push((called, 0));
                    }
                }
            }
        }
        for calls in &mut self.calls {
            calls.retain(|call| call.cost > 0);
        }
        self.order.reverse();
        any
    }

    /// Functions without callers, then all others, each with the dearest first.
    fn roots_first(&self) -> Vec<Place> {
        let mut is_called = vec![false; self.functions.len()];
        for call in self.calls.iter().flatten() {
            is_called[call.called] = true;
        }
        let total = |function: Place| {
            let calls = self.calls[function]
                .iter()
                .map(|call| u128::from(call.cost));
            u128::from(self.own_cost(function)) + calls.sum::<u128>()
        };
        let mut functions: Vec<Place> = (0..self.functions.len()).collect();
        functions.sort_by_cached_key(|&function| (is_called[function], Reverse(total(function))));
        functions
    }

    /// Works out what came from no caller: what a function and its calls cost beyond what its callers'
    /// calls did. With recursion, that must hold with and without the calls that close a cycle.
    fn weigh(&mut self, graph: &Graph) {
        let own = (0..self.functions.len()).map(|function| i128::from(self.own_cost(function)));
        let mut balance: Vec<i128> = own.collect();
        let mut kept_balance = balance.clone();
        for &(caller, called, cost) in &graph.calls {
            let (caller, called) = (self.place(caller), self.place(called));
            balance[caller] += i128::from(cost);
            balance[called] -= i128::from(cost);
        }
        for (caller, calls) in self.calls.iter().enumerate() {
            for call in calls {
                kept_balance[caller] += i128::from(call.cost);
                kept_balance[call.called] -= i128::from(call.cost);
                self.total[call.called] += call.cost as f64;
            }
        }
        for function in 0..self.functions.len() {
            // A function without a caller is a root, whatever it costs.
            let least = i128::from(self.total[function] == 0.0);
            let root_cost = balance[function].min(kept_balance[function]).max(least);
            self.root_cost[function] = root_cost as f64;
            self.total[function] += root_cost as f64;
        }
    }

    /// Gives each function one context: the dearest way to it.
    fn seed(&mut self) {
        // By function, the dearest way to it that was seen: its share and its caller's context.
        let mut ways: Vec<(f64, Option<usize>)> = (0..self.functions.len())
            .map(|function| (self.root_cost[function] / self.total[function], None))
            .collect();
        for &function in &self.order {
            let (share, caller) = ways[function];
            let context = self.contexts.len();
            self.contexts.push(Context {
                function,
                caller,
                share,
            });
            for call in &self.calls[function] {
                let way = &mut ways[call.called];
                let share = share * call.cost as f64 / self.total[call.called];
                if share > way.0 {
                    *way = (share, Some(context));
                }
            }
        }
    }

    /// Adds contexts, the dearest first, until all are there or costs are in pieces enough.
    fn grow(&mut self) {
        let seeds = self.contexts.len();
        let mut seed_of = vec![0; self.functions.len()];
        let mut pieces = 0;
        let mut ways = BinaryHeap::new();
        for context in 0..seeds {
            let function = self.contexts[context].function;
            seed_of[function] = context;
            pieces += self.own[function].len();
            if self.contexts[context].caller.is_some() && self.root_cost[function] > 0.0 {
                let cost = self.root_cost[function];
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
                    self.root_cost[function] / self.total[function],
                ),
                Target::Call(caller, place) => {
                    ways.extend(self.way(caller, place + 1));
                    let call = &self.calls[self.contexts[caller].function][place];
                    let share = self.contexts[caller].share * call.cost as f64;
                    let share = share / self.total[call.called];
                    (call.called, Some(caller), share)
                }
            };
            if caller.is_some() && self.contexts[seed_of[function]].caller == caller {
                continue;
            }
            pieces += self.own[function].len().max(1);
            if pieces > MAX_PIECES {
                return;
            }
            self.contexts.push(Context {
                function,
                caller,
                share,
            });
            ways.extend(self.way(self.contexts.len() - 1, 0));
        }
    }

    /// The call at a place among those of a context's function, if it cost there half a unit or more.
    fn way(&self, caller: usize, place: usize) -> Option<Way> {
        let Context {
            function, share, ..
        } = self.contexts[caller];
        let cost = share * self.calls[function].get(place)?.cost as f64;
        let target = Target::Call(caller, place);
        (cost >= 0.5).then_some(Way { cost, target })
    }

    /// Divides each function's costs among its contexts, to the last one.
    fn give_out(
        &self,
        divided: &mut Divided,
        stack: &mut impl FnMut(&[FunctionIx], u32, u64) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
        let is_exact = self.exact();
        let mut of_function: Vec<Vec<usize>> = vec![Vec::new(); self.functions.len()];
        for (context, &Context { function, .. }) in self.contexts.iter().enumerate() {
            of_function[function].push(context);
        }
        let mut path = Vec::new();
        for (function, contexts) in of_function.iter().enumerate() {
            let mut lines = self.own[function].to_vec();
            let cost = self.own_cost(function);
            let shares: f64 = contexts
                .iter()
                .map(|&context| self.contexts[context].share)
                .sum();
            divided.cost += cost;
            divided.estimated += if is_exact[function] { 0 } else { cost };
            divided.moved += cost as f64 * (1.0 - shares).max(0.0);
            let (mut given, mut given_share) = (0, 0.0);
            for (number, &context) in contexts.iter().enumerate() {
                given_share += self.contexts[context].share;
                let up_to_here = match number + 1 == contexts.len() {
                    true => cost,
                    false => {
                        ((cost as f64 * (given_share / shares)).round() as u64).clamp(given, cost)
                    }
                };
                let part = up_to_here - given;
                if part > 0 {
                    self.path_to(context, &mut path);
                    take(&mut lines, cost - given, part, |line, cost| {
                        stack(&path, line, cost)
                    })?;
                }
                given = up_to_here;
            }
        }
        Ok(())
    }

    /// Whether each function's own cost has its stacks for sure: all have one caller up to the root;
    /// of a function that calls no other, its callers may be several.
    fn exact(&self) -> Vec<bool> {
        let mut ways: Vec<u32> = self
            .root_cost
            .iter()
            .map(|&cost| u32::from(cost > 0.0))
            .collect();
        for call in self.calls.iter().flatten() {
            ways[call.called] += 1;
        }
        let mut callers_are_unique = vec![true; self.functions.len()];
        for &function in &self.order {
            let is_unique = callers_are_unique[function] && ways[function] == 1;
            for call in &self.calls[function] {
                callers_are_unique[call.called] &= is_unique;
            }
        }
        (0..self.functions.len())
            .map(|function| {
                callers_are_unique[function]
                    && (ways[function] == 1 || self.calls[function].is_empty())
            })
            .collect()
    }

    fn path_to(&self, context: usize, path: &mut Vec<FunctionIx>) {
        path.clear();
        let mut next = Some(context);
        while let Some(context) = next {
            let Context {
                function, caller, ..
            } = self.contexts[context];
            path.push(self.functions[function]);
            next = caller;
        }
        path.reverse();
    }
}

/// Takes `part` of what is left of the costs by line, which is `whole`, in proportion.
fn take(
    lines: &mut [(FunctionIx, u32, u64)],
    whole: u64,
    part: u64,
    mut taken: impl FnMut(u32, u64) -> Result<(), Limit>,
) -> Result<(), Limit> {
    let (mut before, mut given) = (0u128, 0);
    for (_, line, left) in lines {
        before += u128::from(*left);
        // At most `part`, so it fits.
        let up_to_here = (before * u128::from(part) / u128::from(whole)) as u64;
        let piece = up_to_here - given;
        given = up_to_here;
        *left -= piece;
        if piece > 0 {
            taken(*line, piece)?;
        }
    }
    Ok(())
}

/// A context that may be added, and what its calls and itself cost.
struct Way {
    cost: f64,
    target: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Root(Place),
    /// A context, and the place of one of its function's calls.
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
