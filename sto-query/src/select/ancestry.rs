//! The ancestry of commits.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use sto_core::model::CommitHash;

/// Commits with their parents, children before parents.
///
/// The library does not run git; `git rev-list --topo-order --parents` lists commits in this form.
/// In JSON, it is a list of lists, each of a commit and its parents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(from = "Vec<Vec<CommitHash>>", into = "Vec<Vec<CommitHash>>")]
pub struct Ancestry {
    /// The commits, in the given order.
    commits: Vec<CommitHash>,
    /// The indices of the listed parents of each commit.
    parents: Vec<Vec<usize>>,
    index: HashMap<CommitHash, usize>,
}

impl From<Vec<Vec<CommitHash>>> for Ancestry {
    /// Converts lists of a commit and its parents. Parents that are not listed themselves are left
    /// out, as at the end of a range.
    fn from(listed: Vec<Vec<CommitHash>>) -> Ancestry {
        let listed: Vec<_> = listed
            .into_iter()
            .filter(|commit| !commit.is_empty())
            .collect();
        let commits: Vec<CommitHash> = listed.iter().map(|commit| commit[0].clone()).collect();
        let index: HashMap<CommitHash, usize> = commits.iter().cloned().zip(0..).collect();
        let parents = listed.iter().map(|commit| {
            let parents = commit[1..].iter();
            parents.filter_map(|parent| index.get(parent).copied())
        });
        Ancestry {
            parents: parents.map(Iterator::collect).collect(),
            commits,
            index,
        }
    }
}

impl From<Ancestry> for Vec<Vec<CommitHash>> {
    fn from(ancestry: Ancestry) -> Self {
        let list = |(commit, parents): (&CommitHash, &Vec<usize>)| {
            let parents = parents.iter().map(|&parent| &ancestry.commits[parent]);
            std::iter::once(commit).chain(parents).cloned().collect()
        };
        ancestry
            .commits
            .iter()
            .zip(&ancestry.parents)
            .map(list)
            .collect()
    }
}

impl Ancestry {
    /// Returns the commits, children before parents.
    pub fn commits(&self) -> &[CommitHash] {
        &self.commits
    }

    /// Returns the index of a commit in [`Ancestry::commits`].
    pub fn index_of(&self, commit: &CommitHash) -> Option<usize> {
        self.index.get(commit).copied()
    }

    /// Returns the indices of a commit's listed parents.
    pub fn parents(&self, commit: usize) -> &[usize] {
        &self.parents[commit]
    }

    /// Returns, for each commit, whether it is `commit` or one of its ancestors.
    pub fn up_to(&self, commit: usize) -> Vec<bool> {
        let mut is_ancestor = vec![false; self.commits.len()];
        let mut left = vec![commit];
        while let Some(commit) = left.pop() {
            if !std::mem::replace(&mut is_ancestor[commit], true) {
                left.extend(&self.parents[commit]);
            }
        }
        is_ancestor
    }

    /// Returns the nearest ancestors of a commit that satisfy a condition, in the order of the
    /// list. None of them is an ancestor of another.
    pub fn nearest_before(&self, commit: usize, condition: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut is_seen = vec![false; self.commits.len()];
        let mut left: VecDeque<usize> = self.parents[commit].iter().copied().collect();
        let mut nearest = Vec::new();
        while let Some(commit) = left.pop_front() {
            if std::mem::replace(&mut is_seen[commit], true) {
                continue;
            }
            if condition(commit) {
                nearest.push(commit);
            } else {
                left.extend(&self.parents[commit]);
            }
        }
        nearest.sort_unstable();
        // One may be an ancestor of another by a longer path.
        let all = nearest.clone();
        if all.len() > 1 {
            for &one in &all {
                let before = self.up_to(one);
                nearest.retain(|&other| other == one || !before[other]);
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(commit: u8) -> CommitHash {
        CommitHash::from_bytes(&[commit; 20]).unwrap()
    }

    /// `2` and `3` follow `1`, `4` merges them, and `5` follows `4`.
    fn merged() -> Ancestry {
        let commits: [&[u8]; 5] = [&[5, 4], &[4, 3, 2], &[3, 1], &[2, 1], &[1, 0]];
        let list = |commits: &&[u8]| commits.iter().map(|&commit| hash(commit)).collect();
        Ancestry::from(commits.iter().map(list).collect::<Vec<Vec<_>>>())
    }

    #[test]
    fn finds_nearest_ancestors_on_every_path() {
        let ancestry = merged();
        let nearest = |of: u8, measured: &[u8]| -> Vec<CommitHash> {
            let condition = |ix: usize| measured.iter().any(|&m| hash(m) == ancestry.commits()[ix]);
            let of = ancestry.index_of(&hash(of)).unwrap();
            let nearest = ancestry.nearest_before(of, condition).into_iter();
            nearest.map(|ix| ancestry.commits()[ix].clone()).collect()
        };
        assert_eq!(nearest(5, &[5, 3, 2, 1]), [hash(3), hash(2)]);
        // On the path through 3, 1 is nearest, but it is an ancestor of 2.
        assert_eq!(nearest(5, &[2, 1]), [hash(2)]);
        assert_eq!(nearest(5, &[]), []);
        assert_eq!(nearest(1, &[1]), []);
    }

    #[test]
    fn ignores_unlisted_parents_and_round_trips_json() {
        let ancestry = merged();
        let first = ancestry.index_of(&hash(1)).unwrap();
        assert!(ancestry.parents(first).is_empty());
        let json = serde_json::to_string(&ancestry).unwrap();
        assert_eq!(serde_json::from_str::<Ancestry>(&json).unwrap(), ancestry);
    }
}
