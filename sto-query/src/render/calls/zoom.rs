//! The content of expressions, as far as it fits on a page.

use super::records::Numbers;
use crate::calls::{CallTrace, CallsError, ZoomTarget, nest_records};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use sto_core::trace::CallRecord;

/// Approximate size in bytes of a single call, and maximum size of a recompressed expression.
const CALL_BYTES: u64 = 9;
const EXPRESSION_BYTES: u64 = 3_000;

/// Pairs of the index of an expression among its records and the index of its content among the
/// page's zooms.
pub(super) type Zooms = Vec<[usize; 2]>;

/// The content of an expression.
#[derive(Serialize)]
pub(super) struct Zoom {
    /// Number of calls.
    calls: u64,
    /// Whether it has every call as a record of its own.
    each: bool,
    /// Shortest gap that ends an expression.
    gap: u64,
    /// Records in the format of threads. Begins and depths are relative to the expression.
    records: String,
    zooms: Zooms,
}

/// An expression on the page.
struct Shown {
    target: ZoomTarget,
    /// Index of the zoom that contains it; `None` if its thread does.
    within: Option<usize>,
    /// Index among the records there.
    record: usize,
}

/// The zooms of a page, and the zooms of the expressions of each thread.
#[derive(Default)]
pub(super) struct Zoomed {
    pub(super) zooms: Vec<Zoom>,
    pub(super) of_threads: Vec<Zooms>,
    /// Number of calls in expressions that are on the page one by one, and number of all calls in
    /// expressions of more than one call.
    pub(super) calls: u64,
    pub(super) all: u64,
}

/// Returns the content of the longest expressions, then of the longest expressions within these,
/// until `room` bytes are used.
///
/// `index` has, for each record of each thread, its index on the page.
pub(super) fn zoomed(
    run: &CallTrace,
    numbers: &mut Numbers,
    index: &[Vec<Option<usize>>],
    room: usize,
) -> Result<Zoomed, CallsError> {
    let mut found = Zoomed {
        of_threads: vec![Vec::new(); index.len()],
        ..Zoomed::default()
    };
    if !run.has_every_call() {
        return Ok(found);
    }
    let mut shown: Vec<Shown> = Vec::new();
    let mut longest = BinaryHeap::new();
    let add = |shown: &mut Vec<Shown>, longest: &mut BinaryHeap<_>, of: Shown| {
        let target = &of.target;
        let order = Reverse((target.thread, target.numbers.start));
        longest.push((target.length(), order, shown.len()));
        shown.push(of);
    };
    for (thread, (of, index)) in run.calls.threads.iter().zip(index).enumerate() {
        for (ix, target) in ZoomTarget::find_zoom_targets(&of.records, thread, 0) {
            found.all += target.calls();
            if let Some(record) = index[ix] {
                let of = Shown {
                    target,
                    within: None,
                    record,
                };
                add(&mut shown, &mut longest, of);
            }
        }
    }
    let mut left = room as u64;
    let mut all_fit = true;
    while all_fit && !longest.is_empty() {
        let mut chosen = Vec::new();
        let mut expected = 0;
        while expected < left
            && let Some((.., ix)) = longest.pop()
        {
            chosen.push(ix);
            let each = shown[ix].target.calls().saturating_mul(CALL_BYTES);
            expected += each.min(EXPRESSION_BYTES);
        }
        let targets: Vec<&ZoomTarget> = chosen.iter().map(|&ix| &shown[ix].target).collect();
        let zoomed = run.zoom_in(&targets)?;
        for (ix, within) in chosen.into_iter().zip(zoomed) {
            let Shown {
                target,
                within: outer,
                record,
            } = &shown[ix];
            // It may be the same single expression again.
            if let ([CallRecord::Expression(_)], false) =
                (&within.records[..], target.is_complete())
            {
                continue;
            }
            let stacks = numbers.of.len();
            let nested = nest_records(&within.records, &run.view.tree);
            let packed = numbers.records(&nested, target.begin, Default::default());
            let new_stacks = (numbers.of.len() - stacks) * 12;
            let bytes = (packed.text_length() + new_stacks) as u64 + 60;
            if bytes > left {
                all_fit = false;
                continue;
            }
            left -= bytes;
            let zoom = found.zooms.len();
            let zooms = match outer {
                Some(outer) => &mut found.zooms[*outer].zooms,
                None => &mut found.of_threads[target.thread],
            };
            zooms.push([*record, zoom]);
            let each = target.is_complete();
            found.calls += target.calls();
            found.zooms.push(Zoom {
                calls: target.calls(),
                each,
                gap: within.gap.0,
                records: packed.text(),
                zooms: Vec::new(),
            });
            if each {
                continue;
            }
            let (thread, first) = (target.thread, target.numbers.start);
            let inner: Vec<_> =
                ZoomTarget::find_zoom_targets(&within.records, thread, first).collect();
            for (ix, target) in inner {
                // These are on the page only once they are zoomed into in turn.
                found.calls -= target.calls();
                let of = Shown {
                    target,
                    within: Some(zoom),
                    record: packed.index[ix].unwrap_or(ix),
                };
                add(&mut shown, &mut longest, of);
            }
        }
    }
    Ok(found)
}
