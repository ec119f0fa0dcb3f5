//! Text that profilers print for people: read line by line into sums.
//!
#![doc = include_str!("reports.md")]

use super::error::At;
use super::source::LineReader;
use super::summed::Summed;
use super::wire::text::lines;
use super::{Format, FormatError, ReadOptions, Salvage};
use crate::id::SourceDigest;
use crate::model::Origin;
use crate::recording::{Process, ProcessIx, Recording, SampleTypeIx, StackIx, Thread, ThreadIx};
use crate::units::{Bytes, Cost, SampleType};
use std::path::Path;
use std::sync::Arc;

/// What is particular about the text of one profiler.
pub(super) trait Report: Send {
    const FORMAT: Format;
    /// Whether the text itself tells where it ends.
    const HAS_END: bool = false;

    /// Takes the next line, without its line end.
    fn line(&mut self, line: &[u8], summed: &mut Summed) -> Result<(), String>;

    /// What the text ends within, where it is not there to its end.
    fn cut(&self) -> Option<&'static str> {
        None
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
const CUT: &str = "The text ends early; what there is of it was read.";

impl<R: Report> LineReader for Reader<'_, R> {
    fn block(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        self.ends_within_line = !bytes.is_empty() && !bytes.ends_with(b"\n");
        for (_, line) in lines(bytes) {
            self.line_number += 1;
            let taken = self.report.line(line, &mut self.summed);
            taken.map_err(|problem| {
                FormatError::malformed(self.path, At::Line(self.line_number), problem)
            })?;
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        source: SourceDigest,
        source_bytes: Bytes,
    ) -> Result<Recording, FormatError> {
        let malformed =
            |problem| FormatError::malformed(self.path, At::Line(self.line_number), problem);
        let cut = self.report.cut();
        if let Some(within) = cut.filter(|_| !self.allow_truncated) {
            let cut = format!(
                "the file ends at line {}, within {within}",
                self.line_number
            );
            return Err(FormatError::cut_off(self.path, cut, Salvage::Possible));
        }
        let mut about = self.report.finish(&mut self.summed).map_err(malformed)?;
        about.warnings.extend(cut.map(|_| CUT.to_owned()));
        let is_within_line = self.ends_within_line && !R::HAS_END;
        about
            .warnings
            .extend(is_within_line.then(|| WITHIN_LINE.to_owned()));
        let size = (source, source_bytes);
        Ok(recording(R::FORMAT, size, self.summed, about))
    }
}

/// What was read of a file with this digest and size.
fn recording(
    format: Format,
    (source, source_bytes): (SourceDigest, Bytes),
    summed: Summed,
    about: About,
) -> Recording {
    let stacks = summed.named.finish();
    let mut threads = about.threads;
    if threads.is_empty() {
        threads.push(Thread {
            tid: 0,
            name: String::new(),
            process: ProcessIx(0),
            labels: Arc::default(),
        });
    }
    Recording {
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
    }
}

/// A cost of the only thread.
pub(super) fn one_thread(
    summed: &mut Summed,
    sample_type: u32,
    stack: StackIx,
    cost: Cost,
) -> Result<(), String> {
    summed.add_stack(ThreadIx(0), SampleTypeIx(sample_type), stack, cost)
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
