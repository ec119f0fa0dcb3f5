//! Malformed files: errors with the place, never a panic or a partial profile.

use super::{chrome, cpuprofile, error, firefox, read, speedscope};
use crate::common::deepest;
use std::path::Path;
use sto_core::formats::{Format, FormatError, ReadOptions, read_bytes};
use sto_core::limits::MAX_DEPTH;
use sto_core::recording::Recording;

#[track_caller]
fn assert_rejected(text: &str, parts: &[&str]) {
    let error = error(text);
    assert!(error.starts_with("a/file: "), "{error}");
    assert!(error.len() < 400 && !error.contains('\x1b'), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

#[track_caller]
fn assert_firefox(from: &str, to: &str, parts: &[&str]) {
    let text = firefox::profile(firefox::SAMPLES, |text| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    assert_rejected(&text, parts);
}

const FRAME: &str = r#"{"functionName":"main","url":"a.js","lineNumber":0}"#;

/// A valid file of each format.
fn sound() -> [(Format, String); 7] {
    [
        (
            Format::Firefox,
            firefox::profile(firefox::SAMPLES, |text| {
                let heap = r#"{"name":"heap","samples":{"time":[1,2],"count":[5,6]}}"#;
                text.replacen(
                    r#""threads":"#,
                    &format!(r#""counters":[{heap}],"threads":"#),
                    1,
                )
            }),
        ),
        (
            Format::Speedscope,
            speedscope::sampled("none", "[[0,1]]", "[3]"),
        ),
        (
            Format::CpuProfile,
            cpuprofile::profile(
                &[cpuprofile::node(1, "main", 0, "")],
                r#","samples":[1],"timeDeltas":[5]"#,
            ),
        ),
        (Format::Chrome, chrome::sound()),
        (
            Format::HeapProfile,
            format!(
                r#"{{"head":{{"callFrame":{FRAME},"selfSize":8,"id":1,"children":[
                {{"callFrame":{FRAME},"selfSize":3,"id":2,"children":[]}}]}},"samples":[{{"size":8,"nodeId":1}}]}}"#
            ),
        ),
        (
            Format::Pyinstrument,
            r#"{"start_time":1.5,"duration":0.25,"sample_count":2,"root_frame":{"function":"main",
            "file_path":"a.py","line_no":1,"time":0.25,"children":[{"function":"work","time":0.125,"children":[]}]}}"#
                .to_owned(),
        ),
        (
            Format::Stackprof,
            r#"{"version":1.2,"mode":"cpu","interval":1000,"samples":3,"frames":{"7":{"name":"main","line":1},
            "8":{"name":"work"}},"raw":[2,7,8,3]}"#
                .to_owned(),
        ),
    ]
}

#[test]
fn rejects_indices_outside_of_tables() {
    let of = |path: &'static str, table: &'static str| [path, table, "expected an index of"];
    assert_firefox(
        "[0,1,null]",
        "[0,2,null]",
        &of("threads[0].samples.stack[1]", "stackTable"),
    );
    assert_firefox(
        r#""frame":[0,1]"#,
        r#""frame":[0,9]"#,
        &of("stackTable.frame[1]: 9", "frameTable"),
    );
    assert_firefox(
        r#""func":[0,1]"#,
        r#""func":[7,1]"#,
        &of("frameTable.func[0]: 7", "funcTable"),
    );
    assert_firefox(
        r#""name":[0,1]"#,
        r#""name":[0,99]"#,
        &of("funcTable.name[1]: 99", "stringArray"),
    );
    assert_firefox(
        r#""resource":[-1,0]"#,
        r#""resource":[-1,5]"#,
        &of("funcTable.resource[1]", "resourceTable"),
    );
    assert_firefox(
        r#""lib":[0]"#,
        r#""lib":[3]"#,
        &of("resourceTable.lib[0]: 3", "libs"),
    );
    assert_firefox(
        r#""category":[0,0]"#,
        r#""category":[0,8]"#,
        &of("frameTable.category[1]", "meta.categories"),
    );
    assert_rejected(
        &speedscope::sampled("none", "[[0,2]]", "[1]"),
        &of("profiles[0].samples[0][1]: 2", "shared.frames"),
    );
    assert_rejected(
        &speedscope::evented("none", r#"[{"type":"O","frame":5,"at":10}]"#),
        &of("profiles[0].events[0].frame: 5", "shared.frames"),
    );
    let node = [cpuprofile::node(1, "main", 0, "")];
    assert_rejected(
        &cpuprofile::profile(&node, r#","samples":[3],"timeDeltas":[5]"#),
        &["samples[0]: 3", "expected the id of a node"],
    );
}

#[test]
fn rejects_cycles() {
    assert_firefox(
        r#""prefix":[null,0]"#,
        r#""prefix":[1,0]"#,
        &["threads[0].stackTable.prefix[0]: 1", "callers come before"],
    );
    let nodes = [
        cpuprofile::node(1, "a", 0, r#","children":[2]"#),
        cpuprofile::node(2, "b", 0, r#","children":[1]"#),
    ];
    assert_rejected(
        &cpuprofile::profile(&nodes, r#","samples":[2],"timeDeltas":[5]"#),
        &["samples[0]", "its own direct or indirect caller"],
    );
    let nodes = [
        cpuprofile::node(1, "a", 0, r#","children":[2,3]"#),
        cpuprofile::node(2, "b", 0, r#","children":[3]"#),
        cpuprofile::node(3, "c", 0, ""),
    ];
    assert_rejected(
        &cpuprofile::profile(&nodes, r#","samples":[3],"timeDeltas":[5]"#),
        &["nodes[1].children[0]: 3", "expected a tree"],
    );
    let twice = [
        cpuprofile::node(1, "a", 0, ""),
        cpuprofile::node(1, "b", 0, ""),
    ];
    assert_rejected(
        &cpuprofile::profile(&twice, ""),
        &["nodes[1].id: 1", "another node"],
    );
}

#[test]
fn rejects_negative_weights() {
    let difference = "differences of two profiles";
    assert_firefox(
        r#""weight":null"#,
        r#""weight":[1,-1,1]"#,
        &["threads[0].samples.weight[1]: -1", difference],
    );
    assert_rejected(
        &speedscope::sampled("none", "[[0]]", "[-2.5]"),
        &["profiles[0].weights[0]: -2.5", difference],
    );
    let back = r#"[{"type":"O","frame":0,"at":20},{"type":"C","frame":0,"at":15}]"#;
    assert_rejected(
        &speedscope::evented("none", back),
        &["profiles[0].events[1].at: 15", "no smaller"],
    );
    assert_rejected(
        r#"{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":-5}]}"#,
        &["traceEvents[0].dur: -5"],
    );
}

#[test]
fn rejects_malformed_numbers() {
    for number in ["NaN", "1e999", "\"x\"", "[]"] {
        let text = speedscope::sampled("none", "[[0]]", &format!("[{number}]"));
        assert_rejected(&text, &["byte "]);
    }
    assert_rejected(
        &speedscope::sampled("seconds", "[[0]]", "[1e30]"),
        &["weights[0]: 1e30"],
    );
    assert_firefox("[0.5,1.25,2]", "[0.5,nan,2]", &["byte "]);
}

#[test]
fn rejects_columns_of_different_lengths() {
    assert_firefox(
        "[0.5,1.25,2]",
        "[0.5]",
        &["samples.time: 1 entries; expected 3"],
    );
    assert_rejected(
        &speedscope::sampled("none", "[[0]]", "[1,2]"),
        &["profiles[0].weights: 2 entries; expected 1"],
    );
    let node = [cpuprofile::node(1, "main", 0, "")];
    assert_rejected(
        &cpuprofile::profile(&node, r#","samples":[1],"timeDeltas":[]"#),
        &["timeDeltas: 0 entries; expected 1"],
    );
}

#[test]
fn rejects_crossing_and_unfinished_calls() {
    let crossing = r#"[{"type":"O","frame":0,"at":10},{"type":"O","frame":1,"at":10},
        {"type":"C","frame":0,"at":20}]"#;
    assert_rejected(
        &speedscope::evented("none", crossing),
        &["events[2].frame", "not the innermost one"],
    );
    let open = r#"[{"type":"O","frame":0,"at":10}]"#;
    assert_rejected(
        &speedscope::evented("none", open),
        &["profiles[0].events: 1 calls begin"],
    );
}

#[test]
fn rejects_unknown_words() {
    assert_rejected(
        &speedscope::sampled("parsecs", "[[0]]", "[1]"),
        &["profiles[0].unit: `parsecs`"],
    );
    assert_firefox(
        r#""weightType":"samples""#,
        r#""weightType":"\u001b[31m""#,
        &["threads[0].samples.weightType: `\\u{1b}[31m`"],
    );
}

/// A chain of `depth` calls with a sample of the innermost.
fn chain(depth: usize) -> String {
    let prefixes: Vec<String> = (0..depth - 1).map(|caller| caller.to_string()).collect();
    let sample = format!(r#"{{"stack":[{}],"time":[0]}}"#, depth - 1);
    firefox::profile(&sample, |text| {
        let prefix = format!(r#""prefix":[null,{}]"#, prefixes.join(","));
        let frame = format!(r#""frame":[0{}]"#, ",1".repeat(depth - 1));
        text.replace(r#""prefix":[null,0]"#, &prefix)
            .replace(r#""frame":[0,1]"#, &frame)
    })
}

#[test]
fn reads_a_million_frames_and_rejects_more_than_the_limit() {
    let recording = read(&chain(1_000_000)).unwrap();
    assert_eq!(deepest(&recording), 1_000_000);
    assert_rejected(
        &chain(MAX_DEPTH + 1),
        &["threads[0].samples.stack[0]", "2097152"],
    );
}

#[test]
fn nested_values_do_not_overflow_the_stack() {
    let nested = "[".repeat(1_000_000);
    for text in [
        speedscope::sampled("none", &nested, "[]"),
        format!(r#"{{"traceEvents":{nested}"#),
        format!(r#"[{{"ph":"M","args":{nested}"#),
    ] {
        assert_rejected(&text, &["byte "]);
    }
}

#[test]
fn replaces_invalid_utf8_in_names_only() {
    for (format, text) in sound() {
        let mut bytes = text.into_bytes();
        let at = bytes.windows(4).position(|four| four == b"main").unwrap();
        bytes[at] = 0xff;
        let read = read_bytes(Path::new("a/file"), &bytes, &Default::default());
        if matches!(format, Format::HeapProfile | Format::Pyinstrument) {
            let error = read.unwrap_err().to_string();
            assert!(error.contains("invalid unicode"), "{error}");
            continue;
        }
        let recording = read.unwrap();
        let is_warned = recording
            .warnings
            .iter()
            .any(|warning| warning.contains("UTF-8"));
        assert!(is_warned, "{}: {:?}", format.name(), recording.warnings);
        let at = bytes.iter().position(|&byte| byte == b':').unwrap();
        bytes[at] = 0xff;
        let named = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        let error = read_bytes(Path::new("a/file"), &bytes, &named).unwrap_err();
        assert!(error.to_string().contains("byte "), "{error}");
    }
}

/// Checks that the events before `end` are read, with a warning about the truncation.
#[track_caller]
fn check_events_before(read: Result<Recording, FormatError>, end: usize) {
    match read {
        Err(FormatError::NoSamples { .. }) => {}
        Err(error) => panic!("{end}: {error}"),
        Ok(recording) => {
            let warning = format!("The file ends at byte {end}, in the middle of its JSON");
            let warnings = &recording.warnings;
            assert!(
                warnings.iter().any(|found| found.starts_with(&warning)),
                "{warnings:?}"
            );
        }
    }
}

#[test]
fn rejects_truncated_files() {
    for (format, text) in sound() {
        let text = text.trim_end().as_bytes();
        for allow_truncated in [false, true] {
            let options = ReadOptions {
                format: Some(format),
                allow_truncated,
                ..ReadOptions::default()
            };
            for end in 1..text.len() {
                let read = read_bytes(Path::new("a/file"), &text[..end], &options);
                if format == Format::Chrome && allow_truncated {
                    check_events_before(read, end);
                    continue;
                }
                let error = read.expect_err("half a file").to_string();
                let cut =
                    format!("a/file: truncated: the file ends at byte {end}, in the middle of its");
                assert!(error.starts_with(&cut), "{end}: {error}");
            }
        }
    }
}

#[test]
fn reads_trees_of_any_depth() {
    let tree = |depth: usize| {
        let node = format!(r#"{{"callFrame":{FRAME},"selfSize":1,"children":["#);
        format!(r#"{{"head":{}{}}}"#, node.repeat(depth), "]}".repeat(depth))
    };
    assert_eq!(read(&tree(100_000)).unwrap().samples.len(), 100_000);
}

#[test]
fn rejects_malformed_children() {
    for children in [
        "{}",
        "null",
        "[1]",
        r#"["selfSize"]"#,
        "[[]]",
        r#"[],"children":[]"#,
    ] {
        let text =
            format!(r#"{{"head":{{"callFrame":{FRAME},"selfSize":1,"children":{children}}}}}"#);
        assert_rejected(&text, &["byte ", "expected a node, or one list of nodes"]);
    }
}

#[test]
fn rejects_dangling_references_in_ruby_stacks() {
    let report = |raw: &str| {
        format!(r#"{{"mode":"cpu","interval":1,"samples":1,"frames":{{"7":{{"name":"f"}}}}{raw}}}"#)
    };
    let calls =
        r#"{"mode":"cpu","interval":1,"samples":1,"frames":{"7":{"name":"f","edges":{"8":1}}}}"#;
    assert_rejected(calls, &["frames[7]: 8; expected the id of a frame"]);
    assert_rejected(
        &report(r#","raw":[1,8,1]"#),
        &["raw[1]: 8; expected the id of a frame"],
    );
    assert_rejected(
        &report(r#","raw":[1,7]"#),
        &["raw[0]: a stack that ends beyond the list"],
    );
    assert_rejected(&report(r#","raw":[18446744073709551615,7]"#), &["raw[0]: "]);
}
