//! The compressed calls of a run.

use super::{CallThresholds, CallsByArgument};
use crate::units::Nanoseconds;
use std::collections::HashMap;
use std::hash::Hash;

/// The compressed calls of all threads of a run. All times are by the recording's clock.
///
/// `S` is a reference to a stack: a stack of a recording, or a node of a profile's tree.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCalls<S> {
    /// The thresholds with which the calls were compressed.
    pub thresholds: CallThresholds,
    /// The threads that have calls, ordered by the begin of their first call, then by process, thread and name.
    pub threads: Vec<ThreadCalls<S>>,
    /// Calls that took unusually long for their stack, ordered by lost time, largest first.
    pub outliers: Vec<Outlier<S>>,
    /// The longest calls in which a thread waited, longest first.
    pub waits: Vec<Wait<S>>,
    /// Calls by the values of their arguments, if the trace has arguments, ordered by thread, function and name of
    /// the argument.
    pub arguments: Vec<CallsByArgument<S>>,
}

/// A thread of a call trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallThread {
    /// Process id.
    pub pid: u32,
    /// Name of the program that the process executed.
    pub program: String,
    /// Thread id.
    pub tid: u32,
    /// Name of the thread; may be empty.
    pub name: String,
}

/// The compressed calls of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadCalls<S> {
    /// The thread.
    pub thread: CallThread,
    /// The begin of the first call.
    pub begin: Nanoseconds,
    /// The end of the last call.
    pub end: Nanoseconds,
    /// Number of calls. Each of them is in one of the records.
    pub calls: u64,
    /// The records, callers before callees, and records of one caller by time. Records overlap only if one is a
    /// caller of the other.
    pub records: Vec<CallRecord<S>>,
}

/// One or several calls of a compressed thread.
#[derive(Clone, Debug, PartialEq)]
pub enum CallRecord<S> {
    /// A call that took longer than the threshold.
    Call(LongCall<S>),
    /// Consecutive shorter calls.
    Expression(Expression<S>),
}

/// A call with its begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongCall<S> {
    /// The stack, whose innermost frame is the called function.
    pub stack: S,
    /// The begin of the call.
    pub begin: Nanoseconds,
    /// The end of the call.
    pub end: Nanoseconds,
}

/// Consecutive short calls of one caller, with all calls in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression<S> {
    /// The begin of the first call.
    pub begin: Nanoseconds,
    /// The end of the last call.
    pub end: Nanoseconds,
    /// The distinct stacks of the calls, ordered by their first call.
    pub stacks: Vec<CalledStack<S>>,
}

/// The calls of an expression that have the same stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledStack<S> {
    /// The stack.
    pub stack: S,
    /// Number of calls.
    pub calls: u64,
    /// Total duration of the calls, including callees.
    pub duration: Nanoseconds,
}

/// A call that took unusually long for its stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier<S> {
    /// Index of the thread in [`RunCalls::threads`].
    pub thread: u32,
    /// The call.
    pub call: LongCall<S>,
    /// The median duration of all calls of the stack in all threads, or zero if the outlier is that the function was
    /// called at all: most calls of the caller do not call it.
    pub typical: Nanoseconds,
    /// Number of calls of the stack.
    pub calls: u64,
    /// The activities of all threads during the call, including the thread of the call, ordered by thread, then by
    /// time, longest first.
    pub activities: Vec<ThreadActivity<S>>,
}

/// The time that a thread spent in one stack during an outlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadActivity<S> {
    /// Index of the thread in [`RunCalls::threads`].
    pub thread: u32,
    /// The stack of the thread's innermost call, or `None` for time outside of calls.
    pub stack: Option<S>,
    /// The time spent.
    pub time: Nanoseconds,
}

/// A call of a function that waits for a lock, a condition, or input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait<S> {
    /// Index of the thread in [`RunCalls::threads`].
    pub thread: u32,
    /// The call.
    pub call: LongCall<S>,
    /// The index of another thread and its call during which the wait ended.
    pub ended_by: Option<(u32, LongCall<S>)>,
}

impl<S: Copy> RunCalls<S> {
    /// Replaces each stack. Calls of stacks that become equal are added up in each expression.
    pub fn map<T: Copy + Eq + Hash>(&self, stack: impl Fn(S) -> T) -> RunCalls<T> {
        let map_thread = |calls: &ThreadCalls<S>| ThreadCalls {
            thread: calls.thread.clone(),
            begin: calls.begin,
            end: calls.end,
            calls: calls.calls,
            records: calls
                .records
                .iter()
                .map(|record| match record {
                    CallRecord::Call(call) => CallRecord::Call(call.map(&stack)),
                    CallRecord::Expression(expression) => CallRecord::Expression(Expression {
                        begin: expression.begin,
                        end: expression.end,
                        stacks: map_and_merge(&expression.stacks, &stack),
                    }),
                })
                .collect(),
        };
        RunCalls {
            thresholds: self.thresholds,
            threads: self.threads.iter().map(map_thread).collect(),
            outliers: self.outliers.iter().map(|one| one.map(&stack)).collect(),
            waits: self.waits.iter().map(|one| one.map(&stack)).collect(),
            arguments: self.arguments.iter().map(|one| one.map(&stack)).collect(),
        }
    }
}

impl<S: Copy> LongCall<S> {
    /// Replaces the stack.
    pub(crate) fn map<T>(&self, stack: impl Fn(S) -> T) -> LongCall<T> {
        LongCall {
            stack: stack(self.stack),
            begin: self.begin,
            end: self.end,
        }
    }
}

impl<S: Copy> Outlier<S> {
    /// Replaces each stack.
    #[doc(hidden)]
    pub fn map<T>(&self, stack: impl Fn(S) -> T) -> Outlier<T> {
        let meanwhile = self.activities.iter().map(|activity| ThreadActivity {
            thread: activity.thread,
            stack: activity.stack.map(&stack),
            time: activity.time,
        });
        Outlier {
            thread: self.thread,
            call: self.call.map(&stack),
            typical: self.typical,
            calls: self.calls,
            activities: meanwhile.collect(),
        }
    }
}

impl<S: Copy> Wait<S> {
    /// Replaces each stack.
    #[doc(hidden)]
    pub fn map<T>(&self, stack: impl Fn(S) -> T) -> Wait<T> {
        Wait {
            thread: self.thread,
            call: self.call.map(&stack),
            ended_by: self
                .ended_by
                .map(|(thread, call)| (thread, call.map(&stack))),
        }
    }
}

impl<S: Copy> CallRecord<S> {
    /// Replaces each stack.
    #[doc(hidden)]
    pub fn map<T>(&self, stack: impl Fn(S) -> T) -> CallRecord<T> {
        match self {
            CallRecord::Call(call) => CallRecord::Call(call.map(stack)),
            CallRecord::Expression(expression) => {
                let stacks = expression.stacks.iter().map(|called| CalledStack {
                    stack: stack(called.stack),
                    calls: called.calls,
                    duration: called.duration,
                });
                CallRecord::Expression(Expression {
                    begin: expression.begin,
                    end: expression.end,
                    stacks: stacks.collect(),
                })
            }
        }
    }
}

impl<S> RunCalls<S> {
    /// Selects the threads, records, outliers and waits that overlap a period of time.
    ///
    /// Begins and ends of threads are clipped to the period, records are not. The number of calls of a thread is
    /// the number in its remaining records. Calls by argument are removed, because they have no times.
    pub fn during(self, (begin, end): (Nanoseconds, Nanoseconds)) -> RunCalls<S> {
        let overlaps =
            |(from, to): (Nanoseconds, Nanoseconds)| from < end && (to > begin || from >= begin);
        let mut run = self.filter_threads(|thread| overlaps((thread.begin, thread.end)));
        for thread in &mut run.threads {
            (thread.begin, thread.end) = (thread.begin.max(begin), thread.end.min(end));
            thread.records.retain(|record| overlaps(record.time()));
            let calls = thread.records.iter().filter_map(CallRecord::calls);
            thread.calls = calls.fold(0, u64::saturating_add);
        }
        run.arguments.clear();
        run.outliers
            .retain(|outlier| overlaps((outlier.call.begin, outlier.call.end)));
        run.waits
            .retain(|wait| overlaps((wait.call.begin, wait.call.end)));
        run
    }

    /// Selects threads, and updates all indices of threads. References to other threads are removed.
    #[doc(hidden)]
    pub fn filter_threads(self, keep: impl Fn(&ThreadCalls<S>) -> bool) -> RunCalls<S> {
        let mut count = 0;
        let new_indices = self.threads.iter().map(|thread| {
            let index = keep(thread).then_some(count);
            count += u32::from(index.is_some());
            index
        });
        let new_indices: Vec<Option<u32>> = new_indices.collect();
        let index = |thread: u32| new_indices[thread as usize];
        let outliers = self.outliers.into_iter().filter_map(|outlier| {
            let meanwhile = outlier.activities.into_iter();
            Some(Outlier {
                thread: index(outlier.thread)?,
                activities: meanwhile
                    .filter_map(|activity| {
                        Some(ThreadActivity {
                            thread: index(activity.thread)?,
                            ..activity
                        })
                    })
                    .collect(),
                ..outlier
            })
        });
        let waits = self.waits.into_iter().filter_map(|wait| {
            Some(Wait {
                thread: index(wait.thread)?,
                ended_by: wait
                    .ended_by
                    .and_then(|(thread, call)| Some((index(thread)?, call))),
                ..wait
            })
        });
        let arguments = self.arguments.into_iter().filter_map(|calls| {
            Some(CallsByArgument {
                thread: index(calls.thread)?,
                ..calls
            })
        });
        RunCalls {
            thresholds: self.thresholds,
            outliers: outliers.collect(),
            waits: waits.collect(),
            arguments: arguments.collect(),
            threads: self.threads.into_iter().filter(keep).collect(),
        }
    }
}

impl<S> ThreadCalls<S> {
    /// The number of long calls plus the number of distinct stacks of each expression.
    pub fn record_count(&self) -> usize {
        let counts = self.records.iter().map(|record| match record {
            CallRecord::Call(_) => 1,
            CallRecord::Expression(expression) => expression.stacks.len(),
        });
        counts.sum()
    }

    /// Iterates over the stacks of the expressions, in order.
    #[doc(hidden)]
    pub fn expression_stacks(&self) -> impl Iterator<Item = &CalledStack<S>> {
        let expressions = self.records.iter().filter_map(|record| match record {
            CallRecord::Call(_) => None,
            CallRecord::Expression(expression) => Some(&expression.stacks),
        });
        expressions.flatten()
    }
}

impl<S> CallRecord<S> {
    /// The begin and end.
    pub fn time(&self) -> (Nanoseconds, Nanoseconds) {
        match self {
            CallRecord::Call(call) => (call.begin, call.end),
            CallRecord::Expression(expression) => (expression.begin, expression.end),
        }
    }

    /// The number of calls, or `None` on overflow.
    pub fn calls(&self) -> Option<u64> {
        match self {
            CallRecord::Call(_) => Some(1),
            CallRecord::Expression(expression) => {
                let mut stacks = expression.stacks.iter();
                stacks.try_fold(0u64, |calls, stack| calls.checked_add(stack.calls))
            }
        }
    }
}

fn map_and_merge<S: Copy, T: Copy + Eq + Hash>(
    stacks: &[CalledStack<S>],
    stack: impl Fn(S) -> T,
) -> Vec<CalledStack<T>> {
    let mut index: HashMap<T, usize> = HashMap::new();
    let mut sums: Vec<CalledStack<T>> = Vec::with_capacity(stacks.len());
    for called in stacks {
        let mapped = CalledStack {
            stack: stack(called.stack),
            calls: called.calls,
            duration: called.duration,
        };
        let at = *index.entry(mapped.stack).or_insert(sums.len());
        match sums.get_mut(at) {
            None => sums.push(mapped),
            Some(sum) => {
                sum.calls += mapped.calls;
                sum.duration.0 += mapped.duration.0;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selecting_threads_updates_indices() {
        let call = LongCall {
            stack: 'a',
            begin: Nanoseconds(1),
            end: Nanoseconds(2),
        };
        let thread = |tid| ThreadCalls {
            thread: CallThread {
                pid: 1,
                program: "p".to_owned(),
                tid,
                name: String::new(),
            },
            begin: call.begin,
            end: call.end,
            calls: 1,
            records: vec![CallRecord::Call(call)],
        };
        let outlier = |thread| Outlier {
            thread,
            call,
            typical: Nanoseconds(0),
            calls: 3,
            activities: (0..3)
                .map(|thread| ThreadActivity {
                    thread,
                    stack: None,
                    time: Nanoseconds(1),
                })
                .collect(),
        };
        let wait = |thread, by| Wait {
            thread,
            call,
            ended_by: Some((by, call)),
        };
        let arguments = |thread| CallsByArgument {
            thread,
            stack: 'a',
            argument: "n".to_owned(),
            calls: Vec::new(),
        };
        let run = RunCalls {
            thresholds: CallThresholds::default(),
            threads: (0..3).map(thread).collect(),
            outliers: vec![outlier(0), outlier(1)],
            waits: vec![wait(0, 1), wait(2, 0), wait(2, 1)],
            arguments: vec![arguments(0), arguments(2)],
        };
        let some = run.clone().filter_threads(|calls| calls.thread.tid > 0);
        assert_eq!(some.threads, [thread(1), thread(2)]);
        let [left] = &some.outliers[..] else { panic!() };
        let active: Vec<u32> = left.activities.iter().map(|one| one.thread).collect();
        assert_eq!((left.thread, active), (0, vec![0, 1]));
        let waits = some.waits.iter().map(|wait| (wait.thread, wait.ended_by));
        let expected = [(1, None), (1, Some((0, call)))];
        assert_eq!(waits.collect::<Vec<_>>(), expected);
        let none = run.filter_threads(|_| false);
        assert!(none.threads.is_empty() && none.outliers.is_empty() && none.waits.is_empty());
        assert_eq!(some.arguments, [arguments(1)]);
    }
}
