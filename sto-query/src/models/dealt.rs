//! Runs of one build dealt to two sides, as if they were of two.

use super::Modelled;
use super::costs::{Costs, FunctionCosts};
use sto_stats::Random;

impl Costs {
    /// What they are of.
    pub(crate) fn about(&self) -> &Modelled {
        &self.of
    }

    /// The fewest runs of an x.
    pub(crate) fn fewest_of_x(&self) -> usize {
        self.by_x().iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Runs by x, by their index in the points of each function.
    fn by_x(&self) -> Vec<Vec<usize>> {
        let mut runs: Vec<usize> = (0..self.nothing.len()).collect();
        let x = |run: usize| self.nothing[run].0;
        runs.sort_by(|&a, &b| x(a).total_cmp(&x(b)));
        let of_x = runs.chunk_by(|&a, &b| x(a) == x(b));
        of_x.map(<[usize]>::to_vec).collect()
    }

    /// The runs of each x dealt to two sides by chance, each of which has half of them. There is a point for each run.
    pub(crate) fn dealt(&self, random: &mut Random) -> [Costs; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for mut runs in self.by_x() {
            for last in (1..runs.len()).rev() {
                runs.swap(last, random.below(last + 1));
            }
            // Whose the last one of an odd number is, is chance too.
            let first = random.below(2);
            for (ix, run) in runs.into_iter().enumerate() {
                sides[(ix + first) % 2].push(run);
            }
        }
        sides.map(|runs| {
            let chosen = |points: &[(f64, f64)]| runs.iter().map(|&run| points[run]).collect();
            let functions = self.functions.iter().map(|of| FunctionCosts {
                points: chosen(&of.points),
                ..of.clone()
            });
            Costs {
                functions: functions.collect(),
                nothing: chosen(&self.nothing),
                ..self.clone()
            }
        })
    }
}
