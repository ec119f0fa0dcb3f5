//! The threads of a run that made calls.

use super::columns::columns;
use crate::codec::DecodeError;
use crate::codec::bytes::{
    MAX_VARINT_32, MAX_VARINT_64, Packer, Unpacker, add_difference, difference,
};
use sto_model::limits::MAX_USER_STRING;
use sto_model::trace::{CallThread, RunCalls, ThreadCalls};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

pub(super) fn pack_threads(pack: &mut Packer, run: &RunCalls<NodeIx>) {
    let mut columns: [Packer; 7] = Default::default();
    let mut last = 0;
    for ThreadCalls {
        thread, records, ..
    } in &run.threads
    {
        let [pids, tids, programs, program, names, name, counts] = &mut columns;
        pids.number(difference(thread.pid, last));
        tids.number(difference(thread.tid, thread.pid));
        for (lengths, text, string) in [
            (programs, program, &thread.program),
            (names, name, &thread.name),
        ] {
            lengths.number(string.len() as u64);
            text.raw(string.as_bytes());
        }
        counts.number(records.len() as u64);
        last = thread.pid;
    }
    for column in columns {
        pack.column(column);
    }
}

/// Threads without their records, and the number of records of each.
pub(super) type Threads = Vec<(ThreadCalls<NodeIx>, usize)>;

pub(super) fn unpack_threads(
    pack: &mut Unpacker<'_>,
    count: usize,
) -> Result<Threads, DecodeError> {
    let [pids, tids] = columns(pack, count * MAX_VARINT_32)?;
    let [programs, program] = strings(pack, count)?;
    let [names, name] = strings(pack, count)?;
    let [counts] = columns(pack, count * MAX_VARINT_64)?;
    let [mut pids, mut tids, mut counts] =
        [&pids, &tids, &counts].map(|column| Unpacker::new(column));
    let mut programs = [&programs, &program].map(|column| Unpacker::new(column));
    let mut names = [&names, &name].map(|column| Unpacker::new(column));
    if count > pids.remaining() {
        return Err(DecodeError("there are fewer threads than announced"));
    }
    let mut threads: Threads = Vec::with_capacity(count);
    for _ in 0..count {
        let last = threads.last().map_or(0, |(last, _)| last.thread.pid);
        let pid = add_difference(last, pids.number32()?);
        let thread = CallThread {
            pid,
            program: string(&mut programs)?,
            tid: add_difference(pid, tids.number32()?),
            name: string(&mut names)?,
        };
        let records = usize::try_from(counts.number()?).unwrap_or(usize::MAX);
        let calls = ThreadCalls {
            thread,
            begin: Nanoseconds(0),
            end: Nanoseconds(0),
            calls: 0,
            records: Vec::new(),
        };
        threads.push((calls, records));
    }
    for column in [pids, tids, counts]
        .into_iter()
        .chain(programs)
        .chain(names)
    {
        column.finish()?;
    }
    Ok(threads)
}

fn strings(pack: &mut Unpacker<'_>, count: usize) -> Result<[Vec<u8>; 2], DecodeError> {
    Ok([
        pack.column_within(count * MAX_VARINT_32)?,
        pack.column_within(count * MAX_USER_STRING)?,
    ])
}

fn string([lengths, text]: &mut [Unpacker<'_>; 2]) -> Result<String, DecodeError> {
    let length = usize::try_from(lengths.number()?).unwrap_or(usize::MAX);
    let text = str::from_utf8(text.raw(length)?);
    Ok(text
        .map_err(|_| DecodeError("a name is not UTF-8"))?
        .to_owned())
}
