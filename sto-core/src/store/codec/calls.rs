//! Calls over time.
//!
//! Most records follow closely on one another, and what is called next is near in the tree. So times are written as
//! lengths since the record before, and stacks by how far they are from the last one.

use super::DecodeError;
use super::bytes::{MOST_BYTES_32, MOST_BYTES_64, Packer, Unpacker, add_difference, difference};
use super::moments::{pack_outliers, pack_waits, unpack_outliers, unpack_waits};
use crate::intern::NodeIx;
use crate::limits::{MAX_CALL_RECORDS, MAX_CALL_THREADS, MAX_GIVEN_NAME};
use crate::trace::{
    CallThread, CallThresholds, CalledStack, Expression, LongCall, Meanwhile, Outlier, Record,
    RunCalls, ThreadCalls, Threshold, Wait,
};
use crate::units::Nanoseconds;

/// Packs the calls of a run, which were checked by [`check`](crate::store::read::calls::check).
pub(crate) fn pack_calls(run: &RunCalls<NodeIx>) -> Result<Vec<u8>, DecodeError> {
    let mut pack = Packer::default();
    let CallThresholds {
        call_duration,
        call_gap,
        total_time,
    } = run.thresholds;
    for threshold in [call_duration, call_gap, total_time] {
        pack_threshold(&mut pack, threshold);
    }
    let stacks = || run.threads.iter().flat_map(ThreadCalls::expression_stacks);
    let meanwhile = run.outliers.iter().map(|outlier| outlier.meanwhile.len());
    for count in [
        run.threads.len(),
        run.threads.iter().map(|thread| thread.records.len()).sum(),
        stacks().count(),
        run.outliers.len(),
        meanwhile.sum(),
        run.waits.len(),
    ] {
        pack.number(count as u64);
    }
    pack_threads(&mut pack, run);
    pack_records(&mut pack, run);
    pack_outliers(&mut pack, run);
    pack_waits(&mut pack, run);
    pack.finish()
}

/// Unpacks the calls of a run. Whether they keep their rules is not looked at.
pub(crate) fn unpack_calls(pack: &[u8]) -> Result<RunCalls<NodeIx>, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let head = Head::unpack(&mut pack)?;
    let mut threads = unpack_threads(&mut pack, &head)?;
    unpack_records(&mut pack, &head, &mut threads)?;
    let threads: Vec<ThreadCalls<NodeIx>> = threads.into_iter().map(|of| of.0).collect();
    let outliers = unpack_outliers(&mut pack, (head.outliers, head.meanwhile), &threads)?;
    let waits = unpack_waits(&mut pack, head.waits, &threads)?;
    pack.finish()?;
    Ok(RunCalls {
        thresholds: head.thresholds,
        threads,
        outliers,
        waits,
    })
}

/// How many bytes the calls of a run take in memory.
pub(crate) fn claimed_by_calls(pack: &[u8]) -> Result<u64, DecodeError> {
    let head = Head::unpack(&mut Unpacker::new(pack))?;
    let each = [
        (head.threads, size_of::<ThreadCalls<NodeIx>>()),
        (head.records, size_of::<Record<NodeIx>>()),
        (head.stacks, size_of::<CalledStack<NodeIx>>()),
        (head.outliers, size_of::<Outlier<NodeIx>>()),
        (head.meanwhile, size_of::<Meanwhile<NodeIx>>()),
        (head.waits, size_of::<Wait<NodeIx>>()),
    ];
    Ok(each
        .iter()
        .map(|&(count, size)| count as u64 * size as u64)
        .sum())
}

/// What stands before the columns.
struct Head {
    thresholds: CallThresholds,
    threads: usize,
    records: usize,
    stacks: usize,
    outliers: usize,
    meanwhile: usize,
    waits: usize,
}

impl Head {
    fn unpack(pack: &mut Unpacker<'_>) -> Result<Head, DecodeError> {
        let thresholds = CallThresholds {
            call_duration: unpack_threshold(pack)?,
            call_gap: unpack_threshold(pack)?,
            total_time: unpack_threshold(pack)?,
        };
        let mut count = |most: usize| {
            let count = usize::try_from(pack.number()?).ok();
            count.filter(|&count| count <= most).ok_or(DecodeError(
                "there are more threads, or records of calls, than a run may have",
            ))
        };
        Ok(Head {
            thresholds,
            threads: count(MAX_CALL_THREADS)?,
            records: count(MAX_CALL_RECORDS)?,
            stacks: count(MAX_CALL_RECORDS)?,
            outliers: count(MAX_CALL_RECORDS)?,
            meanwhile: count(MAX_CALL_RECORDS)?,
            waits: count(MAX_CALL_RECORDS)?,
        })
    }
}

fn pack_threshold(pack: &mut Packer, threshold: Threshold) {
    match threshold {
        Threshold::Share(share) => {
            pack.number(0u32);
            pack.raw(&share.to_le_bytes());
        }
        Threshold::Time(time) => {
            pack.number(1u32);
            pack.number(time.0);
        }
    }
}

fn unpack_threshold(pack: &mut Unpacker<'_>) -> Result<Threshold, DecodeError> {
    match pack.number()? {
        0 => {
            let bytes = pack.raw(8)?.try_into().unwrap_or_default();
            Ok(Threshold::Share(f64::from_le_bytes(bytes)))
        }
        1 => Ok(Threshold::Time(Nanoseconds(pack.number()?))),
        _ => Err(DecodeError("the form of a threshold is unknown")),
    }
}

fn pack_threads(pack: &mut Packer, run: &RunCalls<NodeIx>) {
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

/// Threads that have no records yet, and how many they have.
type Threads = Vec<(ThreadCalls<NodeIx>, usize)>;

fn unpack_threads(pack: &mut Unpacker<'_>, head: &Head) -> Result<Threads, DecodeError> {
    let count = head.threads;
    let [pids, tids] = columns(pack, count * MOST_BYTES_32)?;
    let [programs, program] = strings(pack, count)?;
    let [names, name] = strings(pack, count)?;
    let [counts] = columns(pack, count * MOST_BYTES_64)?;
    let [mut pids, mut tids, mut counts] = [&pids, &tids, &counts].map(|of| Unpacker::new(of));
    let mut programs = [&programs, &program].map(|of| Unpacker::new(of));
    let mut names = [&names, &name].map(|of| Unpacker::new(of));
    if count > pids.left() {
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
        pack.column_within(count * MOST_BYTES_32)?,
        pack.column_within(count * MAX_GIVEN_NAME)?,
    ])
}

fn string([lengths, text]: &mut [Unpacker<'_>; 2]) -> Result<String, DecodeError> {
    let length = usize::try_from(lengths.number()?).unwrap_or(usize::MAX);
    let text = str::from_utf8(text.raw(length)?);
    Ok(text
        .map_err(|_| DecodeError("a name is not UTF-8"))?
        .to_owned())
}

fn pack_records(pack: &mut Packer, run: &RunCalls<NodeIx>) {
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
                Record::Call(call) => {
                    node(call.stack);
                    (0, call.begin.0, call.end.0, call.begin.0)
                }
                Record::Expression(expression) => {
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

fn unpack_records(
    pack: &mut Unpacker<'_>,
    head: &Head,
    threads: &mut Threads,
) -> Result<(), DecodeError> {
    const OTHER: DecodeError = DecodeError("there are not as many records as announced");
    let each = head.records * MOST_BYTES_64;
    let [sizes, gaps, lengths] = columns(pack, each)?;
    let nodes = pack.column_within((head.records + head.stacks) * MOST_BYTES_32)?;
    let [calls, durations] = columns(pack, head.stacks * MOST_BYTES_64)?;
    let [mut sizes, mut gaps, mut lengths] = [&sizes, &gaps, &lengths].map(|of| Unpacker::new(of));
    let mut nodes = Nodes::new(Unpacker::new(&nodes));
    let [mut calls, mut durations] = [&calls, &durations].map(|of| Unpacker::new(of));
    let mut thread_begin = Nanoseconds(0);
    let mut stacks_left = head.stacks;
    for (thread, count) in threads {
        if *count > sizes.left() {
            return Err(OTHER);
        }
        thread.records.reserve_exact(*count);
        let mut last = thread_begin;
        for at in 0..*count {
            let size = usize::try_from(sizes.number()?).ok();
            let size = size.filter(|&size| size <= stacks_left).ok_or(OTHER)?;
            let begin = later(last, gaps.number()?)?;
            let end = later(begin, lengths.number()?)?;
            let record = match size {
                0 => Record::Call(LongCall {
                    stack: nodes.next()?,
                    begin,
                    end,
                }),
                size => {
                    stacks_left -= size;
                    if size > calls.left() {
                        return Err(OTHER);
                    }
                    let stacks = (0..size).map(|_| {
                        Ok(CalledStack {
                            stack: nodes.next()?,
                            calls: more(calls.number()?)?,
                            duration: Nanoseconds(durations.number()?),
                        })
                    });
                    Record::Expression(Expression {
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

/// Reads nodes, each by its difference to the one before.
pub(super) struct Nodes<'a> {
    pub(super) column: Unpacker<'a>,
    last: u32,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(column: Unpacker<'a>) -> Self {
        Nodes { column, last: 0 }
    }

    pub(super) fn next(&mut self) -> Result<NodeIx, DecodeError> {
        self.last = add_difference(self.last, self.column.number32()?);
        Ok(NodeIx(self.last))
    }
}

const MANY_CALLS: DecodeError = DecodeError("the calls are more than 64 bits can count");

/// Takes columns of at most so many bytes each.
pub(super) fn columns<const N: usize>(
    pack: &mut Unpacker<'_>,
    most: usize,
) -> Result<[Vec<u8>; N], DecodeError> {
    let mut columns: [Vec<u8>; N] = std::array::from_fn(|_| Vec::new());
    for column in &mut columns {
        *column = pack.column_within(most)?;
    }
    Ok(columns)
}

pub(super) fn later(time: Nanoseconds, by: u64) -> Result<Nanoseconds, DecodeError> {
    let time = time.0.checked_add(by).map(Nanoseconds);
    time.ok_or(DecodeError("a time leaves 64 bits"))
}

pub(super) fn more(calls: u64) -> Result<u64, DecodeError> {
    calls.checked_add(1).ok_or(MANY_CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn thread(tid: u32, name: &str) -> CallThread {
        CallThread {
            pid: 7,
            program: "db".to_owned(),
            tid,
            name: name.to_owned(),
        }
    }

    fn call(stack: u32, begin: u64, end: u64) -> LongCall<NodeIx> {
        LongCall {
            stack: NodeIx(stack),
            begin: Nanoseconds(begin),
            end: Nanoseconds(end),
        }
    }

    fn stack(stack: u32, calls: u64, duration: u64) -> CalledStack<NodeIx> {
        CalledStack {
            stack: NodeIx(stack),
            calls,
            duration: Nanoseconds(duration),
        }
    }

    /// The example of SPEC.md.
    fn example() -> RunCalls<NodeIx> {
        let short = Expression {
            begin: Nanoseconds(110),
            end: Nanoseconds(120),
            stacks: vec![stack(1, 3, 6), stack(2, 5, 2)],
        };
        let first = ThreadCalls {
            thread: thread(7, "main"),
            begin: Nanoseconds(100),
            end: Nanoseconds(160),
            calls: 9,
            records: vec![Record::Call(call(0, 100, 160)), Record::Expression(short)],
        };
        let second = ThreadCalls {
            thread: thread(9, ""),
            begin: Nanoseconds(105),
            end: Nanoseconds(150),
            calls: 1,
            records: vec![Record::Call(call(3, 105, 150))],
        };
        RunCalls {
            thresholds: CallThresholds {
                call_gap: Threshold::Time(Nanoseconds(5)),
                ..CallThresholds::default()
            },
            threads: vec![first, second],
            outliers: vec![Outlier {
                thread: 1,
                call: call(3, 105, 150),
                typical: Nanoseconds(4),
                calls: 1,
                meanwhile: vec![Meanwhile {
                    thread: 0,
                    stack: Some(NodeIx(0)),
                    time: Nanoseconds(45),
                }],
            }],
            waits: vec![Wait {
                thread: 1,
                call: call(3, 105, 150),
                ended_by: Some((0, call(0, 100, 160))),
            }],
        }
    }

    #[test]
    fn the_example_has_the_bytes_of_the_specification() {
        let pack = pack_calls(&example()).unwrap();
        let share = |share: f64| [&[0][..], &share.to_le_bytes()].concat();
        let bytes = [
            &share(0.01)[..],
            b"\x01\x05",
            &share(0.13),
            b"\x02\x03\x02\x01\x01\x01",
            b"\x02\0\x0e\0\x02\0\0\x04\x02\0\x02\x02\x04\0dbdb\x02\0\x04\0\x04\0main\x02\0\x02\x01",
            b"\x03\0\0\x02\0\x03\0\x64\x0a\x05\x03\0\x3c\x0a\x2d\x04\0\0\x02\x02\x02",
            b"\x02\0\x02\x04\x02\0\x06\x02",
            b"\x01\0\x01\x01\0\x06\x01\0\0\x01\0\x2d\x01\0\x04\x01\0\0\x01\0\x01\x01\0\0\x01\0\x02\x01\0\x2d",
            b"\x01\0\x01\x01\0\x06\x01\0\0\x01\0\x2d\x01\0\x01\x01\0\0\x01\0\x64\x01\0\x3c",
        ];
        assert_eq!(pack, bytes.concat(), "{pack:x?}");
        assert_eq!(unpack_calls(&pack).unwrap(), example());
        assert!(claimed_by_calls(&pack).unwrap() > 0);
    }

    #[test]
    fn packs_that_break_their_rules_are_refused() {
        let pack = pack_calls(&example()).unwrap();
        for end in 0..pack.len() {
            assert!(unpack_calls(&pack[..end]).is_err(), "{end}");
        }
        let refused = |changes: &[(usize, u8)], why: &'static str| {
            let mut pack = pack.clone();
            changes.iter().for_each(|&(at, byte)| pack[at] = byte);
            assert_eq!(unpack_calls(&pack), Err(DecodeError(why)), "{changes:?}");
        };
        let longer = [&pack[..], b"\0"].concat();
        let left = DecodeError("bytes are left over");
        assert_eq!(unpack_calls(&longer), Err(left));
        // By the offsets of the bytes in the example.
        refused(&[(0, 2)], "the form of a threshold is unknown");
        refused(&[(20, 3)], "there are fewer threads than announced");
        refused(&[(40, 0xff)], "a name is not UTF-8");
        refused(&[(56, 1)], "bytes are left over");
        refused(&[(60, 9)], "there are not as many records as announced");
        refused(&[(89, 9)], "a thread of calls does not exist");
    }

    #[test]
    fn few_bytes_cannot_claim_more_than_a_run_may_have() {
        let mut head = Packer::default();
        for _ in 0..3 {
            pack_threshold(&mut head, Threshold::Time(Nanoseconds(0)));
        }
        let head = head.finish().unwrap();
        for at in 0..6 {
            let mut pack = Packer::of(head.clone());
            for count in 0..6 {
                let most = if count == 0 {
                    MAX_CALL_THREADS
                } else {
                    MAX_CALL_RECORDS
                };
                pack.number(if count == at { most as u64 + 1 } else { 0 });
            }
            let pack = pack.finish().unwrap();
            let many =
                DecodeError("there are more threads, or records of calls, than a run may have");
            assert_eq!(claimed_by_calls(&pack), Err(many));
            assert_eq!(unpack_calls(&pack), Err(many));
        }
    }

    /// Kind, gap, length, and stacks of a record.
    type RecordParts = (u8, u64, u64, Vec<(u32, u64, u64)>);

    fn records() -> impl Strategy<Value = Vec<RecordParts>> {
        let stacks = prop::collection::vec((any::<u32>(), 1u64..99, any::<u64>()), 1..4);
        prop::collection::vec((0u8..2, 0u64..1 << 40, 0u64..1 << 40, stacks), 1..9)
    }

    proptest! {
        #[test]
        fn calls_come_back(
            all in prop::collection::vec((any::<u32>(), any::<u32>(), records()), 0..4),
            begin in 0u64..1 << 50,
        ) {
            let mut run = RunCalls { threads: Vec::new(), ..example() };
            let mut first = begin;
            for (pid, tid, records) in all {
                let mut time = first;
                let records: Vec<_> = records.into_iter().map(|(kind, gap, length, stacks)| {
                    let (begin, end) = (Nanoseconds(time + gap), Nanoseconds(time + gap + length));
                    if kind == 0 {
                        time = begin.0;
                        return Record::Call(call(stacks[0].0, begin.0, end.0));
                    }
                    time = end.0;
                    let stacks = stacks.into_iter().map(|(node, calls, time)| stack(node, calls, time));
                    Record::Expression(Expression { begin, end, stacks: stacks.collect() })
                }).collect();
                first = records[0].time().0.0;
                run.threads.push(ThreadCalls {
                    thread: CallThread { pid, tid, ..thread(0, "t") },
                    begin: records[0].time().0,
                    end: records.iter().map(|record| record.time().1).max().unwrap(),
                    calls: records.iter().map(|record| record.calls().unwrap()).sum(),
                    records,
                });
            }
            if run.threads.len() < 2 {
                (run.outliers, run.waits) = (Vec::new(), Vec::new());
            }
            for (thread, call) in run.outliers.iter_mut().map(|of| (of.thread, &mut of.call))
                .chain(run.waits.iter_mut().map(|of| (of.thread, &mut of.call)))
            {
                (call.begin, call.end) = (run.threads[thread as usize].begin, run.threads[thread as usize].end);
            }
            let back = unpack_calls(&pack_calls(&run).unwrap());
            prop_assert_eq!(back, Ok(run));
        }

        #[test]
        fn changed_bytes_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut pack = pack_calls(&example()).unwrap();
            for (at, byte) in changes {
                let at = at.index(pack.len());
                pack[at] = byte;
            }
            if let Ok(run) = unpack_calls(&pack) {
                prop_assert!(run.outliers.iter().all(|of| (of.thread as usize) < run.threads.len()));
            }
        }
    }
}
