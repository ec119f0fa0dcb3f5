//! The self costs of functions, and their calls.

use super::events::EventIx;
use super::names::FunctionIx;
use hashbrown::HashMap;

pub(super) type Costs = Vec<(EventIx, u64)>;

#[derive(Default)]
pub(super) struct Threads {
    index: HashMap<u32, usize>,
    threads: Vec<(u32, Threaded)>,
    current: usize,
}

#[derive(Default)]
struct Threaded {
    own: HashMap<(EventIx, FunctionIx, u32), u64>,
    calls: HashMap<(EventIx, FunctionIx, FunctionIx), u64>,
}

/// The call graph of one event in one thread.
#[derive(Default)]
pub(crate) struct Graph {
    /// Self cost by function and line, in that order.
    pub(crate) own: Vec<(FunctionIx, u32, u64)>,
    /// Total cost of calls by caller and callee, in that order.
    pub(crate) calls: Vec<(FunctionIx, FunctionIx, u64)>,
}

impl Threads {
    /// Selects the thread of the lines that follow.
    pub(super) fn choose(&mut self, tid: u32) {
        let next = self.threads.len();
        self.current = *self.index.entry(tid).or_insert(next);
        if self.current == next {
            self.threads.push((tid, Threaded::default()));
        }
    }

    pub(super) fn add_self_cost(&mut self, function: FunctionIx, line: u32, costs: &Costs) {
        let own = &mut self.current().own;
        for &(event, cost) in costs.iter().filter(|(_, cost)| *cost > 0) {
            // The sum of the event's costs was checked, so this cannot overflow.
            *own.entry((event, function, line)).or_insert(0) += cost;
        }
    }

    pub(super) fn add_call(&mut self, caller: FunctionIx, called: FunctionIx, costs: &Costs) {
        let calls = &mut self.current().calls;
        for &(event, cost) in costs.iter().filter(|(_, cost)| *cost > 0) {
            let sum = calls.entry((event, caller, called)).or_insert(0);
            *sum = sum.saturating_add(cost);
        }
    }

    fn current(&mut self) -> &mut Threaded {
        if self.threads.is_empty() {
            self.choose(0);
        }
        &mut self.threads[self.current].1
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.threads.iter().map(|&(tid, _)| tid)
    }

    pub(super) fn graphs(self) -> Vec<Vec<(EventIx, Graph)>> {
        let threads = self.threads.into_iter();
        threads.map(|(_, thread)| thread.by_event()).collect()
    }
}

impl Threaded {
    fn by_event(self) -> Vec<(EventIx, Graph)> {
        let mut own: Vec<_> = self.own.into_iter().collect();
        let mut calls: Vec<_> = self.calls.into_iter().collect();
        own.sort_unstable();
        calls.sort_unstable();
        let mut calls = &calls[..];
        own.chunk_by(|a, b| a.0.0 == b.0.0)
            .map(|own| {
                let event = own[0].0.0;
                let before = calls.partition_point(|&((of, ..), _)| of < event);
                calls = &calls[before..];
                let (of_event, others) =
                    calls.split_at(calls.partition_point(|&((of, ..), _)| of == event));
                calls = others;
                let graph = Graph {
                    own: own
                        .iter()
                        .map(|&((_, f, line), cost)| (f, line, cost))
                        .collect(),
                    calls: of_event
                        .iter()
                        .map(|&((_, f, g), cost)| (f, g, cost))
                        .collect(),
                };
                (event, graph)
            })
            .collect()
    }
}
