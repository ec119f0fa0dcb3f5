//! Whole calls, which come in any order: they are sorted in runs, which are merged when all have come.

use super::Call;
use super::read::Calls;
use super::spool::{Spool, SpoolError, Stored};
use super::thread::{ThreadLog, WrittenThread};
use crate::trace::paths::FunctionNo;
use crate::units::Nanoseconds;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A call with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WholeCall {
    begin: u64,
    end: u64,
    function: FunctionNo,
}

impl WholeCall {
    pub(super) fn new(function: FunctionNo, begin: u64, end: u64) -> WholeCall {
        WholeCall {
            begin,
            end,
            function,
        }
    }

    /// Callers before what they call.
    fn order(&self) -> (u64, Reverse<u64>) {
        (self.begin, Reverse(self.end))
    }
}

impl From<Call> for WholeCall {
    fn from(call: Call) -> WholeCall {
        WholeCall::new(call.function, call.begin.0, call.end().0)
    }
}

/// The whole calls of a thread.
#[derive(Debug, Default)]
pub(super) struct WholeCalls {
    /// Those that came last.
    last: Vec<WholeCall>,
    /// Those before, sorted: each in pieces that follow each other.
    runs: Vec<Vec<Stored>>,
}

/// Whole calls that all threads hold until they write a run, and the fewest and most of one.
const HELD: usize = 1 << 20;
const RUN: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 17;

/// Calls that are read of a run at once, and the bytes of one.
const PIECE: usize = 1 << 10;
const BYTES: usize = 20;

impl WholeCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty() && self.runs.is_empty()
    }

    #[inline]
    pub(super) fn add(&mut self, call: WholeCall, spool: &Spool) -> Result<(), SpoolError> {
        self.last.push(call);
        match spool.is_full(self.last.len(), HELD, RUN) {
            true => self.flush(spool),
            false => Ok(()),
        }
    }

    fn flush(&mut self, spool: &Spool) -> Result<(), SpoolError> {
        // Equal ones stay in the order in which they came.
        self.last.sort_by_key(WholeCall::order);
        let mut bytes = Vec::with_capacity(PIECE * BYTES);
        let pieces = self.last.chunks(PIECE).map(|piece| {
            bytes.clear();
            for call in piece {
                bytes.extend_from_slice(&call.begin.to_le_bytes());
                bytes.extend_from_slice(&call.end.to_le_bytes());
                bytes.extend_from_slice(&call.function.0.to_le_bytes());
            }
            spool.write(&bytes)
        });
        self.runs.push(pieces.collect::<Result<_, _>>()?);
        self.last.clear();
        Ok(())
    }

    /// All of them, sorted.
    fn sorted(mut self, spool: &Spool) -> Result<Sorted<'_>, SpoolError> {
        self.flush(spool)?;
        let mut sorted = Sorted {
            spool,
            runs: self.runs.into_iter().map(Run::new).collect(),
            next: BinaryHeap::new(),
        };
        (0..sorted.runs.len()).try_for_each(|run| sorted.advance(run))?;
        Ok(sorted)
    }
}

/// The next call of a run: begin, end, the run, function. In the order of calls, then of runs.
type Next = (u64, Reverse<u64>, usize, FunctionNo);

/// The calls of several runs in order.
struct Sorted<'s> {
    spool: &'s Spool,
    runs: Vec<Run>,
    /// The next call of each run; of equal ones that of the earlier run.
    next: BinaryHeap<Reverse<Next>>,
}

/// A run that is read.
struct Run {
    pieces: std::vec::IntoIter<Stored>,
    piece: Vec<u8>,
    read: usize,
}

impl Run {
    fn new(pieces: Vec<Stored>) -> Run {
        Run {
            pieces: pieces.into_iter(),
            piece: Vec::new(),
            read: 0,
        }
    }

    fn next(&mut self, spool: &Spool) -> Result<Option<WholeCall>, SpoolError> {
        if self.read == self.piece.len() {
            let Some(piece) = self.pieces.next() else {
                return Ok(None);
            };
            spool.read(&piece, &mut self.piece)?;
            self.read = 0;
        }
        let row = &self.piece[self.read..][..BYTES];
        self.read += BYTES;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| row[at + byte]));
        let function = u32::from_le_bytes(std::array::from_fn(|byte| row[16 + byte]));
        Ok(Some(WholeCall::new(
            FunctionNo(function),
            number(0),
            number(8),
        )))
    }
}

impl Sorted<'_> {
    fn advance(&mut self, run: usize) -> Result<(), SpoolError> {
        let next = self.runs[run].next(self.spool)?;
        let next = next.map(|call| Reverse((call.begin, Reverse(call.end), run, call.function)));
        self.next.extend(next);
        Ok(())
    }

    /// The next call, where it is to stand before another.
    fn next_before(&mut self, other: Option<&WholeCall>) -> Result<Option<WholeCall>, SpoolError> {
        let Some(&Reverse((begin, Reverse(end), run, function))) = self.next.peek() else {
            return Ok(None);
        };
        let call = WholeCall::new(function, begin, end);
        if other.is_some_and(|other| other.order() <= call.order()) {
            return Ok(None);
        }
        self.next.pop();
        self.advance(run)?;
        Ok(Some(call))
    }
}

/// The calls of a thread in one order: those that began and ended, and the whole ones.
pub(super) fn nested(log: ThreadLog, spool: &Arc<Spool>) -> Result<WrittenThread, SpoolError> {
    let (mut written, whole) = log.finish()?;
    if whole.is_empty() {
        return Ok(written);
    }
    let functions = written.functions.take();
    let mut log = ThreadLog::new(written.thread.clone(), spool);
    let mut ends: Vec<u64> = Vec::new();
    let mut cut = 0;
    let mut add = |call: WholeCall| {
        while let Some(&end) = ends.last()
            && end <= call.begin
        {
            log.end(None, Nanoseconds(end));
            ends.pop();
        }
        let within = ends.last().copied().unwrap_or(u64::MAX);
        cut += u64::from(call.end > within);
        ends.push(call.end.min(within));
        log.begin(call.function, Nanoseconds(call.begin))
    };
    let mut whole = whole.sorted(spool)?;
    let mut calls = Calls::of(spool, &written);
    for call in calls.by_ref().map(WholeCall::from) {
        while let Some(earlier) = whole.next_before(Some(&call))? {
            add(earlier)?;
        }
        add(call)?;
    }
    calls.check()?;
    while let Some(call) = whole.next_before(None)? {
        add(call)?;
    }
    while let Some(end) = ends.pop() {
        log.end(None, Nanoseconds(end));
    }
    let (mut merged, _) = log.finish()?;
    merged.irregular.add(&written.irregular);
    merged.irregular.cut += cut;
    merged.functions = functions;
    Ok(merged)
}
