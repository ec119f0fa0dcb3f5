//! What expressions are made of, as far as a page has room for that.

use super::records::Numbers;
use crate::calls::{CalledRun, CallsError, ZoomTarget, nested};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use sto_core::trace::Record;

/// About how many bytes a call takes by itself, and at most those of an expression that is compressed anew.
const OF_CALL: u64 = 9;
const OF_EXPRESSION: u64 = 3_000;

/// Those expressions among records that the page has more of: which record, and which of the page's zooms.
pub(super) type Zooms = Vec<[usize; 2]>;

/// What an expression is made of.
#[derive(Serialize)]
pub(super) struct Zoom {
    /// How many calls.
    calls: u64,
    /// Whether each of them is there by itself.
    each: bool,
    /// The shortest gap.
    gap: u64,
    /// The records, as those of threads; begins are since that of the expression, depths in it.
    records: String,
    zooms: Zooms,
}

/// An expression that the page has.
struct Shown {
    target: ZoomTarget,
    /// Where it is: in this zoom, or else in its thread.
    within: Option<usize>,
    /// Which of the records there.
    record: usize,
}

/// The zooms of a page, and those of the expressions of each thread.
#[derive(Default)]
pub(super) struct Zoomed {
    pub(super) zooms: Vec<Zoom>,
    pub(super) of_threads: Vec<Zooms>,
    /// Number of calls that are there by themselves, and that of all calls of expressions of more than one.
    pub(super) calls: u64,
    pub(super) all: u64,
}

/// What the longest expressions are made of, and then the longest of these, in so many bytes. `index` says of each
/// record of each thread which one of the page's it is.
pub(super) fn zoomed(
    run: &CalledRun,
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
        for (ix, target) in ZoomTarget::among(&of.records, thread, 0) {
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
            let each = shown[ix].target.calls().saturating_mul(OF_CALL);
            expected += each.min(OF_EXPRESSION);
        }
        let targets: Vec<&ZoomTarget> = chosen.iter().map(|&ix| &shown[ix].target).collect();
        let zoomed = run.zoomed(&targets)?;
        for (ix, within) in chosen.into_iter().zip(zoomed) {
            let Shown {
                target,
                within: outer,
                record,
            } = &shown[ix];
            // It may be no more than it was.
            if let ([Record::Expression(_)], false) = (&within.records[..], target.is_each()) {
                continue;
            }
            let stacks = numbers.of.len();
            let nested = nested(&within.records, &run.view.tree);
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
            let each = target.is_each();
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
            let inner: Vec<_> = ZoomTarget::among(&within.records, thread, first).collect();
            for (ix, target) in inner {
                // These are there only once they are zoomed in on.
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
