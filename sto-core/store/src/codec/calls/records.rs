//! Records of threads: long calls, and expressions.

use super::columns::{MANY_CALLS, Nodes, add_one_call, add_time, columns};
use super::threads::Threads;
use crate::codec::DecodeError;
use crate::codec::bytes::{MAX_VARINT_32, MAX_VARINT_64, Packer, Unpacker, difference};
use sto_model::trace::{CallRecord, CalledStack, Expression, LongCall, RunCalls};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

pub(super) fn pack_records(pack: &mut Packer, run: &RunCalls<NodeIx>) {
    let [
        mut sizes,
        mut gaps,
        mut lengths,
        mut nodes,
        mut calls,
        mut durations,
    ] = [(); 6].map(|()| Packer::default());
    let mut last_node = 0;
    let mut node = |node: NodeIx| {
        nodes.number(difference(node.0, last_node));
        last_node = node.0;
    };
    let mut thread_begin = 0;
    for thread in &run.threads {
        let mut last = thread_begin;
        thread_begin = thread.begin.0;
        for record in &thread.records {
            let (size, begin, end, next) = match record {
                CallRecord::Call(call) => {
                    node(call.stack);
                    (0, call.begin.0, call.end.0, call.begin.0)
                }
                CallRecord::Expression(expression) => {
                    for stack in &expression.stacks {
                        node(stack.stack);
                        calls.number(stack.calls - 1);
                        durations.number(stack.duration.0);
                    }
                    let Expression { begin, end, stacks } = expression;
                    (stacks.len() as u64, begin.0, end.0, end.0)
                }
            };
            sizes.number(size);
            gaps.number(begin - last);
            lengths.number(end - begin);
            last = next;
        }
    }
    for column in [sizes, gaps, lengths, nodes, calls, durations] {
        pack.column(column);
    }
}

/// Unpacks this number of records and stacks.
pub(super) fn unpack_records(
    pack: &mut Unpacker<'_>,
    (record_count, stack_count): (usize, usize),
    threads: &mut Threads,
) -> Result<(), DecodeError> {
    const OTHER: DecodeError = DecodeError("there are not as many records as announced");
    let each = record_count * MAX_VARINT_64;
    let [sizes, gaps, lengths] = columns(pack, each)?;
    let nodes = pack.column_within((record_count + stack_count) * MAX_VARINT_32)?;
    let [calls, durations] = columns(pack, stack_count * MAX_VARINT_64)?;
    let [mut sizes, mut gaps, mut lengths] =
        [&sizes, &gaps, &lengths].map(|column| Unpacker::new(column));
    let mut nodes = Nodes::new(Unpacker::new(&nodes));
    let [mut calls, mut durations] = [&calls, &durations].map(|column| Unpacker::new(column));
    let mut thread_begin = Nanoseconds(0);
    let mut stacks_left = stack_count;
    for (thread, count) in threads {
        if *count > sizes.remaining() {
            return Err(OTHER);
        }
        thread.records.reserve_exact(*count);
        let mut last = thread_begin;
        for at in 0..*count {
            let size = usize::try_from(sizes.number()?).ok();
            let size = size.filter(|&size| size <= stacks_left).ok_or(OTHER)?;
            let begin = add_time(last, gaps.number()?)?;
            let end = add_time(begin, lengths.number()?)?;
            let record = match size {
                0 => CallRecord::Call(LongCall {
                    stack: nodes.next()?,
                    begin,
                    end,
                }),
                size => {
                    stacks_left -= size;
                    if size > calls.remaining() {
                        return Err(OTHER);
                    }
                    let stacks = (0..size).map(|_| {
                        Ok(CalledStack {
                            stack: nodes.next()?,
                            calls: add_one_call(calls.number()?)?,
                            duration: Nanoseconds(durations.number()?),
                        })
                    });
                    CallRecord::Expression(Expression {
                        begin,
                        end,
                        stacks: stacks.collect::<Result<_, _>>()?,
                    })
                }
            };
            last = if size == 0 { begin } else { end };
            if at == 0 {
                thread_begin = begin;
            }
            thread.calls = record
                .calls()
                .and_then(|calls| thread.calls.checked_add(calls))
                .ok_or(MANY_CALLS)?;
            thread.end = thread.end.max(end);
            thread.records.push(record);
        }
        thread.begin = thread_begin;
    }
    for column in [sizes, gaps, lengths, nodes.column, calls, durations] {
        column.finish()?;
    }
    Ok(())
}
