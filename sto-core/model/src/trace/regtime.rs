//! RegTime: what a thread called, compressed to its long calls and to expressions of the short ones between them.
//!
//! Section 3.2 and algorithms 1 and 2 of the paper; SPEC.md says what applies where these disagree.

use super::calls::{CalledStack, Expression, LongCall, Record};
use super::durations::ThreadDurations;
use super::log::Call;
use super::paths::{PathNo, Paths};
use super::thresholds::CallThresholds;
use crate::units::Nanoseconds;

/// The calls of a thread, compressed.
#[derive(Debug, Default)]
pub struct Compressed {
    /// When the first of them began.
    pub begin: Nanoseconds,
    /// When the last of them ended.
    pub end: Nanoseconds,
    /// How many they were.
    pub calls: u64,
    /// See [`ThreadCalls::records`](super::ThreadCalls::records).
    pub records: Vec<Record<PathNo>>,
    /// How long they took, by path.
    pub durations: ThreadDurations,
}

/// Compresses the calls of a thread, which come in preorder: a call before those that it made, which lie within it,
/// calls of one caller by time. `time` is what the thread took from its first call to the end of its last one. Their
/// paths are added to `paths`.
pub fn compress(
    calls: impl IntoIterator<Item = Call>,
    thresholds: &CallThresholds,
    time: Nanoseconds,
    paths: &mut Paths,
) -> Compressed {
    let mut regtime = RegTime::new(thresholds, time, paths);
    calls.into_iter().for_each(|call| regtime.add(call));
    regtime.finish()
}

/// Compresses the calls of a thread as they come, in preorder.
pub struct RegTime<'p> {
    call_duration: Nanoseconds,
    call_gap: Nanoseconds,
    total_time: Nanoseconds,
    paths: &'p mut Paths,
    /// The calls that the last one was made in, and itself, outermost first.
    open: Vec<Open>,
    expression: Option<Building>,
    /// By path: what the last expression that has it wrote of it.
    stamps: Vec<Stamp>,
    /// How many expressions there were.
    expressions: u32,
    compressed: Compressed,
}

struct Open {
    path: PathNo,
    is_long: bool,
}

/// The expression that calls are added to.
struct Building {
    /// The depth of the calls of its sequence.
    depth: u32,
    expression: Expression<PathNo>,
}

#[derive(Clone, Copy, Default)]
struct Stamp {
    /// Which expression, from 1.
    expression: u32,
    /// The index of the path in its stacks.
    stack: u32,
}

impl<'p> RegTime<'p> {
    /// See [`compress`].
    pub fn new(
        thresholds: &CallThresholds,
        time: Nanoseconds,
        paths: &'p mut Paths,
    ) -> RegTime<'p> {
        RegTime {
            call_duration: thresholds.call_duration.of(time),
            call_gap: thresholds.call_gap.of(time),
            total_time: thresholds.total_time.of(time),
            paths,
            open: Vec::new(),
            expression: None,
            stamps: Vec::new(),
            expressions: 0,
            compressed: Compressed::default(),
        }
    }

    /// Adds the next call.
    #[inline]
    pub fn add(&mut self, call: Call) {
        self.open.truncate(call.depth as usize);
        let caller = self.open.last();
        let path = self.paths.call(caller.map(|of| of.path), call.function);
        let is_short = caller.is_some_and(|caller| !caller.is_long);
        let is_long = !is_short && call.duration > self.call_duration;
        self.open.push(Open { path, is_long });
        let durations = self.compressed.durations.of_mut(path);
        durations.add(call.begin, call.duration);
        if !is_short {
            self.next_of_sequence(&call, path, is_long);
        }
        if !is_long {
            self.add_to_expression(&call, path);
        }
    }

    /// What remains of the calls that were added.
    pub fn finish(mut self) -> Compressed {
        self.end_expression();
        let durations = self.compressed.durations.iter();
        self.compressed.calls = durations.map(|(_, of)| of.durations.calls()).sum();
        self.compressed
    }

    /// A call whose caller, if it has one, is kept by itself.
    fn next_of_sequence(&mut self, call: &Call, path: PathNo, is_long: bool) {
        if self.compressed.records.is_empty() && self.expression.is_none() {
            self.compressed.begin = call.begin;
        }
        self.compressed.end = self.compressed.end.max(call.end());
        let continues = |building: &Building| {
            let Expression { begin, end, .. } = building.expression;
            building.depth == call.depth
                && call.begin.0.saturating_sub(end.0) <= self.call_gap.0
                && end.0 - begin.0 <= self.total_time.0
        };
        if is_long || !self.expression.as_ref().is_some_and(continues) {
            self.end_expression();
        }
        if is_long {
            self.compressed.records.push(Record::Call(LongCall {
                stack: path,
                begin: call.begin,
                end: call.end(),
            }));
            return;
        }
        let building = self.expression.get_or_insert_with(|| {
            self.expressions += 1;
            Building {
                depth: call.depth,
                expression: Expression {
                    begin: call.begin,
                    end: call.begin,
                    stacks: Vec::new(),
                },
            }
        });
        let end = &mut building.expression.end;
        *end = call.end().max(*end);
    }

    #[inline]
    fn add_to_expression(&mut self, call: &Call, path: PathNo) {
        let Some(building) = &mut self.expression else {
            return;
        };
        let stacks = &mut building.expression.stacks;
        if path.get() >= self.stamps.len() {
            self.stamps.resize(path.get() + 1, Stamp::default());
        }
        let stamp = &mut self.stamps[path.get()];
        if stamp.expression == self.expressions {
            let sum = &mut stacks[stamp.stack as usize];
            sum.calls += 1;
            sum.duration.0 = sum.duration.0.saturating_add(call.duration.0);
            return;
        }
        *stamp = Stamp {
            expression: self.expressions,
            stack: stacks.len() as u32,
        };
        stacks.push(CalledStack {
            stack: path,
            calls: 1,
            duration: call.duration,
        });
    }

    fn end_expression(&mut self) {
        let built = self.expression.take();
        let records = &mut self.compressed.records;
        records.extend(built.map(|built| Record::Expression(built.expression)));
    }
}

#[cfg(test)]
mod tests;
