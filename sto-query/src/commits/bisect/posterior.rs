//! Posterior probability of each commit being the first with a finding.

use crate::select::Ancestry;

/// Candidates for the first commit with the finding, and their ancestry.
pub(super) struct Candidates {
    /// Indices of the candidates in the ancestry, descendants first.
    pub(super) commits: Vec<usize>,
    /// For each candidate, a bit set of itself and its ancestors among the candidates: it has the finding if and only
    /// if one of these is the first.
    up_to: Vec<Vec<u64>>,
}

impl Candidates {
    /// Maximum number of candidates, because the ancestry takes one bit per pair.
    pub(super) const MAX_CANDIDATES: usize = 1 << 14;

    /// Creates candidates from these commits of the ancestry, which are in its order.
    pub(super) fn new(ancestry: &Ancestry, commits: Vec<usize>) -> Candidates {
        let words = commits.len().div_ceil(64);
        let mut place = vec![None; ancestry.commits().len()];
        for (candidate, &commit) in commits.iter().enumerate() {
            place[commit] = Some(candidate);
        }
        let mut up_to = vec![vec![0_u64; words]; commits.len()];
        // Parents come after their descendants.
        for candidate in (0..commits.len()).rev() {
            let mut bits = vec![0_u64; words];
            bits[candidate / 64] |= 1 << (candidate % 64);
            for &parent in ancestry.parents(commits[candidate]) {
                if let Some(parent) = place[parent] {
                    bits.iter_mut()
                        .zip(&up_to[parent])
                        .for_each(|(a, b)| *a |= b);
                }
            }
            up_to[candidate] = bits;
        }
        Candidates { commits, up_to }
    }

    /// Returns a candidate and its ancestors among the candidates.
    fn up_to(&self, candidate: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.up_to[candidate].iter().enumerate();
        words.flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(at * 64 + bit)
            })
        })
    }

    /// Returns the probability of each candidate being the first, from a uniform prior. `evidence` has for each
    /// candidate the log odds of its runs for having the finding.
    pub(super) fn posterior(&self, evidence: &[f64]) -> Vec<f64> {
        let mut logs = vec![0.0; self.commits.len()];
        for (candidate, &odds) in evidence.iter().enumerate() {
            if odds != 0.0 {
                self.up_to(candidate).for_each(|first| logs[first] += odds);
            }
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// Returns for each candidate the probability that it has the finding, which is the sum over itself and its
    /// ancestors.
    pub(super) fn probability_of_finding(&self, posterior: &[f64]) -> Vec<f64> {
        let having = |candidate| {
            let sum: f64 = self.up_to(candidate).map(|first| posterior[first]).sum();
            sum.min(1.0)
        };
        (0..self.commits.len()).map(having).collect()
    }
}

/// Returns the expected information of a run about which commit is the first, in bits: the mutual information for a
/// commit that has the finding with probability `having`, and a run that is misleading with probability `wrong`.
pub(super) fn information(having: f64, wrong: f64) -> f64 {
    let says = having * (1.0 - wrong) + (1.0 - having) * wrong;
    (entropy(says) - entropy(wrong)).max(0.0)
}

fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
    term(p) + term(1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sto_core::model::CommitHash;

    /// Creates an ancestry from lists of a commit and its parents.
    fn ancestry(commits: &[&[u8]]) -> Ancestry {
        let hash = |&commit: &u8| CommitHash::from_bytes(&[commit; 20]).unwrap();
        let list = |commits: &&[u8]| commits.iter().map(hash).collect();
        Ancestry::from(commits.iter().map(list).collect::<Vec<Vec<_>>>())
    }

    #[test]
    fn commit_inherits_finding_from_ancestors() {
        // 4 merges 3 and 2, which are children of 1.
        let candidates = Candidates::new(
            &ancestry(&[&[4, 3, 2], &[3, 1], &[2, 1], &[1]]),
            vec![0, 1, 2, 3],
        );
        // 3 certainly has the finding, 2 certainly does not.
        let posterior = candidates.posterior(&[0.0, 50.0, -50.0, 0.0]);
        assert!((posterior[1] - 1.0).abs() < 1e-9, "{posterior:?}");
        let having = candidates.probability_of_finding(&posterior);
        assert!(having[0] > 0.999 && having[1] > 0.999, "{having:?}");
        assert!(having[2] < 0.001 && having[3] < 0.001, "{having:?}");
    }

    #[test]
    fn middle_commit_is_most_informative_without_evidence() {
        let chain: Vec<Vec<u8>> = (1..=130_u8).rev().map(|c| vec![c, c - 1]).collect();
        let chain: Vec<&[u8]> = chain.iter().map(Vec::as_slice).collect();
        let candidates = Candidates::new(&ancestry(&chain), (0..130).collect());
        let having = candidates.probability_of_finding(&candidates.posterior(&[0.0; 130]));
        let bits: Vec<f64> = having.iter().map(|&p| information(p, 0.0)).collect();
        let best = (0..130)
            .max_by(|&a, &b| bits[a].total_cmp(&bits[b]))
            .unwrap();
        assert!((64..=66).contains(&best), "{best}");
        assert!((bits[best] - 1.0).abs() < 1e-9 && bits[0] < 1e-9);
        assert!(information(0.5, 0.5) < 1e-9, "noise tells nothing");
    }
}
