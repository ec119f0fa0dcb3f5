//! The flow of one event's costs along the calls.

use super::graph::Graph;
use super::names::FunctionIx;
use std::cmp::Reverse;

/// Index of a function in [`Flow::functions`].
pub(super) type FlowIx = usize;

pub(super) struct Call {
    pub(super) called: FlowIx,
    pub(super) cost: u64,
}

pub(super) struct Flow<'g> {
    pub(super) functions: Vec<FunctionIx>,
    /// Self costs by line, for each function.
    pub(super) own: Vec<&'g [(FunctionIx, u32, u64)]>,
    /// Calls of each function, most expensive first, without calls that close a cycle.
    pub(super) calls: Vec<Vec<Call>>,
    /// Cost of each function that comes from no caller.
    pub(super) root_cost: Vec<f64>,
    /// Root cost plus the costs of calls, for each function.
    pub(super) total: Vec<f64>,
    /// The functions, callers before callees.
    pub(super) order: Vec<FlowIx>,
    pub(super) has_recursion: bool,
}

impl<'g> Flow<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        let own = graph.own.iter().map(|&(function, ..)| function);
        let ends = graph.calls.iter().flat_map(|&(a, b, _)| [a, b]);
        let mut functions: Vec<_> = own.chain(ends).collect();
        functions.sort_unstable();
        functions.dedup();
        let mut flow = Flow {
            own: vec![&[]; functions.len()],
            calls: functions.iter().map(|_| Vec::new()).collect(),
            root_cost: vec![0.0; functions.len()],
            total: vec![0.0; functions.len()],
            order: Vec::with_capacity(functions.len()),
            has_recursion: false,
            functions,
        };
        for lines in graph.own.chunk_by(|a, b| a.0 == b.0) {
            let index = flow.index_of(lines[0].0);
            flow.own[index] = lines;
        }
        for &(caller, called, cost) in &graph.calls {
            // Direct recursion does not change the stack.
            if caller != called {
                let (caller, called) = (flow.index_of(caller), flow.index_of(called));
                flow.calls[caller].push(Call { called, cost });
            }
        }
        for calls in &mut flow.calls {
            calls.sort_by_key(|call| Reverse(call.cost));
        }
        flow.has_recursion = flow.break_cycles();
        flow.weigh(graph);
        flow
    }

    fn index_of(&self, function: FunctionIx) -> FlowIx {
        let found = self.functions.binary_search(&function);
        found.expect("every function of the graph is listed")
    }

    pub(super) fn own_cost(&self, function: FlowIx) -> u64 {
        self.own[function].iter().map(|&(_, _, cost)| cost).sum()
    }

    /// Removes calls of functions that are on the stack, and determines the order. Returns `true`
    /// if calls were removed.
    fn break_cycles(&mut self) -> bool {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut state = vec![State::New; self.functions.len()];
        let mut any = false;
        let mut open: Vec<(FlowIx, usize)> = Vec::new();
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

    /// Functions without callers first, then all others, each group most expensive first.
    fn roots_first(&self) -> Vec<FlowIx> {
        let mut is_called = vec![false; self.functions.len()];
        for call in self.calls.iter().flatten() {
            is_called[call.called] = true;
        }
        let total = |function: FlowIx| {
            let calls = self.calls[function]
                .iter()
                .map(|call| u128::from(call.cost));
            u128::from(self.own_cost(function)) + calls.sum::<u128>()
        };
        let mut functions: Vec<FlowIx> = (0..self.functions.len()).collect();
        functions.sort_by_cached_key(|&function| (is_called[function], Reverse(total(function))));
        functions
    }

    /// Computes root costs: the cost of a function and its calls beyond the costs of calls to it.
    /// With recursion, this is done with and without the calls that close a cycle.
    fn weigh(&mut self, graph: &Graph) {
        let own = (0..self.functions.len()).map(|function| i128::from(self.own_cost(function)));
        let mut balance: Vec<i128> = own.collect();
        let mut kept_balance = balance.clone();
        for &(caller, called, cost) in &graph.calls {
            let (caller, called) = (self.index_of(caller), self.index_of(called));
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
            // A function without a caller is a root whatever it costs.
            let least = i128::from(self.total[function] == 0.0);
            let root_cost = balance[function].min(kept_balance[function]).max(least);
            self.root_cost[function] = root_cost as f64;
            self.total[function] += root_cost as f64;
        }
    }

    /// Whether the stacks of each function's self cost are exact: each function has only one caller
    /// up to the root. A function without calls may have several callers.
    pub(super) fn exact(&self) -> Vec<bool> {
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
}
