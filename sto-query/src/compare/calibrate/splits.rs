//! Splits runs into two sides.

use std::collections::BTreeSet;
use sto_stats::Random;

/// Number of random draws per requested split, after which no more splits are expected.
const PATIENCE: usize = 100;

/// The runs of each of two sides.
pub(super) type Split = [Vec<usize>; 2];

/// Returns at most `most` different splits of runs into two sides: all that exist, or pseudo-random
/// ones that are the same on each call. The order of the sides makes no difference.
pub(super) fn splits(runs: usize, runs_a_side: usize, most: usize) -> Vec<Split> {
    let mut random = Random::new(0);
    let mut splits: BTreeSet<Split> = BTreeSet::new();
    let mut order: Vec<usize> = (0..runs).collect();
    for _ in 0..most.saturating_mul(PATIENCE) {
        if splits.len() == most {
            break;
        }
        for ix in 0..2 * runs_a_side {
            order.swap(ix, ix + random.below(runs - ix));
        }
        let (one, other) = order[..2 * runs_a_side].split_at(runs_a_side);
        let mut split = [one.to_vec(), other.to_vec()];
        split.iter_mut().for_each(|side| side.sort_unstable());
        split.sort();
        splits.insert(split);
    }
    splits.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::splits;

    #[test]
    fn finds_all_splits_of_few_runs() {
        // 4! / (2! 2!) / 2 and 6! / (3! 3!) / 2 and 6! / (2! 2! 2!) / 2
        assert_eq!(splits(4, 2, 200).len(), 3);
        assert_eq!(splits(6, 3, 200).len(), 10);
        assert_eq!(splits(6, 2, 200).len(), 45);
        assert_eq!(splits(2, 1, 200), [[vec![0], vec![1]]]);
    }

    #[test]
    fn no_run_is_on_both_sides() {
        let splits = splits(24, 12, 50);
        assert_eq!(splits.len(), 50);
        for [one, other] in splits {
            assert_eq!((one.len(), other.len()), (12, 12));
            assert!(one.iter().all(|run| *run < 24 && !other.contains(run)));
        }
    }
}
