//! Test for a difference in level between two groups of builds with one or more runs each.

use super::student_two_sided;

/// The measurements of each build's runs, one non-empty entry per build.
pub type BuildRuns<'a> = &'a [&'a [f64]];

/// Returns the probability that the means of two groups of builds lie at least this far apart if nothing changed;
/// `None` if there are too few runs to estimate the variation.
///
/// The runs of a build are not independent evidence about the build's source: two builds of the same source differ by
/// how their code happens to be laid out (T. Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously
/// Wrong!, 2009). This is therefore the one-way analysis of variance with random effects. If the variance between the
/// builds of a group exceeds that between the runs of a build, each build counts as one observation, and Student's t
/// has one degree of freedom per build, less one per group; otherwise both variances are pooled. For one build after
/// k builds of one run each, the result is the prediction interval for the next observation, m + t s sqrt(1 + 1/k).
/// `least_variance` is a lower bound on the variance of a run, for example the sampling variance.
pub fn levels_differ(before: BuildRuns, after: BuildRuns, least_variance: f64) -> Option<f64> {
    let sides = [Side::from_builds(before), Side::from_builds(after)];
    let [old, new] = &sides;
    let sum = |number: fn(&Side) -> f64| number(old) + number(new);
    let within = MeanSquare::new(sum(|s| s.within), sum(|s| s.runs - s.builds));
    let between = MeanSquare::new(sum(|s| s.between), sum(|s| s.builds - 1.0));
    let pooled = MeanSquare::new(sum(|s| s.within + s.between), sum(|s| s.runs - 1.0))?;
    let per_run = |runs: [f64; 2]| 1.0 / runs[0] + 1.0 / runs[1];
    let all = per_run([old.runs, new.runs]);
    let (variance, df) = match (within, between) {
        (Some(within), Some(between)) if between.mean > within.mean => {
            // Weighs a build with more runs than usual as one with the usual number of runs.
            let usual = sum(|s| s.runs) / sum(|s| s.builds);
            let runs = [old, new].map(|side| side.runs.min(side.builds * usual));
            (between.mean * per_run(runs), between.df)
        }
        _ => (pooled.mean * all, pooled.df),
    };
    let variance = variance.max(least_variance * all);
    let difference = new.mean - old.mean;
    if difference == 0.0 {
        return Some(1.0);
    }
    // Without any variation, the quotient is infinite and p is zero.
    Some(student_two_sided(difference / variance.sqrt(), df))
}

/// The builds of one side.
struct Side {
    runs: f64,
    builds: f64,
    mean: f64,
    /// Sum of squares of the runs about the mean of their build.
    within: f64,
    /// Sum of squares of the builds' means about the overall mean, with one square per run.
    between: f64,
}

impl Side {
    fn from_builds(builds: BuildRuns) -> Side {
        let mean = |runs: &[f64]| runs.iter().sum::<f64>() / runs.len() as f64;
        let runs: f64 = builds.iter().map(|runs| runs.len() as f64).sum();
        let all: f64 = builds.iter().flat_map(|runs| runs.iter()).sum();
        let mean_of_all = all / runs;
        let mut side = Side {
            runs,
            builds: builds.len() as f64,
            mean: mean_of_all,
            within: 0.0,
            between: 0.0,
        };
        for runs in builds {
            let mean = mean(runs);
            side.within += runs.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            side.between += runs.len() as f64 * (mean - mean_of_all).powi(2);
        }
        side
    }
}

struct MeanSquare {
    mean: f64,
    df: f64,
}

impl MeanSquare {
    /// Returns `None` if there are no degrees of freedom.
    fn new(squares: f64, df: f64) -> Option<MeanSquare> {
        (df > 0.0).then(|| MeanSquare {
            mean: squares / df,
            df,
        })
    }
}
