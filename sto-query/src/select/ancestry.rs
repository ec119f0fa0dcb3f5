//! How commits follow one another, as whoever has the repository says.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use sto_core::model::CommitHash;

/// Commits with their parents, each before those that it follows.
///
/// The library does not run git: `git rev-list --topo-order --parents` lists commits so. As JSON it is a list of
/// lists, each of a commit and its parents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Vec<CommitHash>>", into = "Vec<Vec<CommitHash>>")]
pub struct Ancestry {
    /// In the order in which they were given.
    commits: Vec<CommitHash>,
    /// By commit, the indices of those of its parents that are among them.
    parents: Vec<Vec<usize>>,
    index: HashMap<CommitHash, usize>,
}

impl From<Vec<Vec<CommitHash>>> for Ancestry {
    /// Of lists of a commit and its parents; what is not itself listed is no parent, as at the end of a range.
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
    /// The commits, each before those that it follows.
    pub fn commits(&self) -> &[CommitHash] {
        &self.commits
    }

    /// The index of a commit among [`Ancestry::commits`].
    pub fn index_of(&self, commit: &CommitHash) -> Option<usize> {
        self.index.get(commit).copied()
    }

    /// The indices of a commit's parents that are known.
    pub fn parents(&self, commit: usize) -> &[usize] {
        &self.parents[commit]
    }

    /// By commit, whether another one is it, or follows it.
    pub fn up_to(&self, commit: usize) -> Vec<bool> {
        let mut is_before = vec![false; self.commits.len()];
        let mut left = vec![commit];
        while let Some(commit) = left.pop() {
            if !std::mem::replace(&mut is_before[commit], true) {
                left.extend(&self.parents[commit]);
            }
        }
        is_before
    }

    /// The commits nearest before one of which something is so, in the order of the list: none of them is before
    /// another.
    pub fn nearest_before(&self, commit: usize, is_so: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut is_seen = vec![false; self.commits.len()];
        let mut left: VecDeque<usize> = self.parents[commit].iter().copied().collect();
        let mut nearest = Vec::new();
        while let Some(commit) = left.pop_front() {
            if std::mem::replace(&mut is_seen[commit], true) {
                continue;
            }
            match is_so(commit) {
                true => nearest.push(commit),
                false => left.extend(&self.parents[commit]),
            }
        }
        nearest.sort_unstable();
        // One may be before another by a longer way.
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

    /// `4` merges `3` and `2`, both of which follow `1`; `5` follows `4`.
    fn merged() -> Ancestry {
        let commits: [&[u8]; 5] = [&[5, 4], &[4, 3, 2], &[3, 1], &[2, 1], &[1, 0]];
        let list = |commits: &&[u8]| commits.iter().map(|&commit| hash(commit)).collect();
        Ancestry::from(commits.iter().map(list).collect::<Vec<Vec<_>>>())
    }

    #[test]
    fn nearest_are_found_on_every_way_and_none_before_another() {
        let ancestry = merged();
        let nearest = |of: u8, measured: &[u8]| -> Vec<CommitHash> {
            let is_so = |ix: usize| measured.iter().any(|&m| hash(m) == ancestry.commits()[ix]);
            let of = ancestry.index_of(&hash(of)).unwrap();
            let nearest = ancestry.nearest_before(of, is_so).into_iter();
            nearest.map(|ix| ancestry.commits()[ix].clone()).collect()
        };
        assert_eq!(nearest(5, &[5, 3, 2, 1]), [hash(3), hash(2)]);
        // By the way of 3, 1 is nearest; but 2 follows it.
        assert_eq!(nearest(5, &[2, 1]), [hash(2)]);
        assert_eq!(nearest(5, &[]), []);
        assert_eq!(nearest(1, &[1]), []);
    }

    #[test]
    fn what_is_not_listed_is_no_parent_and_json_is_read_back() {
        let ancestry = merged();
        let first = ancestry.index_of(&hash(1)).unwrap();
        assert!(ancestry.parents(first).is_empty());
        let json = serde_json::to_string(&ancestry).unwrap();
        assert_eq!(serde_json::from_str::<Ancestry>(&json).unwrap(), ancestry);
    }
}
