//! Tests of finding outliers.

use super::super::log::Call;
use super::super::paths::TraceFunctionIx;
use super::super::regtime::compress_calls;
use super::super::thresholds::CallThresholds;
use super::*;

/// The calls of a thread, and the end of the last one.
#[derive(Default)]
struct Thread(Vec<Call>, u64);

impl Thread {
    /// Appends a call with consecutive callees, which begin when the call does.
    fn call(&mut self, function: char, duration: u64, callees: &[(char, u64)]) {
        let mut begin = self.1;
        let mut add = |depth, function: char, begin, duration| {
            self.0.push(Call {
                arguments: None,
                depth,
                function: TraceFunctionIx(u32::from(function)),
                begin: Nanoseconds(begin),
                duration: Nanoseconds(duration),
            });
        };
        add(0, function, begin, duration);
        for &(callee, took) in callees {
            add(1, callee, begin, took);
            begin += took;
        }
        self.1 += duration;
    }
}

/// The outliers of threads, as (thread, path, duration, typical duration).
fn outliers(threads: &[Thread]) -> Vec<(u32, String, u64, u64)> {
    let mut paths = CallPaths::default();
    let mut run = RunDurations::default();
    for thread in threads {
        let calls = thread.0.iter().copied();
        let compressed = compress_calls(
            calls,
            &CallThresholds::default(),
            Nanoseconds(thread.1),
            &mut paths,
        );
        let same: Vec<CallPathIx> = paths.iter().collect();
        run.add(&compressed.durations, &same);
    }
    let min_lost = vec![Nanoseconds(0); threads.len()];
    let waits = paths.iter().map(|path| match paths.function(path).0 as u8 {
        b'L' => Some(WaitsFor::Others),
        b'S' => Some(WaitsFor::Time),
        _ => None,
    });
    let outliers = run.outliers(&paths, &waits.collect::<Vec<_>>(), &min_lost);
    let rows = outliers.iter().map(|(outlier, _)| {
        let call = &outlier.call;
        let duration = call.end.0 - call.begin.0;
        let path = name(&paths, call.stack);
        (outlier.thread, path, duration, outlier.typical.0)
    });
    rows.collect()
}

fn name(paths: &CallPaths, path: CallPathIx) -> String {
    let function = char::from(paths.function(path).0 as u8);
    match paths.caller(path) {
        Some(caller) => format!("{}>{function}", name(paths, caller)),
        None => function.to_string(),
    }
}

#[test]
fn finds_calls_that_took_unusually_long_for_their_path() {
    let mut thread = Thread::default();
    for number in 0..100 {
        thread.call('a', if number == 60 { 5_000 } else { 100 + number }, &[]);
        thread.call('b', 5_000, &[]);
    }
    assert_eq!(outliers(&[thread]), [(0, "a".to_owned(), 5_000, 150)]);
}

#[test]
fn typical_duration_is_that_of_all_threads() {
    let mut often = Thread::default();
    (0..50).for_each(|_| often.call('a', 10, &[]));
    let mut once = Thread::default();
    once.call('a', 900, &[]);
    assert_eq!(outliers(&[often, once]), [(1, "a".to_owned(), 900, 10)]);
}

#[test]
fn four_calls_have_no_outlier() {
    let mut thread = Thread::default();
    for took in [1, 1, 1, 10_000] {
        thread.call('a', took, &[]);
    }
    assert_eq!(outliers(&[thread]), []);
}

#[test]
fn widely_varying_durations_have_no_outlier() {
    let mut thread = Thread::default();
    (0..1000_u64).for_each(|number| thread.call('a', 100 + number * number, &[]));
    assert_eq!(outliers(&[thread]), []);
}

#[test]
fn caller_explained_by_its_callee_is_no_outlier() {
    let mut thread = Thread::default();
    for number in 0..100 {
        let slow = if number == 7 { 10_000 } else { 0 };
        thread.call('a', 100 + slow, &[('b', 10), ('c', 20 + slow)]);
    }
    assert_eq!(outliers(&[thread]), [(0, "a>c".to_owned(), 10_020, 20)]);
}

#[test]
fn caller_with_own_lost_time_is_an_outlier_too() {
    let mut thread = Thread::default();
    for number in 0..100 {
        let slow = if number == 7 { 10_000 } else { 0 };
        thread.call('a', 100 + 2 * slow, &[('c', 20 + slow)]);
    }
    let named = [
        (0, "a".to_owned(), 20_100, 101),
        (0, "a>c".to_owned(), 10_020, 20),
    ];
    assert_eq!(outliers(&[thread]), named);
}

#[test]
fn rare_callee_is_the_outlier_instead_of_its_caller() {
    let mut thread = Thread::default();
    for number in 0..100 {
        let rare = [('b', 10), ('r', 10_000)];
        let is_slow = number % 40 == 7;
        thread.call(
            'a',
            if is_slow { 10_100 } else { 100 },
            &rare[..1 + usize::from(is_slow)],
        );
    }
    let rare = |_| (0, "a>r".to_owned(), 10_000, 0);
    assert_eq!(outliers(&[thread]), [0, 1, 2].map(rare));
}

#[test]
fn sleep_counts_as_time_of_the_caller() {
    let mut thread = Thread::default();
    for number in 0..100 {
        let slow = if number == 7 { 9_000 } else { 0 };
        let sleeps = [('c', 5), ('S', slow)];
        thread.call('a', 20 + slow, &sleeps[..1 + usize::from(slow > 0)]);
        thread.call('b', 20 + slow, &[('S', 10 + slow)]);
    }
    let named = [
        (0, "a".to_owned(), 9_020, 20),
        (0, "b".to_owned(), 9_020, 20),
    ];
    assert_eq!(outliers(&[thread]), named);
}

#[test]
fn outliers_are_ordered_by_lost_time_and_limited_in_number() {
    let threads = [0, 1, 2, 3].map(|index| {
        let mut thread = Thread::default();
        for number in 0..40 * 200_u64 {
            let function = char::from(b'a' + (number % 40) as u8);
            let is_slow = number / 40 % 20 == 7;
            let duration = if is_slow { 1_000 + number + index } else { 10 };
            thread.call(function, duration, &[]);
        }
        thread
    });
    let outliers = outliers(&threads);
    assert_eq!(outliers.len(), MAX_OUTLIERS);
    assert!(outliers.is_sorted_by_key(|(_, _, duration, typical)| Reverse(duration - typical)));
}
