//! Finds the call paths to a cause that changed most.

use super::cause::{Cause, Evidences};
use super::evidence::{Direction, TestParameters};
use super::functions::FunctionIx;
use super::pair::Pair;
use super::result::{Basis, CallPath, round_for_output};
use super::union::UnionTree;
use crate::functions::is_repository_file;

/// Maximum number of paths in a finding; the others are only counted.
const MAX_PATHS: usize = 3;
/// Maximum number of functions at either end of a path. Recursion may be a million frames deep.
const MAX_END_FRAMES: usize = 32;

/// The end of a call path: a node of the function without a caller of the same function.
struct PathEnd {
    node: usize,
    /// Attributed self count of the function at this node and in the recursion below.
    attributed: Pair<u64>,
}

/// The path ends of all causes, by function; `None` for other functions.
pub(super) struct PathEnds {
    of_function: Vec<Option<Vec<PathEnd>>>,
}

impl PathEnds {
    pub(super) fn new(evidences: &Evidences, causes: &[Cause]) -> PathEnds {
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
            // In preorder, the nodes of a recursion precede the next outermost node.
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

    /// Returns the paths whose cost changed in the direction of the cause, largest change first,
    /// and the number of omitted paths. Changes are normalised as in `setting`.
    pub(super) fn changed(
        &self,
        evidences: &Evidences,
        cause: &Cause,
        setting: &TestParameters,
    ) -> (Vec<CallPath>, usize) {
        let mut changed = self.ends(evidences, cause, setting);
        let more = changed.len().saturating_sub(MAX_PATHS);
        changed.truncate(MAX_PATHS);
        let path = |(_, node, samples)| call_path(evidences, node, samples, setting);
        (changed.into_iter().map(path).collect(), more)
    }

    /// Returns the source file of the nearest caller that is in the repository, on the path that
    /// changed most.
    pub(super) fn caller_file(
        &self,
        evidences: &Evidences,
        cause: &Cause,
        setting: &TestParameters,
    ) -> Option<String> {
        let (_, node, _) = *self.ends(evidences, cause, setting).first()?;
        let functions = &evidences.functions.list;
        let callers = callers(evidences.tree, node).skip(1);
        let mut files = callers.filter_map(|caller| functions[caller.get()].file.as_ref());
        files.find(|file| is_repository_file(file)).cloned()
    }

    /// Returns the ends of the paths whose cost changed in the direction of the cause, each with its
    /// change, its node and its samples, the largest change first.
    fn ends(
        &self,
        evidences: &Evidences,
        cause: &Cause,
        setting: &TestParameters,
    ) -> Vec<(f64, usize, Pair<u64>)> {
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
                // The order of nodes depends on the input, the order of functions does not.
                .then_with(|| callers(tree, *a).cmp(callers(tree, *b)))
        });
        changed
    }
}

fn call_path(
    evidences: &Evidences,
    node: usize,
    samples: Pair<u64>,
    setting: &TestParameters,
) -> CallPath {
    let mut functions: Vec<FunctionIx> = callers(evidences.tree, node).collect();
    functions.reverse();
    let omitted = functions.len().saturating_sub(2 * MAX_END_FRAMES);
    if omitted > 0 {
        functions.drain(MAX_END_FRAMES..MAX_END_FRAMES + omitted);
    }
    let name = |function| evidences.functions.name(function);
    let means = setting.sizes.means(samples);
    let share = |part: u64, whole: u64| round_for_output(part as f64 / whole as f64);
    CallPath {
        stack: functions.into_iter().map(name).collect(),
        omitted,
        baseline_share: share(samples.baseline, setting.samples.baseline),
        candidate_share: share(samples.candidate, setting.samples.candidate),
        baseline_samples: samples.baseline,
        candidate_samples: samples.candidate,
        change: (samples.baseline > 0).then(|| round_for_output(means.candidate / means.baseline)),
    }
}

/// Returns the functions of a node and of its callers, outermost last.
fn callers(tree: &UnionTree, node: usize) -> impl Iterator<Item = FunctionIx> {
    std::iter::successors(Some(node), |&node| tree.parent(node)).map(|node| tree.function(node))
}
