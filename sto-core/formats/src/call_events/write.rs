//! Writing calls to the threads of a log. Floating calls go to the first thread of their group that
//! is free.

use super::mismatches::{Mismatches, SplitBudget, temporary_file_error};
use super::nest::OpenCalls;
use super::sorter::Record;
use super::{Code, Kind, PairedCalls, ThreadKind, in_order};
use crate::error::Decoded;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use sto_model::trace::CallThread;
use sto_model::trace::arguments::ArgumentTable;
use sto_model::trace::log::CallLogWriter;
use sto_model::units::Bytes;

impl PairedCalls {
    /// Writes the calls to a log, with times relative to `zero`. `name` names the thread of a row.
    /// Returns warnings.
    pub(crate) fn write(
        self,
        zero: i64,
        file: Bytes,
        log: &mut CallLogWriter,
        mut name: impl FnMut(ThreadKind) -> CallThread,
    ) -> Decoded<Vec<String>> {
        let mut rows = Rows {
            log,
            known: HashMap::new(),
            misfits: self.misfits,
            zero: in_order(zero),
            left: SplitBudget::new(file),
            arguments: &self.arguments,
        };
        let mut calls = self.calls.sorted().map_err(temporary_file_error)?;
        rows.threads(|| calls.next(), &self.last, &mut name)?;
        let mut floating = self.floating.sorted().map_err(temporary_file_error)?;
        rows.floating(|| floating.next(), &mut name)?;
        let warnings = rows.misfits.warnings();
        log.set_arguments(self.arguments);
        Ok(warnings)
    }
}

/// The threads shared by the floating calls of a group.
#[derive(Default)]
struct Lanes {
    /// The thread in the log of each lane.
    rows: Vec<usize>,
    /// Busy lanes by the end of their calls, earliest first.
    busy: BinaryHeap<Reverse<(u64, usize)>>,
    free: BinaryHeap<Reverse<usize>>,
}

impl Lanes {
    /// The first lane that is free at a time, or a new one. Times must not decrease.
    fn free_at(&mut self, time: u64) -> usize {
        while let Some(&Reverse((end, lane))) = self.busy.peek()
            && end <= time
        {
            self.busy.pop();
            self.free.push(Reverse(lane));
        }
        self.free
            .pop()
            .map_or(self.rows.len(), |Reverse(lane)| lane)
    }
}

/// Writes sorted calls to the threads of a log.
struct Rows<'l> {
    log: &'l mut CallLogWriter,
    /// Number of threads by name.
    known: HashMap<CallThread, u32>,
    misfits: Mismatches,
    zero: u64,
    left: SplitBudget,
    arguments: &'l ArgumentTable,
}

impl Rows<'_> {
    fn threads(
        &mut self,
        mut next: impl FnMut() -> io::Result<Option<Record<4>>>,
        last: &[u64],
        name: &mut impl FnMut(ThreadKind) -> CallThread,
    ) -> Decoded<()> {
        let mut current: Option<(u64, OpenCalls, usize)> = None;
        while let Some([thread, begin, end, code]) = next().map_err(temporary_file_error)? {
            if current.as_ref().is_none_or(|&(open, ..)| open != thread) {
                self.end(current.take())?;
                let row = self.row(name(ThreadKind::Thread(thread as u32)));
                let last = last.get(thread as usize).map_or(0, |last| last - self.zero);
                current = Some((thread, OpenCalls::new(last), row));
            }
            if let Some((_, nested, row)) = &mut current {
                self.call(nested, *row, (begin, !end, Code(code)))?;
            }
        }
        self.end(current)
    }

    /// Writes floating calls to the first lane of their group that is free when the outermost call
    /// begins.
    fn floating(
        &mut self,
        mut next: impl FnMut() -> io::Result<Option<Record<6>>>,
        name: &mut impl FnMut(ThreadKind) -> CallThread,
    ) -> Decoded<()> {
        let mut lanes = Lanes::default();
        let mut last_group = None;
        let mut current: Option<(OpenCalls, usize)> = None;
        let mut last = None;
        let mut ended = 0;
        while let Some([group, outermost, place, begin, end, code]) =
            next().map_err(temporary_file_error)?
        {
            if last != Some((group, outermost, place)) {
                last = Some((group, outermost, place));
                if let Some((nested, lane)) = current.take() {
                    self.end(Some((0, nested, lanes.rows[lane])))?;
                    lanes.busy.push(Reverse((ended, lane)));
                }
                if last_group != Some(group) {
                    last_group = Some(group);
                    lanes = Lanes::default();
                }
                let lane = lanes.free_at(outermost);
                if lane == lanes.rows.len() {
                    lanes.rows.push(self.row(name(ThreadKind::Group(group))));
                }
                ended = outermost;
                current = Some((OpenCalls::new(0), lane));
            }
            if let Some((nested, lane)) = &mut current {
                ended = ended.max(!end);
                self.call(nested, lanes.rows[*lane], (begin, !end, Code(code)))?;
            }
        }
        let Some((nested, lane)) = current else {
            return Ok(());
        };
        self.end(Some((0, nested, lanes.rows[lane])))
    }

    /// Adds a thread to the log. Threads with equal names get numbers.
    fn row(&mut self, thread: CallThread) -> usize {
        let known = self.known.entry(thread.clone()).or_default();
        *known += 1;
        let mut thread = thread;
        if *known > 1 {
            thread.name = format!("{} ({known})", thread.name).trim_start().to_owned();
        }
        self.log.intern_thread(thread).get()
    }

    fn call(
        &mut self,
        nested: &mut OpenCalls,
        row: usize,
        (begin, end, code): (u64, u64, Code),
    ) -> Decoded<()> {
        let log = &mut self.log.thread_logs()[row];
        let (begin, end) = (begin - self.zero, end - self.zero);
        let Some(function) = code.function() else {
            return Ok(());
        };
        let end = (code.kind() != Kind::Endless).then_some(end);
        nested.begin(
            (function, begin, end),
            self.arguments,
            log,
            &mut self.misfits,
            &mut self.left,
        )
    }

    fn end(&mut self, row: Option<(u64, OpenCalls, usize)>) -> Decoded<()> {
        let Some((_, mut nested, row)) = row else {
            return Ok(());
        };
        let log = &mut self.log.thread_logs()[row];
        nested.advance(u64::MAX, log, &mut self.left)
    }
}
