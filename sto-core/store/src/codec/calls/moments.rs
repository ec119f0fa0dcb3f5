//! Outliers and waits among the calls of a run.

use super::columns::{Nodes, add_one_call, add_time, columns};
use crate::codec::DecodeError;
use crate::codec::bytes::{MAX_VARINT_64, Packer, Unpacker, add_difference, difference};
use sto_model::bytes::{unzigzag, zigzag};
use sto_model::trace::{LongCall, Outlier, RunCalls, ThreadActivity, ThreadCalls, Wait};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

pub(super) fn pack_outliers(pack: &mut Packer, run: &RunCalls<NodeIx>) {
    let mut columns: [Packer; 10] = Default::default();
    let [mut last, mut last_meanwhile] = [0; 2];
    for outlier in &run.outliers {
        let [
            threads,
            nodes,
            begins,
            lengths,
            typical,
            calls,
            sizes,
            others,
            stacks,
            times,
        ] = &mut columns;
        pack_call(
            run,
            outlier.thread,
            &outlier.call,
            &mut last,
            [threads, nodes, begins, lengths],
        );
        typical.number(outlier.typical.0);
        calls.number(outlier.calls - 1);
        sizes.number(outlier.activities.len() as u64);
        for meanwhile in &outlier.activities {
            others.number(meanwhile.thread);
            let node = meanwhile.stack.map_or(0, |stack| stack.0 + 1);
            stacks.number(difference(node, last_meanwhile));
            last_meanwhile = node;
            times.number(meanwhile.time.0);
        }
    }
    for column in columns {
        pack.column(column);
    }
}

pub(super) fn unpack_outliers(
    pack: &mut Unpacker<'_>,
    (count, meanwhile_count): (usize, usize),
    call_threads: &[ThreadCalls<NodeIx>],
) -> Result<Vec<Outlier<NodeIx>>, DecodeError> {
    let bytes: [Vec<u8>; 7] = columns(pack, count * MAX_VARINT_64)?;
    let [
        threads,
        nodes,
        begins,
        lengths,
        mut typical,
        mut calls,
        mut sizes,
    ] = std::array::from_fn(|at| Unpacker::new(&bytes[at]));
    let bytes: [Vec<u8>; 3] = columns(pack, meanwhile_count * MAX_VARINT_64)?;
    let [mut others, mut stacks, mut times] = std::array::from_fn(|at| Unpacker::new(&bytes[at]));
    let mut long_calls = Calls::new(call_threads, threads, nodes, begins, lengths);
    let mut last = 0;
    if count > sizes.remaining() {
        return Err(DecodeError("there are fewer outliers than announced"));
    }
    let mut outliers = Vec::with_capacity(count);
    for _ in 0..count {
        let (thread, call) = long_calls.next()?;
        let size = usize::try_from(sizes.number()?).unwrap_or(usize::MAX);
        if size > others.remaining() {
            return Err(DecodeError(
                "there are fewer activities of other threads than announced",
            ));
        }
        let meanwhile = (0..size).map(|_| {
            last = add_difference(last, stacks.number32()?);
            Ok(ThreadActivity {
                thread: others.number32()?,
                stack: last.checked_sub(1).map(NodeIx),
                time: Nanoseconds(times.number()?),
            })
        });
        outliers.push(Outlier {
            activities: meanwhile.collect::<Result<_, _>>()?,
            thread,
            call,
            typical: Nanoseconds(typical.number()?),
            calls: add_one_call(calls.number()?)?,
        });
    }
    long_calls.finish()?;
    for column in [typical, calls, sizes, others, stacks, times] {
        column.finish()?;
    }
    Ok(outliers)
}

pub(super) fn pack_waits(pack: &mut Packer, run: &RunCalls<NodeIx>) {
    let mut columns: [Packer; 8] = Default::default();
    let [mut last, mut last_by] = [0; 2];
    for wait in &run.waits {
        let [
            threads,
            nodes,
            begins,
            lengths,
            by,
            by_nodes,
            by_begins,
            by_lengths,
        ] = &mut columns;
        pack_call(
            run,
            wait.thread,
            &wait.call,
            &mut last,
            [threads, nodes, begins, lengths],
        );
        by.number(wait.ended_by.map_or(0, |(thread, _)| u64::from(thread) + 1));
        if let Some((_, call)) = wait.ended_by {
            by_nodes.number(difference(call.stack.0, last_by));
            last_by = call.stack.0;
            by_begins.number(zigzag(wait.call.end.0.wrapping_sub(call.begin.0)));
            by_lengths.number(call.end.0 - call.begin.0);
        }
    }
    for column in columns {
        pack.column(column);
    }
}

pub(super) fn unpack_waits(
    pack: &mut Unpacker<'_>,
    count: usize,
    call_threads: &[ThreadCalls<NodeIx>],
) -> Result<Vec<Wait<NodeIx>>, DecodeError> {
    let bytes: [Vec<u8>; 8] = columns(pack, count * MAX_VARINT_64)?;
    let [
        threads,
        nodes,
        begins,
        lengths,
        mut by,
        by_nodes,
        mut by_begins,
        mut by_lengths,
    ] = std::array::from_fn(|at| Unpacker::new(&bytes[at]));
    let mut long_calls = Calls::new(call_threads, threads, nodes, begins, lengths);
    let mut by_nodes = Nodes::new(by_nodes);
    if count > by.remaining() {
        return Err(DecodeError("there are fewer waits than announced"));
    }
    let mut waits = Vec::with_capacity(count);
    for _ in 0..count {
        let (thread, call) = long_calls.next()?;
        let ended_by = match by.number()?.checked_sub(1) {
            None => None,
            Some(thread) => {
                let thread = u32::try_from(thread);
                let before = unzigzag(by_begins.number()?);
                let begin = Nanoseconds(call.end.0.wrapping_sub(before));
                let ending = LongCall {
                    stack: by_nodes.next()?,
                    begin,
                    end: add_time(begin, by_lengths.number()?)?,
                };
                Some((thread.map_err(|_| NO_THREAD)?, ending))
            }
        };
        waits.push(Wait {
            thread,
            call,
            ended_by,
        });
    }
    long_calls.finish()?;
    for column in [by, by_nodes.column, by_begins, by_lengths] {
        column.finish()?;
    }
    Ok(waits)
}

/// Packs a call: its thread, its stack, and its start relative to the thread's first call.
fn pack_call(
    run: &RunCalls<NodeIx>,
    thread: u32,
    call: &LongCall<NodeIx>,
    last: &mut u32,
    [threads, nodes, begins, lengths]: [&mut Packer; 4],
) {
    threads.number(thread);
    nodes.number(difference(call.stack.0, *last));
    *last = call.stack.0;
    begins.number(call.begin.0 - run.threads[thread as usize].begin.0);
    lengths.number(call.end.0 - call.begin.0);
}

/// Reads calls written by [`pack_call`].
struct Calls<'a> {
    call_threads: &'a [ThreadCalls<NodeIx>],
    threads: Unpacker<'a>,
    nodes: Nodes<'a>,
    begins: Unpacker<'a>,
    lengths: Unpacker<'a>,
}

impl<'a> Calls<'a> {
    fn new(
        call_threads: &'a [ThreadCalls<NodeIx>],
        threads: Unpacker<'a>,
        nodes: Unpacker<'a>,
        begins: Unpacker<'a>,
        lengths: Unpacker<'a>,
    ) -> Self {
        Calls {
            call_threads,
            threads,
            nodes: Nodes::new(nodes),
            begins,
            lengths,
        }
    }

    fn next(&mut self) -> Result<(u32, LongCall<NodeIx>), DecodeError> {
        let thread = self.threads.number32()?;
        let calls = self.call_threads.get(thread as usize).ok_or(NO_THREAD)?;
        let begin = add_time(calls.begin, self.begins.number()?)?;
        let call = LongCall {
            stack: self.nodes.next()?,
            begin,
            end: add_time(begin, self.lengths.number()?)?,
        };
        Ok((thread, call))
    }

    fn finish(self) -> Result<(), DecodeError> {
        for column in [self.threads, self.nodes.column, self.begins, self.lengths] {
            column.finish()?;
        }
        Ok(())
    }
}

const NO_THREAD: DecodeError = DecodeError("a thread of calls does not exist");
