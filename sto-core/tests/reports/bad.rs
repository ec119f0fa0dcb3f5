//! Malformed files: errors with the line, never a panic or a partial profile.

use super::{FILES, bytes, read_as, stacks};
use crate::common::deepest;
use std::fmt::Write;
use std::path::Path;
use sto_core::formats::{Format, FormatError, ReadOptions, read_bytes};

const VTUNE: &str = "Function Stack,CPU Time:Self,Module\n";
const VISUAL_STUDIO: &str = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed \
    Exclusive Time %,Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n";
const YOURKIT: &str = "\"Name\",\"Time (ms)\",\"Own Time (ms)\",\"Level\"\n";
const SAMPLE: &str = "Analysis of sampling app (pid 93) every 1 millisecond\nCall graph:\n    \
    5 Thread_1\n";
const GHC: &str = "\tTime and Allocation Profiling Report  (Final)\n\n\tapp\n\n\
    \ttotal time  =  0.25 secs   (250 ticks @ 1000 us, 1 processor)\n\
    COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc\n\n";

#[track_caller]
fn assert_rejected(text: &str, parts: &[&str]) {
    let error = read_as(None, text.as_bytes())
        .expect_err("breaks the rules")
        .to_string();
    assert!(error.starts_with("a/file: "), "{error}");
    assert!(error.len() < 500 && !error.contains('\x1b'), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

fn xctrace(row: &str) -> String {
    format!("<trace-query-result><node>{row}</node></trace-query-result>")
}

fn yourkit(node: &str) -> String {
    format!("<view description=\"Call tree\">{node}</view>")
}

#[test]
fn rejects_malformed_numbers() {
    for number in [
        "-5",
        "NaN",
        "1e3",
        "inf",
        "",
        "\x1b[31m",
        "99999999999999999999",
    ] {
        let expected: &[&str] = &["line 2", "expected a number"];
        if !number.is_empty() {
            assert_rejected(&format!("{VTUNE}f,{number},m\n"), expected);
        }
        assert_rejected(
            &format!("{VISUAL_STUDIO}1,\"f\",{number},0,0,0,1,\"\",\n"),
            expected,
        );
        assert_rejected(
            &format!("{YOURKIT}\"f()\",\"{number}\",\"1\",\"1\"\n"),
            expected,
        );
        assert_rejected(
            &format!("{SAMPLE}      {number} main  (in app)\n"),
            &["line 4", "expected a"],
        );
        let row = format!("MAIN MAIN x 1 0 {number} 0.1 100.0 100.0\n");
        if !number.is_empty() {
            assert_rejected(&format!("{GHC}{row}"), &["line 8", "expected a number"]);
        }
        let weight = format!("<row><weight id=\"1\">{number}</weight></row>");
        if !number.is_empty() {
            assert_rejected(&xctrace(&weight), &["byte ", "expected a weight"]);
        }
        let node = format!("<node call_tree=\"f()\" time_ms=\"{number}\"/>");
        assert_rejected(&yourkit(&node), &["byte ", "expected a number"]);
    }
    let stack = "\n\n  app`main+0x1\n  3\n\n  app`main+0x1\n";
    assert_rejected(
        &format!("{stack}  -3\n"),
        &["line 7", "expected a count of 0 or more"],
    );
    assert_rejected(
        &format!("{stack}  99999999999999999999\n"),
        &["line 7", "larger than 2^64 - 1"],
    );
}

#[test]
fn rejects_sums_that_overflow() {
    let too_large = "add up to more than 2^64 - 1";
    let stack = "\n\n  app`main+0x1\n  18446744073709551615\n\n  app`f+0x1\n  1\n";
    assert_rejected(stack, &["line 7", too_large]);
    let hour = "18446744072.0";
    assert_rejected(
        &format!("{VTUNE}f,{hour},m\nf,{hour},m\n"),
        &["line 3", too_large],
    );
    let calls = "1,\"f\",18446744073709551615,0,0,0,1,\"\",\n";
    assert_rejected(
        &format!("{VISUAL_STUDIO}{calls}"),
        &["calls take longer than 2^64 ns"],
    );
}

#[test]
fn rejects_calls_without_a_caller() {
    let skipped = "expected at most one more";
    assert_rejected(&format!("{VTUNE}f,1,m\n  g,1,m\n"), &["line 3", skipped]);
    assert_rejected(
        &format!("{VISUAL_STUDIO}1,\"f\",1,0,0,0,1,\"\",\n3,\"g\",1,0,0,0,1,\"\",\n"),
        &["line 3", skipped],
    );
    assert_rejected(
        &format!("{VISUAL_STUDIO}2,\"f\",1,0,0,0,1,\"\",\n1,\"g\",1,0,0,0,1,\"\",\n"),
        &["line 3", "level 1, where the first is at 2"],
    );
    assert_rejected(
        &format!("{YOURKIT}\"f()\",1,1,1\n\"g()\",1,1,3\n"),
        &["line 3", skipped],
    );
    assert_rejected(&format!("{YOURKIT}\"f()\",1,1,0\n"), &["line 2", "level 0"]);
    assert_rejected(
        &format!("{SAMPLE}        5 main  (in app)\n"),
        &["line 4", skipped],
    );
    assert_rejected(
        "Analysis of sampling a (pid 1) every 1 millisecond\nCall graph:\n      5 main\n",
        &["line 3", "expected a thread before its calls"],
    );
    let rows = "MAIN MAIN x 1 0 1.0 0.1 100.0 100.0\n  f M x 2 0 1.0 0.1 1.0 1.0\n";
    assert_rejected(&format!("{GHC}{rows}"), &["line 9", skipped]);
}

#[test]
fn reports_missing_fields() {
    assert_rejected(
        &format!("{VTUNE}f\n"),
        &["line 2", "expected as many fields as columns"],
    );
    assert_rejected(
        &format!("{VISUAL_STUDIO}1,\"f\n"),
        &["line 2", "as many fields as columns"],
    );
    assert_rejected(
        &format!("{YOURKIT}\"f()\n"),
        &["line 2", "as many fields as columns"],
    );
    assert_rejected(
        &format!("{GHC}MAIN MAIN 1\n"),
        &["line 8", "expected a cost centre with 6 numbers"],
    );
    assert_rejected(
        &yourkit("<node call_tree=\"f()\"/>"),
        &["without `time_ms`"],
    );
}

#[test]
fn rejects_dangling_references() {
    for element in [
        "weight",
        "thread",
        "backtrace",
        "tagged-backtrace",
        "binary",
    ] {
        let what = element.trim_start_matches("tagged-");
        let row = xctrace(&format!("<row><{element} ref=\"7\"/></row>"));
        assert_rejected(
            &row,
            &[
                "byte ",
                &format!("7; expected the id of a {what} defined before"),
            ],
        );
        assert_rejected(
            &xctrace(&format!("<row><{element}/></row>")),
            &["without an `id` or `ref`"],
        );
        assert_rejected(
            &xctrace(&format!("<row><{element} id=\"-1\"/></row>")),
            &["id=`-1`"],
        );
    }
    let frame = |frame: &str| {
        xctrace(&format!(
            "<row><backtrace id=\"1\">{frame}</backtrace></row>"
        ))
    };
    assert_rejected(
        &frame("<frame ref=\"9\"/>"),
        &["9; expected the id of a frame"],
    );
    // A stack that refers to itself.
    assert_rejected(
        &frame("<backtrace ref=\"1\"/>"),
        &["1; expected the id of a backtrace"],
    );
    let twice = "<frame id=\"2\" name=\"a\"/><frame id=\"2\" name=\"b\"/>";
    assert_rejected(&frame(twice), &["2 is the id of another frame too"]);
}

#[test]
fn rejects_truncated_files() {
    for (file, format) in FILES {
        let bytes = bytes(file);
        let text = bytes.trim_ascii_end();
        let has_end = matches!(format, Format::Sample | Format::Xctrace) || file == "yourkit.xml";
        let rest = text
            .windows(21)
            .position(|end| end == b"Total number in stack");
        for cut in 1..rest.unwrap_or(text.len()) {
            match read_as(Some(format), &text[..cut]) {
                Err(error) => assert!(error.to_string().starts_with("a/file"), "{error}"),
                // If nothing marks the end, a file of complete lines is complete.
                Ok(recording) => {
                    let is_told = recording
                        .warnings
                        .iter()
                        .any(|message| message.contains("no line end"));
                    assert!(
                        !has_end && (is_told || text[cut - 1] == b'\n'),
                        "{file} {cut}"
                    );
                }
            }
        }
    }
}

#[test]
fn reads_a_truncated_report_if_allowed() {
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let text = bytes("sample.txt");
    let end = text
        .windows(8)
        .position(|word| word == b"    + 26")
        .unwrap();
    let half = &text[..end + 200];
    let recording = read_bytes(Path::new("a/file"), half, &options).unwrap();
    assert!(
        recording
            .warnings
            .iter()
            .any(|message| message.contains("ends early"))
    );
    let xml = &bytes("xctrace.xml")[..1500];
    assert!(read_bytes(Path::new("a/file"), xml, &options).is_err());
}

#[test]
fn rejects_files_without_samples() {
    for text in [
        VTUNE,
        VISUAL_STUDIO,
        YOURKIT,
        GHC,
        &xctrace(""),
        &yourkit(""),
    ] {
        let error = read_as(None, text.as_bytes()).unwrap_err();
        assert!(matches!(error, FormatError::NoSamples { .. }), "{error}");
    }
    for (_, format) in FILES {
        let error = read_as(Some(format), b"something else\n")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("a/file: "), "{error}");
    }
}

#[test]
fn reads_stacks_of_hundreds_of_thousands_of_frames() {
    let depth = 200_000;
    let mut stack = "\n\n".to_owned();
    stack.push_str(&"  app`f+0x1\n".repeat(depth));
    stack.push_str("  1\n");
    let frames =
        "<frame id=\"2\" name=\"f\"/>".to_owned() + &"<frame ref=\"2\"/>".repeat(depth - 1);
    let xctrace = xctrace(&format!(
        "<row><backtrace id=\"1\">{frames}</backtrace></row>"
    ));
    let begin = "<node call_tree=\"f()\" time_ms=\"1\">";
    let yourkit = yourkit(&(begin.repeat(depth) + &"</node>".repeat(depth)));
    // An unterminated stack does not show the format.
    let formats = [
        (Some(Format::DTrace), stack),
        (None, xctrace),
        (None, yourkit),
    ];
    for (format, text) in formats {
        let recording = read_as(format, text.as_bytes()).unwrap();
        assert_eq!(deepest(&recording), depth);
    }
}

#[test]
fn reads_arbitrary_names() {
    for (file, format) in FILES {
        let mut bytes = bytes(file);
        let name = [
            &b"Vec"[..],
            b"app`",
            b"libc",
            b"Raytracer.Sphere",
            b"isOdd",
            b"example",
            b"start",
        ]
        .into_iter()
        .find_map(|name| bytes.windows(name.len()).rposition(|found| found == name));
        bytes[name.unwrap()] = 0xff;
        let recording = read_as(Some(format), &bytes).unwrap();
        let text = stacks(&recording).join("\n");
        assert!(text.contains('\u{fffd}'), "{file}: {text}");
    }
}

/// Truncation at fixed offsets would split characters here.
#[test]
fn reads_names_in_any_alphabet() {
    let name = "\u{65e5}\u{672c}\u{8a9e}".repeat(9);
    for tail in ["", "a", "ab"] {
        let mut text = String::from("\n\n");
        write!(text, "  app`{name}{tail}+0x1\n  1\n").unwrap();
        let recording = read_as(None, text.as_bytes()).unwrap();
        assert_eq!(
            stacks(&recording),
            [format!("samples 1 1 samples []: app!{name}{tail}")]
        );
    }
}
