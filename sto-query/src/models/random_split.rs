//! Random assignment of runs of one build to two sides, for calibration.

use super::Modelled;
use super::costs::{Costs, FunctionCosts};
use sto_stats::Random;

impl Costs {
    /// Returns the program, build and quantities that are modelled.
    pub(crate) fn modelled(&self) -> &Modelled {
        &self.of
    }

    /// Returns the lowest number of runs for any x.
    pub(crate) fn min_runs_per_x(&self) -> usize {
        self.by_x().iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Returns the runs for each x, as indices of each function's points.
    fn by_x(&self) -> Vec<Vec<usize>> {
        let mut runs: Vec<usize> = (0..self.nothing.len()).collect();
        let x = |run: usize| self.nothing[run].0;
        runs.sort_by(|&a, &b| x(a).total_cmp(&x(b)));
        let of_x = runs.chunk_by(|&a, &b| x(a) == x(b));
        of_x.map(<[usize]>::to_vec).collect()
    }

    /// Randomly assigns half of the runs of each x to each of two sides. There must be one point per run.
    pub(crate) fn split_randomly(&self, random: &mut Random) -> [Costs; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for mut runs in self.by_x() {
            for last in (1..runs.len()).rev() {
                runs.swap(last, random.below(last + 1));
            }
            // The side that gets the last run of an odd number is random, too.
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
