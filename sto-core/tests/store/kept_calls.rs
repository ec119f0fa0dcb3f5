//! Storing every call of a trace: calls round-trip exactly, and stay with their profile.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use sto_core::id::ProfileId;
use sto_core::ingest::{IngestOptions, IngestOutcome, ingest};
use sto_core::store::{Added, KeptCall, KeptCalls, Store};
use sto_core::trace::{CallRecord, CallThresholds, Threshold};
use sto_core::tree::{NodeIx, SliceCount};
use sto_core::units::{Bytes, Nanoseconds};

const ALL: (Nanoseconds, Nanoseconds) = (Nanoseconds(0), Nanoseconds(u64::MAX));

/// A call: its stack, start and end.
type Call = (String, u64, u64);

/// The text of a thread with at least `at_least` calls, and its calls in order.
fn thread(seed: u64, at_least: usize) -> (String, Vec<Call>) {
    let mut random = seed;
    let mut next = |most: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % most
    };
    let (mut text, mut calls) = (String::new(), Vec::<Call>::new());
    let mut open: Vec<usize> = Vec::new();
    let mut now = 1_000 * seed;
    while calls.len() < at_least || !open.is_empty() {
        now += next(300);
        let is_deep = open.len() as u64 > 2 + next(4);
        if open.len() > 1 && is_deep || calls.len() >= at_least {
            let call = &mut calls[open.pop().unwrap()];
            call.2 = now;
            let function = call.0.rsplit(';').next().unwrap();
            writeln!(text, "1 {function} {now}").unwrap();
            continue;
        }
        let function = match open.len() {
            0 => "main".to_owned(),
            depth => format!("f{}", depth as u64 + next(3)),
        };
        let caller = open.last().map(|&caller| format!("{};", calls[caller].0));
        writeln!(text, "0 {function} {now}").unwrap();
        open.push(calls.len());
        calls.push((caller.unwrap_or_default() + &function, now, 0));
    }
    (text, calls)
}

/// A folder with the text of two threads, and their calls.
fn trace(counts: [usize; 2]) -> (tempfile::TempDir, [Vec<Call>; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let threads = [(7, counts[0]), (8, counts[1])].map(|(seed, count)| {
        let (text, calls) = thread(seed, count);
        fs::write(folder.path().join(format!("t_{seed}.txt")), text).unwrap();
        calls
    });
    (folder, threads)
}

fn stored(store: &Store, trace: &Path, keep: bool, thresholds: CallThresholds) -> IngestOutcome {
    let options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        keep_calls: keep,
        call_thresholds: thresholds,
        ..IngestOptions::default()
    };
    ingest(store, trace, &options, &mut |_| ()).unwrap()
}

fn kept_in(store: &Store, trace: &Path) -> ProfileId {
    stored(store, trace, true, CallThresholds::default()).profiles[0].id
}

fn kept(store: &Store, id: ProfileId) -> Option<KeptCalls> {
    store.snapshot().unwrap().kept_calls(id).unwrap()
}

fn named(kept: &KeptCalls, call: KeptCall) -> Call {
    let tree = kept.tree();
    let mut names: Vec<&str> = tree
        .ancestors(call.stack)
        .map(|node| kept.frames().frame(tree.frame(node)).symbol)
        .collect();
    assert_eq!(call.depth as usize + 1, names.len());
    names.reverse();
    (names.join(";"), call.begin.0, call.end.0)
}

fn during(kept: &KeptCalls, thread: usize, time: (Nanoseconds, Nanoseconds)) -> Vec<Call> {
    let mut calls = Vec::new();
    kept.visit_calls_during(thread, time, |call| calls.push(named(kept, call)))
        .unwrap();
    calls
}

fn assert_sound(folder: &Path) {
    let verification = Store::verify(folder, None, &mut |_| Ok(())).unwrap();
    assert!(verification.sound, "{verification:#?}");
}

#[test]
fn every_call_round_trips() {
    let (trace, threads) = trace([300_000, 3_000]);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let outcome = stored(&store, trace.path(), true, CallThresholds::default());
    let [profile] = &outcome.profiles[..] else {
        panic!()
    };
    let sizes = profile.calls.unwrap();
    assert!(sizes.kept_bytes > Bytes(0) && sizes.bytes > Bytes(0));
    let kept = kept(&store, profile.id).unwrap();
    assert_eq!(kept.threads().len(), 2);
    for (index, calls) in threads.iter().enumerate() {
        assert!(during(&kept, index, ALL) == *calls, "{index}");
        let (first, last) = (calls[0].1, calls[0].2);
        for part in 1..40 {
            let begin = first + (last - first) * part / 40;
            let end = begin + (last - first) / 997;
            let within = calls.iter().filter(|call| call.1 < end && call.2 > begin);
            let within: Vec<Call> = within.cloned().collect();
            let found = during(&kept, index, (Nanoseconds(begin), Nanoseconds(end)));
            assert!(found == within, "{index} {part}");
        }
    }
    assert_sound(folder.path());
}

#[test]
fn kept_calls_summarise_like_the_trace() {
    let (trace, _) = trace([20_000, 3_000]);
    let store = Store::in_memory().unwrap();
    let id = kept_in(&store, trace.path());
    let thresholds = CallThresholds {
        call_duration: Threshold::Share(0.002),
        call_gap: Threshold::Time(Nanoseconds(290)),
        total_time: Threshold::Share(0.05),
    };
    let other = Store::in_memory().unwrap();
    stored(&other, trace.path(), false, thresholds);
    let loaded = other.snapshot().unwrap().load_calls(id).unwrap().unwrap();
    let anew = kept(&store, id)
        .unwrap()
        .compressed(thresholds, None)
        .unwrap();
    assert!(anew.threads == loaded.calls.threads);
    let before = store.snapshot().unwrap().load_calls(id).unwrap().unwrap();
    assert!(anew.threads != before.calls.threads);
}

#[test]
fn part_of_the_time_has_exact_calls_and_whole_records() {
    let (trace, threads) = trace([20_000, 3_000]);
    let store = Store::in_memory().unwrap();
    let id = kept_in(&store, trace.path());
    let loaded = store.snapshot().unwrap().load_calls(id).unwrap().unwrap();
    let kept = kept(&store, id).unwrap();
    let (first, last) = (threads[0][0].1, threads[0][0].2);
    let window = [3, 4].map(|fifth| Nanoseconds(first + (last - first) * fifth / 5));
    let window = (window[0], window[1]);
    assert!(threads[1].iter().all(|call| call.2 < window.0.0));
    let there = during(&kept, 0, window);
    let [usual, each] =
        [CallThresholds::default(), EACH].map(|of| kept.compressed(of, Some(window)).unwrap());
    for calls in [&usual, &each] {
        let [of] = &calls.threads[..] else { panic!() };
        assert_eq!((of.begin, of.end), window);
        assert_eq!(of.calls, there.len() as u64);
    }
    let times = each.threads[0].records.iter().map(CallRecord::time);
    let expected = there
        .iter()
        .map(|call| (Nanoseconds(call.1), Nanoseconds(call.2)));
    assert!(times.eq(expected));
    // Relative to the length of the window, not of the thread.
    let whole = loaded.calls.during(window);
    assert!(whole.threads[0].records.len() < usual.threads[0].records.len());
    assert!(whole.threads[0].calls > there.len() as u64);
}

/// Thresholds that keep every call except those of zero length.
const EACH: CallThresholds = CallThresholds {
    call_duration: Threshold::Time(Nanoseconds(0)),
    call_gap: Threshold::Time(Nanoseconds(0)),
    total_time: Threshold::Time(Nanoseconds(0)),
};

/// The records of each expression of a thread, separately.
fn zoomed(
    kept: &KeptCalls,
    (index, window): (usize, Option<(Nanoseconds, Nanoseconds)>),
    records: &[CallRecord<NodeIx>],
    thresholds: CallThresholds,
) -> Vec<Vec<CallRecord<NodeIx>>> {
    let mut numbered = kept.numbered(index, window).unwrap();
    let mut first = 0;
    let mut zoomed = Vec::new();
    for record in records {
        let numbers = first..first + record.calls().unwrap();
        first = numbers.end;
        let (begin, end) = record.time();
        if let CallRecord::Expression(_) = record {
            let time = Nanoseconds(end.0 - begin.0);
            zoomed.push(numbered.compressed(numbers, thresholds, time).unwrap());
        }
    }
    zoomed
}

#[test]
fn zooms_into_the_calls_of_a_record() {
    let (trace, threads) = trace([300_000, 3_000]);
    let store = Store::in_memory().unwrap();
    let id = kept_in(&store, trace.path());
    let kept = kept(&store, id).unwrap();
    let (first, last) = (threads[0][0].1, threads[0].last().unwrap().2);
    // Calls that extend past the ends of a time range are kept whole.
    let part = [9, 10].map(|part| Nanoseconds(first + (last - first) * part / 11));
    for window in [None, Some((part[0], part[1]))] {
        let calls = kept.compressed(CallThresholds::default(), window).unwrap();
        assert_eq!(calls.threads.len(), if window.is_none() { 2 } else { 1 });
        for (index, of) in calls.threads.iter().enumerate() {
            let zoomed = |thresholds| zoomed(&kept, (index, window), &of.records, thresholds);
            let is_expression =
                |record: &&CallRecord<_>| matches!(record, CallRecord::Expression(_));
            let expressions: Vec<&CallRecord<_>> =
                of.records.iter().filter(is_expression).collect();
            assert!(expressions.len() > 2, "{}", expressions.len());
            for (expression, within) in expressions.iter().zip(zoomed(CallThresholds::default())) {
                assert!(within.len() > 5 && within[0].time().0 == expression.time().0);
                assert_eq!(summed(&within), summed(&[(*expression).clone()]));
            }
            let all = zoomed(EACH).into_iter().flatten();
            let all = all.chain(of.records.iter().cloned());
            let each = all.filter(|record| matches!(record, CallRecord::Call(_)));
            let mut calls: Vec<_> = each
                .map(|record| (record.time().0.0, record.time().1.0))
                .collect();
            let (from, to) = window.unwrap_or(ALL);
            let within = threads[index].iter();
            let within = within.filter(|call| call.2 > call.1.max(from.0) && call.1 < to.0);
            let mut expected: Vec<(u64, u64)> = within.map(|call| (call.1, call.2)).collect();
            calls.sort_unstable();
            expected.sort_unstable();
            assert!(calls == expected, "{} {}", calls.len(), expected.len());
        }
    }
}

/// Number and time of calls by stack.
fn summed(records: &[CallRecord<NodeIx>]) -> BTreeMap<NodeIx, (u64, u64)> {
    let mut sums: BTreeMap<NodeIx, (u64, u64)> = BTreeMap::new();
    let mut add = |stack, calls, time| {
        let sum = sums.entry(stack).or_default();
        *sum = (sum.0 + calls, sum.1 + time);
    };
    for record in records {
        match record {
            CallRecord::Call(call) => add(call.stack, 1, call.end.0 - call.begin.0),
            CallRecord::Expression(of) => {
                let stacks = of.stacks.iter();
                stacks.for_each(|of| add(of.stack, of.calls, of.duration.0));
            }
        }
    }
    sums
}

#[test]
fn kept_calls_stay_with_their_profile() {
    let (trace, threads) = trace([3_000, 400]);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let without = stored(&store, trace.path(), false, CallThresholds::default());
    let id = without.profiles[0].id;
    assert!(kept(&store, id).is_none());
    // Reading again adds them to the profile, once.
    let given = stored(&store, trace.path(), true, CallThresholds::default());
    let added = &given.profiles[0].added;
    assert!(matches!(added, Added::Given { kept, calls: Bytes(0), .. } if *kept > Bytes(0)));
    let again = stored(&store, trace.path(), true, CallThresholds::default());
    assert!(matches!(again.profiles[0].added, Added::AlreadyStored(_)));
    let same = |store: &Store| during(&kept(store, id).unwrap(), 0, ALL) == threads[0];
    assert!(same(&store));
    assert_sound(folder.path());
    store.compact().unwrap();
    assert!(same(&store));
    assert_sound(folder.path());
    let stats = store.stats().unwrap();
    assert!(
        stats
            .parts
            .iter()
            .any(|part| part.part == "kept calls" && part.count == 3)
    );

    let to = tempfile::tempdir().unwrap();
    let exported = to.path().join(Store::FILE_NAME);
    let snapshot = store.snapshot().unwrap();
    snapshot.export(&BTreeSet::from([id]), &exported).unwrap();
    assert_sound(to.path());
    let there = Store::open(to.path()).unwrap();
    assert!(same(&there));
    let other = tempfile::tempdir().unwrap();
    let merged = Store::open_or_create(other.path()).unwrap();
    merged.merge(&snapshot, &mut |_| Ok(())).unwrap();
    drop(snapshot);
    assert!(same(&merged));
    assert_sound(other.path());

    store.prune(&BTreeSet::from([id])).unwrap();
    assert_sound(folder.path());
}

#[test]
fn equal_kept_calls_give_equal_bytes_on_any_number_of_threads() {
    let (trace, _) = trace([3_000, 400]);
    let written = |threads| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| kept_in(&store, trace.path()));
        store.compact().unwrap();
        fs::read(folder.path().join(Store::FILE_NAME)).unwrap()
    };
    assert!(written(1) == written(3));
}

#[test]
fn flipped_bits_in_kept_calls_are_detected() {
    let (trace, threads) = trace([2_000, 100]);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let id = kept_in(&store, trace.path());
    assert!(during(&kept(&store, id).unwrap(), 0, ALL) == threads[0]);
    drop(store);
    let file = folder.path().join(Store::FILE_NAME);
    let bytes = fs::read(&file).unwrap();
    let mut random = 1u64;
    let mut found = 0;
    for _ in 0..300 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bit = (random >> 33) as usize % (8 * bytes.len());
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, bytes).unwrap();
        let kept = Store::open(folder.path()).and_then(|store| store.snapshot()?.kept_calls(id));
        let Ok(Some(kept)) = kept else {
            found += 1;
            continue;
        };
        let mut calls = Vec::new();
        match kept.visit_calls_during(0, ALL, |call| calls.push(named(&kept, call))) {
            Ok(()) => assert!(calls == threads[0], "bit {bit}"),
            Err(_) => found += 1,
        }
    }
    assert!(found > 0);
}

#[test]
fn whole_calls_have_no_slices() {
    let (trace, _) = trace([300, 40]);
    let slices = |whole_calls| {
        let store = Store::in_memory().unwrap();
        let options = IngestOptions {
            version: Some("v1".to_owned()),
            slices: SliceCount::new(10),
            whole_calls,
            ..IngestOptions::default()
        };
        let outcome = ingest(&store, trace.path(), &options, &mut |_| ()).unwrap();
        assert!(outcome.profiles[0].calls.is_some());
        outcome.profiles[0].slices.is_some()
    };
    assert!(slices(false) && !slices(true));
}
