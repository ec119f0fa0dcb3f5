//! Folded stacks: a line a stack, `root;caller;leaf count`.
//!
//! Written by `stackcollapse-*.pl`, inferno, async-profiler, bpftrace tools and many others. There
//! is no specification; SPEC.md says what is read.

use super::named::{Finished, NamedStacks, TooMany, malformed};
use super::text::{decimal, lines};
use super::{
    Format, FormatError, LocationIx, Process, ProcessIx, Recording, Sample, SampleTypeIx, StackIx,
    Thread, ThreadIx, excerpt,
};
use crate::id::SourceDigest;
use crate::model::{FrameKind, Origin};
use crate::units::{Bytes, Cost, SampleType, Unit};
use hashbrown::HashMap;
use std::path::Path;

/// Whether a line looks like a stack and its count, so that a file that begins with it is read as
/// folded stacks.
pub(super) fn is_stack(line: &[u8]) -> bool {
    let (stack, count) = split_at_last_space(line.trim_ascii_end());
    !stack.is_empty() && is_number(count)
}

/// Reads folded stacks; `path` is for messages.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Recording, FormatError> {
    let (source, parsed) = rayon::join(|| SourceDigest::of(bytes), || parse(path, bytes));
    let (stacks, samples) = parsed?;
    Ok(Recording {
        format: Format::Folded,
        source,
        source_bytes: Bytes(bytes.len() as u64),
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
        warnings: stacks.warning.into_iter().collect(),
    })
}

fn parse(path: &Path, bytes: &[u8]) -> Result<(Finished, Vec<Sample>), FormatError> {
    let mut stacks = StackReader::default();
    let mut samples = Vec::new();
    let mut counted = 0;
    let mut first_counted_twice = None;
    let mut counted_twice = 0;
    for (number, line) in lines(bytes) {
        let line = line.trim_ascii_end();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let (stack, count) = split_at_last_space(line);
        if stack.is_empty() || !is_number(count) {
            let problem = format!(
                "expected a stack and its count, as in `main;work 42`, found {}",
                excerpt(line)
            );
            return Err(malformed(path, number, problem));
        }
        let count = parse_count(count).map_err(|problem| malformed(path, number, problem))?;
        counted += 1;
        if ends_with_number(stack) {
            first_counted_twice.get_or_insert(number);
            counted_twice += 1;
        }
        let stack = stacks
            .read(stack)
            .map_err(|too_many| too_many.at_line(path, number))?;
        // Differential collapsers write stacks that one side does not have with a zero.
        if count > 0 {
            samples.push(Sample {
                stack,
                thread: ThreadIx(0),
                sample_type: SampleTypeIx(0),
                time: None,
                cost: Cost {
                    samples: count,
                    value: count,
                },
                truncated: false,
            });
        }
    }
    match first_counted_twice {
        // A single function may be called `worker 3`; that all are, nobody believes.
        Some(number) if counted_twice == counted => Err(malformed(
            path,
            number,
            "two counts on every line: this is a differential profile (as difffolded.pl and \
             inferno-diff-folded write), not a recording; give the two folded files it was made of",
        )),
        _ if samples.is_empty() => Err(FormatError::NoSamples {
            path: path.to_owned(),
        }),
        _ => Ok((stacks.named.finish(), samples)),
    }
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
    named: NamedStacks,
    known: HashMap<&'b [u8], LocationIx>,
    text: &'b [u8],
    /// Where in `text` each frame ends, its semicolon included.
    ends: Vec<usize>,
    locations: Vec<LocationIx>,
}

impl<'b> StackReader<'b> {
    fn read(&mut self, text: &'b [u8]) -> Result<StackIx, TooMany> {
        let shared = common_prefix(self.text, text);
        while self.ends.pop_if(|end| *end > shared).is_some() {
            self.locations.pop();
        }
        self.text = text;
        let mut start = self.ends.last().copied().unwrap_or(0);
        let tail = start;
        let semicolons = memchr::memchr_iter(b';', &text[tail..]).map(|at| tail + at);
        for end in semicolons.chain([text.len()]) {
            let location = self.location(&text[start..end])?;
            self.locations.push(location);
            start = end + 1;
            self.ends.push(start);
        }
        self.named.stack(&self.locations)
    }

    fn location(&mut self, frame: &'b [u8]) -> Result<LocationIx, TooMany> {
        if let Some(&known) = self.known.get(frame) {
            return Ok(known);
        }
        let (name, kind) = kind_of(frame);
        let symbol = self.named.text(name);
        let location = self.named.frame(kind, &symbol, "")?;
        self.known.insert(frame, location);
        Ok(location)
    }
}

/// Length of the longest common prefix.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    // A block at a time, so that comparing takes vector instructions.
    const BLOCK: usize = 32;
    let equal_blocks = a
        .chunks_exact(BLOCK)
        .zip(b.chunks_exact(BLOCK))
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
