//! Views of some runs of a history, for comparisons.

use super::History;
use crate::select::Selection;
use crate::tree::View;
use std::ops::Range;

impl History {
    /// Returns the stacks and costs of runs of one build.
    pub(crate) fn view(&self, runs: Range<usize>) -> View {
        let selected = &self.runs[runs.clone()];
        let profiles = selected.iter().map(|run| run.profile.clone()).collect();
        let costs = self.costs[runs].iter();
        View {
            selection: Selection::new(selected[0].build.clone(), profiles),
            sample_types: vec![self.sample_type.clone()],
            frames: self.frames.clone(),
            tree: self.tree.clone(),
            runs: costs.map(|costs| vec![costs.clone()]).collect(),
            windows: Vec::new(),
        }
    }
}
