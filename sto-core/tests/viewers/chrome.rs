//! What Chrome's traces hold.

use super::{error, read, stacks};

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
    object(&calls())
}
