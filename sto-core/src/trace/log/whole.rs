//! Whole calls, which come in any order.

use super::Call;
use super::read::Calls;
use super::spool::{Spool, SpoolError};
use super::thread::{ThreadLog, WrittenThread};
use crate::trace::paths::FunctionNo;
use crate::units::Nanoseconds;
use std::cmp::Reverse;
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

/// The calls of a thread in one order: those that began and ended, and the whole ones.
pub(super) fn nested(log: ThreadLog, spool: &Arc<Spool>) -> Result<WrittenThread, SpoolError> {
    let (mut written, mut whole) = log.finish()?;
    if whole.is_empty() {
        return Ok(written);
    }
    whole.sort_by_key(WholeCall::order);
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
    let mut whole = whole.into_iter().peekable();
    let mut calls = Calls::of(spool, &written);
    for call in calls.by_ref().map(WholeCall::from) {
        while let Some(earlier) = whole.next_if(|other| other.order() < call.order()) {
            add(earlier)?;
        }
        add(call)?;
    }
    calls.check()?;
    whole.try_for_each(&mut add)?;
    while let Some(end) = ends.pop() {
        log.end(None, Nanoseconds(end));
    }
    let (mut merged, _) = log.finish()?;
    merged.irregular.add(&written.irregular);
    merged.irregular.cut += cut;
    merged.functions = functions;
    Ok(merged)
}
