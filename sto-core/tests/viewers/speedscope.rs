//! Files of speedscope.

use super::{read, stacks};

/// A file of one profile.
pub(crate) fn file(profile: &str) -> String {
    format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{{"frames":[{{"name":"main","file":"/home/ann/a.py","line":3}},{{"name":"work"}}]}},
        "profiles":[{profile}]}}"#
    )
}

pub(crate) fn sampled(unit: &str, samples: &str, weights: &str) -> String {
    file(&format!(
        r#"{{"type":"sampled","name":"t","unit":"{unit}","startValue":0,"endValue":9,
        "samples":{samples},"weights":{weights}}}"#
    ))
}

pub(crate) fn evented(unit: &str, events: &str) -> String {
    file(&format!(
        r#"{{"type":"evented","name":"t","unit":"{unit}","startValue":10,"endValue":100,
        "events":{events}}}"#
    ))
}

#[test]
fn converts_every_unit() {
    for (unit, expected) in [
        ("none", "samples 3 3 samples"),
        ("nanoseconds", "wall 1 3 ns"),
        ("microseconds", "wall 1 3000 ns"),
        ("milliseconds", "wall 1 3000000 ns"),
        ("seconds", "wall 1 3000000000 ns"),
        ("bytes", "bytes 1 3 bytes"),
    ] {
        let recording = read(&sampled(unit, "[[0,1],[0]]", "[3,0]")).unwrap();
        assert_eq!(stacks(&recording), [format!("{expected} [t]: main;work")]);
    }
}

#[test]
fn empty_stack_is_unknown() {
    assert_eq!(
        stacks(&read(&sampled("none", "[[]]", "[1]")).unwrap()),
        ["samples 1 1 samples [t]: [unknown] (unresolved)"]
    );
}

#[test]
fn fractional_weights_keep_their_sum() {
    let recording = read(&sampled("none", "[[0],[0],[1],[1]]", "[0.25,0.5,0.75,1.5]")).unwrap();
    assert_eq!(
        recording.samples.iter().map(|s| s.cost.value).sum::<u64>(),
        3
    );
    assert!(
        recording.warnings[0].contains("fractions"),
        "{:?}",
        recording.warnings
    );
}

#[test]
fn events_give_each_stack_its_self_time() {
    let events = r#"[{"type":"O","frame":0,"at":20},{"type":"O","frame":1,"at":25},
        {"type":"C","frame":1,"at":40},{"type":"C","frame":0,"at":100}]"#;
    let recording = read(&evented("microseconds", events)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "calls 1 1 events [t]: main a.py:3",
            "calls 1 1 events [t]: main;work",
            "wall 1 65000 ns [t]: main a.py:3",
            "wall 1 15000 ns [t]: main;work",
        ]
    );
    let thread = &recording.calls.as_ref().unwrap().threads[0];
    assert_eq!((thread.begin.0, thread.end.0), (10_000, 90_000));
}

#[test]
fn evented_profiles_with_equal_names_are_separate_threads() {
    let events = r#"[{"type":"O","frame":0,"at":20},{"type":"C","frame":0,"at":30}]"#;
    let one = evented("microseconds", events);
    let profile = &one[one.find("{\"type\":\"evented\"").unwrap()..one.len() - 2];
    let two = one.replace(profile, &format!("{profile},{profile}"));
    let recording = read(&two).unwrap();
    let names = recording.threads.iter().map(|thread| &*thread.name);
    assert_eq!(names.collect::<Vec<_>>(), ["t", "t (2)"]);
    assert!(recording.warnings.is_empty(), "{:?}", recording.warnings);
}

#[test]
fn keeps_the_unit_of_events() {
    let events = r#"[{"type":"O","frame":0,"at":20},{"type":"O","frame":1,"at":25},
        {"type":"C","frame":1,"at":40},{"type":"C","frame":0,"at":100}]"#;
    let recording = read(&evented("bytes", events)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "bytes 2 65 bytes [t]: main a.py:3",
            "bytes 1 15 bytes [t]: main;work",
        ]
    );
    assert!(recording.calls.is_none());
}

#[test]
fn keeps_numbers_above_2_to_53_exact() {
    let large = (1u64 << 63) + 1;
    let recording = read(&sampled("bytes", "[[0]]", &format!("[{large}]"))).unwrap();
    assert_eq!(recording.samples[0].cost.value, large);
}
