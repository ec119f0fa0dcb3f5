//! Folded stacks: one stack per line, `root;caller;leaf count`.
//!
//! They are written by `stackcollapse-*.pl`, inferno, async-profiler, bpftrace tools and many
//! others. There is no specification; the rules of this reader are below.
//!
//! See [the manual](crate::manual::folded).

use crate::names::{NamedFrame, is_unresolved};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{BLOCK, decimal, excerpt, lines};
use hashbrown::HashMap;
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

/// Number of lines examined to distinguish stacks of one frame from other text.
const JUDGED_LINES: usize = 100;

/// Returns `true` if a profile begins with a stack of several frames and its count, or with many
/// stacks of one frame, because a single line such as `version = 4` may be any text. A text of
/// comments counts as folded stacks without samples.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let Some(first) = head.first_line() else {
        return head.is_all;
    };
    let is_stack = |line: &[u8]| memchr::memchr(0, line).is_none() && is_stack(line);
    let mut stacks = stacks(head.whole_lines()).take(JUDGED_LINES);
    if first.contains(&b';') {
        is_stack(first.trim_ascii_end())
    } else {
        stacks.all(is_stack)
    }
}

/// The lines that are neither blank nor comments.
fn stacks(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = lines(text).map(|(_, line)| line.trim_ascii_end());
    lines.filter(|line| !is_passed_over(line))
}

/// The reader. It holds only distinct names and distinct stacks with their sums.
#[derive(Default)]
pub(super) struct Folded {
    /// One column, or two for a differential profile; empty before the first stack.
    columns: Vec<Column>,
    /// Number of bytes read.
    seen: usize,
    stacks: StackReader,
}

#[derive(Default)]
struct Column {
    /// Sum of each stack.
    counts: Vec<u64>,
    /// Fraction of each stack's sum in billionths; empty if all counts are integers.
    fractions: Vec<u64>,
    /// Sum of all counts.
    sum: u64,
}

impl Folded {
    /// The number of counts per line: two if all lines that end within the first [`BLOCK`] have
    /// two, otherwise one; 0 without a stack. The result does not depend on how the text is cut
    /// into blocks.
    fn count_columns(&self, bytes: &[u8]) -> usize {
        let judged = &bytes[..bytes.len().min(BLOCK.saturating_sub(self.seen))];
        let whole_lines = memchr::memrchr(b'\n', judged).map_or(0, |end| end + 1);
        let first = stacks(bytes).next();
        let mut judged = stacks(&bytes[..whole_lines]).peekable();
        // One function may be called `worker 3`, but not all of them.
        let have_two = match judged.peek() {
            Some(_) => judged.all(has_two_counts),
            None => first.is_some_and(has_two_counts),
        };
        match (first, have_two) {
            (None, _) => 0,
            (Some(_), false) => 1,
            (Some(_), true) => 2,
        }
    }
}

impl Report for Folded {
    fn block(&mut self, bytes: &[u8]) {
        // Forget the frames of the previous block; names may be many and long.
        self.stacks = StackReader::default();
        if self.columns.is_empty() {
            let columns = self.count_columns(bytes);
            self.columns.resize_with(columns, Column::default);
        }
        self.seen += bytes.len();
    }

    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let line = line.trim_ascii_end();
        if is_passed_over(line) {
            return Ok(());
        }
        let mut counts = [Count::default(); 2];
        let mut stack = line;
        for count in counts[..self.columns.len()].iter_mut().rev() {
            let (before, text) = split_at_last_space(stack);
            if before.is_empty() || !is_number(text) {
                return Err(format!(
                    "expected a stack and its count, as in {}, found {}",
                    match self.columns.len() {
                        2 => "`main;work 42 37`",
                        _ => "`main;work 42`",
                    },
                    excerpt(line)
                ));
            }
            *count = Count::parse(text)?;
            stack = before;
        }
        // heaptrack_print ends stacks with a semicolon; Excimer begins all but the first with one.
        let stack = stack.strip_suffix(b";").unwrap_or(stack);
        let stack = stack.strip_prefix(b";").unwrap_or(stack);
        let stack = self.stacks.read(stack, builder)?.0 as usize;
        for (column, count) in self.columns.iter_mut().zip(counts) {
            column.add(stack, count)?;
        }
        Ok(())
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        let events: &[&str] = match self.columns.len() {
            2 => &["before", "after"],
            _ => &["samples"],
        };
        for event in events {
            builder.sample_type(event, Unit::Samples);
        }
        for (column, sample_type) in self.columns.iter().zip(0..) {
            // Differential profiles have zeros for stacks that one side lacks.
            let sampled = column.rounded()?.into_iter().zip(0..);
            for (count, stack) in sampled.filter(|&(count, _)| count > 0) {
                let measured = (ThreadIx(0), SampleTypeIx(sample_type));
                builder.push(measured, StackIx(stack), None, Cost::from_count(count));
            }
        }
        let is_rounded = self
            .columns
            .iter()
            .any(|column| !column.fractions.is_empty());
        let warnings = [
            (is_rounded, ROUNDED),
            (self.columns.len() == 2, DIFFERENTIAL),
        ];
        let warnings = warnings.into_iter().filter(|(is_so, _)| *is_so);
        builder
            .warnings
            .extend(warnings.map(|(_, warning)| warning.to_owned()));
        Ok(())
    }
}

const ROUNDED: &str = "Counts have fractions; each stack's sum was rounded to a whole number.";
const DIFFERENTIAL: &str = "Every line has two counts, as difffolded.pl and inferno-diff-folded write \
    them; they are read as the events `before` and `after`.";

impl Column {
    fn add(&mut self, stack: usize, count: Count) -> Result<(), String> {
        let too_much = "the counts up to here add up to more than 2^64 - 1; are they numbers of \
                        samples? Scale them all down";
        self.sum = self.sum.checked_add(count.whole).ok_or(too_much)?;
        if stack == self.counts.len() {
            self.counts.push(0);
        }
        self.counts[stack] += count.whole;
        if count.billionths > 0 {
            self.fractions
                .resize(self.counts.len().max(self.fractions.len()), 0);
            let fraction = &mut self.fractions[stack];
            *fraction += count.billionths;
            if *fraction >= BILLION {
                *fraction -= BILLION;
                self.sum = self.sum.checked_add(1).ok_or(too_much)?;
                self.counts[stack] += 1;
            }
        }
        Ok(())
    }

    /// Rounds the counts to integers, half up. Returns an error if that changes the sum too much.
    fn rounded(&self) -> Result<Vec<u64>, String> {
        let mut counts = self.counts.clone();
        for (count, &fraction) in counts.iter_mut().zip(&self.fractions) {
            *count = count.saturating_add(u64::from(fraction >= BILLION / 2));
        }
        let exact = self.sum as f64
            + self.fractions.iter().map(|&part| part as f64).sum::<f64>() / BILLION as f64;
        let rounded = counts.iter().map(|&count| count as f64).sum::<f64>();
        if (rounded - exact).abs() > exact * MOST_LOST {
            return Err(format!(
                "its counts are fractions: they add up to {exact:.3}, but to {rounded} when each \
                 stack's is rounded to a whole number; scale them all up, as by 1000"
            ));
        }
        Ok(counts)
    }
}

const BILLION: u64 = 1_000_000_000;
/// Maximum change of the sum by rounding.
const MOST_LOST: f64 = 0.01;

/// A count, exact to a billionth.
#[derive(Clone, Copy, Default)]
struct Count {
    whole: u64,
    billionths: u64,
}

impl Count {
    fn parse(text: &[u8]) -> Result<Count, String> {
        let (whole, fraction) = match memchr::memchr(b'.', text) {
            Some(point) => (&text[..point], &text[point + 1..]),
            None => (text, &b""[..]),
        };
        let digits = fraction.iter().chain(std::iter::repeat(&b'0')).take(9);
        let billionths = digits.fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'));
        let whole = decimal(whole)
            .ok_or_else(|| format!("the count {} is larger than 2^64 - 1", excerpt(text)))?;
        Ok(Count { whole, billionths })
    }
}

fn is_passed_over(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"#")
}

fn is_stack(line: &[u8]) -> bool {
    let (stack, count) = split_at_last_space(line);
    !stack.is_empty() && is_number(count)
}

/// The text before and after the last space; without a space, all is after it.
fn split_at_last_space(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b' ', text) {
        Some(space) => (&text[..space], &text[space + 1..]),
        None => (b"", text),
    }
}

/// Returns `true` for digits with at most one point, which must not come first.
fn is_number(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit)
        && text.iter().all(|&b| b.is_ascii_digit() || b == b'.')
        && text.iter().filter(|&&b| b == b'.').count() <= 1
}

fn has_two_counts(line: &[u8]) -> bool {
    let (stack, count) = split_at_last_space(line);
    is_number(count) && is_stack(stack)
}

/// Converts stacks of names to stacks of locations.
///
/// Consecutive lines usually share most of their frames, so only the frames that differ from the
/// previous line are looked up.
#[derive(Default)]
struct StackReader {
    known: HashMap<Box<[u8]>, LocationIx>,
    /// The previous stack.
    text: Vec<u8>,
    /// The end of each frame in `text`, including its semicolon.
    ends: Vec<usize>,
    locations: Vec<LocationIx>,
}

impl StackReader {
    fn read(&mut self, text: &[u8], builder: &mut RecordingBuilder) -> Built<StackIx> {
        let shared = common_prefix(&self.text, text);
        while self.ends.pop_if(|end| *end > shared).is_some() {
            self.locations.pop();
        }
        self.text.truncate(shared);
        self.text.extend_from_slice(&text[shared..]);
        let mut start = self.ends.last().copied().unwrap_or(0);
        let tail = start;
        let semicolons = memchr::memchr_iter(b';', &text[tail..]).map(|at| tail + at);
        for end in semicolons.chain([text.len()]) {
            let location = self.location(&text[start..end], builder)?;
            self.locations.push(location);
            start = end + 1;
            self.ends.push(start);
        }
        builder.stack(&self.locations)
    }

    fn location(&mut self, frame: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
        if let Some(&known) = self.known.get(frame) {
            return Ok(known);
        }
        let (name, kind) = kind_of(frame);
        let (symbol, file, line) = place_of(name);
        let named = NamedFrame {
            symbol,
            file,
            line,
            kind: Some(kind),
            ..NamedFrame::default()
        };
        let location = named.add(builder)?;
        self.known.insert(frame.into(), location);
        Ok(location)
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    // Blocks of constant size, so that the comparison uses vector instructions.
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
    let annotations: [(&[u8], FrameKind); 6] = [
        (b"_[k]", FrameKind::Kernel),
        (b"_[i]", FrameKind::Inlined),
        (b"_[j]", FrameKind::Jit),
        (b"_[0]", FrameKind::Interpreted),
        (b"_[1]", FrameKind::JitBaseline),
        (b"_[w]", FrameKind::Waker),
    ];
    let (name, kind) = annotations
        .into_iter()
        .find_map(|(suffix, kind)| Some((frame.strip_suffix(suffix)?, kind)))
        .unwrap_or((frame, FrameKind::User));
    match name {
        b"" => (b"", FrameKind::Unresolved),
        _ if is_unresolved(name) => (name, FrameKind::Unresolved),
        _ => (name, kind),
    }
}

/// Splits off a file and line: `work (app.py:12)` of py-spy, `work - app.rb:12` of rbspy,
/// `app.py:work:12` of Python itself.
fn place_of(name: &[u8]) -> (&[u8], &[u8], u32) {
    let of_python = name.strip_suffix(b")").map(|name| (name, &b" ("[..]));
    let (text, before) = of_python.unwrap_or((name, b" - "));
    let behind = || {
        let at = memchr::memmem::rfind(text, before).filter(|&at| at > 0)?;
        let (file, line) = number_after_colon(&text[at + before.len()..])?;
        Some((&text[..at], file, line))
    };
    let in_front = || {
        let (rest, line) = number_after_colon(name)?;
        let colon = memchr::memrchr(b':', rest)?;
        let (file, symbol) = (&rest[..colon], &rest[colon + 1..]);
        let is_file = file.ends_with(b".py") || file.starts_with(b"<") && file.ends_with(b">");
        (is_file && !symbol.is_empty()).then_some((symbol, file, line))
    };
    behind().or_else(in_front).unwrap_or((name, b"", 0))
}

/// A non-empty text and the number after its last colon.
fn number_after_colon(text: &[u8]) -> Option<(&[u8], u32)> {
    let colon = memchr::memrchr(b':', text).filter(|&colon| colon > 0)?;
    let number = u32::try_from(decimal(&text[colon + 1..])?).ok()?;
    Some((&text[..colon], number))
}
