//! Reconstruction of call nesting from the records of a thread.

use sto_core::trace::CallRecord;
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::Nanoseconds;

/// A record and the long call that contains it.
pub(crate) struct NestedRecord<'a> {
    pub(crate) record: &'a CallRecord<NodeIx>,
    /// Index of the caller's record; `None` without a caller.
    pub(crate) caller: Option<usize>,
}

/// Time between two consecutive records with the same caller.
pub(crate) struct Gap {
    pub(crate) begin: Nanoseconds,
    pub(crate) end: Nanoseconds,
    /// Index of the record of their caller.
    pub(crate) caller: Option<usize>,
}

/// Returns the records of a thread, or of an expression's contents, with their callers.
pub(crate) fn nest_records<'a>(
    records: &'a [CallRecord<NodeIx>],
    tree: &StackTree,
) -> Vec<NestedRecord<'a>> {
    let mut open: Vec<usize> = Vec::new();
    let mut nested: Vec<NestedRecord<'a>> = Vec::with_capacity(records.len());
    for (ix, record) in records.iter().enumerate() {
        let (begin, _) = record.time();
        while let Some(CallRecord::Call(caller)) = open.last().map(|&caller| &records[caller]) {
            // A call of zero duration may be at the very end of its caller, or just after it.
            let is_in =
                begin < caller.end || begin == caller.end && calls(tree, caller.stack, record);
            if is_in {
                break;
            }
            open.pop();
        }
        nested.push(NestedRecord {
            record,
            caller: open.last().copied(),
        });
        if let CallRecord::Call(_) = record {
            open.push(ix);
        }
    }
    nested
}

fn calls(tree: &StackTree, caller: NodeIx, record: &CallRecord<NodeIx>) -> bool {
    let stack = match record {
        CallRecord::Call(call) => Some(call.stack),
        CallRecord::Expression(expression) => expression.stacks.first().map(|first| first.stack),
    };
    stack.and_then(|stack| tree.parent(stack)) == Some(caller)
}

/// Returns the gaps of a thread: times of more than `longer_than` between two records of the same caller, by start.
pub(crate) fn gaps(nested: &[NestedRecord], longer_than: Nanoseconds) -> Vec<Gap> {
    // The end of the last record in each caller; the last entry is for records without a caller.
    let mut last: Vec<Option<Nanoseconds>> = vec![None; nested.len() + 1];
    let mut gaps = Vec::new();
    for of in nested {
        let (begin, end) = of.record.time();
        let last = &mut last[of.caller.map_or(0, |caller| caller + 1)];
        if let Some(before) = last.filter(|before| begin.0.saturating_sub(before.0) > longer_than.0)
        {
            gaps.push(Gap {
                begin: before,
                end: begin,
                caller: of.caller,
            });
        }
        *last = Some(end);
    }
    gaps.sort_by_key(|gap| (gap.begin, gap.end));
    gaps
}
