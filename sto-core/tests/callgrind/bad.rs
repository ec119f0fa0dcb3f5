//! Malformed files: errors with the line, never a panic or a partial profile.

use super::{error, file, folded, read};
use crate::common::deepest;
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;
use sto_core::formats::{Format, FormatError, ReadOptions, read_bytes};
use sto_core::limits::{MAX_NAME, MAX_SAMPLE_TYPES};

#[track_caller]
fn assert_error_at(text: &str, line: usize, problem: &str) {
    let error = error(text);
    let start = format!("a/file: line {line}: ");
    assert!(error.starts_with(&start), "expected {start}, found {error}");
    assert!(error.contains(problem), "expected {problem}, found {error}");
    assert!(error.len() < 400 && !error.contains('\x1b'), "{error}");
}

#[track_caller]
fn assert_truncated(text: &str, line: usize) {
    let error = error(text);
    let start = format!("a/file: truncated: the file ends at line {line}, within a part");
    assert!(error.starts_with(&start), "expected {start}, found {error}");
}

#[test]
fn rejects_a_number_without_a_name() {
    for (lines, number) in [
        ("fn=(5)\n1 1\n", 5),
        ("fn=(1) f\n1 1\ncfn=(2)\n", 2),
        ("fl=(1) f\nfn=(1)\n", 1),
    ] {
        let error = error(&file(lines));
        let expected = format!("a/file: `({number})`: the file has no name with this number");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn rejects_costs_that_are_not_numbers() {
    for cost in [
        "-5",
        "NaN",
        "1e3",
        "1.5",
        "18446744073709551616",
        "0x",
        "0xg",
        "\x1b[31m",
    ] {
        assert_error_at(
            &file(&format!("fn=f\n1 {cost}\n")),
            3,
            "expected a number from 0 to 2^64 - 1",
        );
    }
    assert_error_at(
        &file("fn=f\n1 18446744073709551615\n2 1\n"),
        4,
        "add up to more than 2^64 - 1",
    );
    assert_error_at(
        &file("fn=f\n1 1 1\n"),
        3,
        "more costs than the 1 that `events:` names",
    );
}

#[test]
fn rejects_costs_before_functions_or_events() {
    assert_error_at(&file("1 1\n"), 2, "costs before `fn=`");
    let no_events = "# callgrind format\nfn=f\n1 1\n";
    assert_error_at(no_events, 3, "costs before `events:`");
}

#[test]
fn rejects_positions_that_overflow() {
    assert_error_at(
        &file("fn=f\n3 1\n-4 1\n"),
        4,
        "a position that leaves 64 bits",
    );
    assert_error_at(
        &file("fn=f\n18446744073709551615 1\n+1 1\n"),
        4,
        "leaves 64 bits",
    );
    assert_error_at(&file("fn=f\n+x 1\n"), 3, "expected a number");
    assert_error_at(
        "positions: instr line\nevents: Ir\nfn=f\n5\n",
        4,
        "expected a position",
    );
}

#[test]
fn rejects_calls_without_name_or_costs() {
    assert_error_at(&file("fn=f\n1 1\ncalls=1 1\n"), 4, "without a `cfn=`");
    assert_error_at(
        &file("fn=f\n1 1\ncfn=g\ncalls=1 1\nfn=g\n"),
        6,
        "expected the costs of the call",
    );
    assert_truncated(&file("fn=f\n1 1\ncfn=g\ncalls=1 1\n"), 5);
    assert_error_at(&file("cfn=g\ncalls=1 1\n1 5\n"), 4, "costs before `fn=`");
}

#[test]
fn rejects_unknown_lines() {
    for line in ["=x", "fn main", "weird=3", "\u{e9}", "(3) x"] {
        assert_error_at(
            &file(&format!("{line}\n")),
            2,
            "expected costs, a name such as `fn=`",
        );
    }
    assert_error_at(&file("pid: x\n"), 2, "expected a number");
    assert_error_at(
        &file("thread: 4294967296\n"),
        2,
        "expected an id below 2^32",
    );
}

#[test]
fn rejects_wrong_totals_of_callgrind() {
    let text =
        |total| format!("creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 40\ntotals: {total}\n");
    assert_eq!(folded(&read(&text(40)).unwrap()), ["f 40"]);
    assert_error_at(
        &text(4),
        5,
        "a total of 4, where the lines before add up to 40",
    );
}

#[test]
fn rejects_truncated_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/callgrind");
    for name in ["work", "parts"] {
        let bytes = std::fs::read(folder.join(format!("{name}.callgrind"))).unwrap();
        let end = bytes.trim_ascii_end().len();
        let creator = bytes
            .windows(8)
            .position(|eight| eight == b"creator:")
            .unwrap();
        let end_of_first_part = bytes.windows(8).position(|eight| eight == b"\npart: 2");
        for cut in creator + 40..end {
            // A file that ends with a part cannot be distinguished from a complete one.
            if end_of_first_part.is_some_and(|end| (end - 1..end + 60).contains(&cut)) {
                continue;
            }
            let read = read_bytes(Path::new("a/file"), &bytes[..cut], &Default::default());
            let error = read.expect_err("half a file").to_string();
            assert!(error.starts_with("a/file"), "{cut}: {error}");
        }
        let options = ReadOptions {
            allow_truncated: true,
            ..ReadOptions::default()
        };
        let half = read_bytes(Path::new("a/file"), &bytes[..end / 2], &options).unwrap();
        let is_warned = half
            .warnings
            .iter()
            .any(|warning| warning.contains("ends early"));
        assert!(is_warned, "{:?}", half.warnings);
    }
}

#[test]
fn rejects_a_file_without_costs() {
    for text in [
        "events: Ir\n",
        "# callgrind format\n",
        "events: Ir\nfn=f\n1 0\n1\n",
    ] {
        let error = read(text).unwrap_err();
        assert!(matches!(error, FormatError::NoSamples { .. }), "{error}");
    }
}

#[test]
fn rejects_too_many_events() {
    let mut text = "events:".to_owned();
    for event in 0..=MAX_SAMPLE_TYPES {
        write!(text, " e{event}").unwrap();
    }
    assert_error_at(&(text + "\n"), 1, "files of up to 1024 events are read");
}

/// A chain of functions that call the next one; only the last has costs.
fn chain(depth: usize) -> String {
    let mut text = "events: Ir\n".to_owned();
    for function in 1..depth {
        writeln!(
            text,
            "fn=f{function}\ncfn=f{}\ncalls=1 1\n1 7",
            function + 1
        )
        .unwrap();
    }
    write!(text, "fn=f{depth}\n1 7\n").unwrap();
    text
}

#[test]
fn reads_stacks_of_a_hundred_thousand_frames() {
    let recording = read(&chain(100_000)).unwrap();
    assert_eq!(deepest(&recording), 100_000);
}

#[test]
fn reads_cycles_of_any_size() {
    let mut text = "events: Ir\n".to_owned();
    for function in 0..10_000 {
        let called = (function + 1) % 10_000;
        writeln!(
            text,
            "fn=f{function}\ncfn=f{called}\ncalls=1 1\n1 18446744073709551615"
        )
        .unwrap();
    }
    text.push_str("fn=f77\n1 5\n");
    assert_eq!(read(&text).unwrap().samples.len(), 1);
}

#[test]
fn reads_arbitrary_names() {
    let mut bytes = b"events: Ir\nfl=\xff\nfn=(1) ma\xffin\x1b[31m;x\n1 1\nfn=".to_vec();
    bytes.extend([b'n'; MAX_NAME + 1]);
    bytes.extend(b"\n1 2\n");
    let recording = read_bytes(Path::new("a/file"), &bytes, &Default::default()).unwrap();
    let symbols: Vec<_> = folded(&recording);
    assert!(
        symbols[0].starts_with("ma\u{fffd}in\u{1b}[31m;x "),
        "{symbols:?}"
    );
    assert_eq!(recording.warnings.len(), 2, "{:?}", recording.warnings);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn reads_or_rejects_arbitrary_lines(
        text in "((fn|cfn|fl|fi|ob)=(\\([12]\\))?( ?[ab])?\n|calls=1 1\n|[+-]?[0-9]{1,2}( [0-9]{0,20}){0,2}\n|\
                 part: 2\n|events: A B\n|totals: 1\n|thread: [12]\n){0,40}",
    ) {
        let options = ReadOptions {
            format: Some(Format::Callgrind),
            ..ReadOptions::default()
        };
        let text = format!("events: A B\nfn=(1) a\nfl=(1) f\ncfn=(2) b\n{text}");
        if let Err(error) = read_bytes(Path::new("a/file"), text.as_bytes(), &options) {
            prop_assert!(error.to_string().starts_with("a/file: "), "{}", error);
        }
    }
}
