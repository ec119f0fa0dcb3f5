//! Simulated searches among commits with noisy runs: accuracy and number of runs.

use super::evidence::{Levels, Run};
use super::posterior::{Candidates, information};
use super::{CLEAR, MOST_RUNS_OF_ENDS, RUNS_OF_ENDS};
use crate::select::Ancestry;
use sto_core::model::CommitHash;

/// Pseudo-random numbers (xorshift64*, Vigna 2016).
struct Numbers(u64);

impl Numbers {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normal deviate by the method of Box and Muller, 1958.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Outcome of a search among `COMMITS`: whether it found the right commit, and the number of runs.
struct Search {
    is_right: bool,
    runs: usize,
}

const COMMITS: usize = 64;

/// Simulates a function that is half of the program and costs `ratio` times as much from one commit on; runs vary by
/// `noise` relative to its cost, and by chance.
fn search(numbers: &mut Numbers, ratio: f64, noise: f64) -> Search {
    let chain =
        (0..COMMITS as u8).map(|c| [c, c + 1].map(|c| CommitHash::from_bytes(&[c; 20]).unwrap()));
    let ancestry = Ancestry::from(chain.map(Vec::from).collect::<Vec<_>>());
    let candidates = Candidates::new(&ancestry, (0..COMMITS).collect());
    let first = (numbers.uniform() * COMMITS as f64) as usize;
    let mut run = |commit: usize| {
        // Earlier commits come later in the list.
        let mean = if commit <= first {
            500.0 * ratio
        } else {
            500.0
        };
        let cost = mean * (numbers.normal() * noise).exp();
        let whole = cost + 500.0;
        let chance = numbers.normal() * (cost * (1.0 - cost / whole)).sqrt();
        Run {
            samples: (cost + chance).round(),
            whole: whole.round(),
        }
    };
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let levels = loop {
        good.push(run(COMMITS));
        bad.push(run(0));
        let levels = Levels::from_runs(&good, &bad, noise * noise);
        let is_clear = levels.error_probability() <= CLEAR && good.len() >= RUNS_OF_ENDS;
        if is_clear || good.len() == MOST_RUNS_OF_ENDS {
            break levels;
        }
    };
    let mut odds = vec![0.0; COMMITS];
    for runs in good.len() + bad.len()..200 {
        let posterior = candidates.posterior(&odds);
        let having = candidates.probability_of_finding(&posterior);
        let likeliest = (0..COMMITS).max_by(|&a, &b| posterior[a].total_cmp(&posterior[b]));
        let likeliest = likeliest.unwrap();
        if posterior[likeliest] >= 0.95 {
            let is_right = likeliest == first;
            return Search { is_right, runs };
        }
        let bits = |ix: usize| information(having[ix], levels.error_probability());
        let next = (1..COMMITS)
            .max_by(|&a, &b| bits(a).total_cmp(&bits(b)))
            .unwrap();
        odds[next] += levels.log_odds(run(next).samples);
    }
    Search {
        is_right: false,
        runs: 200,
    }
}

fn searches(ratio: f64, noise: f64) -> (f64, f64) {
    const SEARCHES: usize = 400;
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let all: Vec<Search> = (0..SEARCHES)
        .map(|_| search(&mut numbers, ratio, noise))
        .collect();
    let right = all.iter().filter(|search| search.is_right).count();
    let runs: usize = all.iter().map(|search| search.runs).sum();
    (
        right as f64 / SEARCHES as f64,
        runs as f64 / SEARCHES as f64,
    )
}

#[test]
fn search_takes_few_runs_without_noise() {
    let (right, runs) = searches(2.0, 0.02);
    assert!(right > 0.97, "{right}");
    assert!(runs < 13.0, "{runs}");
}

#[test]
fn search_takes_more_runs_with_noise_but_stays_accurate() {
    for (ratio, noise) in [(1.2, 0.02), (1.5, 0.1), (1.3, 0.1), (1.2, 0.1)] {
        let (right, runs) = searches(ratio, noise);
        assert!(right > 0.93, "{ratio} {noise}: {right} right, {runs} runs");
        assert!(runs < 45.0, "{ratio} {noise}: {runs}");
    }
}
