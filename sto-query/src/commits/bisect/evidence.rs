//! Evidence from runs of a commit for or against its having the finding.

/// Probability that a run is misleading for reasons that the other runs do not show, such as other load on the
/// machine. It limits the evidence of a run to odds of 99 to 1.
const WRONG: f64 = 0.01;
/// Degrees of freedom of the distribution of log samples: few runs show little of the variation, and some are
/// outliers.
const FREEDOM: f64 = 4.0;
/// Number of runs that the prior variation of functions in general is worth.
const PRIOR_RUNS: f64 = 4.0;
/// Minimum variation: a relative deviation of 2 %, as in comparisons.
const LEAST_VARIATION: f64 = 4e-4;

/// Numbers of samples in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Samples of the function sought.
    pub(super) samples: f64,
    /// All samples of the run.
    pub(super) whole: f64,
}

/// Cost of runs without and with the finding.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Levels {
    without: Level,
    with: Level,
}

/// Distribution of similar runs: mean logarithm of the samples, and scale.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    log: f64,
    scale: f64,
}

impl Levels {
    /// Estimates both levels from runs without and with the finding, at least one of each; `dispersion` is the
    /// typical dispersion of functions.
    pub(super) fn from_runs(without: &[Run], with: &[Run], dispersion: f64) -> Levels {
        let sides = [without, with];
        let deviations: f64 = sides.iter().map(|runs| beyond_chance(runs)).sum();
        let freedom = (without.len() + with.len()).saturating_sub(2) as f64;
        let variation = (PRIOR_RUNS * dispersion + deviations) / (PRIOR_RUNS + freedom);
        let variation = variation.max(LEAST_VARIATION);
        let [without, with] = sides.map(|runs| {
            // The mean is uncertain, too.
            let variance = (binomial_variance(runs) + variation) * (1.0 + 1.0 / runs.len() as f64);
            Level {
                log: log(mean(runs)),
                scale: variance.sqrt(),
            }
        });
        Levels { without, with }
    }

    /// Returns the log odds of a run with this number of samples having the finding.
    pub(super) fn log_odds(&self, samples: f64) -> f64 {
        let at = log(samples);
        let (with, without) = (self.with.density(at), self.without.density(at));
        let largest = with.max(without);
        let [with, without] = [with, without].map(|log| (log - largest).exp());
        let mixed = |this: f64, other: f64| (1.0 - WRONG) * this + WRONG * other;
        (mixed(with, without) / mixed(without, with)).ln()
    }

    /// Returns the probability that a run points to the wrong level, computed for a run with the average cost of
    /// those with the finding.
    pub(super) fn error_probability(&self) -> f64 {
        1.0 / (1.0 + self.log_odds(self.with.log.exp()).exp())
    }

    /// Returns the ratio of costs with and without the finding.
    pub(super) fn ratio(&self) -> f64 {
        (self.with.log - self.without.log).exp()
    }
}

impl Level {
    /// Returns the logarithm of the density of Student's t distribution, without constant terms.
    fn density(&self, at: f64) -> f64 {
        let z = (at - self.log) / self.scale;
        -(FREEDOM + 1.0) / 2.0 * (z * z / FREEDOM).ln_1p() - self.scale.ln()
    }
}

/// Adds half a sample, because the number may be zero.
fn log(samples: f64) -> f64 {
    (samples + 0.5).ln()
}

fn mean(runs: &[Run]) -> f64 {
    runs.iter().map(|run| run.samples).sum::<f64>() / runs.len() as f64
}

/// Returns the binomial variance of the logarithm of samples, for the share of all samples that the function has.
fn binomial_variance(runs: &[Run]) -> f64 {
    let samples = mean(runs);
    let whole = runs.iter().map(|run| run.whole).sum::<f64>() / runs.len() as f64;
    (1.0 - samples / whole.max(1.0)).max(0.0) / (samples + 0.5)
}

/// Returns the sum of squared deviations of the logarithms from their mean, less the expected contribution of chance.
fn beyond_chance(runs: &[Run]) -> f64 {
    let logs: Vec<f64> = runs.iter().map(|run| log(run.samples)).collect();
    let middle = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - middle).powi(2)).sum();
    (squares - (runs.len() as f64 - 1.0) * binomial_variance(runs)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs with these samples of a function, out of 1000 each.
    fn runs<const N: usize>(samples: [f64; N]) -> [Run; N] {
        samples.map(|samples| Run {
            samples,
            whole: 1000.0,
        })
    }

    #[test]
    fn evidence_favours_the_nearer_level_up_to_99_to_1() {
        let levels = Levels::from_runs(&runs([100.0, 104.0]), &runs([200.0, 210.0]), 0.003);
        assert!(levels.log_odds(205.0) > 3.0 && levels.log_odds(100.0) < -3.0);
        assert!(levels.log_odds(146.0).abs() < 1.0);
        let most = 99.0_f64.ln() + 1e-9;
        for samples in [0.0, 1.0, 100.0, 205.0, 1e9] {
            assert!(levels.log_odds(samples).abs() <= most, "{samples}");
        }
        assert!((levels.ratio() - 2.0).abs() < 0.05);
    }

    #[test]
    fn variation_weakens_evidence() {
        let quiet = Levels::from_runs(&runs([100.0, 101.0]), &runs([130.0, 131.0]), 0.001);
        let noisy = Levels::from_runs(&runs([80.0, 121.0]), &runs([105.0, 160.0]), 0.03);
        assert!(quiet.log_odds(130.0) > 2.0 * noisy.log_odds(130.0));
        assert!(
            quiet.error_probability() < noisy.error_probability()
                && noisy.error_probability() < 0.5
        );
    }

    #[test]
    fn new_function_is_evidence() {
        let levels = Levels::from_runs(&runs([0.0, 0.0]), &runs([400.0, 390.0]), 0.003);
        assert!(levels.log_odds(395.0) > 4.0 && levels.log_odds(0.0) < -4.0);
    }

    #[test]
    fn larger_share_of_a_run_has_less_random_variation() {
        let of_whole = |whole: f64| {
            let runs = |samples| [Run { samples, whole }; 2];
            Levels::from_runs(&runs(500.0), &runs(600.0), 0.0).error_probability()
        };
        assert!(of_whole(600.0) < of_whole(1000.0) && of_whole(1000.0) < of_whole(1e6));
    }
}
