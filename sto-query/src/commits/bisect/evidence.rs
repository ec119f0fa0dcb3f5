//! What a run of a commit says of whether the commit has a finding.

/// How often a run says the opposite for reasons that the runs so far do not show, as where the machine did
/// something else meanwhile. So no run is worth more than odds of 99 to 1.
const WRONG: f64 = 0.01;
/// Degrees of freedom of the runs' logarithms: few runs say how much they vary, and some lie far off.
const FREEDOM: f64 = 4.0;
/// Runs that the variation of functions in general counts for, beside those of the finding itself.
const PRIOR_RUNS: f64 = 4.0;
/// Variation below which no machine is believed to be: a fiftieth of a run, as comparisons have it.
const LEAST_VARIATION: f64 = 4e-4;

/// Samples of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Of what is sought.
    pub(super) samples: f64,
    /// Of the run as a whole.
    pub(super) whole: f64,
}

/// What runs cost without the finding and with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Levels {
    without: Level,
    with: Level,
}

/// Runs that are alike: the logarithm of a run's samples, and how far from it runs lie.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    log: f64,
    scale: f64,
}

impl Levels {
    /// From runs without the finding and runs with it, at least one of each; `dispersion` is that of functions in general.
    pub(super) fn of(without: &[Run], with: &[Run], dispersion: f64) -> Levels {
        let sides = [without, with];
        let deviations: f64 = sides.iter().map(|runs| beyond_chance(runs)).sum();
        let freedom = (without.len() + with.len()).saturating_sub(2) as f64;
        let variation = (PRIOR_RUNS * dispersion + deviations) / (PRIOR_RUNS + freedom);
        let variation = variation.max(LEAST_VARIATION);
        let [without, with] = sides.map(|runs| {
            // The mean itself is known by so many runs only.
            let variance = (chance(runs) + variation) * (1.0 + 1.0 / runs.len() as f64);
            Level {
                log: log(mean(runs)),
                scale: variance.sqrt(),
            }
        });
        Levels { without, with }
    }

    /// How much likelier a run with so many samples is with the finding than without it: the logarithm.
    pub(super) fn log_odds(&self, samples: f64) -> f64 {
        let at = log(samples);
        let (with, without) = (self.with.density(at), self.without.density(at));
        let largest = with.max(without);
        let [with, without] = [with, without].map(|log| (log - largest).exp());
        let mixed = |this: f64, other: f64| (1.0 - WRONG) * this + WRONG * other;
        (mixed(with, without) / mixed(without, with)).ln()
    }

    /// The probability that a run says the opposite of what is so: that of one which costs what runs with the finding
    /// do on average, to be none of those.
    pub(super) fn wrong(&self) -> f64 {
        1.0 / (1.0 + self.log_odds(self.with.log.exp()).exp())
    }

    /// How many times as much runs cost with the finding.
    pub(super) fn ratio(&self) -> f64 {
        (self.with.log - self.without.log).exp()
    }
}

impl Level {
    /// The logarithm of the density of Student's distribution, but for what is the same at all levels.
    fn density(&self, at: f64) -> f64 {
        let z = (at - self.log) / self.scale;
        -(FREEDOM + 1.0) / 2.0 * (z * z / FREEDOM).ln_1p() - self.scale.ln()
    }
}

/// Half a sample more than there are, as there may be none.
fn log(samples: f64) -> f64 {
    (samples + 0.5).ln()
}

fn mean(runs: &[Run]) -> f64 {
    runs.iter().map(|run| run.samples).sum::<f64>() / runs.len() as f64
}

/// The variance of the logarithms of runs by chance, which is where samples fall: that of a binomial distribution, whose
/// share is the part of all samples that what is sought has.
fn chance(runs: &[Run]) -> f64 {
    let samples = mean(runs);
    let whole = runs.iter().map(|run| run.whole).sum::<f64>() / runs.len() as f64;
    (1.0 - samples / whole.max(1.0)).max(0.0) / (samples + 0.5)
}

/// The sum of squares by which the logarithms of runs differ from their mean, beyond what samples do by chance.
fn beyond_chance(runs: &[Run]) -> f64 {
    let logs: Vec<f64> = runs.iter().map(|run| log(run.samples)).collect();
    let middle = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - middle).powi(2)).sum();
    (squares - (runs.len() as f64 - 1.0) * chance(runs)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of so many samples of a function, of 1000 each.
    fn runs<const N: usize>(samples: [f64; N]) -> [Run; N] {
        samples.map(|samples| Run {
            samples,
            whole: 1000.0,
        })
    }

    #[test]
    fn a_run_tells_by_which_level_it_is_nearer_and_never_more_than_99_to_1() {
        let levels = Levels::of(&runs([100.0, 104.0]), &runs([200.0, 210.0]), 0.003);
        assert!(levels.log_odds(205.0) > 3.0 && levels.log_odds(100.0) < -3.0);
        assert!(levels.log_odds(146.0).abs() < 1.0);
        let most = 99.0_f64.ln() + 1e-9;
        for samples in [0.0, 1.0, 100.0, 205.0, 1e9] {
            assert!(levels.log_odds(samples).abs() <= most, "{samples}");
        }
        assert!((levels.ratio() - 2.0).abs() < 0.05);
    }

    #[test]
    fn the_more_runs_vary_the_less_each_tells() {
        let quiet = Levels::of(&runs([100.0, 101.0]), &runs([130.0, 131.0]), 0.001);
        let noisy = Levels::of(&runs([80.0, 121.0]), &runs([105.0, 160.0]), 0.03);
        assert!(quiet.log_odds(130.0) > 2.0 * noisy.log_odds(130.0));
        assert!(quiet.wrong() < noisy.wrong() && noisy.wrong() < 0.5);
    }

    #[test]
    fn a_function_that_was_not_there_before_tells_by_being_there() {
        let levels = Levels::of(&runs([0.0, 0.0]), &runs([400.0, 390.0]), 0.003);
        assert!(levels.log_odds(395.0) > 4.0 && levels.log_odds(0.0) < -4.0);
    }

    #[test]
    fn the_more_of_a_run_is_sought_the_less_of_it_is_chance() {
        let of_whole = |whole: f64| {
            let runs = |samples| [Run { samples, whole }; 2];
            Levels::of(&runs(500.0), &runs(600.0), 0.0).wrong()
        };
        assert!(of_whole(600.0) < of_whole(1000.0) && of_whole(1000.0) < of_whole(1e6));
    }
}
