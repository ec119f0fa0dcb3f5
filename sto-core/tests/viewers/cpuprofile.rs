//! V8's CPU profiles.

use super::{read, stacks};
use sto_core::units::Nanoseconds;

pub(crate) fn node(id: u64, name: &str, line: i64, more: &str) -> String {
    let url = if line < 0 {
        ""
    } else {
        "file:///home/ann/a.js"
    };
    format!(
        r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"0","url":"{url}",
        "lineNumber":{line},"columnNumber":0}},"hitCount":0{more}}}"#
    )
}

pub(crate) fn profile(nodes: &[String], rest: &str) -> String {
    format!(
        r#"{{"nodes":[{}],"startTime":1000,"endTime":1100{rest}}}"#,
        nodes.join(",")
    )
}

fn nodes() -> [String; 3] {
    [
        node(1, "(root)", -1, r#","children":[5]"#),
        node(5, "main", 0, r#","children":[9]"#),
        node(9, "", 6, ""),
    ]
}

#[test]
fn sample_lasts_until_the_next() {
    let rest = r#","samples":[5,9,9],"timeDeltas":[10,20,30]"#;
    let recording = read(&profile(&nodes(), rest)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "wall 1 20000 ns []: main a.js:1",
            "wall 2 70000 ns []: main;(anonymous) a.js:7",
        ]
    );
    assert_eq!(recording.origin.duration, Some(Nanoseconds(100_000)));
}

#[test]
fn sorts_late_samples() {
    let rest = r#","samples":[5,9],"timeDeltas":[30,-20]"#;
    let recording = read(&profile(&nodes(), rest)).unwrap();
    let times: Vec<_> = recording
        .samples
        .iter()
        .map(|s| s.time.unwrap().0)
        .collect();
    assert_eq!(times, [10_000, 30_000]);
    assert_eq!(recording.samples[0].cost.value, 20_000);
}

#[test]
fn assigns_line_ticks_to_samples() {
    let mut nodes = nodes();
    nodes[2] = node(
        9,
        "f",
        6,
        r#","positionTicks":[{"line":8,"ticks":2},{"line":12,"ticks":1}]"#,
    );
    let rest = r#","samples":[9,9,9,9],"timeDeltas":[10,10,10,10]"#;
    let recording = read(&profile(&nodes, rest)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "wall 1 10000 ns []: main;f a.js:12",
            "wall 1 60000 ns []: main;f a.js:7",
            "wall 2 20000 ns []: main;f a.js:8",
        ]
    );
}

#[test]
fn ignores_lines_without_ticks() {
    let mut nodes = nodes();
    nodes[2] = node(
        9,
        "f",
        6,
        r#","positionTicks":[{"line":8,"ticks":0},{"line":9,"ticks":0},{"line":12,"ticks":0}]"#,
    );
    let rest = r#","samples":[9,9],"timeDeltas":[10,10]"#;
    let recording = read(&profile(&nodes, rest)).unwrap();
    assert_eq!(stacks(&recording), ["wall 2 90000 ns []: main;f a.js:7"]);
}

#[test]
fn uses_hit_counts_without_samples() {
    let mut nodes = nodes();
    nodes[2] = nodes[2].replace(r#""hitCount":0"#, r#""hitCount":7"#);
    assert_eq!(
        stacks(&read(&profile(&nodes, "")).unwrap()),
        ["samples 7 7 samples []: main;(anonymous) a.js:7"]
    );
}

#[test]
fn warns_about_lone_surrogates() {
    let nodes = [node(1, r"a\ud800b", 0, "")];
    let rest = r#","samples":[1],"timeDeltas":[1]"#;
    let recording = read(&profile(&nodes, rest)).unwrap();
    assert!(
        stacks(&recording)[0].contains("a\u{fffd}"),
        "{:?}",
        stacks(&recording)
    );
    assert!(
        recording.warnings[0].contains("UTF-8"),
        "{:?}",
        recording.warnings
    );
}
