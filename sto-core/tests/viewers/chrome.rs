//! Chrome's trace events.

use super::{error, metrics, read};
use proptest::prelude::*;
use std::collections::BTreeMap;
use sto_core::recording::{Format, Location, Recording};

/// The time of each stack; the number of calls is both the number of samples and a separate event.
fn stacks(recording: &Recording) -> Vec<String> {
    let (calls, times): (Vec<_>, Vec<_>) = super::stacks(recording)
        .into_iter()
        .partition(|line| line.starts_with("calls "));
    let of = |line: &String| line.split(' ').nth(1).map(str::to_owned);
    for line in &calls {
        assert_eq!(line.split(' ').nth(2).map(str::to_owned), of(line));
    }
    times
}

fn event(ph: &str, name: &str, ts: u64, more: &str) -> String {
    format!(r#"{{"ph":"{ph}","name":"{name}","pid":1,"tid":2,"ts":{ts}{more}}}"#)
}

fn object(events: &[String]) -> String {
    format!(
        r#"{{"displayTimeUnit":"ms","traceEvents":[{}]}}"#,
        events.join(",")
    )
}

fn calls() -> [String; 4] {
    [
        event("B", "main", 100, ""),
        event("X", "work (/home/ann/a.py:12)", 110, r#","dur":30"#),
        event("E", "main", 200, ""),
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"helper"}}"#.to_owned(),
    ]
}

const CALLS: [&str; 2] = [
    "wall 1 70000 ns [helper]: main",
    "wall 1 30000 ns [helper]: main;work a.py:12",
];

/// Read as protobuf, the line feed and the brace are a field 1 of 123 bytes. What this field contains depends on the
/// length of the events.
#[test]
fn array_after_a_line_feed_of_any_length_is_recognised() {
    for length in 1..200 {
        let events = [
            event("B", &"f".repeat(length), 0, ""),
            event("E", "", 7, ""),
        ];
        let recording = read(&format!("[\n{}\n]", events.join(",\n"))).unwrap();
        assert_eq!(recording.format, Format::Chrome, "{length}");
    }
}

/// An argument's value, and the total and self time of the call in µs.
type CallAt = (f64, u64, u64);

/// The calls with an argument, by function and argument.
fn arguments(recording: &Recording) -> Vec<(String, Vec<CallAt>)> {
    let calls = recording.calls.as_ref().unwrap();
    let all = calls.arguments.iter().map(|with| {
        let leaf = recording.stacks.leaf(with.stack).unwrap();
        let Location::Named(frame) = recording.locations[leaf.get()] else {
            panic!("{leaf:?}")
        };
        let function = recording.named.frame(frame).symbol;
        let calls = with.calls.iter().map(|call| {
            assert_eq!(call.calls, 1);
            (
                call.value,
                call.duration.0 / 1000,
                call.self_duration.0 / 1000,
            )
        });
        (format!("{function} {}", with.argument), calls.collect())
    });
    all.collect()
}

#[test]
fn keeps_numeric_arguments_with_call_times() {
    let n = |n: u32| format!(r#","args":{{"n":{n},"of":"x"}}"#);
    let of_x = |ts, dur, size| event("X", "sort", ts, &format!(r#","dur":{dur}{}"#, n(size)));
    let trace = object(&[
        event("B", "main", 100, &n(3)),
        of_x(110, 50, 8),
        of_x(120, 10, 4),
        of_x(130, 20, 4),
        r#"{"ph":"E","pid":1,"tid":2,"ts":200,"args":{"n":7,"found":"2.5"}}"#.to_owned(),
    ]);
    let read = read(&trace).unwrap();
    assert_eq!(
        arguments(&read),
        [
            ("main found".to_owned(), vec![(2.5, 100, 50)]),
            ("main n".to_owned(), vec![(3.0, 100, 50)]),
            (
                "sort n".to_owned(),
                vec![(4.0, 10, 10), (4.0, 20, 20), (8.0, 50, 20)]
            ),
        ]
    );
    assert_eq!(read.warnings, [""; 0]);
}

#[test]
fn longest_piece_of_an_overlong_call_has_its_arguments() {
    let of = |name, ts, dur, n: u32| {
        event(
            "X",
            name,
            ts,
            &format!(r#","dur":{dur},"args":{{"n":{n}}}"#),
        )
    };
    let trace = object(&[of("a", 100, 50, 1), of("b", 149, 60, 2), of("c", 205, 5, 3)]);
    assert_eq!(
        arguments(&read(&trace).unwrap()),
        [
            ("a n".to_owned(), vec![(1.0, 50, 49)]),
            ("b n".to_owned(), vec![(2.0, 59, 55)]),
            ("c n".to_owned(), vec![(3.0, 4, 4)]),
        ]
    );
}

#[test]
fn reads_objects_and_unterminated_arrays_alike() {
    assert_eq!(stacks(&read(&object(&calls())).unwrap()), CALLS);
    let array = format!("[\n{}\n]", calls().join(",\n"));
    let whole = read(&array).unwrap();
    assert_eq!(
        (stacks(&whole), whole.warnings.len()),
        (CALLS.map(str::to_owned).to_vec(), 0)
    );
    for end in [" ]", "]\n", "\n]"] {
        let open = array.strip_suffix("\n]").unwrap().to_owned();
        assert_eq!(stacks(&read(&format!("{open},{end}")).unwrap()), CALLS);
        let open = read(&(open + ",\n")).unwrap();
        assert_eq!(stacks(&open), CALLS);
        assert!(
            open.warnings[0].contains("has no end"),
            "{:?}",
            open.warnings
        );
    }
}

#[test]
fn rejects_an_array_truncated_within_an_event() {
    let array = format!("[{}", calls().join(","));
    let cut = &array[..array.len() - 2];
    assert!(error(cut).contains("truncated"), "{}", error(cut));
    let more = format!("{array}] x");
    assert!(
        error(&more).contains("expected the end of the file"),
        "{}",
        error(&more)
    );
}

#[test]
fn complete_events_nest_by_time_in_any_order() {
    let events = [
        event("X", "inner", 10, r#","dur":5"#),
        event("X", "next", 15, r#","dur":5"#),
        event("X", "outer", 10, r#","dur":20"#),
    ];
    let found = stacks(&read(&object(&events)).unwrap());
    assert_eq!(
        found,
        [
            "wall 1 10000 ns []: outer",
            "wall 1 5000 ns []: outer;inner",
            "wall 1 5000 ns []: outer;next",
        ]
    );
}

#[test]
fn complete_event_does_not_end_begin_end_events() {
    let events = [
        event("B", "a", 0, ""),
        event("E", "a", 5, ""),
        event("X", "b", 5, r#","dur":3"#),
        event("X", "z", 1000, r#","dur":1"#),
    ];
    let expected = [
        "wall 1 5000 ns []: a",
        "wall 1 3000 ns []: b",
        "wall 1 1000 ns []: z",
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(stacks(&found), expected);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let turned: Vec<_> = events.into_iter().rev().collect();
    let found = read(&object(&turned)).unwrap();
    assert_eq!(stacks(&found), expected);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn complete_event_outlasting_its_caller_keeps_its_time() {
    let events = [
        event("B", "main", 0, ""),
        event("X", "late", 3, r#","dur":5"#),
        event("X", "within", 4, r#","dur":3"#),
        event("E", "main", 5, ""),
        event("B", "next", 8, ""),
        event("E", "next", 9, ""),
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&found),
        [
            "wall 1 1000 ns []: late",
            "wall 1 2000 ns []: late;within",
            "wall 1 3000 ns []: main",
            "wall 1 1000 ns []: main;late",
            "wall 1 1000 ns []: main;late;within",
            "wall 1 1000 ns []: next",
        ]
    );
    let counts: Vec<_> = found.warnings.iter().map(|text| &text[..12]).collect();
    assert_eq!(counts, ["2 calls outl"], "{:?}", found.warnings);
}

#[test]
fn simultaneous_events_keep_the_file_order() {
    let events = [
        event("B", "outer", 0, ""),
        event("B", "first", 0, ""),
        // The end of the caller may come first.
        event("E", "outer", 4, ""),
        event("E", "first", 4, ""),
        event("B", "second", 4, ""),
        event("B", "nothing", 6, ""),
        event("E", "nothing", 6, ""),
        r#"{"ph":"E","pid":1,"tid":2,"ts":9}"#.to_owned(),
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&found),
        [
            "wall 1 0 ns []: outer",
            "wall 1 4000 ns []: outer;first",
            "wall 1 5000 ns []: second",
            "wall 1 0 ns []: second;nothing",
        ]
    );
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn counts_mismatched_events() {
    let events = [
        event("E", "earlier", 5, ""),
        event("B", "main", 10, ""),
        event("B", "inner", 12, ""),
        event("B", "lost", 14, ""),
        event("E", "inner", 16, ""),
        event("E", "lost", 18, ""),
        event("X", "a", 20, r#","dur":10"#),
        event("X", "b", 25, r#","dur":10"#),
        event("B", "c", 40, ""),
        event("E", "other", 45, ""),
    ];
    let recording = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "wall 1 11000 ns []: main",
            "wall 1 5000 ns []: main;a",
            "wall 1 5000 ns []: main;a;b",
            "wall 1 5000 ns []: main;b",
            "wall 1 5000 ns []: main;c",
            "wall 1 2000 ns []: main;inner",
            "wall 1 2000 ns []: main;inner;lost",
        ]
    );
    let counts: Vec<_> = recording.warnings.iter().map(|text| &text[..12]).collect();
    assert_eq!(
        counts,
        [
            "2 calls have",
            "1 calls do n",
            "3 events end",
            "1 calls outl"
        ]
    );
}

#[test]
fn complete_event_without_duration_ends_with_its_caller() {
    let events = [
        event("X", "open", 40, ""),
        event("X", "within", 45, r#","dur":3"#),
        event("X", "main", 10, r#","dur":90"#),
        event("X", "on the processor", 20, r#","tdur":7"#),
        event("X", "last", 200, ""),
        event("B", "in last", 210, ""),
        event("E", "in last", 230, ""),
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&found),
        [
            "wall 1 10000 ns []: last",
            "wall 1 20000 ns []: last;in last",
            "wall 1 23000 ns []: main",
            "wall 1 7000 ns []: main;on the processor",
            "wall 1 57000 ns []: main;open",
            "wall 1 3000 ns []: main;open;within",
        ]
    );
    let warning = "2 complete events have no duration; they are shown as long as their caller.";
    assert_eq!(found.warnings, [warning]);
}

#[test]
fn pairs_asynchronous_events_by_category_and_id() {
    let of = |ph: &str, name: &str, ts: u64, id: &str| {
        event(ph, name, ts, &format!(r#","cat":"net",{id}"#))
    };
    let events = [
        of("b", "load", 0, r#""id":1"#),
        of("b", "load", 10, r#""id":"0x2""#),
        of("n", "mark", 11, r#""id":"0x2""#),
        of("b", "parse", 12, r#""id":1"#),
        of("e", "load", 20, r#""id":"0x2""#),
        of("e", "parse", 22, r#""id":1"#),
        of("e", "load", 30, r#""id":1"#),
        // After the first and in its thread; in another process than the next one.
        of("b", "load", 30, r#""id2":{"local":"0x3"}"#),
        of("e", "load", 36, r#""id2":{"local":"0x3"}"#).replace(r#""pid":1"#, r#""pid":9"#),
        of("e", "load", 40, r#""id2":{"local":"0x3"}"#),
        event("b", "load", 50, ""),
        event("s", "flow", 50, r#","id":1"#),
        event("f", "flow", 51, r#","id":1"#),
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&found),
        [
            "wall 1 10000 ns [load (2)]: load",
            "wall 2 30000 ns [load]: load",
            "wall 1 10000 ns [load]: load;parse",
        ]
    );
    assert_eq!(
        found.warnings,
        [
            "1 asynchronous events have no `id`; they were left out.",
            "1 events end a call that did not begin in their thread; they were left out.",
        ]
    );
}

#[test]
fn keeps_times_exact_to_the_nanosecond() {
    let at =
        |ph: &str, ts: &str| format!(r#"{{"name":"f","ph":"{ph}","pid":"7","tid":"8","ts":{ts}}}"#);
    let events = [
        at("B", r#""1795401670245385.251""#),
        at("E", "1795401670245385.252"),
    ];
    assert_eq!(
        stacks(&read(&object(&events)).unwrap()),
        ["wall 1 1 ns []: f"]
    );
}

#[test]
fn finds_thread_names_anywhere() {
    let name = r#"{"ph":"M","name":"thread_name","pid":"app","tid":"io","args":{"name":"reader"}}"#;
    let call =
        |tid: &str| format!(r#"{{"ph":"X","name":"f","ts":1,"dur":1,"pid":"app","tid":"{tid}"}}"#);
    let found = read(&object(&[call("io"), call("ui"), name.to_owned()])).unwrap();
    let threads = found.threads.iter();
    let threads: Vec<_> = threads.map(|thread| (thread.tid, &*thread.name)).collect();
    assert_eq!(threads, [(0, "reader"), (0, "ui")]);
    assert_eq!(found.processes[0].program, "app");
}

#[test]
fn ignores_profile_chunks_without_a_start() {
    let chunk = event(
        "P",
        "ProfileChunk",
        900,
        r#","id":"0x1","args":{"data":{"timeDeltas":[1]}}"#,
    );
    let found = read(&object(&[&calls()[..], &[chunk]].concat())).unwrap();
    assert_eq!(stacks(&found), CALLS);
    let warning = "1 parts of profiles were left out: the beginnings of these profiles are missing in the trace.";
    assert_eq!(found.warnings, [warning]);
}

#[test]
fn ignores_other_keys_besides_the_events() {
    let other_keys = r#""a":"]}\\\"{[","b":[{"c":["}"]}],"d":-1.5e3,"e":null,"f":{"g":"\\"}"#;
    let events = calls().join(" , ");
    let text = format!(" {{ {other_keys} , \"traceEvents\" : [ {events} ] , {other_keys} }} \n");
    let found = read(&text).unwrap();
    assert_eq!(stacks(&found), CALLS);
    assert_eq!(found.warnings, [""; 0]);
    // From any kind of input.
    struct Bytes<'a>(&'a [u8]);
    impl std::io::Read for Bytes<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(buffer.len()).min(1);
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }
    let path = std::path::Path::new("a/file");
    let stream = sto_core::formats::read_stream(path, Bytes(text.as_bytes()), &Default::default());
    assert_eq!(stream.unwrap().samples, found.samples);
}

#[test]
fn joins_profile_chunks_with_lines() {
    let frame = |name: &str| format!(r#"{{"functionName":"{name}","url":"a.js","lineNumber":1}}"#);
    let chunk = |data: String| {
        event(
            "P",
            "ProfileChunk",
            900,
            &format!(r#","id":"0x1","args":{{"data":{data}}}"#),
        )
    };
    let events = [
        event(
            "P",
            "Profile",
            800,
            r#","id":"0x1","args":{"data":{"startTime":800}}"#,
        ),
        chunk(format!(
            r#"{{"cpuProfile":{{"nodes":[{{"id":1,"callFrame":{}}}],"samples":[1]}},
            "timeDeltas":[10],"lines":[4]}}"#,
            frame("main")
        )),
        chunk(format!(
            r#"{{"cpuProfile":{{"nodes":[{{"id":2,"parent":1,"callFrame":{}}}],"samples":[2,2]}},
            "timeDeltas":[20,5]}}"#,
            frame("work")
        )),
        chunk(r#"{"endTime":900}"#.to_owned()),
    ];
    assert_eq!(
        stacks(&read(&object(&events)).unwrap()),
        [
            "wall 1 20000 ns []: main a.js:4",
            "wall 2 70000 ns []: main;work a.js:2",
        ]
    );
}

#[test]
fn reads_an_embedded_profile_of_older_chrome() {
    let nodes = r#"[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},
        {"id":2,"callFrame":{"functionName":"main","url":"a.js","lineNumber":3}}]"#;
    let whole = |deltas: &str| {
        let data = format!(
            r#","args":{{"data":{{{deltas}"cpuProfile":{{"nodes":{nodes},"samples":[2,2],
            "timeDeltas":[20,5],"startTime":100,"endTime":200}}}}}}"#
        );
        event("I", "CpuProfile", 200, &data)
    };
    for deltas in ["", r#""timeDeltas":[20,5],"startTime":100,"#] {
        let events = [&calls()[..], &[whole(deltas)]].concat();
        let found = read(&object(&events)).unwrap();
        let lines = super::stacks(&found);
        assert!(
            lines.contains(&"wall 2 80000 ns [helper]: main a.js:4".to_owned()),
            "{lines:?}"
        );
        assert!(
            lines.iter().any(|line| line.starts_with("spans ")),
            "{lines:?}"
        );
        assert_eq!(found.warnings, [""; 0]);
    }
}

#[test]
fn counts_missing_functions() {
    let events = [
        event(
            "P",
            "Profile",
            800,
            r#","id":"0x1","args":{"data":{"startTime":800}}"#,
        ),
        event("P", "ProfileChunk", 900, r#","id":"0x1","args":{}"#),
        event(
            "P",
            "ProfileChunk",
            900,
            r#","id":"0x1","args":{"data":{"cpuProfile":{"nodes":[{"id":7,"parent":3,"callFrame":
            {"functionName":"work"}}],"samples":[7,4]},"timeDeltas":[10,30],"endTime":900}}"#,
        ),
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&found),
        [
            "wall 1 60000 ns []: [unknown] (unresolved)",
            "wall 1 30000 ns []: work"
        ]
    );
    let warning = "2 references of V8's samples are to functions missing in the trace; such callers are left out, and such samples are unknown.";
    assert_eq!(found.warnings, [warning]);
}

#[test]
fn ignores_events_without_time() {
    let events = [
        r#"{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1}"#.to_owned(),
        r#"{"ph":"e","name":"a","id":"1","ts":null,"pid":1,"tid":1}"#.to_owned(),
        r#"{"ph":"B","name":"b","pid":1,"tid":1}"#.to_owned(),
    ];
    let found = read(&object(&events)).unwrap();
    assert_eq!(stacks(&found), ["wall 1 2000 ns []: (unnamed)"]);
    let warning = "2 events have no time (`ts`); they were left out.";
    assert_eq!(found.warnings, [warning]);
}

/// A valid trace.
pub(crate) fn sound() -> String {
    let heap = counter("heap", 150, r#"{"used":30,"free":"2"}"#);
    object(&[&calls()[..], &[heap]].concat())
}

/// Reads a trace with calls and these additional events.
fn with_counters(more: &[String]) -> Recording {
    let recording = read(&object(&[&calls()[..], more].concat())).unwrap();
    assert_eq!(stacks(&recording), CALLS);
    recording
}

fn counter(name: &str, ts: u64, args: &str) -> String {
    event("C", name, ts, &format!(r#","args":{args}"#))
}

#[test]
fn counters_are_levels_by_name_and_id() {
    let page = r#","args":{"data":{"nodes":7,"documents":2}}"#;
    let found = with_counters(&[
        counter("heap", 150, r#"{"used":3e6,"free":2}"#),
        counter("heap", 120, r#"{"used":-1}"#),
        counter("heap", 150, r#"{"used":"4"}"#),
        event("C", "queue", 110, r#","id":"0x7f","args":{"length":1}"#),
        event("C", "queue", 110, r#","id":9,"args":{"length":5}"#),
        event("C", "alone", 110, r#","id":"0x7f","args":{"length":3}"#),
        event("I", "UpdateCounters", 130, page),
        event("I", "Other", 130, page),
    ]);
    let expected = [
        "heap.free Level 50000:2",
        "heap.used Level 20000:-1 50000:4",
        "queue[0x7f].length Level 10000:1",
        "queue[9].length Level 10000:5",
        "alone.length Level 10000:3",
        "UpdateCounters.documents Level 30000:2",
        "UpdateCounters.nodes Level 30000:7",
    ];
    assert_eq!(metrics(&found), expected);
    assert_eq!(found.warnings, [""; 0]);
}

#[test]
fn separates_counters_of_processes() {
    let process = |pid: u32, name: &str| {
        let args = format!(r#"{{"name":"{name}"}}"#);
        format!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{args}}}"#)
    };
    let used = |pid: u32, used: u32| {
        format!(r#"{{"ph":"C","name":"heap","pid":{pid},"ts":150,"args":{{"used":{used}}}}}"#)
    };
    let found = with_counters(&[
        process(5, "Renderer"),
        process(6, "Renderer"),
        process(7, "Browser"),
        used(5, 50),
        used(7, 70),
        used(6, 60),
        used(8, 80),
        counter("alone", 150, r#"{"used":1}"#),
    ]);
    let expected = [
        "Renderer: heap.used Level 50000:50",
        "Browser: heap.used Level 50000:70",
        "Renderer: heap.used (2) Level 50000:60",
        "heap.used Level 50000:80",
        "alone.used Level 50000:1",
    ];
    assert_eq!(metrics(&found), expected);
}

#[test]
fn earlier_counters_give_the_initial_level() {
    let found = with_counters(&[
        counter("heap", 10, r#"{"used":1}"#),
        counter("heap", 90, r#"{"used":2}"#),
        counter("heap", 101, r#"{"used":3}"#),
    ]);
    assert_eq!(metrics(&found), ["heap.used Level 0:2 1000:3"]);
}

#[test]
fn ignores_only_the_malformed_counters() {
    let found = with_counters(&[
        counter(
            "a",
            150,
            r#"{"text":"many","null":null,"list":[1],"nan":"NaN","good":1}"#,
        ),
        counter("b", 150, "[1,2]"),
        counter("c", 150, "7"),
        r#"{"ph":"C","name":"no time","args":{"used":1}}"#.to_owned(),
        r#"{"ph":"C","ts":1e40,"args":{"used":1}}"#.to_owned(),
        r#"{"ph":"C","ts":150,"args":{"":1}}"#.to_owned(),
        event("I", "UpdateCounters", 130, ""),
    ]);
    assert_eq!(metrics(&found), ["a.good Level 50000:1", ". Level 50000:1"]);
    let warning = "8 values of counters have no time or are not numbers; they were left out.";
    assert_eq!(found.warnings, [warning]);
}

#[test]
fn keeps_counters_up_to_the_limit() {
    let many = (0..100_000).map(|ix| format!(r#""{ix}":1"#));
    let args = format!("{{{}}}", many.collect::<Vec<_>>().join(","));
    let name = "n".repeat(1_000_000);
    let found = with_counters(&[counter(&name, 150, &args)]);
    assert_eq!(found.metrics.len(), 1024);
    assert!(
        found
            .metrics
            .iter()
            .all(|metric| metric.name().len() <= 4096)
    );
    let warning = "98976 metrics over time were left out: at most 1024 are read from a recording.";
    assert!(
        found.warnings.contains(&warning.to_owned()),
        "{:?}",
        found.warnings
    );
}

/// Random calls of a thread: the self time and number of calls of each stack, and the events for them.
#[derive(Default)]
struct Random {
    stacks: BTreeMap<String, (u64, u64)>,
    events: Vec<String>,
    now: u64,
}

impl Random {
    fn calls(&mut self, tid: u32, stack: &str, numbers: &mut impl Iterator<Item = u8>) {
        while let Some(number) = numbers.next().filter(|number| number % 4 != 0) {
            self.now += 1 + u64::from(number % 7);
            let name = format!("f{}", number % 5);
            let (begin, before) = (self.now, self.stacks.values().map(|sum| sum.1).sum::<u64>());
            let inner = format!("{stack};{name}");
            self.calls(tid, &inner, numbers);
            self.now += 1 + u64::from(number % 3);
            let within = self.stacks.values().map(|sum| sum.1).sum::<u64>() - before;
            let took = self.now - begin;
            let sum = self.stacks.entry(inner).or_default();
            *sum = (sum.0 + 1, sum.1 + took - within);
            let at = |ph: &str, time: u64, more: &str| {
                let us = format!("{}.{:03}", time / 1000, time % 1000);
                format!(r#"{{"ph":"{ph}","name":"{name}","pid":1,"tid":{tid},"ts":{us}{more}}}"#)
            };
            match number % 3 {
                0 => {
                    let dur = format!(r#","dur":{}.{:03}"#, took / 1000, took % 1000);
                    self.events.push(at("X", begin, &dur));
                }
                _ => self
                    .events
                    .extend([at("B", begin, ""), at("E", self.now, "")]),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn calls_do_not_depend_on_event_kinds_or_order(
        numbers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..4),
        order in any::<[u8; 16]>(),
    ) {
        let mut expected = Vec::new();
        let mut events = Vec::new();
        for (tid, numbers) in (1..).zip(numbers) {
            let mut random = Random::default();
            let mut numbers = numbers.into_iter();
            while numbers.len() > 0 {
                random.calls(tid, "", &mut numbers);
            }
            let stacks = random.stacks.into_iter();
            expected.extend(stacks.map(|(stack, (calls, took))| {
                format!("wall {calls} {took} ns [{tid}]: {}", &stack[1..])
            }));
            events.extend(random.events);
            let name = format!(r#"{{"ph":"M","name":"thread_name","pid":1,"tid":{tid},"args":{{"name":"{tid}"}}}}"#);
            events.push(name);
        }
        prop_assume!(!expected.is_empty());
        events.sort_by_key(|event| {
            let bytes = event.bytes().zip(order.iter().cycle());
            bytes.fold(0u32, |hash, (byte, salt)| hash.wrapping_mul(31) ^ u32::from(byte ^ salt))
        });
        let found = read(&object(&events)).unwrap();
        prop_assert_eq!(&found.warnings, &[""; 0]);
        let [mut found, mut expected] = [stacks(&found), expected];
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }
}
