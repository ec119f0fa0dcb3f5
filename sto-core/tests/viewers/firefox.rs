//! What processed profiles of the Firefox Profiler hold.

use crate::{error, read, stacks};
use sto_core::model::FrameKind;
use sto_core::units::Nanoseconds;

/// A profile of one thread: `main` called `work`, of libc.so.6, with these samples.
pub(crate) fn profile(samples: &str, change: impl Fn(&str) -> String) -> String {
    change(&format!(
        r#"{{"meta":{{"version":24,"preprocessedProfileVersion":49,"startTime":1700000000000.5,
        "sampleUnits":{{"time":"ms","threadCPUDelta":"µs"}},
        "categories":[{{"name":"User"}},{{"name":"Kernel"}},{{"name":"JIT"}}]}},
        "libs":[{{"name":"libc.so.6","path":"/usr/lib/libc.so.6","codeId":"0102"}}],
        "threads":[{{"name":"helper","processName":"app","pid":"7","tid":"8.1",
        "samples":{samples},
        "stackTable":{{"length":2,"prefix":[null,0],"frame":[0,1]}},
        "frameTable":{{"length":2,"func":[0,1],"address":[-1,16],"inlineDepth":[0,0],
            "category":[0,0],"line":[3,null],"implementation":[null,null]}},
        "funcTable":{{"length":2,"name":[0,1],"resource":[-1,0],"fileName":[2,null]}},
        "resourceTable":{{"length":1,"lib":[0],"name":[3]}},
        "stringArray":["main","work","/home/ann/a.c","libc.so.6","baseline"]}}]}}"#
    ))
}

pub(crate) const SAMPLES: &str =
    r#"{"stack":[0,1,null],"time":[0.5,1.25,2],"weight":null,"weightType":"samples"}"#;

fn same(text: &str) -> String {
    text.to_owned()
}

#[test]
fn stacks_have_names_modules_files_and_times() {
    let recording = read(&profile(SAMPLES, same)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "samples 1 1 samples [helper]: [unknown] (unresolved)",
            "samples 1 1 samples [helper]: main a.c:3",
            "samples 1 1 samples [helper]: main;libc.so.6!work",
        ]
    );
    let times: Vec<_> = recording
        .samples
        .iter()
        .map(|s| s.time.unwrap().0)
        .collect();
    assert_eq!(times, [500_000, 1_250_000, 2_000_000]);
    assert_eq!(recording.processes[0].program, "app");
    assert_eq!(
        (recording.processes[0].pid, recording.threads[0].tid),
        (7, 8)
    );
    assert_eq!(recording.origin.recorded.unwrap().0, 1_700_000_000);
}

#[test]
fn weights_are_numbers_times_or_bytes() {
    let with = |kind: &str, weights: &str| {
        let samples =
            format!(r#"{{"stack":[0,1],"time":[0,1],"weight":{weights},"weightType":"{kind}"}}"#);
        stacks(&read(&profile(&samples, same)).unwrap())
    };
    assert_eq!(
        with("samples", "[3,null]"),
        [
            "samples 3 3 samples [helper]: main a.c:3",
            "samples 1 1 samples [helper]: main;libc.so.6!work",
        ]
    );
    assert_eq!(
        with("tracing-ms", "[1.5,0]"),
        ["wall 1 1500000 ns [helper]: main a.c:3"]
    );
    assert_eq!(
        with("bytes", "[0,4096]"),
        ["bytes 1 4096 bytes [helper]: main;libc.so.6!work"]
    );
}

#[test]
fn cpu_times_and_allocations_are_sample_types_beside_samples() {
    let samples = r#"{"stack":[0],"time":[0],"threadCPUDelta":[250]},
        "jsAllocations":{"stack":[0],"time":[0],"weight":[32],"weightType":"bytes"},
        "nativeAllocations":{"stack":[0,1],"time":[0,1],"weight":[64,-64],"weightType":"bytes"}"#;
    assert_eq!(
        stacks(&read(&profile(samples, same)).unwrap()),
        [
            "cpu 1 250000 ns [helper]: main a.c:3",
            "js-allocations 1 32 bytes [helper]: main a.c:3",
            "native-allocations 1 64 bytes [helper]: main a.c:3",
            "native-deallocations 1 64 bytes [helper]: main;libc.so.6!work",
            "samples 1 1 samples [helper]: main a.c:3",
        ]
    );
}

#[test]
fn categories_inlining_and_implementations_tell_kinds() {
    let kind = |from: &str, to: &str| {
        let changed = profile(SAMPLES, |text| {
            assert!(text.contains(from));
            text.replace(from, to)
        });
        let recording = read(&changed).unwrap();
        let kinds = recording.named.iter().map(|(_, frame)| frame.kind);
        kinds.into_iter().next().unwrap()
    };
    let category = r#""category":[0,0]"#;
    assert_eq!(kind(category, category), FrameKind::User);
    assert_eq!(kind(category, r#""category":[1,0]"#), FrameKind::Kernel);
    assert_eq!(kind(category, r#""category":[2,0]"#), FrameKind::Jit);
    let depth = r#""inlineDepth":[0,0]"#;
    assert_eq!(kind(depth, r#""inlineDepth":[1,0]"#), FrameKind::Inlined);
    let implementation = r#""implementation":[null,null]"#;
    assert_eq!(
        kind(implementation, r#""implementation":[4,null]"#),
        FrameKind::JitBaseline
    );
}

#[test]
fn functions_that_nothing_named_are_addresses_in_their_libraries() {
    let text = profile(SAMPLES, |text| text.replace(r#""work""#, r#""0x10""#));
    let recording = read(&text).unwrap();
    let found = stacks(&recording);
    assert!(
        found
            .iter()
            .any(|line| line.ends_with("main;libc.so.6+0x10")),
        "{found:?}"
    );
    let build_id = recording.modules[0].build_id.as_ref().unwrap();
    assert_eq!(build_id.as_bytes(), [1, 2]);
}

#[test]
fn tables_may_be_shared_and_times_be_deltas() {
    let own = profile(r#"{"stack":[1,1],"timeDeltas":[1,2]}"#, same);
    let start = own.find(r#""stackTable""#).unwrap();
    let end = own.rfind("}]}").unwrap();
    let (before, tables) = (
        own[..start].trim_end().trim_end_matches(','),
        &own[start..end],
    );
    let recording = read(&format!("{before}}}],\"shared\":{{{tables}}}}}")).unwrap();
    assert_eq!(
        stacks(&recording),
        ["samples 2 2 samples [helper]: main;libc.so.6!work"]
    );
    assert_eq!(recording.samples[1].time, Some(Nanoseconds(3_000_000)));
}

#[test]
fn versions_of_another_layout_are_refused() {
    let text = profile(SAMPLES, |text| {
        text.replace(r#"ProfileVersion":49"#, r#"ProfileVersion":66"#)
    });
    assert_eq!(
        error(&text),
        "a/file: meta.preprocessedProfileVersion: 66; profiles up to version 65 are read"
    );
}
