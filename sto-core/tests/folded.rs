//! Folded stacks: what is read, and what is said about what is not.

mod common;

use common::{error_of, folded, frames_of, read_text};
use proptest::prelude::*;
use sto_core::formats::{Format, FormatError};
use sto_core::model::FrameKind;
use sto_core::units::{Cost, Unit};

#[test]
fn a_line_is_a_stack_and_its_count() {
    let recording = read_text("main;work;sqrt 42\nmain;work 7\n").unwrap();
    assert_eq!(recording.format, Format::Folded);
    assert_eq!(folded(&recording), ["main;work;sqrt 42", "main;work 7"]);
    assert_eq!(
        recording.samples[0].cost,
        Cost {
            samples: 42,
            value: 42
        }
    );
    assert_eq!(recording.sample_types.len(), 1);
    assert_eq!(recording.sample_types[0].event, "samples");
    assert_eq!(recording.sample_types[0].unit, Unit::Samples);
    assert_eq!(recording.processes.len(), 1);
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn the_count_stands_behind_the_last_space() {
    let text = "java;void f(int, long) const;operator new 3 9\nmain 1\n";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        ["java;void f(int, long) const;operator new 3 9", "main 1"]
    );
}

#[test]
fn comments_blank_lines_and_windows_line_ends_do_not_matter() {
    let text = "# made by hand\r\n\r\na;b 1\r\n \t\r\n#a;x 9\na;c 2  \r\na 3";
    assert_eq!(folded(&read_text(text).unwrap()), ["a;b 1", "a;c 2", "a 3"]);
}

#[test]
fn annotations_become_kinds() {
    let text = "a;b_[i];c_[j];d_[0];e_[1];f_[k];g_[w] 1";
    let recording = read_text(text).unwrap();
    let frames = frames_of(&recording, &recording.samples[0]);
    let frames: Vec<_> = frames
        .iter()
        .map(|frame| (frame.symbol, frame.kind))
        .collect();
    assert_eq!(
        frames,
        [
            ("a", FrameKind::User),
            ("b", FrameKind::Inlined),
            ("c", FrameKind::Jit),
            ("d", FrameKind::Interpreted),
            ("e", FrameKind::Jit),
            ("f", FrameKind::Kernel),
            ("g_[w]", FrameKind::User),
        ]
    );
}

#[test]
fn frames_without_a_symbol_are_unresolved() {
    let text = "[main tid=7];[unknown];[libc.so.6+0x12]_[k];;??;0x7f00;0xyz;-[NSObject a] 1";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        [
            "[main tid=7];[unknown] (unresolved);[libc.so.6+0x12] (unresolved);\
          [unknown] (unresolved);?? (unresolved);0x7f00 (unresolved);0xyz;-[NSObject a] 1"
        ]
    );
}

#[test]
fn a_count_may_have_a_fraction_of_zeros() {
    assert_eq!(
        folded(&read_text("a;b 12.0\na;c 3.000\na;d 0.0\na;e 5.\n").unwrap()),
        ["a;b 12", "a;c 3", "a;e 5"]
    );
}

#[test]
fn a_fraction_that_is_not_whole_is_refused() {
    let message = error_of(b"a;b 1\na;b 1.5\n");
    assert!(
        message.starts_with("a/file: line 2: the count `1.5` is not whole"),
        "{message}"
    );
}

#[test]
fn a_count_that_leaves_64_bits_is_refused() {
    assert_eq!(
        read_text("a 18446744073709551615").unwrap().samples[0]
            .cost
            .value,
        u64::MAX
    );
    assert_eq!(
        error_of(b"a 18446744073709551616"),
        "a/file: line 1: the count `18446744073709551616` is larger than 2^64 - 1"
    );
}

#[test]
fn a_line_without_a_count_is_named() {
    for line in ["a;b", "a;b x", "7", " 7", "a;b -7", "a;b 1e3", "a;b .5"] {
        assert_eq!(
            error_of(format!("a;b 1\n{line}\n").as_bytes()),
            format!(
                "a/file: line 2: expected a stack and its count, as in `main;work 42`, found `{}`",
                line
            )
        );
    }
}

#[test]
fn a_differential_profile_is_refused() {
    let message = error_of(b"\na;b 10 12\na;c 0 3\n");
    assert!(
        message.starts_with("a/file: line 2: two counts on every line: this is a differential"),
        "{message}"
    );
}

#[test]
fn stacks_that_were_never_sampled_are_left_out() {
    assert_eq!(folded(&read_text("a;b 0\na;c 2\n").unwrap()), ["a;c 2"]);
    for text in ["a;b 0\n", "# nothing\n", "\n\n"] {
        let error = read_text(text).unwrap_err();
        assert!(matches!(error, FormatError::NoSamples { .. }), "{error}");
    }
}

#[test]
fn names_that_are_not_utf8_are_replaced_with_one_warning() {
    let bytes = b"a;caf\xe9;b 1\na;\xff\xfe 2\n";
    let recording =
        sto_core::formats::read_bytes("x".as_ref(), bytes, &Default::default()).unwrap();
    assert_eq!(
        folded(&recording),
        ["a;caf\u{fffd};b 1", "a;\u{fffd}\u{fffd} 2"]
    );
    assert_eq!(recording.warnings.len(), 1);
}

#[test]
fn other_files_are_told_by_how_they_begin() {
    let message = error_of(b"\n\x1b[1mHello,\x07 world\n");
    assert_eq!(
        message,
        "a/file: not a profile that sto can read: it starts with `\\u{1b}[1mHello,\\u{7} world\\n`; \
         expected perf.data, the output of `perf script`, or folded stacks (`main;work 42`)"
    );
    assert!(error_of(b"PK\x03\x04\0\0a 1\n").contains("it starts with `PK\\u{3}\\u{4}\\0\\0a 1"));
    assert!(error_of(b"").starts_with("a/file: the file is empty"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Taking frames over from the line before never changes what is read.
    #[test]
    fn a_stack_does_not_depend_on_the_line_before(
        stacks in prop::collection::vec(prop::collection::vec("[ab]{1,3}", 1..6), 1..20)
    ) {
        let lines: Vec<String> = stacks.iter().map(|stack| format!("{} 1", stack.join(";"))).collect();
        let recording = read_text(&lines.join("\n")).unwrap();
        prop_assert_eq!(folded(&recording), lines);
    }

    #[test]
    fn no_bytes_make_reading_panic(text in "(a|b|;| |1|\\.|\\n|\\r|\\t|#|_\\[k\\]|\\[|\\]|:|/|\u{e9}){0,60}") {
        let _ = read_text(&text);
    }
}
