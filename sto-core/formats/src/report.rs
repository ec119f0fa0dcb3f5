//! Text reports of profilers, read line by line.
//!
//! See [the manual](crate::manual::reports).

use crate::error::{At, DecodeError, Decoded, Salvage};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::source::{LineReader, ReadOptions};
use crate::wire::text::lines;
use sto_model::units::Cost;

/// The reader of one profiler's text.
pub(super) trait Report: Send + Sized {
    /// Whether the text itself shows where it ends.
    const HAS_END: bool = false;

    /// Sees the next lines before they are passed on one by one.
    fn block(&mut self, _lines: &[u8]) {}

    /// Reads the next line, without its line end.
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String>;

    /// The unfinished part of a text that is not complete.
    fn cut(&self) -> Option<&'static str> {
        None
    }

    /// Adds the rest, and data other than samples.
    fn finish(self, _builder: &mut RecordingBuilder) -> Result<(), String> {
        Ok(())
    }
}

/// Makes a reader of a report.
pub(super) fn reader<R: Report + Default + 'static>(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        allow_truncated: options.allow_truncated,
        report: R::default(),
        builder: options.builder(),
        line_number: 0,
        ends_within_line: false,
    })
}

struct Reader<R> {
    allow_truncated: bool,
    report: R,
    builder: RecordingBuilder,
    line_number: usize,
    ends_within_line: bool,
}

pub(super) const WITHIN_LINE: &str = "The last line has no line end; if the file was cut short there, \
    its costs are too small.";
const CUT: &str = "The text ends early; the part before was read.";

impl<R: Report> LineReader for Reader<R> {
    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        self.ends_within_line = !bytes.is_empty() && !bytes.ends_with(b"\n");
        self.report.block(bytes);
        for (_, line) in lines(bytes) {
            self.line_number += 1;
            let taken = self.report.line(line, &mut self.builder);
            taken.map_err(DecodeError::at(At::Line(self.line_number)))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Decoded<RecordingBuilder> {
        let cut = self.report.cut();
        if let Some(within) = cut.filter(|_| !self.allow_truncated) {
            let cut = format!(
                "the file ends at line {}, within {within}",
                self.line_number
            );
            return Err(DecodeError::cut_off(cut, Salvage::Possible));
        }
        let finished = self.report.finish(&mut self.builder);
        finished.map_err(DecodeError::unsupported)?;
        let warnings = &mut self.builder.warnings;
        warnings.extend(cut.map(|_| CUT.to_owned()));
        let is_within_line = self.ends_within_line && !R::HAS_END;
        warnings.extend(is_within_line.then(|| WITHIN_LINE.to_owned()));
        Ok(self.builder)
    }
}

/// Adds a cost to the only thread.
pub(super) fn add_to_only_thread(
    builder: &mut RecordingBuilder,
    sample_type: u32,
    stack: StackIx,
    cost: Cost,
) -> Built<()> {
    builder.add_cost(ThreadIx(0), SampleTypeIx(sample_type), stack, cost)
}

/// The cost of a time without a number of samples: one sample per millisecond, so that shares of
/// samples are shares of time.
pub(super) fn time(nanoseconds: u64) -> Cost {
    cost_per_unit(1_000_000, nanoseconds)
}

/// A cost with one sample per `unit` of its value, rounded, and at least one unless the value is
/// zero.
pub(super) fn cost_per_unit(unit: u64, value: u64) -> Cost {
    let rounded = value / unit + u64::from(value % unit >= unit.div_ceil(2));
    Cost {
        samples: rounded.max(u64::from(value > 0)),
        value,
    }
}

/// The path to the last node of a call tree whose nodes come in order, each with its depth.
#[derive(Default)]
pub(super) struct CallPath {
    calls: Vec<Call>,
}

struct Call {
    stack: StackIx,
    /// The total cost without the calls so far; `None` if the self cost is known.
    left: Option<u64>,
}

impl CallPath {
    /// Enters a node with a total cost and returns its stack. Nodes that end before it have the
    /// rest as self cost, which is passed to `own` with their stack.
    pub(super) fn enter(
        &mut self,
        depth: usize,
        location: LocationIx,
        total: u64,
        builder: &mut RecordingBuilder,
        own: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Built<()>,
    ) -> Built<StackIx> {
        if depth > self.calls.len() {
            return Err(format!(
                "a call at depth {depth}, where the line before is at depth {}; expected at most one \
                 more. Was a line lost?",
                self.calls.len() as i64 - 1
            )
            .into());
        }
        self.leave(depth, builder, own)?;
        let mut caller = None;
        if let Some(Call { stack, left }) = self.calls.last_mut() {
            caller = Some(*stack);
            // Because of rounding, calls may add up to more than their caller.
            *left = left.map(|left| left.saturating_sub(total));
        }
        let stack = builder.call(caller, location)?;
        let left = Some(total);
        self.calls.push(Call { stack, left });
        Ok(stack)
    }

    /// Like [`CallPath::enter`], for trees whose nodes have self costs.
    pub(super) fn call(
        &mut self,
        depth: usize,
        location: LocationIx,
        builder: &mut RecordingBuilder,
    ) -> Built<StackIx> {
        self.enter(depth, location, 0, builder, |_, _, _| Ok(()))
    }

    /// Leaves all nodes at this depth and below.
    pub(super) fn leave(
        &mut self,
        depth: usize,
        builder: &mut RecordingBuilder,
        mut own: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Built<()>,
    ) -> Built<()> {
        while self.calls.len() > depth {
            if let Some(Call { stack, left }) = self.calls.pop()
                && let Some(left) = left
            {
                own(builder, stack, left)?;
            }
        }
        Ok(())
    }

    /// Marks the self cost of the last node as known.
    pub(super) fn set_self_known(&mut self) {
        if let Some(last) = self.calls.last_mut() {
            last.left = None;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}
