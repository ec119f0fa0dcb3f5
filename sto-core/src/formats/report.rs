//! Text that profilers print for people: read line by line into sums.

use super::named::malformed;
use super::summed::Summed;
use super::text::{LineReader, decimal, lines};
use super::{
    Format, FormatError, LocationIx, Process, ProcessIx, ReadOptions, Recording, SampleTypeIx,
    Thread, ThreadIx, excerpt,
};
use crate::id::SourceDigest;
use crate::model::Origin;
use crate::units::{Bytes, Cost, SampleType};
use std::borrow::Cow;
use std::path::Path;

/// What is particular about the text of one profiler.
pub(super) trait Report: Send {
    const FORMAT: Format;
    /// Whether the text itself tells where it ends.
    const HAS_END: bool = false;

    /// Takes the next line, without its line end.
    fn line(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String>;

    /// Whether the text is there to its end; an error where it is not.
    fn end(&self) -> Result<(), String> {
        Ok(())
    }

    /// Adds what is left, and tells what the text says beside its samples.
    fn finish(self, summed: &mut Summed) -> Result<About, String>;
}

/// What a report says beside its samples. No threads are one without a name.
#[derive(Default)]
pub(super) struct About {
    pub(super) sample_types: Vec<SampleType>,
    pub(super) program: String,
    pub(super) pid: u32,
    pub(super) threads: Vec<Thread>,
    pub(super) warnings: Vec<String>,
}

/// Begins to read a report; `path` is for messages.
pub(super) fn reader<'p, R: Report + Default + 'static>(
    path: &'p Path,
    options: &ReadOptions,
) -> Box<dyn LineReader + 'p> {
    Box::new(Reader {
        path,
        allow_truncated: options.allow_truncated,
        report: R::default(),
        summed: Summed::default(),
        line_number: 0,
        ends_within_line: false,
    })
}

struct Reader<'p, R> {
    path: &'p Path,
    allow_truncated: bool,
    report: R,
    summed: Summed,
    line_number: usize,
    ends_within_line: bool,
}

const WITHIN_LINE: &str = "The last line has no line end; if the file was cut short there, its costs are \
    too small.";
pub(super) const CUT_OFF: &str = "truncated: the text ends here, before its end; was the profiler stopped, \
    or the copy cut short? Print or copy it again, or take what there is: --allow-truncated";
const CUT: &str = "The text ends early; what there is of it was read.";

impl<R: Report> LineReader for Reader<'_, R> {
    fn block(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        self.ends_within_line = !bytes.is_empty() && !bytes.ends_with(b"\n");
        for (_, line) in lines(bytes) {
            self.line_number += 1;
            let taken = self.report.line(line, &mut self.summed);
            taken.map_err(|problem| malformed(self.path, self.line_number, problem))?;
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        source: SourceDigest,
        source_bytes: Bytes,
    ) -> Result<Recording, FormatError> {
        let damage = |problem| malformed(self.path, self.line_number, problem);
        let is_cut = match self.report.end() {
            Err(_) if self.allow_truncated => true,
            end => end.map(|()| false).map_err(damage)?,
        };
        let mut about = self.report.finish(&mut self.summed).map_err(damage)?;
        about.warnings.extend(is_cut.then(|| CUT.to_owned()));
        let is_within_line = self.ends_within_line && !R::HAS_END;
        about
            .warnings
            .extend(is_within_line.then(|| WITHIN_LINE.to_owned()));
        let size = (source, source_bytes);
        recording(self.path, R::FORMAT, size, self.summed, about)
    }
}

/// What was read of a file with this digest and size.
pub(super) fn recording(
    path: &Path,
    format: Format,
    (source, source_bytes): (SourceDigest, Bytes),
    summed: Summed,
    about: About,
) -> Result<Recording, FormatError> {
    if summed.samples.is_empty() {
        return Err(FormatError::NoSamples {
            path: path.to_owned(),
        });
    }
    let stacks = summed.named.finish();
    let mut threads = about.threads;
    if threads.is_empty() {
        threads.push(Thread {
            tid: 0,
            name: String::new(),
            process: ProcessIx(0),
        });
    }
    Ok(Recording {
        format,
        source,
        source_bytes,
        origin: Origin::default(),
        sample_types: about.sample_types,
        processes: vec![Process {
            pid: about.pid,
            program: about.program,
            main_module: None,
        }],
        threads,
        modules: Vec::new(),
        locations: stacks.locations,
        named: stacks.frames,
        stacks: stacks.stacks,
        samples: summed.samples,
        lost: 0,
        warnings: about.warnings.into_iter().chain(stacks.warnings).collect(),
    })
}

/// A tree of calls whose nodes come one after the other, each with its depth: the path to the last.
#[derive(Default)]
pub(super) struct CallPath {
    locations: Vec<LocationIx>,
    /// By location: what it cost, but for what its calls up to here did, unless that is told.
    left: Vec<Option<u64>>,
}

impl CallPath {
    /// Goes to a node that costs `total` with its calls. Nodes that end before it have what is left as
    /// their own cost, which is given to `own` with their stack.
    pub(super) fn enter(
        &mut self,
        depth: usize,
        location: LocationIx,
        total: u64,
        own: impl FnMut(&[LocationIx], u64) -> Result<(), String>,
    ) -> Result<(), String> {
        if depth > self.locations.len() {
            return Err(format!(
                "a call at depth {depth}, where the line before is at depth {}; expected at most one \
                 more. Was a line lost?",
                self.locations.len() as i64 - 1
            ));
        }
        self.leave(depth, own)?;
        // Rounded times of calls may add up to more than their caller's.
        if let Some(Some(caller)) = self.left.last_mut() {
            *caller = caller.saturating_sub(total);
        }
        self.locations.push(location);
        self.left.push(Some(total));
        Ok(())
    }

    /// Ends all nodes of a depth and below.
    pub(super) fn leave(
        &mut self,
        depth: usize,
        mut own: impl FnMut(&[LocationIx], u64) -> Result<(), String>,
    ) -> Result<(), String> {
        while self.locations.len() > depth {
            if let Some(left) = self.left.pop().flatten() {
                own(&self.locations, left)?;
            }
            self.locations.pop();
        }
        Ok(())
    }

    /// What the last node costs by itself is told by the format: nothing is left of it.
    pub(super) fn own_is_told(&mut self) {
        if let Some(left) = self.left.last_mut() {
            *left = None;
        }
    }

    /// The stack of the last node, root first.
    pub(super) fn stack(&self) -> &[LocationIx] {
        &self.locations
    }
}

/// A cost of the only thread.
pub(super) fn one_thread(
    summed: &mut Summed,
    sample_type: u32,
    stack: &[LocationIx],
    cost: Cost,
) -> Result<(), String> {
    summed.add(ThreadIx(0), SampleTypeIx(sample_type), stack, cost)
}

/// A time that nobody counted samples of: one for each millisecond, so that shares of samples are shares
/// of time.
pub(super) fn time(nanoseconds: u64) -> Cost {
    per(1_000_000, nanoseconds)
}

/// A cost with a sample for each `unit` of its value, rounded; one at least where there is any.
pub(super) fn per(unit: u64, value: u64) -> Cost {
    let rounded = value / unit + u64::from(value % unit >= unit.div_ceil(2));
    Cost {
        samples: rounded.max(u64::from(value > 0)),
        value,
    }
}

/// A decimal number with up to `digits` digits behind the point that count, times 10 to the power of
/// that.
pub(super) fn scaled(text: &[u8], digits: usize) -> Result<u64, String> {
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b""[..]),
    };
    let is_number = fraction.iter().all(u8::is_ascii_digit);
    let padded: Vec<u8> = fraction
        .iter()
        .copied()
        .chain(std::iter::repeat(b'0'))
        .take(digits)
        .collect();
    let number = decimal(&[whole, &padded].concat());
    let whole = decimal(whole);
    number
        .filter(|_| is_number && whole.is_some())
        .ok_or_else(|| {
            format!(
                "expected a number from 0 to {}, found {}",
                u64::MAX / 10u64.pow(digits as u32),
                excerpt(text)
            )
        })
}

/// More fields than a line of any format has.
const MAX_FIELDS: usize = 256;

/// The first fields of a line of comma-separated values, without the quotes around them.
pub(super) fn fields(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(line) = rest.filter(|_| fields.len() < MAX_FIELDS) {
        let text = line.trim_ascii_start();
        let (field, behind) = match text.strip_prefix(b"\"") {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = memchr::memchr(b',', line).unwrap_or(line.len());
                (line[..end].trim_ascii().into(), &line[end..])
            }
        };
        fields.push(field);
        rest = memchr::memchr(b',', behind).map(|comma| &behind[comma + 1..]);
    }
    fields
}

/// The text up to the closing quote, where two stand for one, and what is behind it.
fn unquoted(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]) {
        at += quote;
        if text.get(at + 1) != Some(&b'"') {
            break;
        }
        at += 2;
    }
    let has_end = text.get(at) == Some(&b'"');
    let end = if has_end { at } else { text.len() };
    let inside = &text[..end];
    let field = match memchr::memmem::find(inside, b"\"\"") {
        None => inside.into(),
        Some(_) => {
            let mut field = Vec::with_capacity(inside.len());
            let mut bytes = inside.iter();
            while let Some(&byte) = bytes.next() {
                field.push(byte);
                if byte == b'"' {
                    bytes.next();
                }
            }
            field.into()
        }
    };
    (field, text.get(end + 1..).unwrap_or(b""))
}
