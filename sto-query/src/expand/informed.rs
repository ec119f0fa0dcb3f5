//! Informed selection: score and further evidence.

use super::{Branch, BranchSelection, GreedySelection};
use crate::history::{History, Judged};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;
use sto_core::model::Frame;
use sto_core::tree::NodeIx;

/// Age at which a code change counts half: 15 days, as in the thesis.
pub(crate) const HALF_LIFE: Duration = Duration::from_secs(15 * 86_400);

/// Informed selection: the score of [`GreedySelection`], raised if the branch's last function was changed recently, is
/// compiled differently than before, or occurs at new depths.
///
/// Each of the three is a weight from 0 to 1, and the score is multiplied by (1 + weight) for each. The thesis names
/// all three but only defines the first, and not their combination.
pub struct InformedSelection<'a, F> {
    /// Provides the score.
    pub greedy: GreedySelection,
    /// The history.
    pub history: &'a History,
    /// Returns how long before the judged run a source file was last changed; `None` if unknown or long ago.
    pub changed: F,
}

impl<F: Fn(&str) -> Option<Duration>> InformedSelection<'_, F> {
    /// Returns e^(-t ln 2 / half-life) for the file of the branch's last function, and 0 without one.
    pub fn recency(&self, branch: &Branch) -> f64 {
        let files: BTreeSet<&str> = branch
            .ends()
            .map(|node| self.frame(node).file)
            .filter(|file| !file.is_empty())
            .collect();
        let ages = files.into_iter().filter_map(|file| (self.changed)(file));
        ages.min().map_or(0.0, |age| {
            (-age.as_secs_f64() / HALF_LIFE.as_secs_f64() * std::f64::consts::LN_2).exp()
        })
    }

    /// Returns how differently the last function is compiled in the judged runs: half the sum of the differences in
    /// share of each kind of frame, which is 1 if they have none in common.
    pub fn compile_mode(&self, branch: &Branch) -> f64 {
        let Judged { window, runs, .. } = &self.greedy.0;
        let shares = |runs| self.shares(branch, runs, |node| self.frame(node).kind);
        difference(&shares(window), &shares(runs))
    }

    /// Returns the share of the branch's samples in the judged run at depths where its last function had none in the
    /// window.
    pub fn new_depths(&self, branch: &Branch) -> f64 {
        let depth = |node: NodeIx| self.history.depth(node);
        let known = self.shares(branch, &self.greedy.0.window, depth);
        let now = self.shares(branch, &self.greedy.0.runs, depth);
        let new = now.iter().filter(|(depth, _)| !known.contains_key(*depth));
        new.map(|(_, share)| share).sum()
    }

    fn frame(&self, node: NodeIx) -> Frame<'_> {
        let History { frames, tree, .. } = self.history;
        frames.frame(tree.frame(node))
    }

    /// Returns the share of samples by a property of the branch's last nodes.
    fn shares<K: Ord>(
        &self,
        branch: &Branch,
        runs: &Range<usize>,
        property: impl Fn(NodeIx) -> K,
    ) -> BTreeMap<K, f64> {
        let nodes: Vec<NodeIx> = branch.ends().collect();
        let mut sums: BTreeMap<K, f64> = BTreeMap::new();
        for run in runs.clone() {
            let samples = self.history.samples_below(run, &nodes);
            for (&node, &samples) in nodes.iter().zip(&samples).filter(|(_, s)| **s > 0) {
                *sums.entry(property(node)).or_default() += samples as f64;
            }
        }
        let whole: f64 = sums.values().sum();
        sums.values_mut().for_each(|sum| *sum /= whole);
        sums
    }
}

impl<F: Fn(&str) -> Option<Duration>> BranchSelection for InformedSelection<'_, F> {
    fn rank(&self, branch: &Branch) -> f64 {
        let weights = [
            self.recency(branch),
            self.compile_mode(branch),
            self.new_depths(branch),
        ];
        weights
            .iter()
            .fold(self.greedy.score(&branch.samples), |rank, weight| {
                rank * (1.0 + weight)
            })
    }
}

/// Returns half the sum of the differences; zero if one side is empty.
fn difference<K: Ord>(a: &BTreeMap<K, f64>, b: &BTreeMap<K, f64>) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let keys: BTreeSet<&K> = a.keys().chain(b.keys()).collect();
    let share = |shares: &BTreeMap<K, f64>, key| shares.get(key).copied().unwrap_or(0.0);
    let differences = keys
        .into_iter()
        .map(|key| (share(a, key) - share(b, key)).abs());
    differences.sum::<f64>() / 2.0
}
