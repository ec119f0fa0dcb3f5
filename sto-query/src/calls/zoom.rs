//! What an expression is made of, where every call was kept.

use super::{CalledRun, CallsError};
use rayon::prelude::*;
use std::ops::Range;
use sto_core::trace::{CallThresholds, Record, Threshold};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Most calls of an expression that become a record each; more are compressed by the time that they took together.
const EACH: u64 = 1_000;

/// The calls of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZoomTarget {
    /// Index of its thread in the run's calls.
    pub(crate) thread: usize,
    /// The numbers of its calls in those of the thread.
    pub(crate) numbers: Range<u64>,
    /// When the first one began.
    pub(crate) begin: Nanoseconds,
    /// When the last one ended.
    pub(crate) end: Nanoseconds,
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ZoomedIn {
    /// Its calls as records: of an expression that nobody called, what is outermost in it.
    pub(crate) records: Vec<Record<NodeIx>>,
    /// A longer time between two of them is a gap.
    pub(crate) gap: Nanoseconds,
}

impl ZoomTarget {
    /// The expressions among records of a thread whose first call has this number, each with its index, of which more
    /// can be known than they say: not those of one call, or without length.
    pub(crate) fn among(
        records: &[Record<NodeIx>],
        thread: usize,
        first: u64,
    ) -> impl Iterator<Item = (usize, ZoomTarget)> {
        let mut next = first;
        records.iter().enumerate().filter_map(move |(ix, record)| {
            let calls = record.calls().unwrap_or(u64::MAX);
            let numbers = next..next.saturating_add(calls);
            next = numbers.end;
            let (begin, end) = record.time();
            let has_more = matches!(record, Record::Expression(_)) && calls > 1 && end > begin;
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

    /// Whether each of its calls becomes a record, but those without length.
    pub(crate) fn is_each(&self) -> bool {
        self.calls() <= EACH
    }

    /// How long it takes.
    pub(crate) fn length(&self) -> Nanoseconds {
        Nanoseconds(self.end.0.saturating_sub(self.begin.0))
    }

    fn thresholds(&self) -> CallThresholds {
        let none = Threshold::Time(Nanoseconds(0));
        match self.is_each() {
            true => CallThresholds {
                call_duration: none,
                call_gap: none,
                total_time: none,
            },
            false => CallThresholds::default(),
        }
    }
}

impl CalledRun {
    /// Whether all calls are there, so that more is known of an expression than its record says.
    pub(crate) fn has_every_call(&self) -> bool {
        self.kept.is_some()
    }

    /// What each of these is made of; nothing of any where the calls were not kept.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub(crate) fn zoomed(&self, targets: &[&ZoomTarget]) -> Result<Vec<ZoomedIn>, CallsError> {
        let Some(kept) = &self.kept else {
            return Ok(Vec::new());
        };
        // Those of a thread one after the other, as its calls are then read once.
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by_key(|&ix| (targets[ix].thread, targets[ix].numbers.start));
        let threads: Vec<&[usize]> = order
            .chunk_by(|&a, &b| targets[a].thread == targets[b].thread)
            .collect();
        let zoomed = threads.into_par_iter().map(|of| {
            let mut numbered = kept.numbered(targets[of[0]].thread, self.part())?;
            let zoomed = of.iter().map(|&ix| {
                let (target, thresholds) = (targets[ix], targets[ix].thresholds());
                let numbers = target.numbers.clone();
                let records = numbered.compressed(numbers, thresholds, target.length())?;
                let gap = match target.is_each() {
                    true => CallThresholds::default().call_gap,
                    false => thresholds.call_gap,
                };
                let gap = gap.of(target.length());
                Ok((ix, ZoomedIn { records, gap }))
            });
            zoomed.collect::<Result<Vec<_>, CallsError>>()
        });
        let mut zoomed: Vec<(usize, ZoomedIn)> = zoomed
            .collect::<Result<Vec<_>, CallsError>>()?
            .into_iter()
            .flatten()
            .collect();
        zoomed.sort_by_key(|&(ix, _)| ix);
        Ok(zoomed.into_iter().map(|(_, zoomed)| zoomed).collect())
    }
}
