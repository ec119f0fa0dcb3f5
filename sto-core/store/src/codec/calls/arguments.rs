//! Calls by argument.

use super::columns::{Nodes, add_one_call, columns};
use crate::codec::DecodeError;
use crate::codec::bytes::{MAX_VARINT_32, MAX_VARINT_64, Packer, Unpacker, difference};
use sto_model::limits::{MAX_CALL_RECORDS, MAX_USER_STRING};
use sto_model::trace::{CallsAtValue, CallsByArgument};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

/// Packs calls by argument, which [`check`](crate::read::call_rules::check) has accepted.
pub(crate) fn pack_arguments(all: &[CallsByArgument<NodeIx>]) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    let calls = || all.iter().flat_map(|list| &list.calls);
    pack.number(all.len() as u64);
    pack.number(calls().count() as u64);
    let mut columns: [Packer; 9] = Default::default();
    let [
        threads,
        nodes,
        names,
        name,
        counts,
        values,
        numbers,
        durations,
        others,
    ] = &mut columns;
    let mut last = 0;
    for list in all {
        threads.number(list.thread);
        nodes.number(difference(list.stack.0, last));
        last = list.stack.0;
        names.number(list.argument.len() as u64);
        name.raw(list.argument.as_bytes());
        counts.number(list.calls.len() as u64);
    }
    for call in calls() {
        // Reversed, because the low bits of integers in an `f64` are zeros.
        values.number(call.value.to_bits().reverse_bits());
        numbers.number(call.calls - 1);
        durations.number(call.duration.0);
        others.number(call.duration.0 - call.self_duration.0);
    }
    for column in columns {
        pack.column(column);
    }
    pack.finish()
}

/// Unpacks calls by argument. Does not check their rules.
pub(crate) fn unpack_arguments(pack: &[u8]) -> Result<Vec<CallsByArgument<NodeIx>>, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let (lists, mut calls_left) = head(&mut pack)?;
    let [threads, nodes, names] = columns(&mut pack, lists * MAX_VARINT_32)?;
    let [name] = columns(&mut pack, lists * MAX_USER_STRING)?;
    let [counts] = columns(&mut pack, lists * MAX_VARINT_32)?;
    let [values, numbers, durations, others] = columns(&mut pack, calls_left * MAX_VARINT_64)?;
    pack.finish()?;
    let [mut threads, mut names, mut name, mut counts] =
        [&threads, &names, &name, &counts].map(|column| Unpacker::new(column));
    let mut nodes = Nodes::new(Unpacker::new(&nodes));
    let [mut values, mut numbers, mut durations, mut others] =
        [&values, &numbers, &durations, &others].map(|column| Unpacker::new(column));
    if lists > threads.remaining() || calls_left > values.remaining() {
        return Err(FEWER);
    }
    let mut all = Vec::with_capacity(lists);
    for _ in 0..lists {
        let thread = threads.number32()?;
        let stack = nodes.next()?;
        let argument = str::from_utf8(name.raw(names.number32()? as usize)?)
            .map_err(|_| DecodeError("a name is not UTF-8"))?;
        let count = counts.number32()? as usize;
        calls_left = calls_left.checked_sub(count).ok_or(FEWER)?;
        let calls = (0..count).map(|_| {
            let value = f64::from_bits(values.number()?.reverse_bits());
            let calls = add_one_call(numbers.number()?)?;
            let duration = durations.number()?;
            let own = duration.checked_sub(others.number()?);
            Ok(CallsAtValue {
                value,
                calls,
                duration: Nanoseconds(duration),
                self_duration: Nanoseconds(own.ok_or(LONGER)?),
            })
        });
        all.push(CallsByArgument {
            thread,
            stack,
            argument: argument.to_owned(),
            calls: calls.collect::<Result<_, _>>()?,
        });
    }
    if calls_left > 0 {
        return Err(FEWER);
    }
    for column in [threads, names, name, counts, nodes.column] {
        column.finish()?;
    }
    for column in [values, numbers, durations, others] {
        column.finish()?;
    }
    Ok(all)
}

/// Bytes of memory for the unpacked calls.
pub(crate) fn claimed_by_arguments(pack: &[u8]) -> Result<u64, DecodeError> {
    let (lists, calls) = head(&mut Unpacker::new(pack))?;
    let lists = lists as u64 * size_of::<CallsByArgument<NodeIx>>() as u64;
    Ok(lists + calls as u64 * size_of::<CallsAtValue>() as u64)
}

/// The number of lists of calls, and the total number of calls in them.
fn head(pack: &mut Unpacker<'_>) -> Result<(usize, usize), DecodeError> {
    let mut count = || {
        let count = usize::try_from(pack.number()?).ok();
        count.filter(|&count| count <= MAX_CALL_RECORDS).ok_or(MANY)
    };
    Ok((count()?, count()?))
}

const MANY: DecodeError = DecodeError("there are more calls by arguments than a run may have");
const FEWER: DecodeError = DecodeError("there are not as many calls by arguments as announced");
const LONGER: DecodeError = DecodeError("the self time of calls exceeds their total time");
