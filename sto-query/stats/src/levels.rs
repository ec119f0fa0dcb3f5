//! Whether two groups of builds differ in level, when each build has one or more runs.

use super::student_two_sided;

/// What each build's runs measured, one entry a build; no build is without runs.
pub type BuildRuns<'a> = &'a [&'a [f64]];

/// Probability that the means of two groups of builds lie at least as far apart if nothing changed;
/// `None` where nothing says how much they vary.
///
/// Runs of a build are no independent evidence of what builds do: two builds of the same source differ
/// by how their code happens to be laid out (T. Mytkowicz et al., Producing Wrong Data Without Doing
/// Anything Obviously Wrong!, 2009). So this is the one-way analysis of variance with random effects. The
/// variance between builds of a group is taken where it is above that between runs of a build: then a
/// build counts as one observation, and Student's t has a degree of freedom a build, less one a group;
/// else both are pooled. For one build after k builds of a run each it is the prediction interval for the
/// next observation, m + t s sqrt(1 + 1/k). `least_variance` is what a run varies by at least, as by
/// sampling.
pub fn levels_differ(before: BuildRuns, after: BuildRuns, least_variance: f64) -> Option<f64> {
    let sides = [Side::of(before), Side::of(after)];
    let [old, new] = &sides;
    let sum = |number: fn(&Side) -> f64| number(old) + number(new);
    let within = MeanSquare::of(sum(|s| s.within), sum(|s| s.runs - s.builds));
    let between = MeanSquare::of(sum(|s| s.between), sum(|s| s.builds - 1.0));
    let pooled = MeanSquare::of(sum(|s| s.within + s.between), sum(|s| s.runs - 1.0))?;
    let per_run = |runs: [f64; 2]| 1.0 / runs[0] + 1.0 / runs[1];
    let all = per_run([old.runs, new.runs]);
    let (variance, df) = match (within, between) {
        (Some(within), Some(between)) if between.mean > within.mean => {
            // Of a build with more runs than others, a mean of as many is what others have.
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
    // Without any variation this is infinite, and p zero.
    Some(student_two_sided(difference / variance.sqrt(), df))
}

/// Builds of one level.
struct Side {
    runs: f64,
    builds: f64,
    mean: f64,
    /// Sums of squares: of runs about the mean of their build, and of those about the mean of all.
    within: f64,
    between: f64,
}

impl Side {
    fn of(builds: BuildRuns) -> Side {
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
    /// `None` where there is nothing to vary.
    fn of(squares: f64, df: f64) -> Option<MeanSquare> {
        (df > 0.0).then(|| MeanSquare {
            mean: squares / df,
            df,
        })
    }
}
