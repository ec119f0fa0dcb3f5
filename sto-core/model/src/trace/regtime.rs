//! RegTime: compresses the calls of a thread to long calls, and expressions of the short calls between them.
//!
//! Source: section 3.2 and algorithms 1 and 2 of the paper. The documentation of [`super`] lists deviations.

use super::calls::{CallRecord, CalledStack, Expression, LongCall};
use super::durations::ThreadDurations;
use super::log::Call;
use super::paths::{CallPathIx, CallPaths};
use super::thresholds::CallThresholds;
use crate::units::Nanoseconds;
use hashbrown::HashMap;
use std::cmp::Ordering;

/// The compressed calls of a thread.
#[derive(Debug, Default)]
pub struct CompressedCalls {
    /// The begin of the first call.
    pub begin: Nanoseconds,
    /// The end of the last call.
    pub end: Nanoseconds,
    /// The number of calls of the records: all but inlined ones in long calls.
    pub calls: u64,
    /// The number of calls that count as part of their callers, because there are too many paths.
    pub inlined: u64,
    /// The number of stacks of expressions whose calls count as those of their callers: the shortest of too many.
    pub omitted_stacks: u64,
    /// See [`ThreadCalls::records`](super::ThreadCalls::records).
    pub records: Vec<CallRecord<CallPathIx>>,
    /// The durations of calls, by path.
    pub durations: ThreadDurations,
}

/// Compresses the calls of a thread, which must nest and be in preorder.
///
/// `time` is the time from the begin of the thread's first call to the end of its last call. The paths of the calls
/// are added to `paths`.
pub fn compress_calls(
    calls: impl IntoIterator<Item = Call>,
    thresholds: &CallThresholds,
    time: Nanoseconds,
    paths: &mut CallPaths,
) -> CompressedCalls {
    let mut regtime = RegTime::new(thresholds, time, paths);
    calls.into_iter().for_each(|call| regtime.add(call));
    regtime.finish()
}

/// Compresses the calls of a thread incrementally. See [`compress_calls`].
pub struct RegTime<'p> {
    call_duration: Nanoseconds,
    call_gap: Nanoseconds,
    total_time: Nanoseconds,
    paths: &'p mut CallPaths,
    /// The last call and its callers, outermost first.
    open: Vec<OpenCall>,
    expression: Option<OpenExpression>,
    /// The place of each path in the last expression that has it.
    places: Vec<Place>,
    /// The number of expressions so far.
    expressions: u32,
    /// The number of stacks of these expressions.
    stacks: usize,
    /// The number of stacks above which the short ones are omitted.
    most_stacks: usize,
    compressed: CompressedCalls,
}

struct OpenCall {
    path: CallPathIx,
    is_long: bool,
    /// The number of callers that have paths of their own.
    depth: u32,
}

/// The expression that calls are added to.
struct OpenExpression {
    /// The depth of the calls of its sequence.
    depth: u32,
    expression: Expression<CallPathIx>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// Number of the expression, from 1.
    expression: u32,
    /// Index in [`Expression::stacks`].
    stack: u32,
}

impl<'p> RegTime<'p> {
    /// Creates a compressor without calls. See [`compress_calls`] for the parameters.
    pub fn new(
        thresholds: &CallThresholds,
        time: Nanoseconds,
        paths: &'p mut CallPaths,
    ) -> RegTime<'p> {
        RegTime {
            call_duration: thresholds.call_duration.resolve(time),
            call_gap: thresholds.call_gap.resolve(time),
            total_time: thresholds.total_time.resolve(time),
            most_stacks: paths.limit().saturating_mul(2),
            paths,
            open: Vec::new(),
            expression: None,
            places: Vec::new(),
            expressions: 0,
            stacks: 0,
            compressed: CompressedCalls::default(),
        }
    }

    /// Adds the next call.
    #[inline]
    pub fn add(&mut self, call: Call) {
        self.open.truncate(call.depth as usize);
        let caller = self.open.last();
        let caller_path = caller.map(|caller| caller.path);
        let path = self.paths.intern(caller_path, call.function);
        let depth = caller.map_or(0, |caller| caller.depth + 1);
        let is_short = caller.is_some_and(|caller| !caller.is_long);
        if caller_path == Some(path) {
            self.compressed.inlined += 1;
            if is_short {
                self.count_inlined(path);
            }
            self.open.push(OpenCall {
                path,
                is_long: !is_short,
                depth: depth - 1,
            });
            return;
        }
        let is_long = !is_short && call.duration > self.call_duration;
        self.open.push(OpenCall {
            path,
            is_long,
            depth,
        });
        let durations = self.compressed.durations.path_mut(path);
        durations.add(call.begin, call.duration);
        if !is_short {
            let call = Call { depth, ..call };
            self.add_to_sequence(&call, path, is_long);
        }
        if !is_long {
            self.add_to_expression(&call, path);
        }
    }

    /// Returns the compressed calls.
    pub fn finish(mut self) -> CompressedCalls {
        self.end_expression();
        self.omit_short_stacks();
        let paths = self.compressed.durations.iter();
        let calls: u64 = paths.map(|(_, calls)| calls.durations.calls()).sum();
        self.compressed.calls += calls;
        self.compressed
    }

    /// Adds a call that has no caller, or whose caller is a long call.
    fn add_to_sequence(&mut self, call: &Call, path: CallPathIx, is_long: bool) {
        if self.compressed.records.is_empty() && self.expression.is_none() {
            self.compressed.begin = call.begin;
        }
        self.compressed.end = self.compressed.end.max(call.end());
        let continues = |open: &OpenExpression| {
            let Expression { begin, end, .. } = open.expression;
            open.depth == call.depth
                && call.begin.0.saturating_sub(end.0) <= self.call_gap.0
                && end.0 - begin.0 <= self.total_time.0
        };
        if is_long || !self.expression.as_ref().is_some_and(continues) {
            self.end_expression();
        }
        if is_long {
            self.compressed.records.push(CallRecord::Call(LongCall {
                stack: path,
                begin: call.begin,
                end: call.end(),
            }));
            return;
        }
        let open = self.expression.get_or_insert_with(|| {
            self.expressions += 1;
            OpenExpression {
                depth: call.depth,
                expression: Expression {
                    begin: call.begin,
                    end: call.begin,
                    stacks: Vec::new(),
                },
            }
        });
        let end = &mut open.expression.end;
        *end = call.end().max(*end);
    }

    #[inline]
    fn add_to_expression(&mut self, call: &Call, path: CallPathIx) {
        let Some(open) = &mut self.expression else {
            return;
        };
        let stacks = &mut open.expression.stacks;
        if path.get() >= self.places.len() {
            self.places.resize(path.get() + 1, Place::default());
        }
        let place = &mut self.places[path.get()];
        if place.expression == self.expressions {
            let sum = &mut stacks[place.stack as usize];
            sum.calls += 1;
            sum.duration.0 = sum.duration.0.saturating_add(call.duration.0);
            return;
        }
        *place = Place {
            expression: self.expressions,
            stack: stacks.len() as u32,
        };
        stacks.push(CalledStack {
            stack: path,
            calls: 1,
            duration: call.duration,
        });
    }

    /// Counts a call of the open expression as one of its caller.
    fn count_inlined(&mut self, caller: CallPathIx) {
        let place = self.places.get(caller.get()).copied().unwrap_or_default();
        if let Some(open) = &mut self.expression
            && place.expression == self.expressions
        {
            open.expression.stacks[place.stack as usize].calls += 1;
            self.compressed.calls += 1;
        }
    }

    fn end_expression(&mut self) {
        let Some(OpenExpression { expression, .. }) = self.expression.take() else {
            return;
        };
        self.stacks += expression.stacks.len();
        let record = CallRecord::Expression(expression);
        self.compressed.records.push(record);
        if self.stacks > self.most_stacks {
            self.omit_short_stacks();
        }
    }

    /// Keeps the stacks of expressions with the longest durations, the first of equals, as many as the limit, and the
    /// outermost ones of each expression. The calls of the others count as those of their callers, which take at least as
    /// long, and are called before them.
    fn omit_short_stacks(&mut self) {
        let limit = self.paths.limit();
        if self.stacks <= limit {
            return;
        }
        let expressions = self.compressed.records.iter().filter_map(expression);
        let stacks = expressions.flat_map(|expression| &expression.stacks);
        let mut durations: Vec<Nanoseconds> = stacks.map(|stack| stack.duration).collect();
        let first_kept = durations.len() - limit;
        let (_, &mut shortest, longer) = durations.select_nth_unstable(first_kept);
        let longer = longer.iter().filter(|&&duration| duration > shortest);
        let mut room = limit - longer.count();
        let mut is_kept = |duration: Nanoseconds| match duration.cmp(&shortest) {
            Ordering::Less => false,
            Ordering::Equal => {
                let has_room = room > 0;
                room = room.saturating_sub(1);
                has_room
            }
            Ordering::Greater => true,
        };
        let before = std::mem::take(&mut self.stacks);
        // By path of an expression, the index of the stack that has its calls.
        let mut counted_in: HashMap<CallPathIx, usize> = HashMap::new();
        for record in &mut self.compressed.records {
            let CallRecord::Expression(expression) = record else {
                continue;
            };
            let mut kept: Vec<CalledStack<CallPathIx>> = Vec::new();
            counted_in.clear();
            for stack in &expression.stacks {
                let caller = self.paths.caller(stack.stack);
                let caller = caller.and_then(|caller| counted_in.get(&caller).copied());
                let index = match caller {
                    Some(caller) if !is_kept(stack.duration) => {
                        kept[caller].calls += stack.calls;
                        caller
                    }
                    _ => {
                        kept.push(*stack);
                        kept.len() - 1
                    }
                };
                counted_in.insert(stack.stack, index);
            }
            kept.shrink_to_fit();
            self.stacks += kept.len();
            expression.stacks = kept;
        }
        self.compressed.omitted_stacks += (before - self.stacks) as u64;
        self.most_stacks = self.stacks.max(limit).saturating_mul(2);
    }
}

fn expression(record: &CallRecord<CallPathIx>) -> Option<&Expression<CallPathIx>> {
    match record {
        CallRecord::Call(_) => None,
        CallRecord::Expression(expression) => Some(expression),
    }
}

#[cfg(test)]
mod tests;
