//! Attributes changes to causes, so that a change is one finding instead of one for each caller.
//!
//! A function that got slower makes every caller slower, up to `main`. So a change is attributed to
//! the deepest function that explains it:
//!
//! 1. Causes are functions whose attributed self changed, or callers that call them more often (see
//!    [`hoist`](super::hoist)).
//! 2. A function whose total changed is explained if the causes below it, by call path, make up
//!    most of its change. It is then an affected caller.
//! 3. Of the functions that are not explained (many small changes below add up), the deepest is a
//!    cause of its own, and may in turn explain its callers.

use super::cause::{Cause, Evidences, OutermostNodes, add, subtract, sum};
use super::evidence::{Direction, Evidence};
use super::functions::{FunctionIx, Functions};
use super::hoist::attribute_to_callers;
use super::pair::Pair;
use super::result::Basis;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Minimum share of a caller's change that causes must make up to explain it.
pub(super) const MIN_EXPLAINED_SHARE: f64 = 0.7;
/// Minimum share of a caller's change that a cause must make up for the caller to be listed with
/// it.
const A_PART_OF_IT: f64 = 0.1;

/// Returns the causes of all changes, in unspecified order.
pub(super) fn find_causes(evidences: &Evidences) -> Vec<Cause> {
    let Evidences {
        tree,
        functions,
        tests,
        ..
    } = *evidences;
    let outermost = OutermostNodes::new(tree, &tests.total);
    let mut causes = attribute_to_callers(evidences, &outermost, self_causes(evidences));
    // Samples by node are integers, so sums do not depend on the order of nodes.
    let mut explained = vec![Pair::default(); tree.len()];
    for &(node, samples) in causes.iter().flat_map(|cause| &cause.at) {
        explained[node] = add(explained[node], samples);
    }
    tree.add_up(&mut explained, add);

    let mut unblamed: Vec<FunctionIx> = outermost.functions.clone();
    unblamed.retain(|function| !functions.list[function.get()].is_attributed_to_caller());
    unblamed.sort_by_cached_key(|&function| {
        let depth = outermost.depth(outermost.totals(evidences, function));
        Reverse((depth, Reverse(function)))
    });
    for function in unblamed {
        let Evidence {
            changed: Some(direction),
            ..
        } = tests.total[function.get()]
        else {
            continue;
        };
        let change = evidences.difference(outermost.total(evidences, function));
        let inherited = evidences.difference(outermost.sum(function, |node| explained[node]));
        if inherited / change >= MIN_EXPLAINED_SHARE {
            continue;
        }
        let remaining = |node: usize| (node, subtract(evidences.total(node), explained[node]));
        let at: Vec<_> = outermost
            .nodes_of_function(function)
            .iter()
            .map(|&n| remaining(n as usize))
            .collect();
        for (node, rest) in tree.with_callers(at.clone(), add) {
            explained[node] = add(explained[node], rest);
        }
        let same = |cause: &&mut Cause| cause.function == function && cause.direction == direction;
        match causes.iter_mut().find(same) {
            Some(cause) => cause.at.extend(at),
            None => causes.push(Cause {
                at,
                ..Cause::new(function, Basis::Total, direction)
            }),
        }
    }
    causes.par_iter_mut().for_each(|cause| {
        cause.explains = evidences.difference(sum(cause.at.iter().map(|&(_, samples)| samples)));
        cause.affected = affected_callers(evidences, &outermost, cause);
    });
    drop_bystanders(functions, &mut causes);
    causes
}

/// Drops unchanged modules and code without symbols once another cause of the same direction is
/// known. They only are causes because a broken stack leaves them without a caller. Code without
/// symbols that has symbols on the other side is neither new nor gone, and never a cause.
pub(super) fn drop_bystanders(functions: &Functions, causes: &mut Vec<Cause>) {
    causes.retain(|cause| !functions.list[cause.function.get()].unnamed);
    let is_bystander = |cause: &Cause| functions.list[cause.function.get()].is_bystander();
    for direction in [Direction::Up, Direction::Down] {
        let known = |cause: &Cause| cause.direction == direction && !is_bystander(cause);
        if causes.iter().any(known) {
            causes.retain(|cause| cause.direction != direction || !is_bystander(cause));
        }
    }
}

fn self_causes(evidences: &Evidences) -> Vec<Cause> {
    let Evidences { tree, tests, .. } = *evidences;
    let mut cause_of = vec![None; tests.attributed.len()];
    let mut causes = Vec::new();
    for (function, evidence) in tests.attributed.iter().enumerate() {
        if let Some(direction) = evidence.changed {
            cause_of[function] = Some(causes.len());
            let function = FunctionIx(function as u32);
            causes.push(Cause::new(function, Basis::AttributedSelf, direction));
        }
    }
    for node in 0..tree.len() {
        let samples = evidences.attributed(node);
        if let Some(cause) = cause_of[tree.function(node).get()]
            && samples != Pair::default()
        {
            causes[cause].at.push((node, samples));
        }
    }
    causes
}

/// Returns the callers whose total changed in the same direction, partly because of this cause.
///
/// The cause is known to have changed, so its callers need no test of their own. Library code is
/// never listed.
fn affected_callers(
    evidences: &Evidences,
    outermost: &OutermostNodes,
    cause: &Cause,
) -> Vec<FunctionIx> {
    let Evidences { tree, tests, .. } = *evidences;
    let at: Vec<(usize, Pair<f64>)> = match cause.basis {
        // Only callers inherit the change; callees do not.
        Basis::Calls => outermost.totals(evidences, cause.function).collect(),
        _ => cause.at.clone(),
    };
    let mut inherited: BTreeMap<FunctionIx, Vec<(usize, Pair<f64>)>> = BTreeMap::new();
    for (node, samples) in tree.with_callers(at, add) {
        let function = tree.function(node);
        let has_shifted = tests.total[function.get()].shifted == Some(cause.direction);
        let is_library = evidences.functions.list[function.get()].library;
        if has_shifted && !is_library && tree.is_outermost(node) && function != cause.function {
            inherited.entry(function).or_default().push((node, samples));
        }
    }
    inherited.retain(|function, at| {
        let part = evidences.difference(sum(at.iter().map(|&(_, samples)| samples)));
        part / tests.total[function.get()].difference() >= A_PART_OF_IT
    });
    let mut affected: Vec<_> = inherited
        .into_iter()
        .map(|(function, at)| (outermost.depth(at), function))
        .collect();
    affected.sort_by_key(|&(depth, function)| (Reverse(depth), function));
    affected.into_iter().map(|(_, function)| function).collect()
}
