//! Finds causes from function counts without stacks.
//!
//! A function whose self count changed is a cause, whoever calls it. A function whose total changed
//! is a cause if the functions that may be below it do not explain that. A function cannot be below
//! one whose total is smaller than its own. So a caller is never blamed for its callees, and cost
//! that no single function explains still has a cause.
//!
//! The total of a function that only one side has is no cause: the change shows in its callers that
//! both sides have. Without stacks, moved and renamed functions are reported as new and gone.

use super::blame::{MIN_EXPLAINED_SHARE, drop_bystanders};
use super::cause::{Cause, Evidences};
use super::evidence::Evidence;
use super::functions::FunctionIx;
use super::result::Basis;

/// Returns the causes of all changes, in unspecified order.
pub(super) fn find_causes(evidences: &Evidences) -> Vec<Cause> {
    let Evidences {
        functions, tests, ..
    } = *evidences;
    let changed = |tests: &[Evidence], basis| -> Vec<Cause> {
        let changed = tests.iter().enumerate();
        let cause = |(function, evidence): (usize, &Evidence)| {
            let function = FunctionIx(function as u32);
            Some(Cause {
                explains: evidence.difference(),
                ..Cause::new(function, basis, evidence.changed?)
            })
        };
        changed.filter_map(cause).collect()
    };
    let mut causes = changed(&tests.attributed, Basis::AttributedSelf);
    let mut totals = changed(&tests.total, Basis::Total);
    totals.retain(|cause| {
        let function = cause.function.get();
        tests.total[function].is_on_both_sides()
            && !functions.list[function].is_attributed_to_caller()
    });
    let means = |function: FunctionIx| tests.total[function.get()].means;
    let size = |cause: &Cause| {
        let means = means(cause.function);
        means.baseline + means.candidate
    };
    totals.sort_by(|a, b| size(a).total_cmp(&size(b)));
    for mut cause in totals {
        let whole = means(cause.function);
        let may_be_below = |other: &&Cause| {
            let part = means(other.function);
            other.direction == cause.direction
                && part.baseline <= whole.baseline
                && part.candidate <= whole.candidate
        };
        let below = causes.iter().filter(may_be_below);
        let inherited: f64 = below.map(|other| other.explains).sum();
        if inherited / cause.explains >= MIN_EXPLAINED_SHARE {
            continue;
        }
        cause.explains -= inherited;
        let same = |other: &&mut Cause| {
            (other.function, other.direction) == (cause.function, cause.direction)
        };
        match causes.iter_mut().find(same) {
            Some(known) => known.explains += cause.explains,
            None => causes.push(cause),
        }
    }
    drop_bystanders(functions, &mut causes);
    causes
}
