//! The calls of a thread, gathered by what they were called with.

use super::{ArgumentsNo, CallArguments, CallsAt};
use crate::trace::log::Call;
use crate::trace::paths::FunctionNo;
use crate::units::Nanoseconds;
use std::collections::BTreeMap;

/// Calls with arguments that are held of a function before equal ones become one.
const HELD: usize = 1 << 16;

/// Calls of a function that are kept by an argument, before neighbours become one.
const MOST: usize = 8192;

/// Binary digits of arguments by which calls are neighbours, where they are still too many.
const DIGITS: [u32; 4] = [52, 6, 3, 0];

/// Takes the calls of a thread in order.
#[derive(Default)]
pub struct GatheredCalls {
    open: Vec<Gathered>,
    by_function: BTreeMap<FunctionNo, Vec<Gathered>>,
}

/// A call, or several with the same arguments.
#[derive(Clone, Copy)]
struct Gathered {
    function: FunctionNo,
    with: Option<ArgumentsNo>,
    calls: u64,
    duration: u64,
    own: u64,
}

impl GatheredCalls {
    /// Takes the next call.
    pub fn add(&mut self, call: &Call) {
        self.end(call.depth as usize);
        if let Some(caller) = self.open.last_mut() {
            caller.own = caller.own.saturating_sub(call.duration.0);
        }
        self.open.push(Gathered {
            function: call.function,
            with: call.with,
            calls: 1,
            duration: call.duration.0,
            own: call.duration.0,
        });
    }

    /// Ends the calls that are this deep, or deeper.
    fn end(&mut self, depth: usize) {
        while self.open.len() > depth
            && let Some(call) = self.open.pop()
        {
            if call.with.is_none() {
                continue;
            }
            let calls = self.by_function.entry(call.function).or_default();
            calls.push(call);
            if calls.len() == HELD {
                calls.sort_by_key(|call| call.with);
                *calls = in_pairs(calls, |call| call.with, Gathered::add);
            }
        }
    }

    /// The calls of each function by each argument, in the order of these.
    pub fn finish(mut self, arguments: &CallArguments) -> Vec<(FunctionNo, String, Vec<CallsAt>)> {
        self.end(0);
        let mut all = Vec::new();
        for (function, calls) in self.by_function {
            let mut by_name: BTreeMap<&str, Vec<CallsAt>> = BTreeMap::new();
            for call in calls {
                let with = call.with.map(|with| arguments.of_call(with));
                for (name, value) in with.into_iter().flatten() {
                    by_name.entry(name).or_default().push(CallsAt {
                        value,
                        calls: call.calls,
                        duration: Nanoseconds(call.duration),
                        own: Nanoseconds(call.own),
                    });
                }
            }
            for (name, mut calls) in by_name {
                // Stable: calls of one value stay in their order.
                calls.sort_by(|a, b| a.value.total_cmp(&b.value));
                thin(&mut calls, MOST);
                all.push((function, name.to_owned(), calls));
            }
        }
        all
    }
}

/// Makes calls of one value one, then neighbours, until they are no more than this; calls are in the order of values.
pub fn thin(calls: &mut Vec<CallsAt>, most: usize) {
    for digits in DIGITS {
        let rounded = |call: &CallsAt| call.value.to_bits() >> (52 - digits);
        loop {
            let before = calls.len();
            if before <= most {
                return;
            }
            *calls = in_pairs(calls, rounded, CallsAt::add);
            if calls.len() == before {
                break;
            }
        }
    }
}

/// Of neighbours with the same key, each two as one.
fn in_pairs<T: Copy, K: PartialEq>(
    all: &[T],
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, &T),
) -> Vec<T> {
    let mut pairs: Vec<T> = Vec::with_capacity(all.len());
    let mut is_single = false;
    for one in all {
        match pairs.last_mut() {
            Some(last) if is_single && key(last) == key(one) => {
                add(last, one);
                is_single = false;
            }
            _ => {
                pairs.push(*one);
                is_single = true;
            }
        }
    }
    pairs
}

impl Gathered {
    fn add(&mut self, other: &Gathered) {
        self.calls += other.calls;
        self.duration = self.duration.saturating_add(other.duration);
        self.own = self.own.saturating_add(other.own);
    }
}

impl CallsAt {
    fn add(&mut self, other: &CallsAt) {
        let part = other.calls as f64 / (self.calls + other.calls) as f64;
        let between = self.value * (1.0 - part) + other.value * part;
        self.value = between.clamp(self.value, other.value);
        self.calls += other.calls;
        self.duration.0 = self.duration.0.saturating_add(other.duration.0);
        self.own.0 = self.own.0.saturating_add(other.own.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(calls: impl IntoIterator<Item = (u32, u64, f64)>) -> Vec<CallsAt> {
        let sort = FunctionNo(1);
        let mut arguments = CallArguments::default();
        let mut gathered = GatheredCalls::default();
        for (depth, duration, n) in calls {
            let number = arguments.number(sort, &[("n", n)]);
            gathered.add(&Call {
                depth,
                function: sort,
                with: arguments.split(number).1,
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
    fn each_call_of_a_recursive_function_counts_by_itself() {
        let calls = gathered([
            (0, 100, 8.0),
            (1, 40, 4.0),
            (2, 9, 2.0),
            (1, 30, 4.0),
            (0, 5, 2.0),
        ]);
        let shown: Vec<_> = calls
            .iter()
            .map(|call| (call.value, call.calls, call.duration.0, call.own.0))
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
    fn very_many_calls_become_few_that_took_as_long_together() {
        let count = 200_000;
        let calls = gathered((0..count).map(|ix| (0, 3 + ix % 7, (ix % 100) as f64)));
        assert!(calls.len() <= MOST, "{}", calls.len());
        assert!(calls.iter().all(|call| call.value.fract() == 0.0));
        assert_eq!(calls.iter().map(|call| call.calls).sum::<u64>(), count);
        let took: u64 = calls.iter().map(|call| call.duration.0).sum();
        assert_eq!(took, (0..count).map(|ix| 3 + ix % 7).sum::<u64>());
        let other = gathered((0..count).map(|ix| (0, 1, ix as f64)));
        assert!(other.len() <= MOST, "{}", other.len());
        assert!(other.is_sorted_by(|a, b| a.value <= b.value));
        assert_eq!(other.iter().map(|call| call.calls).sum::<u64>(), count);
    }
}
