//! What Chrome's traces hold.

use crate::{error, read, stacks};

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
fn events_that_do_not_fit_together_are_counted() {
    let events = [
        event("E", "earlier", 5, ""),
        event("B", "main", 10, ""),
        event("X", "a", 20, r#","dur":10"#),
        event("X", "b", 25, r#","dur":10"#),
        event("B", "c", 40, ""),
        event("E", "other", 45, ""),
    ];
    let recording = read(&object(&events)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "spans 2 20000 ns []: main",
            "spans 1 5000 ns []: main;a",
            "spans 1 5000 ns []: main;a;b",
            "spans 1 5000 ns []: main;c",
        ]
    );
    let counts: Vec<_> = recording.warnings.iter().map(|text| &text[..8]).collect();
    assert_eq!(counts, ["2 calls ", "2 events", "1 calls "]);
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
