//! Calls of a thread by their number, compressed anew by themselves.

use super::{KeptCalls, each_stack, without_stack};
use crate::codec::PieceInfo;
use crate::error::StoreError;
use crate::read::kept::read_piece;
use std::ops::Range;
use sto_model::trace::log::Call;
use sto_model::trace::paths::{FunctionNo, Paths};
use sto_model::trace::regtime::RegTime;
use sto_model::trace::{CallThresholds, Record};
use sto_model::tree::NodeIx;
use sto_model::units::Nanoseconds;

impl KeptCalls {
    /// The calls of a thread, by its index in what [`KeptCalls::compressed`] gives of this part of the time, or of all of
    /// it. They are numbered from 0 on, each before those that it made: the first record of the thread has the first
    /// ones.
    ///
    /// # Errors
    /// Where the store is damaged.
    pub fn numbered(
        &self,
        thread: usize,
        window: Option<(Nanoseconds, Nanoseconds)>,
    ) -> Result<NumberedCalls<'_>, StoreError> {
        let (begin, end) = window.unwrap_or(ALL);
        let threads = self.calls.threads.iter().enumerate();
        let mut threads = threads.filter(|(_, of)| overlaps((of.begin, of.end), (begin, end)));
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
            // What began before that part is not in it, but for what still goes on.
            number += match is_first && info.begin < begin {
                true => {
                    numbered.read(0)?;
                    numbered.calls.len() as u64
                }
                false => u64::from(info.calls),
            };
        }
        Ok(numbered)
    }
}

const ALL: (Nanoseconds, Nanoseconds) = (Nanoseconds(0), Nanoseconds(u64::MAX));

/// Whether something from one time to another is within such a part of the time, or goes on there.
pub(super) fn overlaps(
    (from, to): (Nanoseconds, Nanoseconds),
    (begin, end): (Nanoseconds, Nanoseconds),
) -> bool {
    from < end && (to > begin || from >= begin)
}

/// The calls of a thread by their number. What was read last is at hand, so those that are asked for in their order are
/// read once.
#[derive(Debug)]
pub struct NumberedCalls<'k> {
    kept: &'k KeptCalls,
    window: (Nanoseconds, Nanoseconds),
    /// The number of the first call of each piece.
    pieces: Vec<(u64, &'k PieceInfo, u32)>,
    /// Index of the piece that was read.
    read: Option<usize>,
    calls: Vec<Call>,
}

impl NumberedCalls<'_> {
    /// What those with these numbers, which one caller made with all that they called, become if they are compressed by
    /// themselves, as those of a thread that takes so much time.
    ///
    /// # Errors
    /// Where the store is damaged.
    pub fn compressed(
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

    /// Reads a piece by its index: its calls, with their stacks as their functions.
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
            each_stack(callees, &piece, |call, stack, is_caller| {
                if (ix == 0 || !is_caller) && overlaps((call.begin, call.end()), window) {
                    calls.push(Call {
                        function: FunctionNo(stack.0),
                        ..*call
                    });
                }
            })
            .ok_or_else(|| without_stack(*profile, part))
        })?;
        self.read = Some(ix);
        Ok(())
    }
}
