//! Output of `perf script`.
//!
//! A sample is a line with time, thread and event, then its stack, innermost frame first, one frame
//! per line, then an empty line. Without call chains each sample is one line.
//!
//! Source: `tools/perf/builtin-script.c` and `tools/perf/util/evsel_fprintf.c` of Linux 6.1.
//!
//! See [the manual](crate::manual::perf_script).

mod call;
mod header;
mod probes;
mod reader;
mod sharing;
mod stack;
mod threads;

use crate::error::{At, DecodeError, Decoded, Salvage};
use crate::recording::RecordingBuilder;
use crate::source::{Head, LineReader, ReadOptions};
use call::ends_with_file;
use header::Header;
use probes::Probes;
use reader::Reader;
use sharing::{IDLE_CORES, Sharing};

/// Returns `true` if a profile begins with the first line of a sample.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let text = head.first_line().filter(|line| !line.contains(&0));
    text.is_some_and(|line| Header::parse(line).is_some())
}

/// Makes a reader.
pub(super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Text::Unknown(Box::new(options.clone())))
}

/// The kind of the text, once it is known.
enum Text {
    Unknown(Box<ReadOptions>),
    Samples(Box<Parser>),
    Probes { probes: Box<Probes>, size: u64 },
}

impl LineReader for Text {
    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        if let Text::Unknown(options) = self {
            *self = if probes::begins_with_probe(bytes) {
                Text::Probes {
                    probes: Box::new(Probes::new(options)),
                    size: 0,
                }
            } else {
                Text::Samples(Box::new(Parser {
                    reader: Reader::new(options),
                    sharing: IDLE_CORES,
                }))
            };
        }
        let line = match self {
            Text::Unknown(_) => return Ok(()),
            Text::Samples(parser) => {
                parser.block(bytes)?;
                parser.reader.line_number
            }
            Text::Probes { probes, size } => {
                *size += bytes.len() as u64;
                probes.block(bytes)?;
                probes.line_number()
            }
        };
        // A sample copied by hand may lack its last line end.
        let last = &bytes[memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)..];
        if !last.is_empty() && !ends_with_file(last) {
            let cut = format!("the file ends within line {line}, and perf ends every line");
            return Err(DecodeError::cut_off(cut, Salvage::Possible));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Decoded<RecordingBuilder> {
        match *self {
            Text::Unknown(_) => Ok(RecordingBuilder::default()),
            Text::Samples(parser) => parser.finish(),
            Text::Probes { probes, size } => probes.finish(size),
        }
    }
}

struct Parser {
    reader: Reader,
    sharing: Sharing,
}

impl Parser {
    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        self.sharing.read(&mut self.reader, bytes)
    }

    fn finish(self) -> Decoded<RecordingBuilder> {
        let at = At::Line(self.reader.line_number);
        self.reader.finish().map_err(DecodeError::at(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Format, Recording};
    use proptest::prelude::*;
    use std::path::Path;
    use sto_model::id::RecordingDigest;
    use sto_model::limits::MAX_SAMPLE_TYPES;
    use sto_model::units::Bytes;

    /// Reads blocks of text with a given size of the parts that are read in parallel.
    fn read(blocks: &[String], part: usize) -> Decoded<Recording> {
        let sharing = Sharing {
            part,
            at_once: 1 + part % 7,
            is_other_reader: |_| true,
        };
        let reader = Reader::default();
        let mut parser = Parser { reader, sharing };
        let mut each = blocks.iter();
        each.try_for_each(|block| parser.block(block.as_bytes()))?;
        let source = RecordingDigest::hash_bytes(blocks.concat().as_bytes());
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

    /// A sample or another record. Its stack may lack the empty line after it.
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
        fn cutting_does_not_change_the_recording(
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
        fn cutting_does_not_change_which_line_is_rejected(
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
    fn cutting_does_not_change_which_line_exceeds_a_limit() {
        let events =
            (0..MAX_SAMPLE_TYPES + 2).map(|event| format!("p 1 1.5: e{event}: \n\t1 f (/x)\n\n"));
        let events = events.collect::<String>();
        let events = [events];
        let error = read(&events, 100).unwrap_err();
        let message = error.in_file(Path::new("x"), 0).to_string();
        assert!(
            message.starts_with("x: line 3073: more than 1024 sample types"),
            "{message}"
        );
        check(&events, 100);
    }
}
