//! Contents of an expression, if every call was stored.

use super::{CallTrace, CallsError};
use rayon::prelude::*;
use std::ops::Range;
use sto_core::trace::{CallRecord, CallThresholds, Threshold};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Maximum number of calls in an expression that become individual records; more are compressed relative to their
/// total time.
const EACH: u64 = 1_000;

/// The calls of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZoomTarget {
    /// Index of its thread in the run's calls.
    pub(crate) thread: usize,
    /// Range of the expression's calls, as numbers of the thread's calls.
    pub(crate) numbers: Range<u64>,
    /// Start of the first call.
    pub(crate) begin: Nanoseconds,
    /// End of the last call.
    pub(crate) end: Nanoseconds,
}

/// Contents of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ZoomedRecords {
    /// The calls as records; if the expression has no caller, with its outermost calls.
    pub(crate) records: Vec<CallRecord<NodeIx>>,
    /// Time between two records above which it is a gap.
    pub(crate) gap: Nanoseconds,
}

impl ZoomTarget {
    /// Returns the expressions among the records of a thread that have more detail than their record shows, each with
    /// its index. Expressions of a single call or of zero duration are left out. `first` is the number of the first
    /// call.
    pub(crate) fn find_zoom_targets(
        records: &[CallRecord<NodeIx>],
        thread: usize,
        first: u64,
    ) -> impl Iterator<Item = (usize, ZoomTarget)> {
        let mut next = first;
        records.iter().enumerate().filter_map(move |(ix, record)| {
            let calls = record.calls().unwrap_or(u64::MAX);
            let numbers = next..next.saturating_add(calls);
            next = numbers.end;
            let (begin, end) = record.time();
            let has_more = matches!(record, CallRecord::Expression(_)) && calls > 1 && end > begin;
            let target = ZoomTarget {
                thread,
                numbers,
                begin,
                end,
            };
            has_more.then_some((ix, target))
        })
    }

    /// Number of its calls.
    pub(crate) fn calls(&self) -> u64 {
        self.numbers.end - self.numbers.start
    }

    /// Returns `true` if each call with a duration above zero becomes a record.
    pub(crate) fn is_complete(&self) -> bool {
        self.calls() <= EACH
    }

    /// Duration of the expression.
    pub(crate) fn length(&self) -> Nanoseconds {
        Nanoseconds(self.end.0.saturating_sub(self.begin.0))
    }

    fn thresholds(&self) -> CallThresholds {
        let none = Threshold::Time(Nanoseconds(0));
        if self.is_complete() {
            CallThresholds {
                call_duration: none,
                call_gap: none,
                total_time: none,
            }
        } else {
            CallThresholds::default()
        }
    }
}

impl CallTrace {
    /// Returns `true` if every individual call is stored.
    pub(crate) fn has_every_call(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns the contents of these expressions; empty if the individual calls were not stored.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub(crate) fn zoom_in(
        &self,
        targets: &[&ZoomTarget],
    ) -> Result<Vec<ZoomedRecords>, CallsError> {
        let Some(kept) = &self.kept else {
            return Ok(Vec::new());
        };
        // Sorted by thread, so that each thread's calls are read once.
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by_key(|&ix| (targets[ix].thread, targets[ix].numbers.start));
        let threads: Vec<&[usize]> = order
            .chunk_by(|&a, &b| targets[a].thread == targets[b].thread)
            .collect();
        let zoomed = threads.into_par_iter().map(|of| {
            let mut numbered = kept.numbered(targets[of[0]].thread, self.window())?;
            let zoomed = of.iter().map(|&ix| {
                let (target, thresholds) = (targets[ix], targets[ix].thresholds());
                let numbers = target.numbers.clone();
                let records = numbered.compressed(numbers, thresholds, target.length())?;
                let gap = if target.is_complete() {
                    CallThresholds::default().call_gap
                } else {
                    thresholds.call_gap
                };
                let gap = gap.resolve(target.length());
                Ok((ix, ZoomedRecords { records, gap }))
            });
            zoomed.collect::<Result<Vec<_>, CallsError>>()
        });
        let mut zoomed: Vec<(usize, ZoomedRecords)> = zoomed
            .collect::<Result<Vec<_>, CallsError>>()?
            .into_iter()
            .flatten()
            .collect();
        zoomed.sort_by_key(|&(ix, _)| ix);
        Ok(zoomed.into_iter().map(|(_, zoomed)| zoomed).collect())
    }
}
