//! The text that `perf script` prints.
//!
//! A sample is a line that says when and where it was taken, then its stack, innermost frame
//! first, a line a frame, then an empty line. Without call chains there is one line a sample.
//!
//! Source: `tools/perf/builtin-script.c` and `tools/perf/util/evsel_fprintf.c` of Linux 6.1.
//!
#![doc = include_str!("perf_script.md")]

mod call;
mod header;
mod reader;
mod sharing;
mod stack;
mod threads;

use super::error::At;
use super::source::{Head, LineReader};
use super::{FormatError, ReadOptions, Salvage, excerpt};
use crate::recording::RecordingBuilder;
use header::Header;
use reader::{Problem, Reader};
use sharing::{AMONG_IDLE, Sharing};
use std::path::Path;

/// Whether a profile begins with the first line of a sample.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let text = head.first_line().filter(|line| !line.contains(&0));
    text.is_some_and(|line| Header::parse(line).is_some())
}

/// Begins to read the text that `perf script` prints; `path` is for messages.
pub(super) fn reader<'p>(path: &'p Path, _options: &ReadOptions) -> Box<dyn LineReader + 'p> {
    Box::new(Parser::new(path, AMONG_IDLE))
}

struct Parser<'p> {
    path: &'p Path,
    reader: Reader,
    sharing: Sharing,
}

impl Parser<'_> {
    fn new(path: &Path, sharing: Sharing) -> Parser<'_> {
        Parser {
            path,
            reader: Reader::default(),
            sharing,
        }
    }
}

impl LineReader for Parser<'_> {
    fn block(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        self.sharing.read(&mut self.reader, self.path, bytes)?;
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            let line = self.reader.line_number;
            let cut = format!("the file ends within line {line}, and perf ends every line");
            return Err(FormatError::cut_off(self.path, cut, Salvage::Possible));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<RecordingBuilder, FormatError> {
        let line_number = self.reader.line_number;
        let read = self.reader.finish();
        read.map_err(|limit| FormatError::malformed(self.path, At::Line(line_number), limit))
    }
}

impl Problem {
    fn at_line(self, path: &Path, number: usize, line: &[u8]) -> FormatError {
        let expected = match self {
            Problem::NotASample => "a sample, as in `prog 123 [000] 4.567890: 1000 cycles:`",
            Problem::NotACall => {
                "a line of a sample's stack, as in `7f3a work+0x1c (/usr/bin/prog)`"
            }
            Problem::Limit(limit) => return FormatError::malformed(path, At::Line(number), limit),
        };
        let problem = format!(
            "expected {expected}, found {}; print the recording with the default fields: \
             `perf script -i perf.data`",
            excerpt(line)
        );
        FormatError::malformed(path, At::Line(number), problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SourceDigest;
    use crate::limits::MAX_SAMPLE_TYPES;
    use crate::recording::{Format, Recording};
    use crate::units::Bytes;
    use proptest::prelude::*;

    /// Reads blocks of text, each part by another reader.
    fn read(blocks: &[String], part: usize) -> Result<Recording, FormatError> {
        let sharing = Sharing {
            part,
            at_once: 1 + part % 7,
            is_other_reader: |_| true,
        };
        let mut parser = Box::new(Parser::new(Path::new("x"), sharing));
        let mut each = blocks.iter();
        each.try_for_each(|block| parser.block(block.as_bytes()))?;
        let source = SourceDigest::of(blocks.concat().as_bytes());
        Ok(parser
            .finish()?
            .finish(Format::PerfScript, source, Bytes(0)))
    }

    #[track_caller]
    fn check(blocks: &[String], part: usize) {
        let in_order = read(&[blocks.concat()], usize::MAX);
        assert_eq!(
            format!("{:?}", read(blocks, part)),
            format!("{in_order:?}"),
            "in parts of {part} bytes"
        );
    }

    /// A sample, or another record; its stack may lack the empty line after it.
    fn sample() -> impl Strategy<Value = String> {
        let first = prop_oneof![
            8 => "(a |b b |c )? ?[12](/[123])? {1,2}(\\[001\\] )?[12]\\.[0-9]: ([1-9] )?(cycles|faults:u): ",
            1 => "[ab] 1 1\\.5: cycles: \n# (hostname|cmdline) : [ab]",
        ];
        let caller = prop_oneof![
            20 => "\t {0,2}[1-3] (f|g|h|\\[unknown\\])(\\+0x[12])? \\((/x|/y \\(deleted\\)|inlined)\\)",
            1 => "  work\\.c:[12]\r?",
            1 => "        [1-3] f \\(/x\\)",
        ];
        let stack = prop::collection::vec(caller.prop_map(|line| line + "\n"), 0..6);
        let sample = (first, stack, "\n{0,2}");
        prop_oneof![
            9 => sample.prop_map(|(first, stack, end)| format!("{first}\n{}{end}", stack.concat())),
            1 => "[ab] 1 1\\.5: PERF_RECORD_LOST(_SAMPLES)? lost [1-9]\n",
            2 => "[ab] 1 1\\.5: ([1-9] cycles: )? ?[1-3] f \\((/x|inlined)\\)\n",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn however_text_is_cut_it_is_the_same_recording(
            samples in prop::collection::vec(sample(), 1..60),
            begin_of_block in any::<prop::sample::Index>(),
            part in 1..300usize,
        ) {
            let text = samples.concat();
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let rest = lines.split_off(begin_of_block.index(lines.len()));
            let blocks = [lines.concat(), rest.concat()];
            prop_assert!(read(&blocks, part).is_ok());
            check(&blocks, part);
        }

        #[test]
        fn however_text_is_cut_the_first_line_that_is_wrong_is_named(
            mut samples in prop::collection::vec(sample(), 3..60),
            wrong in prop::collection::vec(
                (any::<prop::sample::Index>(), "\tx y|\n\t1 f|what is this\\?"),
                1..4,
            ),
            part in 1..300usize,
        ) {
            for (at, wrong) in wrong {
                let at = at.index(samples.len());
                samples[at].push_str(&(wrong + "\n"));
            }
            let text = [samples.concat()];
            prop_assert!(read(&text, part).is_err());
            check(&text, part);
        }
    }

    #[test]
    fn the_line_at_which_a_limit_is_passed_is_named_however_text_is_cut() {
        let events =
            (0..MAX_SAMPLE_TYPES + 2).map(|event| format!("p 1 1.5: e{event}: \n\t1 f (/x)\n\n"));
        let events = events.collect::<String>();
        let events = [events];
        let message = read(&events, 100).unwrap_err().to_string();
        assert!(
            message.starts_with("x: line 3073: more than 1024 sample types"),
            "{message}"
        );
        check(&events, 100);
    }
}
