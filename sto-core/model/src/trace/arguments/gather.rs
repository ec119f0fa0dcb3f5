//! Grouping the calls of a thread by the values of their arguments.

use super::{ArgumentTable, ArgumentsIx, CallsAtValue};
use crate::trace::log::Call;
use crate::trace::paths::TraceFunctionIx;
use crate::units::Nanoseconds;
use std::collections::BTreeMap;

/// Number of calls with arguments of a function at which pairs of calls with equal arguments are merged.
const MAX_HELD: usize = 1 << 16;

/// Maximum number of entries for a function and argument. If there are more, neighbours are merged.
const MAX_ENTRIES: usize = 8192;

/// Numbers of mantissa bits to compare when neighbours are merged, in the order in which they are tried.
const MANTISSA_BITS: [u32; 4] = [52, 6, 3, 0];

/// Groups the calls of a thread, which are added in preorder.
#[derive(Default)]
pub struct CallGrouper {
    open: Vec<Group>,
    by_function: BTreeMap<TraceFunctionIx, Vec<Group>>,
}

/// One or more calls with the same arguments.
#[derive(Clone, Copy)]
struct Group {
    function: TraceFunctionIx,
    with: Option<ArgumentsIx>,
    calls: u64,
    duration: u64,
    own: u64,
}

impl CallGrouper {
    /// Adds the next call.
    pub fn add(&mut self, call: &Call) {
        self.end(call.depth as usize);
        if let Some(caller) = self.open.last_mut() {
            caller.own = caller.own.saturating_sub(call.duration.0);
        }
        self.open.push(Group {
            function: call.function,
            with: call.arguments,
            calls: 1,
            duration: call.duration.0,
            own: call.duration.0,
        });
    }

    /// Ends the open calls at this depth and deeper.
    fn end(&mut self, depth: usize) {
        while self.open.len() > depth
            && let Some(call) = self.open.pop()
        {
            if call.with.is_none() {
                continue;
            }
            let calls = self.by_function.entry(call.function).or_default();
            calls.push(call);
            if calls.len() == MAX_HELD {
                calls.sort_by_key(|call| call.with);
                *calls = merge_pairs(calls, |call| call.with, Group::add);
            }
        }
    }

    /// Returns (function, name of the argument, calls by value), ordered by function and name.
    pub fn finish(
        mut self,
        arguments: &ArgumentTable,
    ) -> Vec<(TraceFunctionIx, String, Vec<CallsAtValue>)> {
        self.end(0);
        let mut all = Vec::new();
        for (function, calls) in self.by_function {
            let mut by_name: BTreeMap<&str, Vec<CallsAtValue>> = BTreeMap::new();
            for call in calls {
                let with = call.with.map(|with| arguments.values(with));
                for (name, value) in with.into_iter().flatten() {
                    let calls_by_value = by_name.entry(name).or_default();
                    calls_by_value.push(CallsAtValue {
                        value,
                        calls: call.calls,
                        duration: Nanoseconds(call.duration),
                        self_duration: Nanoseconds(call.own),
                    });
                }
            }
            for (name, mut calls) in by_name {
                // A stable sort: calls with the same value stay in order.
                calls.sort_by(|a, b| a.value.total_cmp(&b.value));
                merge_to_limit(&mut calls, MAX_ENTRIES);
                all.push((function, name.to_owned(), calls));
            }
        }
        all
    }
}

/// Reduces calls, which are ordered by value, to at most `max_len` entries, if possible: merges pairs of equal values,
/// then pairs of values that are equal with fewer mantissa bits.
pub fn merge_to_limit(calls: &mut Vec<CallsAtValue>, max_len: usize) {
    for bits in MANTISSA_BITS {
        let rounded = |call: &CallsAtValue| call.value.to_bits() >> (52 - bits);
        loop {
            let before = calls.len();
            if before <= max_len {
                return;
            }
            *calls = merge_pairs(calls, rounded, CallsAtValue::add);
            if calls.len() == before {
                break;
            }
        }
    }
}

/// Merges each two neighbours with the same key.
fn merge_pairs<T: Copy, K: PartialEq>(
    all: &[T],
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, &T),
) -> Vec<T> {
    let mut merged: Vec<T> = Vec::with_capacity(all.len());
    let mut last_is_single = false;
    for one in all {
        match merged.last_mut() {
            Some(last) if last_is_single && key(last) == key(one) => {
                add(last, one);
                last_is_single = false;
            }
            _ => {
                merged.push(*one);
                last_is_single = true;
            }
        }
    }
    merged
}

impl Group {
    fn add(&mut self, other: &Group) {
        self.calls += other.calls;
        self.duration = self.duration.saturating_add(other.duration);
        self.own = self.own.saturating_add(other.own);
    }
}

impl CallsAtValue {
    fn add(&mut self, other: &CallsAtValue) {
        let weight = other.calls as f64 / (self.calls + other.calls) as f64;
        let mean = self.value * (1.0 - weight) + other.value * weight;
        self.value = mean.clamp(self.value, other.value);
        self.calls += other.calls;
        self.duration.0 = self.duration.0.saturating_add(other.duration.0);
        self.self_duration.0 = self.self_duration.0.saturating_add(other.self_duration.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups calls of one function from (depth, duration, value of `n`) of each.
    fn gathered(calls: impl IntoIterator<Item = (u32, u64, f64)>) -> Vec<CallsAtValue> {
        let sort = TraceFunctionIx(1);
        let mut arguments = ArgumentTable::default();
        let mut gathered = CallGrouper::default();
        for (depth, duration, n) in calls {
            let number = arguments.intern(sort, &[("n", n)]);
            gathered.add(&Call {
                depth,
                function: sort,
                arguments: arguments.split(number).1,
                begin: Nanoseconds(0),
                duration: Nanoseconds(duration),
            });
        }
        let all = gathered.finish(&arguments);
        let [(function, name, calls)] = &all[..] else {
            panic!("{all:?}")
        };
        assert_eq!((*function, &**name), (sort, "n"));
        calls.clone()
    }

    #[test]
    fn recursive_calls_are_counted_separately() {
        let calls = gathered([
            (0, 100, 8.0),
            (1, 40, 4.0),
            (2, 9, 2.0),
            (1, 30, 4.0),
            (0, 5, 2.0),
        ]);
        let shown: Vec<_> = calls
            .iter()
            .map(|call| {
                (
                    call.value,
                    call.calls,
                    call.duration.0,
                    call.self_duration.0,
                )
            })
            .collect();
        let expected = [
            (2.0, 1, 9, 9),
            (2.0, 1, 5, 5),
            (4.0, 1, 40, 31),
            (4.0, 1, 30, 30),
            (8.0, 1, 100, 30),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn limits_the_number_of_entries_and_keeps_totals() {
        let count = 200_000;
        let calls = gathered((0..count).map(|ix| (0, 3 + ix % 7, (ix % 100) as f64)));
        assert!(calls.len() <= MAX_ENTRIES, "{}", calls.len());
        assert!(calls.iter().all(|call| call.value.fract() == 0.0));
        assert_eq!(calls.iter().map(|call| call.calls).sum::<u64>(), count);
        let took: u64 = calls.iter().map(|call| call.duration.0).sum();
        assert_eq!(took, (0..count).map(|ix| 3 + ix % 7).sum::<u64>());
        let other = gathered((0..count).map(|ix| (0, 1, ix as f64)));
        assert!(other.len() <= MAX_ENTRIES, "{}", other.len());
        assert!(other.is_sorted_by(|a, b| a.value <= b.value));
        assert_eq!(other.iter().map(|call| call.calls).sum::<u64>(), count);
    }
}
