//! The call paths by which a cause is reached, and which of them changed most.

use super::cause::{Cause, Evidences};
use super::evidence::{Direction, Setting};
use super::functions::FunctionIx;
use super::pair::Pair;
use super::result::{Basis, CallPath, rounded};
use super::union::UnionTree;

/// Paths that a finding names; how many more there are, it says.
const NAMED: usize = 3;
/// Functions at either end of a path that are named: recursion may be a million frames deep.
const ENDS: usize = 32;

/// A node of a function at the end of a path: one that no caller of the same function stands above.
struct PathEnd {
    node: usize,
    /// Attributed self of the function here and in the recursion below.
    attributed: Pair<u64>,
}

/// The path ends of every cause's function, by function; none of other functions.
pub(super) struct PathEnds {
    of_function: Vec<Option<Vec<PathEnd>>>,
}

impl PathEnds {
    pub(super) fn of(evidences: &Evidences, causes: &[Cause]) -> PathEnds {
        let Evidences { tree, nodes, .. } = *evidences;
        let mut of_function: Vec<Option<Vec<PathEnd>>> = Vec::new();
        of_function.resize_with(evidences.functions.list.len(), || None);
        for cause in causes {
            of_function[cause.function.get()] = Some(Vec::new());
        }
        for node in 0..tree.len() {
            let Some(ends) = &mut of_function[tree.function(node).get()] else {
                continue;
            };
            // In preorder, all of a recursion comes before the next outermost node.
            if tree.is_outermost(node) {
                ends.push(PathEnd {
                    node,
                    attributed: Pair::default(),
                });
            }
            if let Some(PathEnd { attributed, .. }) = ends.last_mut() {
                let (before, after) = (
                    nodes.attributed.baseline[node],
                    nodes.attributed.candidate[node],
                );
                attributed.baseline = attributed.baseline.saturating_add(before);
                attributed.candidate = attributed.candidate.saturating_add(after);
            }
        }
        PathEnds { of_function }
    }

    /// The paths by which a cause's cost changed in its direction, largest change first, and how
    /// many there are beyond those.
    pub(super) fn changed(
        &self,
        evidences: &Evidences,
        cause: &Cause,
        setting: &Setting,
    ) -> (Vec<CallPath>, usize) {
        let total = &evidences.nodes.total;
        let samples = |end: &PathEnd| match cause.basis {
            Basis::AttributedSelf => end.attributed,
            Basis::Total | Basis::Calls => {
                Pair::new(total.baseline[end.node], total.candidate[end.node])
            }
        };
        let mut changed: Vec<(f64, usize, Pair<u64>)> = Vec::new();
        for end in self.of_function[cause.function.get()].iter().flatten() {
            let samples = samples(end);
            let means = setting.sizes.means(samples);
            let change = match cause.direction {
                Direction::Up => means.candidate - means.baseline,
                Direction::Down => means.baseline - means.candidate,
            };
            if change > 0.0 {
                changed.push((change, end.node, samples));
            }
        }
        let tree = evidences.tree;
        changed.sort_by(|(a_change, a, _), (b_change, b, _)| {
            b_change
                .total_cmp(a_change)
                // The order of nodes is that of the input, that of functions is their own.
                .then_with(|| callers(tree, *a).cmp(callers(tree, *b)))
        });
        let more = changed.len().saturating_sub(NAMED);
        changed.truncate(NAMED);
        let path = |(_, node, samples)| call_path(evidences, node, samples, setting);
        (changed.into_iter().map(path).collect(), more)
    }
}

fn call_path(
    evidences: &Evidences,
    node: usize,
    samples: Pair<u64>,
    setting: &Setting,
) -> CallPath {
    let mut functions: Vec<FunctionIx> = callers(evidences.tree, node).collect();
    functions.reverse();
    let omitted = functions.len().saturating_sub(2 * ENDS);
    if omitted > 0 {
        functions.drain(ENDS..ENDS + omitted);
    }
    let name = |function| evidences.functions.name(function);
    let means = setting.sizes.means(samples);
    let share = |part: u64, whole: u64| rounded(part as f64 / whole as f64);
    CallPath {
        stack: functions.into_iter().map(name).collect(),
        omitted,
        baseline_share: share(samples.baseline, setting.samples.baseline),
        candidate_share: share(samples.candidate, setting.samples.candidate),
        baseline_samples: samples.baseline,
        candidate_samples: samples.candidate,
        change: (samples.baseline > 0).then(|| rounded(means.candidate / means.baseline)),
    }
}

/// The function of a node, and those of its callers, outermost last.
fn callers(tree: &UnionTree, node: usize) -> impl Iterator<Item = FunctionIx> {
    std::iter::successors(Some(node), |&node| tree.parent(node)).map(|node| tree.function(node))
}
