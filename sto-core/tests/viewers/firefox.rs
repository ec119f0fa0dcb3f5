//! Processed profiles of the Firefox Profiler.

use super::{error, metrics, read, stacks};
use sto_core::model::FrameKind;
use sto_core::recording::Recording;
use sto_core::units::Nanoseconds;

/// A profile of one thread with these samples, in which `main` calls `work` of libc.so.6.
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
fn reads_names_modules_files_and_times() {
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
fn reads_libraries_in_threads() {
    let libs = r#""libs":[{"name":"libc.so.6","path":"/usr/lib/libc.so.6","codeId":"0102"}],"#;
    let moved = profile(SAMPLES, |text| {
        let text = text.replacen(libs, r#""libs":[{"name":"other.so"}],"#, 1);
        text.replacen(r#""samples":{"#, &format!(r#"{libs}"samples":{{"#), 1)
    });
    let expected = read(&profile(SAMPLES, same)).unwrap();
    assert_eq!(stacks(&read(&moved).unwrap()), stacks(&expected));
    let wrong = moved.replace(r#""lib":[0]"#, r#""lib":[1]"#);
    assert!(
        error(&wrong).contains("threads[0].resourceTable.lib: 1; expected"),
        "{}",
        error(&wrong)
    );
}

#[test]
fn reads_weights_as_counts_times_or_bytes() {
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
fn cpu_times_and_allocations_are_sample_types() {
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
fn finds_kinds_by_category_inlining_and_implementation() {
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
fn unnamed_functions_become_addresses() {
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
fn reads_shared_tables_and_time_deltas() {
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

/// The profile of [`profile`] in the layout of version 80: tables are shared, callers are relative,
/// and flags mark the columns with values.
fn newest(change: impl Fn(&str) -> String) -> String {
    change(
        r#"{"meta":{"version":24,"preprocessedProfileVersion":80,"startTime":1700000000000.5,
        "sampleUnits":{"time":"ms","threadCPUDelta":"µs"},
        "categories":[{"name":"User"},{"name":"Kernel"},{"name":"JIT"}]},
        "libs":[{"name":"libc.so.6","path":"/usr/lib/libc.so.6","codeId":"0102"}],
        "threads":[{"name":"helper","processName":"app","pid":"7","tid":"8.1",
        "samples":{"stack":[0,1,-1],"time":[0.5,1.25,2],"weight":null,"weightType":"samples"}}],
        "shared":{
        "stackTable":{"length":2,"prefixOffset":[0,1],"frame":[0,1]},
        "frameTable":{"length":2,"flags":[20,6],"func":[0,1],"address":[0,16],"category":[0,0],
            "lib":[0,0],"line":[3,9]},
        "funcTable":{"length":2,"flags":[8,4],"name":[0,1],"resource":[0,0],"source":[0,0]},
        "resourceTable":{"length":1,"name":[3],"host":[null],"type":[1]},
        "sources":{"length":1,"filename":[2]},
        "stringArray":["main","work","/home/ann/a.c","libc.so.6"]}}"#,
    )
}

#[test]
fn newest_layout_equals_the_older_one() {
    let (old, new) = (profile(SAMPLES, same), newest(same));
    let (old, new) = (read(&old).unwrap(), read(&new).unwrap());
    assert_eq!(stacks(&new), stacks(&old));
    let times = |recording: &sto_core::recording::Recording| -> Vec<_> {
        let samples = recording.samples.iter();
        samples.map(|sample| sample.time).collect()
    };
    assert_eq!(times(&new), times(&old));
    let unnamed = newest(|text| text.replace(r#""work""#, r#""0x10""#));
    let found = stacks(&read(&unnamed).unwrap());
    let address = "samples 1 1 samples [helper]: main;libc.so.6+0x10".to_owned();
    assert!(found.contains(&address), "{found:?}");
}

#[test]
fn flags_mark_present_values() {
    let with = |from: &str, to: &str| {
        let changed = newest(|text| {
            assert!(text.contains(from));
            text.replace(from, to)
        });
        stacks(&read(&changed).unwrap()).remove(1)
    };
    let flags = r#""flags":[20,6],"func""#;
    let shown = with(flags, r#""flags":[4,6],"func""#);
    assert_eq!(shown, "samples 1 1 samples [helper]: main a.c:0");
    let shown = with(flags, r#""flags":[21,6],"func""#);
    assert_eq!(shown, "samples 1 1 samples [helper]: main (inlined) a.c:3");
    let shown = with(r#""category":[0,0]"#, r#""category":[1,0]"#);
    assert_eq!(shown, "samples 1 1 samples [helper]: main (kernel) a.c:3");
    let shown = with(r#""flags":[8,4],"name""#, r#""flags":[0,4],"name""#);
    assert_eq!(shown, "samples 1 1 samples [helper]: main");
}

#[test]
fn functions_without_resource_use_the_frames_library() {
    let text = newest(|text| text.replace(r#""flags":[8,4],"name""#, r#""flags":[8,0],"name""#));
    let found = stacks(&read(&text).unwrap());
    let expected = "samples 1 1 samples [helper]: main;libc.so.6!work".to_owned();
    assert!(found.contains(&expected), "{found:?}");
}

#[test]
fn rejects_invalid_distances() {
    let refused = |from: &str, to: &str| error(&newest(|text| text.replace(from, to)));
    let message = refused(r#""prefixOffset":[0,1]"#, r#""prefixOffset":[0,2]"#);
    assert!(
        message.contains("stackTable.prefixOffset[1]: 2; expected a stack before it"),
        "{message}"
    );
    let message = refused(r#""prefixOffset":[0,1]"#, r#""prefixOffset":[0]"#);
    assert!(
        message.contains("2 entries, and 1 of prefixOffset"),
        "{message}"
    );
    let message = refused(r#""lib":[0,0]"#, r#""lib":[0,7]"#);
    assert!(message.contains("frameTable.lib[1]"), "{message}");
    let message = refused(r#""stack":[0,1,-1]"#, r#""stack":[0,1,-2]"#);
    assert!(message.contains("samples.stack[2]"), "{message}");
}

#[test]
fn rejects_unknown_versions() {
    let text = profile(SAMPLES, |text| {
        text.replace(r#"ProfileVersion":49"#, r#"ProfileVersion":81"#)
    });
    assert_eq!(
        error(&text),
        "a/file: meta.preprocessedProfileVersion: 81; profiles up to version 80 are read"
    );
}

/// The profile with these counters.
fn with_counters(counters: &str) -> Recording {
    let recording = read(&profile(SAMPLES, |text| {
        text.replacen(
            r#""threads":"#,
            &format!(r#""counters":{counters},"threads":"#),
            1,
        )
    }));
    let recording = recording.unwrap();
    assert_eq!(stacks(&recording).len(), 3);
    recording
}

#[test]
fn memory_counters_are_levels_and_others_are_differences() {
    let found = with_counters(
        r#"[{"name":"malloc","category":"Memory","pid":"7","mainThreadIndex":0,"samples":
            {"length":3,"time":[0.5,1,2.5],"count":[99,50,-20],"number":[9,2,4]}},
        {"name":"processCPU","category":"CPU","pid":7,"samples":{"timeDeltas":[1,2,1],"count":[5,10,20.5]}},
        {"name":"up and down","category":"other","samples":{"time":[1,2,3],"count":[-5,10,-20]}},
        {"name":"shown as level","category":"other","display":{"graphType":"line-accumulated"},
            "samples":{"time":[1,2,3],"count":[1,1,1]}},
        {"name":"shown as rate","category":"Memory","display":{"graphType":"line-rate"},
            "samples":{"time":[1,2,3],"count":[1,1,null]}},
        {"name":"before version 48","category":"Memory","sampleGroups":[{"id":0,
            "samples":{"time":[1,2],"count":[1,7],"number":[1,1]}}]}]"#,
    );
    let expected = [
        "malloc Level 500000:0 1000000:50 2500000:30",
        "malloc operations Count 500000:0 1000000:2 2500000:4",
        "processCPU Count 1000000:0 3000000:10 4000000:20.5",
        "up and down Level 1000000:0 2000000:10 3000000:-10",
        "shown as level Level 1000000:0 2000000:1 3000000:2",
        "shown as rate Count 1000000:0 2000000:1",
        "before version 48 Level 1000000:0 2000000:7",
        "before version 48 operations Count 1000000:0 2000000:1",
    ];
    assert_eq!(metrics(&found), expected);
    assert_eq!(found.warnings, [""; 0]);
}

#[test]
fn names_counters_after_their_processes() {
    let samples = r#""samples":{"time":[1,2],"count":[0,3]}"#;
    let counter = |name: &str, pid: u32| format!(r#"{{"name":"{name}","pid":"{pid}",{samples}}}"#);
    let all = [counter("cpu", 7), counter("cpu", 9), counter("net", 7)];
    let found = with_counters(&format!("[{}]", all.join(",")));
    let expected = [
        "app: cpu Count 1000000:0 2000000:3",
        "cpu Count 1000000:0 2000000:3",
        "net Count 1000000:0 2000000:3",
    ];
    assert_eq!(metrics(&found), expected);
}

#[test]
fn ignores_only_the_malformed_counters() {
    for (counters, warning) in [
        ("7", "The counters are invalid; they were left out."),
        (
            r#"[{"samples":{}}]"#,
            "The counters are invalid; they were left out.",
        ),
        (
            r#"[{"name":"a"},{"samples":{"time":[1,2],"count":[1]}},{"samples":{"count":[1]}},
                {"samples":{"time":[1,2],"count":[1,2],"number":[1]}},{"samples":{"time":[],"count":[]}}]"#,
            "4 counters have no samples, or another number of times; they were left out.",
        ),
    ] {
        let found = with_counters(counters);
        assert_eq!(metrics(&found), [""; 0]);
        assert_eq!(found.warnings, [warning]);
    }
    let back = r#"[{"name":"a","samples":{"time":[3,-1,2],"count":[1,1e308,1e308]}}]"#;
    assert_eq!(metrics(&with_counters(back)), [""; 0]);
    let back = r#"[{"name":"a","samples":{"time":[3,-1,2],"count":[1,4,8]}}]"#;
    let sum: f64 = with_counters(back).metrics[0].values().iter().sum();
    assert!((sum - 12.0).abs() < 1e-9, "{sum}");
}
