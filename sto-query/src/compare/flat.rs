//! Causes where counts of functions are known, and no stacks.
//!
//! A function whose self count changed is a cause, whoever calls it. One whose total changed is a cause where what
//! may be below it does not explain that: no function is below one that costs less than itself with all that it
//! calls. So a caller is never blamed for what it calls, and cost that no single function explains has a cause still.
//! A function of one side alone is none by its total: what calls it, and is on both sides, shows whether that is more.
//! What moved or has another name, stacks would say; here it is new and gone.

use super::blame::{MOST_OF_IT, drop_bystanders};
use super::cause::{Cause, Evidences};
use super::evidence::Evidence;
use super::functions::FunctionIx;
use super::result::Basis;

/// The causes of all changes, in no order that means anything.
pub(super) fn causes(evidences: &Evidences) -> Vec<Cause> {
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
        tests.total[function].is_on_both() && !functions.list[function].is_attributed_to_caller()
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
        if inherited / cause.explains >= MOST_OF_IT {
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
