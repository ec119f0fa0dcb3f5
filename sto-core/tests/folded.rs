//! Folded stacks.

use crate::common::{error_of, folded, frames_of, read_text};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use sto_core::formats::{Format, FormatError, ReadOptions, read_bytes, read_stream};
use sto_core::limits::MAX_DEPTH;
use sto_core::model::FrameKind;
use sto_core::units::{Cost, Unit};
use sto_test_support::assert_golden;

#[test]
fn reads_a_stack_and_its_count() {
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
fn count_follows_the_last_space() {
    let text = "java;void f(int, long) const;operator new 3 9\nmain 1\n";
    assert_eq!(
        folded(&read_text(text).unwrap()),
        ["java;void f(int, long) const;operator new 3 9", "main 1"]
    );
}

#[test]
fn ignores_comments_blank_lines_and_crlf() {
    let text = "# made by hand\r\n\r\na;b 1\r\n \t\r\n#a;x 9\na;c 2  \r\na 3";
    assert_eq!(folded(&read_text(text).unwrap()), ["a;b 1", "a;c 2", "a 3"]);
}

#[test]
fn annotations_become_frame_kinds() {
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
            ("e", FrameKind::JitBaseline),
            ("f", FrameKind::Kernel),
            ("g", FrameKind::Waker),
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
fn accepts_counts_with_zero_fraction() {
    assert_eq!(
        folded(&read_text("a;b 12.0\na;c 3.000\na;d 0.0\na;e 5.\n").unwrap()),
        ["a;b 12", "a;c 3", "a;e 5"]
    );
}

#[test]
fn sums_fractional_counts_before_rounding() {
    let recording = read_text("a;b 1.25\na;b 1.25\na;c 100.4999\na;d 7\n").unwrap();
    assert_eq!(folded(&recording), ["a;b 3", "a;c 100", "a;d 7"]);
    assert!(
        recording.warnings[0].contains("rounded"),
        "{:?}",
        recording.warnings
    );
    assert_eq!(recording.warnings.len(), 1);
}

#[test]
fn rejects_counts_that_rounding_would_change() {
    for text in ["a;b 0.4\na;c 0.3\n", "a 1.5\nb 2.5\n"] {
        let message = error_of(text.as_bytes());
        assert!(
            message.starts_with("a/file: its counts are fractions: they add up to"),
            "{message}"
        );
        assert!(message.contains("scale them all up"), "{message}");
    }
}

#[test]
fn rejects_a_count_that_overflows() {
    assert_eq!(
        read_text("a 18446744073709551615").unwrap().samples[0]
            .cost
            .value,
        u64::MAX
    );
    assert_eq!(
        error_of(b"a 18446744073709551616\n"),
        "a/file: line 1: the count `18446744073709551616` is larger than 2^64 - 1"
    );
}

#[test]
fn reports_a_line_without_a_count() {
    for line in [
        "a;b",
        "a;b x",
        "7",
        " 7",
        "a;b -7",
        "a;b 1e3",
        "a;b .5",
        "a;b 1.2.3",
        "a;b NaN",
        "a;b inf",
    ] {
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
fn reads_a_differential_profile_as_two_events() {
    let recording = read_text("\na;b 10 12\na;c 0 3.0\n# note\na;b 1 0\n").unwrap();
    let events = recording
        .sample_types
        .iter()
        .map(|known| known.event.as_str());
    assert_eq!(events.collect::<Vec<_>>(), ["before", "after"]);
    let samples = recording.samples.iter();
    let samples = samples.map(|sample| (sample.sample_type.0, sample.stack.0, sample.cost.samples));
    assert_eq!(
        samples.collect::<Vec<_>>(),
        [(0, 0, 11), (1, 0, 12), (1, 1, 3)]
    );
    assert!(
        recording.warnings[0].contains("two counts"),
        "{:?}",
        recording.warnings
    );
    assert_eq!(
        folded(&read_text("a;worker 3 10\na;c 3\n").unwrap()),
        ["a;worker 3 10", "a;c 3"]
    );
}

#[test]
fn reports_a_line_truncated_in_its_count() {
    let whole = read_text("a;b 10\na;c 42\n").unwrap();
    assert!(whole.warnings.is_empty());
    let cut = read_text("a;b 10\na;c 4").unwrap();
    assert!(
        cut.warnings[0].contains("no line end"),
        "{:?}",
        cut.warnings
    );
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let kept = read_bytes(Path::new("x"), b"a;b 10\na;c 4", &options).unwrap();
    assert_eq!(folded(&kept), ["a;b 10"]);
    assert!(
        kept.warnings[0].contains("left out: `a;c 4`"),
        "{:?}",
        kept.warnings
    );
}

#[test]
fn ignores_stacks_with_zero_counts() {
    assert_eq!(folded(&read_text("a;b 0\na;c 2\n").unwrap()), ["a;c 2"]);
    for text in ["a;b 0\n", "# nothing\n", "\n\n"] {
        let error = read_text(text).unwrap_err();
        assert!(matches!(error, FormatError::NoSamples { .. }), "{error}");
    }
}

#[test]
fn replaces_invalid_utf8_with_one_warning() {
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
fn names_unknown_files_by_their_first_bytes() {
    let message = error_of(b"\n\x1b[1mHello,\x07 world\n");
    assert_eq!(
        message,
        format!(
            "a/file: not a profile that sto can read: it starts with `\\u{{1b}}[1mHello,\\u{{7}} world\\n`; \
             expected one of {} formats; if it has one of these, name it",
            Format::all().count()
        )
    );
    assert!(error_of(b"PK\x03\x04\0\0a 1\n").contains("it starts with `PK\\u{3}\\u{4}\\0\\0a 1"));
    assert!(
        error_of(b"PK\x03\x04\0\0a 1\n").contains("` (a ZIP archive: unpack it first); expected")
    );
    assert!(error_of(b"\xfd7zXZ\0\0").contains("` (xz: unpack it first); expected"));
    assert!(error_of(b"").starts_with("a/file: the file is empty"));
}

#[test]
fn rejects_text_with_only_one_stack_line() {
    let message = error_of(b"version = 4\n\n[[package]]\nname = \"a\"\n");
    assert!(
        message.contains("not a profile that sto can read"),
        "{message}"
    );
    let recording = read_text("main 4\nwork 2\n").unwrap();
    assert_eq!(folded(&recording), ["main 4", "work 2"]);
}

#[test]
fn sums_counts_of_equal_stacks() {
    let recording = read_text("a;b 1\na;c 2\na;b 3\n").unwrap();
    assert_eq!(folded(&recording), ["a;b 4", "a;c 2"]);
}

#[test]
fn rejects_counts_whose_sum_overflows() {
    let message = error_of(b"a 18446744073709551615\nb 0\nb 1\n");
    assert!(
        message.starts_with("a/file: line 3: the counts up to here add up to more than 2^64 - 1"),
        "{message}"
    );
}

#[test]
fn truncates_long_names_with_a_warning() {
    let (name, fits) = ("x".repeat(4096) + "\u{e9}", "x".repeat(4096));
    let recording = read_text(&format!("{name};{fits} 1\n")).unwrap();
    let frames = frames_of(&recording, &recording.samples[0]);
    assert_eq!(frames[0].symbol, "x".repeat(4093) + "…");
    assert_eq!(frames[1].symbol, fits);
    assert_eq!(recording.warnings.len(), 1);
}

#[test]
fn rejects_too_deep_stacks() {
    let frames = "a;".repeat(MAX_DEPTH - 1);
    let deepest = read_text(&format!("{frames}a 1\n")).unwrap();
    assert_eq!(
        deepest.stacks.get(deepest.samples[0].stack).len(),
        MAX_DEPTH
    );
    let message = error_of(format!("b 1\n{frames}a;a 1\n").as_bytes());
    assert!(
        message.starts_with("a/file: line 2: a stack of 2097153 frames; stacks of up to 2097152"),
        "{message}"
    );
}

/// Blocks of a stream end anywhere, even in the middle of lines.
#[test]
fn reads_a_stream_of_many_blocks_like_the_file() {
    let lines = (0..100_000).map(|line| format!("main;f{};{}{line} 1\n", line % 7, "g".repeat(80)));
    let text: String = lines.collect();
    let stream = read_stream(Path::new("x"), text.as_bytes(), &Default::default()).unwrap();
    let file = read_text(&text).unwrap();
    assert!(text.len() > 8 << 20, "several blocks: {}", text.len());
    assert_eq!(stream.source, file.source);
    assert_eq!(stream.source_bytes, file.source_bytes);
    assert_eq!(stream.samples, file.samples);
    let stacks =
        [&stream, &file].map(|read| read.stacks.iter().map(|stack| read.stacks.get(stack)));
    let [of_stream, of_file] = stacks;
    assert!(of_stream.eq(of_file));
    let truncated = format!("{text}main;oops");
    let error = read_stream(Path::new("x"), truncated.as_bytes(), &Default::default());
    let message = error.unwrap_err().to_string();
    assert!(
        message.starts_with("x: line 100001: expected a stack"),
        "{message}"
    );
}

struct InPieces<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl std::io::Read for InPieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let room = buffer.len().min(self.piece);
        self.bytes.read(&mut buffer[..room])
    }
}

/// Every stack of a file with the kinds of its frames, its event and count.
fn check_golden(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/folded");
    let text = std::fs::read_to_string(folder.join(format!("{name}.folded"))).unwrap();
    let recording = read_text(&text).unwrap();
    let mut found = String::new();
    for sample in &recording.samples {
        let event = &recording.sample_types[sample.sample_type.0 as usize].event;
        found += &format!("{} {event}\n", sample.cost.samples);
        for frame in frames_of(&recording, sample) {
            found += &format!("    {} ({})", frame.symbol, frame.kind.name());
            if !frame.file.is_empty() {
                found += &format!(" {}:{}", frame.file, frame.line);
            }
            found.push('\n');
        }
    }
    let golden = folder.join(format!("{name}.expected"));
    assert_golden(&golden, &found);
}

#[test]
fn rejects_a_stream_whose_last_line_is_no_stack() {
    let text = "version 4\nmain;work 4x";
    let whole = read_bytes(Path::new("x"), text.as_bytes(), &Default::default());
    let stream = read_stream(Path::new("x"), text.as_bytes(), &Default::default());
    for read in [whole, stream] {
        assert!(matches!(read, Err(FormatError::Unknown { .. })), "{read:?}");
    }
}

#[test]
fn reads_file_and_line_after_a_name() {
    let text = "<module> (a b.py:9);go - /srv/x.rb:12;f (int);operator- (x);g (:1);h - 5;(a.c:3);a.py:<lambda>:7;<frozen abc>:m:2;a::b:3;.py::4 1";
    let recording = read_text(text).unwrap();
    let frames = frames_of(&recording, &recording.samples[0]);
    let frames: Vec<_> = frames
        .iter()
        .map(|frame| (frame.symbol, frame.file, frame.line))
        .collect();
    assert_eq!(
        frames,
        [
            ("<module>", "a b.py", 9),
            ("go", "/srv/x.rb", 12),
            ("f (int)", "", 0),
            ("operator- (x)", "", 0),
            ("g (:1)", "", 0),
            ("h - 5", "", 0),
            ("(a.c:3)", "", 0),
            ("<lambda>", "a.py", 7),
            ("m", "<frozen abc>", 2),
            ("a::b:3", "", 0),
            (".py::4", "", 0),
        ]
    );
}

#[test]
fn reads_output_of_real_tools() {
    for name in [
        "py-spy",
        "heaptrack",
        "async-profiler",
        "difffolded",
        "luajit",
        "nytprof",
        "excimer",
        "python-3.15",
    ] {
        check_golden(name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Reusing frames of the previous line never changes the result.
    #[test]
    fn stacks_do_not_depend_on_the_previous_line(
        stacks in prop::collection::vec(prop::collection::vec("[ab]{1,3}", 1..6), 1..20)
    ) {
        let stacks: Vec<String> = stacks.iter().map(|stack| stack.join(";")).collect();
        let lines: Vec<String> = stacks.iter().map(|stack| format!("{stack} 1")).collect();
        let recording = read_text(&lines.join("\n")).unwrap();
        let expected: BTreeSet<String> = stacks
            .iter()
            .map(|stack| format!("{stack} {}", stacks.iter().filter(|other| *other == stack).count()))
            .collect();
        prop_assert_eq!(folded(&recording).into_iter().collect::<BTreeSet<_>>(), expected);
    }

    /// A stream gives the same recording as the file, however it is divided.
    #[test]
    fn reads_a_stream_like_the_file(
        text in "(main|;|a|b| |1|\n|#|\r){0,40}", piece in 1..9usize
    ) {
        let stream = InPieces { bytes: text.as_bytes(), piece };
        let streamed = read_stream(Path::new("app.folded"), stream, &Default::default());
        match (streamed, read_text(&text)) {
            (Ok(streamed), Ok(read)) => {
                prop_assert_eq!(format!("{streamed:?}"), format!("{read:?}"));
            }
            (streamed, read) => prop_assert_eq!(
                streamed.err().map(|error| error.to_string()),
                read.err().map(|error| error.to_string())
            ),
        }
    }

    #[test]
    fn reads_or_rejects_arbitrary_lines(text in "(a|b|;| |1|\\.|\\n|\\r|\\t|#|_\\[k\\]|\\[|\\]|:|/|\u{e9}){0,60}") {
        if let Err(error) = read_text(&text) {
            prop_assert!(error.to_string().starts_with("app.folded"), "{}", error);
        }
    }
}
