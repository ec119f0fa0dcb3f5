//! Folded stacks: a line a stack, `root;caller;leaf count`.
//!
//! Written by `stackcollapse-*.pl`, inferno, async-profiler, bpftrace tools and many others. There
//! is no specification; SPEC.md says what is read.

use super::detect::Head;
use super::named::{Limit, NamedStacks, malformed};
use super::text::{LineReader, decimal, lines};
use super::{
    Format, FormatError, LocationIx, Process, ProcessIx, ReadOptions, Recording, Sample,
    SampleTypeIx, StackIx, Thread, ThreadIx, excerpt,
};
use crate::id::SourceDigest;
use crate::model::{FrameKind, Origin};
use crate::units::{Bytes, Cost, SampleType, Unit};
use hashbrown::HashMap;
use std::path::Path;

/// Whether a profile begins with a stack and its count. Comments alone are folded stacks too, of
/// which there are none.
pub(super) fn is_told(head: &Head<'_>) -> bool {
    match head.first_line() {
        Some(line) => memchr::memchr(0, line).is_none() && is_stack(line.trim_ascii_end()),
        None => head.is_all,
    }
}

/// Begins to read folded stacks; `path` is for messages.
pub(super) fn reader<'p>(path: &'p Path, _options: &ReadOptions) -> Box<dyn LineReader + 'p> {
    Box::new(Parser::new(path))
}

const WITHIN_LINE: &str = "The last line has no line end; if the file was cut short there, its count \
    is too small.";

/// What was read so far. Of the text nothing is held but the distinct names; of the stacks every
/// distinct one, with the sum of its counts.
struct Parser<'p> {
    path: &'p Path,
    named: NamedStacks,
    /// By stack.
    counts: Vec<u64>,
    /// Of all counts.
    sum: u64,
    line_number: usize,
    ends_within_line: bool,
    lines_with_counts: usize,
    lines_with_two_counts: usize,
    first_with_two_counts: usize,
}

impl<'p> Parser<'p> {
    fn new(path: &'p Path) -> Self {
        Parser {
            path,
            named: NamedStacks::default(),
            counts: Vec::new(),
            sum: 0,
            line_number: 0,
            ends_within_line: false,
            lines_with_counts: 0,
            lines_with_two_counts: 0,
            first_with_two_counts: 0,
        }
    }

    fn line<'b>(&mut self, line: &'b [u8], reader: &mut StackReader<'b>) -> Result<(), String> {
        let (stack, count) = split_at_last_space(line);
        if stack.is_empty() || !is_number(count) {
            return Err(format!(
                "expected a stack and its count, as in `main;work 42`, found {}",
                excerpt(line)
            ));
        }
        let count = parse_count(count)?;
        self.lines_with_counts += 1;
        if ends_with_number(stack) {
            if self.lines_with_two_counts == 0 {
                self.first_with_two_counts = self.line_number;
            }
            self.lines_with_two_counts += 1;
        }
        self.sum = self.sum.checked_add(count).ok_or(
            "the counts up to here add up to more than 2^64 - 1; are they numbers of samples? \
             Scale them all down",
        )?;
        let stack = reader.read(stack, &mut self.named)?.0 as usize;
        if stack == self.counts.len() {
            self.counts.push(0);
        }
        self.counts[stack] += count;
        Ok(())
    }
}

impl LineReader for Parser<'_> {
    fn block(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        let mut reader = StackReader::default();
        self.ends_within_line = !bytes.is_empty() && !bytes.ends_with(b"\n");
        for (_, line) in lines(bytes) {
            self.line_number += 1;
            let line = line.trim_ascii_end();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            self.line(line, &mut reader)
                .map_err(|problem| malformed(self.path, self.line_number, problem))?;
        }
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        source: SourceDigest,
        source_bytes: Bytes,
    ) -> Result<Recording, FormatError> {
        // A single function may be called `worker 3`; that all are, nobody believes.
        if self.lines_with_counts > 0 && self.lines_with_two_counts == self.lines_with_counts {
            return Err(malformed(
                self.path,
                self.first_with_two_counts,
                "two counts on every line: this is a differential profile (as difffolded.pl and \
                 inferno-diff-folded write), not a recording; give the two folded files it was \
                 made of",
            ));
        }
        // Differential collapsers write stacks that one side does not have with a zero.
        let sampled = self.counts.iter().zip(0..).filter(|&(&count, _)| count > 0);
        let samples: Vec<Sample> = sampled
            .map(|(&count, stack)| Sample {
                stack: StackIx(stack),
                thread: ThreadIx(0),
                sample_type: SampleTypeIx(0),
                time: None,
                cost: Cost {
                    samples: count,
                    value: count,
                },
                truncated: false,
            })
            .collect();
        if samples.is_empty() {
            return Err(FormatError::NoSamples {
                path: self.path.to_owned(),
            });
        }
        let stacks = self.named.finish();
        let mut warnings = stacks.warnings;
        warnings.extend(self.ends_within_line.then(|| WITHIN_LINE.to_owned()));
        Ok(Recording {
            format: Format::Folded,
            source,
            source_bytes,
            origin: Origin::default(),
            sample_types: vec![SampleType {
                event: "samples".to_owned(),
                unit: Unit::Samples,
            }],
            processes: vec![Process {
                pid: 0,
                program: String::new(),
                main_module: None,
            }],
            threads: vec![Thread {
                tid: 0,
                name: String::new(),
                process: ProcessIx(0),
            }],
            modules: Vec::new(),
            locations: stacks.locations,
            named: stacks.frames,
            stacks: stacks.stacks,
            samples,
            lost: 0,
            warnings,
        })
    }
}

/// Whether a line is a stack and its count.
fn is_stack(line: &[u8]) -> bool {
    let (stack, count) = split_at_last_space(line);
    !stack.is_empty() && is_number(count)
}

/// The parts before and behind the last space; without a space all stands behind.
fn split_at_last_space(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b' ', text) {
        Some(space) => (&text[..space], &text[space + 1..]),
        None => (b"", text),
    }
}

/// Digits, then digits and points.
fn is_number(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit)
        && text.iter().all(|&b| b.is_ascii_digit() || b == b'.')
}

fn ends_with_number(stack: &[u8]) -> bool {
    stack.last().is_some_and(u8::is_ascii_digit) && is_stack(stack)
}

/// A whole number, perhaps with a fraction of zeros.
fn parse_count(count: &[u8]) -> Result<u64, String> {
    let (whole, fraction) = match memchr::memchr(b'.', count) {
        Some(point) => (&count[..point], &count[point + 1..]),
        None => (count, &b""[..]),
    };
    if fraction.iter().any(|&digit| digit != b'0') {
        return Err(format!(
            "the count {} is not whole; counts are numbers of samples: write them without a \
             fraction, or scale them all so that they have none",
            excerpt(count)
        ));
    }
    decimal(whole).ok_or_else(|| format!("the count {} is larger than 2^64 - 1", excerpt(count)))
}

/// Turns stacks of names into stacks of locations.
///
/// Consecutive lines usually share most of their frames, so the frames that a line has in common
/// with the line before are taken over, and only the others are looked up.
#[derive(Default)]
struct StackReader<'b> {
    known: HashMap<&'b [u8], LocationIx>,
    text: &'b [u8],
    /// Where in `text` each frame ends, its semicolon included.
    ends: Vec<usize>,
    locations: Vec<LocationIx>,
}

impl<'b> StackReader<'b> {
    fn read(&mut self, text: &'b [u8], named: &mut NamedStacks) -> Result<StackIx, Limit> {
        let shared = common_prefix(self.text, text);
        while self.ends.pop_if(|end| *end > shared).is_some() {
            self.locations.pop();
        }
        self.text = text;
        let mut start = self.ends.last().copied().unwrap_or(0);
        let tail = start;
        let semicolons = memchr::memchr_iter(b';', &text[tail..]).map(|at| tail + at);
        for end in semicolons.chain([text.len()]) {
            let location = self.location(&text[start..end], named)?;
            self.locations.push(location);
            start = end + 1;
            self.ends.push(start);
        }
        named.stack(&self.locations)
    }

    fn location(&mut self, frame: &'b [u8], named: &mut NamedStacks) -> Result<LocationIx, Limit> {
        if let Some(&known) = self.known.get(frame) {
            return Ok(known);
        }
        let (name, kind) = kind_of(frame);
        let symbol = named.text(name);
        let location = named.frame(kind, &symbol, "")?;
        self.known.insert(frame, location);
        Ok(location)
    }
}

/// Length of the longest common prefix.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    // A block of a known size at a time, so that comparing takes vector instructions.
    const BLOCK: usize = 32;
    let (a_blocks, b_blocks) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
    let equal_blocks = a_blocks
        .iter()
        .zip(b_blocks)
        .take_while(|(a, b)| a == b)
        .count();
    let start = equal_blocks * BLOCK;
    let equal_bytes = a[start..]
        .iter()
        .zip(&b[start..])
        .take_while(|(a, b)| a == b);
    start + equal_bytes.count()
}

/// The name of a frame without its annotation, and its kind.
fn kind_of(frame: &[u8]) -> (&[u8], FrameKind) {
    let annotations: [(&[u8], FrameKind); 5] = [
        (b"_[k]", FrameKind::Kernel),
        (b"_[i]", FrameKind::Inlined),
        (b"_[j]", FrameKind::Jit),
        (b"_[0]", FrameKind::Interpreted),
        (b"_[1]", FrameKind::Jit),
    ];
    let (name, kind) = annotations
        .into_iter()
        .find_map(|(suffix, kind)| Some((frame.strip_suffix(suffix)?, kind)))
        .unwrap_or((frame, FrameKind::User));
    match name {
        b"" => (b"[unknown]", FrameKind::Unresolved),
        _ if is_unresolved(name) => (name, FrameKind::Unresolved),
        _ => (name, kind),
    }
}

/// Whether a name stands for an address without a symbol: `[unknown]`, `[libc.so.6]`,
/// `[libc.so.6+0x1234]`, `0x7f00deadbeef`, `??`.
fn is_unresolved(name: &[u8]) -> bool {
    match name {
        b"??" => true,
        [b'[', inside @ .., b']'] => !inside.iter().any(u8::is_ascii_whitespace),
        [b'0', b'x', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}
