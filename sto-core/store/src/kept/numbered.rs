//! Numbered calls of a thread, and their compression one group at a time.

use super::KeptCalls;
use crate::codec::PieceInfo;
use crate::error::StoreError;
use crate::read::kept::read_piece;
use crate::tables::Column;
use std::ops::Range;
use sto_model::trace::log::Call;
use sto_model::trace::paths::{CallPaths, TraceFunctionIx};
use sto_model::trace::regtime::RegTime;
use sto_model::trace::{CallRecord, CallThresholds};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

impl KeptCalls {
    /// The calls of a thread, by its index in the result of [`KeptCalls::compressed`] for the same window
    /// (or for all of the time). They are numbered from 0, callers before callees; the thread's first record
    /// has the first numbers.
    ///
    /// # Errors
    /// Returns an error if the store is damaged.
    pub fn numbered(
        &self,
        thread: usize,
        window: Option<(Nanoseconds, Nanoseconds)>,
    ) -> Result<NumberedCalls<'_>, StoreError> {
        let (begin, end) = window.unwrap_or(ALL);
        let threads = self.calls.threads.iter().enumerate();
        let mut threads =
            threads.filter(|(_, calls)| overlaps((calls.begin, calls.end), (begin, end)));
        let mut numbered = NumberedCalls {
            kept: self,
            window: (begin, end),
            pieces: Vec::new(),
            read: None,
            calls: Vec::new(),
        };
        let Some((thread, _)) = threads.nth(thread) else {
            return Ok(numbered);
        };
        let pieces = self.head.pieces.iter().zip(1..);
        let pieces: Vec<(&PieceInfo, u32)> = pieces
            .filter(|(piece, _)| piece.thread as usize == thread && piece.begin < end)
            .collect();
        let first = pieces.partition_point(|(piece, _)| piece.begin < begin);
        let mut number = 0;
        for &(info, part) in &pieces[first.saturating_sub(1)..] {
            let is_first = numbered.pieces.is_empty();
            numbered.pieces.push((number, info, part));
            // Calls that ended before the window are not in it; calls that are still running are.
            number += if is_first && info.begin < begin {
                numbered.read(0)?;
                numbered.calls.len() as u64
            } else {
                u64::from(info.calls)
            };
        }
        Ok(numbered)
    }
}

const ALL: (Nanoseconds, Nanoseconds) = (Nanoseconds(0), Nanoseconds(u64::MAX));

/// Whether a call overlaps a time range.
pub(super) fn overlaps(
    (from, to): (Nanoseconds, Nanoseconds),
    (begin, end): (Nanoseconds, Nanoseconds),
) -> bool {
    from < end && (to > begin || from >= begin)
}

/// The calls of a thread by number. The piece that was read last is cached, so ascending queries read each
/// piece once.
#[derive(Debug)]
pub struct NumberedCalls<'k> {
    kept: &'k KeptCalls,
    window: (Nanoseconds, Nanoseconds),
    /// The number of the first call of each piece.
    pieces: Vec<(u64, &'k PieceInfo, u32)>,
    /// Index of the cached piece.
    read: Option<usize>,
    calls: Vec<Call>,
}

impl NumberedCalls<'_> {
    /// Compresses the calls with these numbers, which have one caller, together with their callees.
    /// Thresholds are relative to `time`, the duration of the thread.
    ///
    /// # Errors
    /// Returns an error if the store is damaged.
    pub fn compressed(
        &mut self,
        numbers: Range<u64>,
        thresholds: CallThresholds,
        time: Nanoseconds,
    ) -> Result<Vec<CallRecord<NodeIx>>, StoreError> {
        let mut paths = CallPaths::default();
        let mut regtime = RegTime::new(&thresholds, time, &mut paths);
        let mut outermost = None;
        let at = self
            .pieces
            .partition_point(|piece| piece.0 <= numbers.start);
        for ix in at.saturating_sub(1)..self.pieces.len() {
            let (first, ..) = self.pieces[ix];
            if first >= numbers.end {
                break;
            }
            self.read(ix)?;
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

    /// Reads the calls of a piece; their functions are replaced by stacks.
    fn read(&mut self, ix: usize) -> Result<(), StoreError> {
        if self.read == Some(ix) {
            return Ok(());
        }
        let (_, info, part) = self.pieces[ix];
        let KeptCalls {
            snapshot,
            profile,
            head,
            callees,
            ..
        } = self.kept;
        let (window, calls) = (self.window, &mut self.calls);
        calls.clear();
        self.read = None;
        snapshot.read(|rows| {
            let piece = read_piece(rows, *profile, (info, part), head)?;
            let stacks = callees.each_stack(&piece, |call, stack, is_caller| {
                if (ix == 0 || !is_caller) && overlaps((call.begin, call.end()), window) {
                    calls.push(Call {
                        function: TraceFunctionIx(stack.0),
                        ..*call
                    });
                }
            });
            stacks.map_err(|error| error.at(Column::CallTrees(*profile, part)))
        })?;
        self.read = Some(ix);
        Ok(())
    }
}
