//! The calls of records, compressed anew by themselves.

use super::{KeptCalls, each_stack, without_stack};
use crate::intern::NodeIx;
use crate::store::codec::PieceInfo;
use crate::store::error::StoreError;
use crate::store::read::kept::read_piece;
use crate::trace::log::Call;
use crate::trace::paths::{FunctionNo, Paths};
use crate::trace::regtime::RegTime;
use crate::trace::{CallThresholds, Record};
use crate::units::Nanoseconds;
use std::ops::Range;

impl KeptCalls {
    /// What the calls of some records of a thread, by its index, become if they are compressed as those of a thread
    /// whose time is the record's: of each record with thresholds, in their order. All calls of the thread are to be in
    /// the records, in their order, as in [`ThreadCalls::records`](crate::trace::ThreadCalls::records), or where some of
    /// these stand for one.
    ///
    /// # Errors
    /// Where the store is damaged.
    pub fn zoomed<'r>(
        &self,
        thread: usize,
        records: impl IntoIterator<Item = (&'r Record<NodeIx>, Option<CallThresholds>)>,
    ) -> Result<Vec<Vec<Record<NodeIx>>>, StoreError> {
        let mut numbered = Numbered::of(self, thread);
        let mut zoomed = Vec::new();
        let mut first = 0;
        for (record, thresholds) in records {
            let calls = first..record.calls().map_or(u64::MAX, |calls| first + calls);
            first = calls.end;
            if let Some(thresholds) = thresholds {
                let (begin, end) = record.time();
                let time = Nanoseconds(end.0.saturating_sub(begin.0));
                zoomed.push(numbered.compressed(calls, thresholds, time)?);
            }
        }
        Ok(zoomed)
    }
}

/// The calls of a thread by their number. The piece that was read last is at hand.
struct Numbered<'k> {
    kept: &'k KeptCalls,
    /// The number of the first call of each piece.
    pieces: Vec<(u64, &'k PieceInfo, u32)>,
    read: Option<u32>,
    calls: Vec<Call>,
}

impl<'k> Numbered<'k> {
    fn of(kept: &'k KeptCalls, thread: usize) -> Numbered<'k> {
        let pieces = kept.head.pieces.iter().zip(1..);
        let pieces = pieces.filter(|(piece, _)| piece.thread as usize == thread);
        let mut first = 0;
        let pieces = pieces.map(|(piece, part)| {
            let number = first;
            first += u64::from(piece.calls);
            (number, piece, part)
        });
        Numbered {
            kept,
            pieces: pieces.collect(),
            read: None,
            calls: Vec::new(),
        }
    }

    /// Those with these numbers, which one caller made with all that they called.
    fn compressed(
        &mut self,
        numbers: Range<u64>,
        thresholds: CallThresholds,
        time: Nanoseconds,
    ) -> Result<Vec<Record<NodeIx>>, StoreError> {
        let mut paths = Paths::default();
        let mut regtime = RegTime::new(&thresholds, time, &mut paths);
        let mut outermost = None;
        let at = self
            .pieces
            .partition_point(|piece| piece.0 <= numbers.start);
        for ix in at.saturating_sub(1)..self.pieces.len() {
            let (first, info, part) = self.pieces[ix];
            if first >= numbers.end {
                break;
            }
            self.read(info, part)?;
            let within =
                |number: u64| (number.saturating_sub(first) as usize).min(self.calls.len());
            for call in &self.calls[within(numbers.start)..within(numbers.end)] {
                let outermost = *outermost.get_or_insert(call.depth);
                regtime.add(Call {
                    depth: call.depth.saturating_sub(outermost),
                    ..*call
                });
            }
        }
        let records = regtime.finish().records;
        let records = records.iter();
        Ok(records
            .map(|record| record.map(|path| NodeIx(paths.function(path).0)))
            .collect())
    }

    /// Reads a piece: its calls, with their stacks as their functions.
    fn read(&mut self, info: &PieceInfo, part: u32) -> Result<(), StoreError> {
        if self.read == Some(part) {
            return Ok(());
        }
        let KeptCalls {
            snapshot,
            profile,
            head,
            callees,
            ..
        } = self.kept;
        self.calls.clear();
        snapshot.read(|rows| {
            let piece = read_piece(rows, *profile, (info, part), head)?;
            each_stack(callees, &piece, |call, stack, is_caller| {
                if !is_caller {
                    self.calls.push(Call {
                        function: FunctionNo(stack.0),
                        ..*call
                    });
                }
            })
            .ok_or_else(|| without_stack(*profile, part))
        })?;
        self.read = Some(part);
        Ok(())
    }
}
