//! What Chrome's traces hold.

use super::{error, metrics, read, stacks};
use sto_core::recording::Recording;

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
    "spans 2 70000 ns [helper]: main",
    "spans 1 30000 ns [helper]: main;work a.py:12",
];

#[test]
fn an_object_and_an_array_are_read_alike_also_one_that_does_not_end() {
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
            open.warnings[0].contains("does not end"),
            "{:?}",
            open.warnings
        );
    }
}

#[test]
fn an_array_that_ends_within_an_event_is_refused() {
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
fn complete_events_nest_by_time_whatever_their_order() {
    let events = [
        event("X", "inner", 10, r#","dur":5"#),
        event("X", "next", 15, r#","dur":5"#),
        event("X", "outer", 10, r#","dur":20"#),
    ];
    let found = stacks(&read(&object(&events)).unwrap());
    assert_eq!(
        found,
        [
            "spans 1 10000 ns []: outer",
            "spans 1 5000 ns []: outer;inner",
            "spans 1 5000 ns []: outer;next",
        ]
    );
}

#[test]
fn a_complete_event_does_not_end_what_begins_and_ends_beside_it() {
    let events = [
        event("B", "a", 0, ""),
        event("E", "a", 5, ""),
        event("X", "b", 5, r#","dur":3"#),
        event("X", "z", 1000, r#","dur":1"#),
    ];
    let expected = [
        "spans 1 5000 ns []: a",
        "spans 1 3000 ns []: b",
        "spans 1 1000 ns []: z",
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
fn a_complete_event_that_outlasts_its_caller_keeps_its_time() {
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
            "spans 1 1000 ns []: late",
            "spans 1 2000 ns []: late;within",
            "spans 1 3000 ns []: main",
            "spans 1 1000 ns []: main;late",
            "spans 1 1000 ns []: main;late;within",
            "spans 1 1000 ns []: next",
        ]
    );
    let counts: Vec<_> = found.warnings.iter().map(|text| &text[..12]).collect();
    assert_eq!(counts, ["2 calls last"], "{:?}", found.warnings);
}

#[test]
fn events_of_one_time_keep_the_order_of_the_file() {
    let events = [
        event("B", "outer", 0, ""),
        event("B", "first", 0, ""),
        // The caller's end may come first.
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
            "spans 1 4000 ns []: outer;first",
            "spans 2 5000 ns []: second"
        ]
    );
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn events_that_do_not_fit_together_are_counted() {
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
            "spans 3 11000 ns []: main",
            "spans 1 5000 ns []: main;a",
            "spans 1 5000 ns []: main;a;b",
            "spans 1 5000 ns []: main;b",
            "spans 1 5000 ns []: main;c",
            "spans 1 2000 ns []: main;inner",
            "spans 1 2000 ns []: main;inner;lost",
        ]
    );
    let counts: Vec<_> = recording.warnings.iter().map(|text| &text[..12]).collect();
    assert_eq!(
        counts,
        [
            "2 calls begi",
            "1 calls do n",
            "3 events end",
            "1 calls last"
        ]
    );
}

#[test]
fn chunks_are_put_together_and_have_lines() {
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

/// A trace that nothing is wrong with.
pub(crate) fn sound() -> String {
    let heap = counter("heap", 150, r#"{"used":30,"free":"2"}"#);
    object(&[&calls()[..], &[heap]].concat())
}

/// The metrics of a trace with calls and these events besides.
fn with_counters(more: &[String]) -> Recording {
    let recording = read(&object(&[&calls()[..], more].concat())).unwrap();
    assert_eq!(stacks(&recording), CALLS);
    recording
}

fn counter(name: &str, ts: u64, args: &str) -> String {
    event("C", name, ts, &format!(r#","args":{args}"#))
}

#[test]
fn counters_are_levels_by_name_value_and_where_there_are_several_id() {
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
fn counters_of_several_processes_are_kept_apart() {
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
fn counters_from_before_the_first_call_say_what_was_so_when_it_began() {
    let found = with_counters(&[
        counter("heap", 10, r#"{"used":1}"#),
        counter("heap", 90, r#"{"used":2}"#),
        counter("heap", 101, r#"{"used":3}"#),
    ]);
    assert_eq!(metrics(&found), ["heap.used Level 0:2 1000:3"]);
}

#[test]
fn what_is_wrong_with_counters_costs_them_alone() {
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
    let warning = "8 values of counters have no time, or are no numbers; they were left out.";
    assert_eq!(found.warnings, [warning]);
}

#[test]
fn of_very_many_counters_as_many_as_are_read_are_kept() {
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
    let warning = "98976 metrics over time were left out: of a recording, 1024 are read.";
    assert!(
        found.warnings.contains(&warning.to_owned()),
        "{:?}",
        found.warnings
    );
}
