//! Nesting of a thread's calls by time.

use super::mismatches::{Mismatches, SplitBudget, temporary_file_error};
use crate::error::Decoded;
use sto_model::trace::arguments::ArgumentTable;
use sto_model::trace::log::ThreadLog;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::Nanoseconds;

/// The open calls of a thread, outermost first.
pub(super) struct OpenCalls {
    open: Vec<Open>,
    /// Time of the thread's last event.
    last: u64,
}

struct Open {
    function: TraceFunctionIx,
    /// The call with its arguments, which its longest piece gets; `None` once that has begun.
    with: Option<TraceFunctionIx>,
    end: u64,
    /// The earliest end of the call and its callers.
    earliest: u64,
}

impl OpenCalls {
    pub(super) fn new(last: u64) -> OpenCalls {
        OpenCalls {
            open: Vec::new(),
            last,
        }
    }

    /// Begins a call, no earlier than the previous one. Without an end, it ends with its caller.
    pub(super) fn begin(
        &mut self,
        (called, begin, end): (TraceFunctionIx, u64, Option<u64>),
        arguments: &ArgumentTable,
        log: &mut ThreadLog,
        misfits: &mut Mismatches,
        left: &mut SplitBudget,
    ) -> Decoded<()> {
        self.advance(begin, log, left)?;
        let around = self.open.last().map(|open| open.earliest);
        let end = end.unwrap_or_else(|| {
            misfits.endless += 1;
            around.unwrap_or(self.last.max(begin))
        });
        let around = around.unwrap_or(u64::MAX);
        misfits.outlasting += u64::from(around < end);
        let (function, _) = arguments.split(called);
        let mut call = Open {
            function,
            with: Some(called),
            end,
            earliest: around.min(end),
        };
        call.begin_piece(begin, log)?;
        self.open.push(call);
        Ok(())
    }

    /// Advances to a time and ends the calls that end until then.
    pub(super) fn advance(
        &mut self,
        to: u64,
        log: &mut ThreadLog,
        left: &mut SplitBudget,
    ) -> Decoded<()> {
        while let Some(last) = self.open.last()
            && last.earliest <= to
        {
            let at = last.earliest;
            if last.end == at {
                log.end(None, Nanoseconds(at));
                self.open.pop();
            } else {
                self.end_within(at, log, left)?
            }
        }
        Ok(())
    }

    /// Ends the calls that end at a time although calls within them continue. Those are begun again
    /// without them.
    fn end_within(&mut self, at: u64, log: &mut ThreadLog, left: &mut SplitBudget) -> Decoded<()> {
        let first = self.open.partition_point(|call| call.earliest > at);
        let ended = self.open.split_off(first);
        left.take(ended.len() as u64)?;
        ended.iter().for_each(|_| log.end(None, Nanoseconds(at)));
        let around = self.open.last().map_or(u64::MAX, |open| open.earliest);
        let mut earliest = around;
        for call in ended.into_iter().filter(|call| call.end > at) {
            earliest = earliest.min(call.end);
            let mut call = Open { earliest, ..call };
            call.begin_piece(at, log)?;
            self.open.push(call);
        }
        Ok(())
    }
}

impl Open {
    /// Begins the call, or the rest of it, up to the earliest end; further pieces may follow.
    fn begin_piece(&mut self, begin: u64, log: &mut ThreadLog) -> Decoded<()> {
        let is_most = self.end - self.earliest <= self.earliest - begin;
        let with = self.with.take_if(|_| is_most);
        let with = with.unwrap_or(self.function);
        log.begin_with_number(self.function, with, Nanoseconds(begin))
            .map_err(temporary_file_error)
    }
}
