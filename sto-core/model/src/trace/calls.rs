//! The calls of a run, compressed.

use super::{CallThresholds, CallsWith};
use crate::units::Nanoseconds;
use std::collections::HashMap;
use std::hash::Hash;

/// The calls of all threads of a run, of which each is of a stack `S`: those of a recording, or nodes of a profile's
/// tree. All times are by the recording's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCalls<S> {
    /// What was long enough to be kept by itself.
    pub thresholds: CallThresholds,
    /// The threads that called anything, in the order of their first call, equals by process, thread and name.
    pub threads: Vec<ThreadCalls<S>>,
    /// Calls that took unusually long for their stack, those that lost most time first.
    pub outliers: Vec<Outlier<S>>,
    /// The longest of those calls in which a thread waited, longest first.
    pub waits: Vec<Wait<S>>,
    /// Its calls by what they were called with, where the trace says that: by thread, then in an order of functions, then
    /// by the argument's name.
    pub arguments: Vec<CallsWith<S>>,
}

/// A thread that called functions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallThread {
    /// Process id.
    pub pid: u32,
    /// Name of the program that the process ran.
    pub program: String,
    /// Thread id.
    pub tid: u32,
    /// Name of the thread; empty where it has none.
    pub name: String,
}

/// What a thread called.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadCalls<S> {
    /// The thread.
    pub thread: CallThread,
    /// When its first call began.
    pub begin: Nanoseconds,
    /// When its last call ended.
    pub end: Nanoseconds,
    /// Number of its calls, each of which is in one of the records.
    pub calls: u64,
    /// Its calls as they are kept: a call before those that it made, calls of one caller by time. They do not
    /// overlap but as caller and callee; what lies between them is a gap.
    pub records: Vec<Record<S>>,
}

/// One of what a thread's calls were compressed to.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<S> {
    /// A call that took longer than the threshold.
    Call(LongCall<S>),
    /// Shorter calls in a row.
    Expression(Expression<S>),
}

/// A call that is kept by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongCall<S> {
    /// Its stack: the callers, and the function that was called as the leaf.
    pub stack: S,
    /// When it began.
    pub begin: Nanoseconds,
    /// When it ended.
    pub end: Nanoseconds,
}

/// A sequence of short calls that one caller made, with all that they called.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression<S> {
    /// When the first of them began.
    pub begin: Nanoseconds,
    /// When the last of them ended.
    pub end: Nanoseconds,
    /// Their distinct stacks, in the order in which they were called first.
    pub stacks: Vec<CalledStack<S>>,
}

/// The calls of an expression that have one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalledStack<S> {
    /// The stack.
    pub stack: S,
    /// How often it was called.
    pub calls: u64,
    /// How long these calls took together, with what they called.
    pub duration: Nanoseconds,
}

/// A call that took unusually long for its function and its callers.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier<S> {
    /// Index of its thread in [`RunCalls::threads`].
    pub thread: u32,
    /// The call.
    pub call: LongCall<S>,
    /// The median of all calls of that stack, in all threads; zero where most calls of its caller do not call it, and
    /// took less for that.
    pub typical: Nanoseconds,
    /// How many calls of that stack there were.
    pub calls: u64,
    /// What all threads did meanwhile, itself too, in the order of threads, of each the longest first.
    pub meanwhile: Vec<Meanwhile<S>>,
}

/// What a thread did for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meanwhile<S> {
    /// Index of the thread in [`RunCalls::threads`].
    pub thread: u32,
    /// The stack that it was in, by its innermost call; none where it was in no call.
    pub stack: Option<S>,
    /// For how long.
    pub time: Nanoseconds,
}

/// A call of a function that waits: for a lock, for a condition, for input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait<S> {
    /// Index of its thread in [`RunCalls::threads`].
    pub thread: u32,
    /// The call.
    pub call: LongCall<S>,
    /// The call of another thread during which it ended, with the index of that thread.
    pub ended_by: Option<(u32, LongCall<S>)>,
}

impl<S: Copy> RunCalls<S> {
    /// The same of other stacks. Several may become one: what they have in an expression is then added up.
    pub fn map<T: Copy + Eq + Hash>(&self, stack: impl Fn(S) -> T) -> RunCalls<T> {
        let thread = |of: &ThreadCalls<S>| ThreadCalls {
            thread: of.thread.clone(),
            begin: of.begin,
            end: of.end,
            calls: of.calls,
            records: of
                .records
                .iter()
                .map(|record| match record {
                    Record::Call(call) => Record::Call(call.map(&stack)),
                    Record::Expression(expression) => Record::Expression(Expression {
                        begin: expression.begin,
                        end: expression.end,
                        stacks: added_up(&expression.stacks, &stack),
                    }),
                })
                .collect(),
        };
        RunCalls {
            thresholds: self.thresholds,
            threads: self.threads.iter().map(thread).collect(),
            outliers: self.outliers.iter().map(|of| of.map(&stack)).collect(),
            waits: self.waits.iter().map(|of| of.map(&stack)).collect(),
            arguments: self.arguments.iter().map(|of| of.map(&stack)).collect(),
        }
    }
}

impl<S: Copy> LongCall<S> {
    /// The same of another stack.
    pub(crate) fn map<T>(&self, stack: impl Fn(S) -> T) -> LongCall<T> {
        LongCall {
            stack: stack(self.stack),
            begin: self.begin,
            end: self.end,
        }
    }
}

impl<S: Copy> Outlier<S> {
    /// The same of other stacks.
    #[doc(hidden)]
    pub fn map<T>(&self, stack: impl Fn(S) -> T) -> Outlier<T> {
        let meanwhile = self.meanwhile.iter().map(|of| Meanwhile {
            thread: of.thread,
            stack: of.stack.map(&stack),
            time: of.time,
        });
        Outlier {
            thread: self.thread,
            call: self.call.map(&stack),
            typical: self.typical,
            calls: self.calls,
            meanwhile: meanwhile.collect(),
        }
    }
}

impl<S: Copy> Wait<S> {
    /// The same of other stacks.
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

impl<S: Copy> Record<S> {
    /// The same of other stacks.
    #[doc(hidden)]
    pub fn map<T>(&self, stack: impl Fn(S) -> T) -> Record<T> {
        match self {
            Record::Call(call) => Record::Call(call.map(stack)),
            Record::Expression(expression) => {
                let stacks = expression.stacks.iter().map(|of| CalledStack {
                    stack: stack(of.stack),
                    calls: of.calls,
                    duration: of.duration,
                });
                Record::Expression(Expression {
                    begin: expression.begin,
                    end: expression.end,
                    stacks: stacks.collect(),
                })
            }
        }
    }
}

impl<S> RunCalls<S> {
    /// What there is of a part of the time: threads that had begun and not ended, from when to when of that they were
    /// there, with those of their records, which stay whole, and of the outliers and waits, that overlap it; what was
    /// called with arguments has no time, and is left out. `calls` of a
    /// thread are those of its records.
    pub fn during(self, (begin, end): (Nanoseconds, Nanoseconds)) -> RunCalls<S> {
        let overlaps =
            |(from, to): (Nanoseconds, Nanoseconds)| from < end && (to > begin || from >= begin);
        let mut run = self.of_threads(|of| overlaps((of.begin, of.end)));
        for of in &mut run.threads {
            (of.begin, of.end) = (of.begin.max(begin), of.end.min(end));
            of.records.retain(|record| overlaps(record.time()));
            let calls = of.records.iter().filter_map(Record::calls);
            of.calls = calls.fold(0, u64::saturating_add);
        }
        run.arguments.clear();
        run.outliers
            .retain(|of| overlaps((of.call.begin, of.call.end)));
        run.waits
            .retain(|of| overlaps((of.call.begin, of.call.end)));
        run
    }

    /// Those of some threads.
    #[doc(hidden)]
    pub fn of_threads(self, keep: impl Fn(&ThreadCalls<S>) -> bool) -> RunCalls<S> {
        let mut kept = 0;
        let indices = self.threads.iter().map(|thread| {
            let index = keep(thread).then_some(kept);
            kept += u32::from(index.is_some());
            index
        });
        let indices: Vec<Option<u32>> = indices.collect();
        let index = |thread: u32| indices[thread as usize];
        let outliers = self.outliers.into_iter().filter_map(|outlier| {
            let meanwhile = outlier.meanwhile.into_iter();
            Some(Outlier {
                thread: index(outlier.thread)?,
                meanwhile: meanwhile
                    .filter_map(|of| {
                        Some(Meanwhile {
                            thread: index(of.thread)?,
                            ..of
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
        let arguments = self.arguments.into_iter().filter_map(|of| {
            Some(CallsWith {
                thread: index(of.thread)?,
                ..of
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
    /// How many records its calls were compressed to: its long calls, and the distinct stacks of each expression.
    pub fn record_count(&self) -> usize {
        let counts = self.records.iter().map(|record| match record {
            Record::Call(_) => 1,
            Record::Expression(expression) => expression.stacks.len(),
        });
        counts.sum()
    }

    /// The stacks of its expressions, in the order of these.
    #[doc(hidden)]
    pub fn expression_stacks(&self) -> impl Iterator<Item = &CalledStack<S>> {
        let expressions = self.records.iter().filter_map(|record| match record {
            Record::Call(_) => None,
            Record::Expression(expression) => Some(&expression.stacks),
        });
        expressions.flatten()
    }
}

impl<S> Record<S> {
    /// When it began and ended.
    pub fn time(&self) -> (Nanoseconds, Nanoseconds) {
        match self {
            Record::Call(call) => (call.begin, call.end),
            Record::Expression(expression) => (expression.begin, expression.end),
        }
    }

    /// Number of calls; none where 64 bits cannot count them.
    pub fn calls(&self) -> Option<u64> {
        match self {
            Record::Call(_) => Some(1),
            Record::Expression(expression) => {
                let mut stacks = expression.stacks.iter();
                stacks.try_fold(0u64, |calls, stack| calls.checked_add(stack.calls))
            }
        }
    }
}

fn added_up<S: Copy, T: Copy + Eq + Hash>(
    stacks: &[CalledStack<S>],
    stack: impl Fn(S) -> T,
) -> Vec<CalledStack<T>> {
    let mut index: HashMap<T, usize> = HashMap::new();
    let mut sums: Vec<CalledStack<T>> = Vec::with_capacity(stacks.len());
    for of in stacks {
        let mapped = CalledStack {
            stack: stack(of.stack),
            calls: of.calls,
            duration: of.duration,
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
    fn of_some_threads_only_what_is_theirs_is_left() {
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
            records: vec![Record::Call(call)],
        };
        let outlier = |thread| Outlier {
            thread,
            call,
            typical: Nanoseconds(0),
            calls: 3,
            meanwhile: (0..3)
                .map(|thread| Meanwhile {
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
        let with = |thread| CallsWith {
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
            arguments: vec![with(0), with(2)],
        };
        let some = run.clone().of_threads(|of| of.thread.tid > 0);
        assert_eq!(some.threads, [thread(1), thread(2)]);
        let [left] = &some.outliers[..] else { panic!() };
        let others: Vec<u32> = left.meanwhile.iter().map(|of| of.thread).collect();
        assert_eq!((left.thread, others), (0, vec![0, 1]));
        let of_waits = some.waits.iter().map(|wait| (wait.thread, wait.ended_by));
        let expected = [(1, None), (1, Some((0, call)))];
        assert_eq!(of_waits.collect::<Vec<_>>(), expected);
        let none = run.of_threads(|_| false);
        assert!(none.threads.is_empty() && none.outliers.is_empty() && none.waits.is_empty());
        assert_eq!(some.arguments, [with(1)]);
    }
}
