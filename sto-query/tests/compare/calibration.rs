//! Rates of findings between equal builds, and of detected changes, over simulated runs.

use super::support::{Random, compared, view};
use rayon::prelude::*;
use sto_query::results::{Verdict, View};

const SAMPLES: f64 = 20_000.0;

/// A simulated benchmark: a program in three layers. The functions of the last layer have 5 % of
/// the samples (the first) or fall off as 1 / rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Benchmark {
    pub(crate) functions: usize,
    pub(crate) runs: usize,
    /// Dispersion of self counts from run to run.
    pub(crate) dispersion: f64,
    /// Whether every eighth function varies four times as much as the others.
    pub(crate) erratic: bool,
}

impl Benchmark {
    fn share(self, function: usize) -> f64 {
        let harmonic: f64 = (1..self.functions).map(|rank| 1.0 / rank as f64).sum();
        if function == 0 {
            0.05
        } else {
            0.95 / (function as f64 * harmonic)
        }
    }

    /// Simulates a side on which the first function costs `slower` times as much.
    pub(crate) fn side(self, random: &mut Random, version: &str, slower: f64) -> View {
        let stack = |random: &mut Random, f: usize| {
            let factor = if f == 0 { slower } else { 1.0 };
            let erratic = if self.erratic && f % 8 == 3 {
                16.0
            } else {
                1.0
            };
            let samples = random.count(SAMPLES * self.share(f) * factor, self.dispersion * erratic);
            format!("main;part{};step{};f{f} {samples}\n", f % 3, f % 7)
        };
        let run = |random: &mut Random| -> String {
            (0..self.functions).map(|f| stack(random, f)).collect()
        };
        let runs: Vec<String> = (0..self.runs).map(|_| run(random)).collect();
        view(
            version,
            &runs.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }
}

/// `calibrate.md` has some of these rates, and their effect on power.
#[test]
fn equal_builds_have_findings_in_at_most_5_percent_of_comparisons() {
    let mut too_often = String::new();
    for (functions, runs, dispersion, erratic) in [
        // With one run per side, what the assumed dispersion covers.
        (40, 1, 0.0, false),
        (40, 1, 0.01, false),
        (5, 1, 0.01, false),
        // With several runs, whatever they show, up to 20 % deviation.
        (40, 2, 0.0, false),
        (40, 2, 0.01, false),
        (40, 2, 0.01, true),
        (5, 2, 0.01, false),
        (10, 2, 0.04, false),
        (40, 3, 0.0025, false),
        (40, 3, 0.01, true),
        (40, 3, 0.04, false),
        (5, 3, 0.04, false),
        (10, 6, 0.01, false),
        (40, 6, 0.01, true),
    ] {
        let benchmark = Benchmark {
            functions,
            runs,
            dispersion,
            erratic,
        };
        let comparisons = 300;
        let reports = (0..comparisons).into_par_iter().filter(|seed| {
            let mut random = Random::new(11 + seed);
            let baseline = benchmark.side(&mut random, "v1", 1.0);
            let candidate = benchmark.side(&mut random, "v2", 1.0);
            !compared(&baseline, &candidate).findings.is_empty()
        });
        let reports = reports.count() as u64;
        if reports * 20 > comparisons {
            too_often += &format!("{reports} of {comparisons}: {benchmark:?}\n");
        }
    }
    assert!(too_often.is_empty(), "{too_often}");
}

#[test]
fn finds_function_of_5_percent_that_doubles() {
    for (runs, dispersion) in [(1, 0.0), (3, 0.01)] {
        let benchmark = Benchmark {
            functions: 40,
            runs,
            dispersion,
            erratic: false,
        };
        let mut random = Random::new(7);
        let found = (0..100).filter(|_| {
            let baseline = benchmark.side(&mut random, "v1", 1.0);
            let candidate = benchmark.side(&mut random, "v2", 2.0);
            let comparison = compared(&baseline, &candidate);
            comparison.verdict == Verdict::Regression && comparison.findings[0].function == "f0"
        });
        let found = found.count();
        assert!(found > 95, "{found} of 100: {benchmark:?}");
    }
}
