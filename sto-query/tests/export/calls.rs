//! Calls over time, exported as Perfetto traces and read again.

use super::written;
use crate::ask;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::trace::{CallRecord, CallThread};
use sto_core::units::Nanoseconds;
use sto_query::questions::{ExportFormat, ExportRequest, Window};
use sto_query::sources::{BuildRef, Sources};

fn stored(trace: &Path, keep: bool) -> Store {
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        keep_calls: keep,
        ..IngestOptions::default()
    };
    ingest(&store, trace, &options, &mut |_| ()).unwrap();
    store
}

fn exported(sources: &Sources, named: BuildRef, window: Option<Window>) -> Vec<u8> {
    let mut request = ExportRequest::default();
    request.named = named;
    request.filter.window = window;
    request.format = ExportFormat::Perfetto;
    written(&ask(sources, &request).unwrap())
}

/// A thread's calls: depth, functions, begin and end, in nanoseconds since the first call of the run.
type Calls = Vec<(u32, Vec<String>, u64, u64)>;

fn calls(store: &Store) -> Vec<(CallThread, Calls)> {
    let snapshot = store.snapshot().unwrap();
    let id = snapshot.builds().unwrap()[0].profiles[0].id;
    let kept = snapshot.kept_calls(id).unwrap().unwrap();
    let functions = |node| {
        let frames = kept.tree().ancestors(node);
        let names = frames.map(|node| kept.frames().frame(kept.tree().frame(node)).symbol);
        names.map(str::to_owned).collect()
    };
    let all = (Nanoseconds(0), Nanoseconds(u64::MAX));
    let mut threads = Vec::new();
    for (ix, thread) in kept.threads().enumerate() {
        let mut calls = Calls::new();
        kept.visit_calls_during(ix, all, |call| {
            calls.push((call.depth, functions(call.stack), call.begin.0, call.end.0));
        })
        .unwrap();
        threads.push((thread.clone(), calls));
    }
    let first = threads.iter().flat_map(|(_, calls)| calls);
    let first = first.map(|call| call.2).min().unwrap_or(0);
    for call in threads.iter_mut().flat_map(|(_, calls)| calls) {
        call.2 -= first;
        call.3 -= first;
    }
    threads
}

/// Exports a trace and returns the calls of the exported file.
fn calls_of_exported(trace: &Path, folder: &Path) -> Vec<(CallThread, Calls)> {
    let sources = Sources::from_snapshot(Store::in_memory().unwrap().snapshot().unwrap());
    let path = folder.join("exported");
    let bytes = exported(&sources, BuildRef::File(trace.to_owned()), None);
    std::fs::write(&path, bytes).unwrap();
    calls(&stored(&path, true))
}

fn testdata(file: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    repository.join("testdata").join(file)
}

#[test]
fn calls_of_real_traces_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    for file in [
        "perfetto/tracks.pftrace.zst",
        "perfetto/chromium.pftrace.zst",
        "xray/basic.xray",
        "xray/fdr.xray",
        "uftrace/calls.data",
        "calls/pool.xray.zst",
    ] {
        let trace = testdata(file);
        let before = calls(&stored(&trace, true));
        assert!(before.iter().any(|(_, calls)| calls.len() > 1), "{file}");
        let after = calls_of_exported(&trace, folder.path());
        for (found, expected) in after.iter().zip(&before) {
            assert!(found == expected, "{file}: {:?} {:?}", found.0, expected.0);
        }
        assert_eq!(after.len(), before.len(), "{file}");
    }
}

/// The begin of a nested call or the end of the innermost one, and the time before it.
fn steps() -> impl Strategy<Value = Vec<(Option<u8>, u32)>> {
    prop::collection::vec((prop::option::of(0..3u8), 0..4u32), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn calls_of_any_trace_round_trip(threads in prop::collection::vec(steps(), 1..4)) {
        let mut trace = String::from("[");
        for (tid, steps) in threads.iter().enumerate() {
            let (mut now, mut open) = (0, 0);
            let tid = tid + 1;
            let mut event = |phase: &str, now: u32| {
                let separator = if trace.len() == 1 { "" } else { "," };
                write!(trace, "{separator}\n{{{phase},\"pid\":1,\"tid\":{tid},\"ts\":{now}}}").unwrap();
            };
            event("\"ph\":\"B\",\"name\":\"main\"", now);
            for &(step, after) in steps {
                now += after;
                match step {
                    Some(name) => {
                        event(&format!("\"ph\":\"B\",\"name\":\"f{name}\""), now);
                        open += 1;
                    }
                    None if open > 0 => {
                        event("\"ph\":\"E\"", now);
                        open -= 1;
                    }
                    None => {}
                }
            }
        }
        trace += "\n]";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        std::fs::write(&path, trace).unwrap();
        prop_assert_eq!(calls_of_exported(&path, folder.path()), calls(&stored(&path, true)));
    }
}

/// Total time of each function in each thread.
fn times(store: &Store) -> BTreeMap<(CallThread, String), u64> {
    let snapshot = store.snapshot().unwrap();
    let id = snapshot.builds().unwrap()[0].profiles[0].id;
    let loaded = snapshot.load_calls(id).unwrap().unwrap();
    let mut times = BTreeMap::new();
    for of in &loaded.calls.threads {
        let mut add = |node, time| {
            let frame = loaded.frames.frame(loaded.tree.frame(node));
            let key = (of.thread.clone(), frame.symbol.to_owned());
            *times.entry(key).or_default() += time;
        };
        for record in &of.records {
            match record {
                CallRecord::Call(call) => add(call.stack, call.end.0 - call.begin.0),
                CallRecord::Expression(expression) => {
                    let stacks = expression.stacks.iter();
                    stacks.for_each(|of| add(of.stack, of.duration.0));
                }
            }
        }
    }
    times
}

#[test]
fn merged_calls_keep_their_time_and_number() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["calls/pool.xray.zst", "uftrace/calls.data"] {
        let before = stored(&testdata(file), false);
        let sources = Sources::from_snapshot(before.snapshot().unwrap());
        let bytes = exported(&sources, "v1".into(), None);
        let labelled = bytes.windows(5).filter(|part| part == b"calls").count();
        assert!(labelled > 10, "{file}: {labelled}");
        let path = folder.path().join("exported");
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(times(&stored(&path, true)), times(&before), "{file}");
    }
}

#[test]
fn window_has_the_calls_that_overlap_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = testdata("calls/pool.xray.zst");
    let all = calls(&stored(&trace, true));
    let window = Window::Time {
        from: Nanoseconds(2_000_000),
        to: Some(Nanoseconds(3_000_000)),
    };
    let sources = Sources::from_snapshot(Store::in_memory().unwrap().snapshot().unwrap());
    let path = folder.path().join("exported");
    std::fs::write(
        &path,
        exported(&sources, BuildRef::File(trace), Some(window)),
    )
    .unwrap();
    let count = |threads: &[(CallThread, Calls)], is_in: fn(u64, u64) -> bool| {
        let calls = threads.iter().flat_map(|(_, calls)| calls);
        calls.filter(|call| is_in(call.2, call.3)).count()
    };
    let part = count(&calls(&stored(&path, true)), |_, _| true);
    assert_eq!(
        part,
        count(&all, |begin, end| begin < 3_000_000 && end > 2_000_000)
    );
    assert!(part > 0 && part < count(&all, |_, _| true), "{part}");
}
