use super::*;
use proptest::prelude::*;
use sto_model::trace::{CallThread, CallsAtValue, CallsByArgument, Expression, LongCall};

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
        records: vec![
            CallRecord::Call(call(0, 100, 160)),
            CallRecord::Expression(short),
        ],
    };
    let second = ThreadCalls {
        thread: thread(9, ""),
        begin: Nanoseconds(105),
        end: Nanoseconds(150),
        calls: 1,
        records: vec![CallRecord::Call(call(3, 105, 150))],
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
            activities: vec![ThreadActivity {
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
        arguments: Vec::new(),
    }
}

#[test]
fn example_matches_the_specification() {
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

fn arguments() -> Vec<CallsByArgument<NodeIx>> {
    let at = |value, calls, duration, own| CallsAtValue {
        value,
        calls,
        duration: Nanoseconds(duration),
        self_duration: Nanoseconds(own),
    };
    let with = |stack, argument: &str, calls| CallsByArgument {
        thread: 1,
        stack: NodeIx(stack),
        argument: argument.to_owned(),
        calls,
    };
    vec![
        with(3, "k", vec![at(-1.0, 1, 9, 9)]),
        with(2, "n", vec![at(2.0, 1, 7, 4), at(1000.0, 3, 90, 30)]),
    ]
}

#[test]
fn calls_by_argument_match_the_specification() {
    let pack = pack_arguments(&arguments()).unwrap();
    let bytes = [
        &b"\x02\x03\x02\0\x01\x01\x02\0\x06\x01\x02\0\x01\x01\x02\0kn\x02\0\x01\x02"[..],
        b"\x06\0\xfd\x1f\x02\x82\xe2\x0b\x03\0\0\0\x02\x03\0\x09\x07\x5a\x03\0\0\x03\x3c",
    ];
    assert_eq!(pack, bytes.concat(), "{}", pack.escape_ascii());
    assert_eq!(unpack_arguments(&pack).unwrap(), arguments());
    for end in 0..pack.len() {
        assert!(unpack_arguments(&pack[..end]).is_err(), "{end}");
    }
    let mut many = Packer::default();
    many.number(MAX_CALL_RECORDS as u64 + 1);
    many.number(0u32);
    assert!(claimed_by_arguments(&many.finish().unwrap()).is_err());
}

#[test]
fn rejects_invalid_packs() {
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
    // Offsets refer to the example.
    refused(&[(0, 2)], "the form of a threshold is unknown");
    refused(&[(20, 3)], "there are fewer threads than announced");
    refused(&[(40, 0xff)], "a name is not UTF-8");
    refused(&[(56, 1)], "bytes are left over");
    refused(&[(60, 9)], "there are not as many records as announced");
    refused(&[(89, 9)], "a thread of calls does not exist");
}

#[test]
fn rejects_packs_that_exceed_limits() {
    let mut head = Packer::default();
    for _ in 0..3 {
        pack_threshold(&mut head, Threshold::Time(Nanoseconds(0)));
    }
    let head = head.finish().unwrap();
    for at in 0..6 {
        let mut pack = Packer::from_bytes(head.clone());
        for count in 0..6 {
            let most = if count == 0 {
                MAX_CALL_THREADS
            } else {
                MAX_CALL_RECORDS
            };
            pack.number(if count == at { most as u64 + 1 } else { 0 });
        }
        let pack = pack.finish().unwrap();
        let many = DecodeError("there are more threads, or records of calls, than a run may have");
        assert_eq!(claimed_by_calls(&pack), Err(many));
        assert_eq!(unpack_calls(&pack), Err(many));
    }
}

/// Kind, gap, length and stacks of a record.
type RecordParts = (u8, u64, u64, Vec<(u32, u64, u64)>);

fn records() -> impl Strategy<Value = Vec<RecordParts>> {
    let stacks = prop::collection::vec((any::<u32>(), 1u64..99, any::<u64>()), 1..4);
    prop::collection::vec((0u8..2, 0u64..1 << 40, 0u64..1 << 40, stacks), 1..9)
}

proptest! {
    #[test]
    fn calls_round_trip(
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
                    return CallRecord::Call(call(stacks[0].0, begin.0, end.0));
                }
                time = end.0;
                let stacks = stacks.into_iter().map(|(node, calls, time)| stack(node, calls, time));
                CallRecord::Expression(Expression { begin, end, stacks: stacks.collect() })
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
        for (thread, call) in run.outliers.iter_mut().map(|moment| (moment.thread, &mut moment.call))
            .chain(run.waits.iter_mut().map(|moment| (moment.thread, &mut moment.call)))
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
        let mut with = pack_arguments(&arguments()).unwrap();
        for at in 0..with.len() {
            with[at] ^= pack[at];
            let _ = unpack_arguments(&with);
            with[at] ^= pack[at];
        }
        if let Ok(run) = unpack_calls(&pack) {
            prop_assert!(run.outliers.iter().all(|outlier| (outlier.thread as usize) < run.threads.len()));
        }
    }
}
