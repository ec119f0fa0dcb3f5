//! Everything that runs have over time, as metrics that explain one of them.

use super::align::{AlignedRun, MAX_ALIGNED, RankedRun, warped};
use super::error::{CorrelateError, LeftOut, WhyLeftOut};
use super::grid::is_same;
use super::rank::{CorrelateOptions, rank, within};
use super::result::RankedMetrics;
use super::table::NamedSeries;
use crate::timeline::{self, Formula, Grid, RunOverTime, TimelineError};
use crate::tree::Subject;
use std::collections::BTreeSet;

/// The most functions whose self and total costs are metrics, the most expensive ones.
const MOST_FUNCTIONS: usize = 1_000;
/// Costs in fewer slices are not compared, which by chance are where the target is so or so.
const LEAST_SLICES: usize = 5;
/// What the names of costs begin with.
const COSTS: [&str; 5] = ["self:", "total:", "module:", "thread:", "label:"];
/// Slices of a run whose number nobody chose, at the least and at the most, where it has as many.
const SLICES: (u64, u64) = (200, 1_000);
/// Samples that such a slice has, if there are enough.
const SAMPLES: u64 = 4;

/// Which metrics of runs are compared, and on what time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub(crate) struct RunMetrics<'a> {
    /// Metrics made of others, as `NAME = EXPRESSION`.
    pub formulas: &'a [String],
    /// A metric of all runs by which they are brought to the time of the first; without it, the time since the
    /// first sample of each is one.
    pub align: Option<&'a str>,
    /// Number of slices that the first run's time is cut into, if it has as many; without it, as many as have
    /// some samples each.
    pub slices: Option<usize>,
}

/// Ranks every metric of runs by how well it explains one of the first; each run with one of its sample types. Times
/// of the options are seconds since the first sample of the first run.
///
/// # Errors
/// Where the first run has no such target or metric, the target never varies, or runs cannot be aligned.
pub(crate) fn correlate_runs(
    runs: &[(RunOverTime, usize)],
    metrics: &RunMetrics<'_>,
    options: &CorrelateOptions,
) -> Result<RankedMetrics, CorrelateError> {
    let Some((first, sample_type)) = runs.first() else {
        return Err(CorrelateError::NoTarget {
            target: options.target.clone(),
            closest: None,
        });
    };
    let samples = Subject::of(&first.view, *sample_type).samples;
    let by_samples = (samples / SAMPLES).clamp(SLICES.0, SLICES.1) as usize;
    let most = metrics.slices.unwrap_or(by_samples).min(MAX_ALIGNED);
    let grid = first.grid().at_most(most);

    let chosen = Chosen::new(metrics.formulas, &options.target);
    let mut made = first.metrics(*sample_type, &chosen.texts, grid)?;
    let target = made.remove(chosen.target);

    let mut all = vec![NamedSeries {
        name: target.name.clone(),
        values: target.values.clone(),
        run: Some(0),
    }];
    let (mut ranked_runs, mut left_out) = (Vec::new(), Vec::new());
    let mut unranked = 0;
    for (ix, (run, sample_type)) in runs.iter().enumerate() {
        let (own, warped) = match metrics.align.filter(|_| ix > 0) {
            // The same time since the first sample.
            None => (grid, None),
            Some(align) => {
                let own = run.grid().at_most(most);
                let both = [((first, runs[0].1), grid), ((run, *sample_type), own)];
                (own, Some(warped(both, align)?))
            }
        };
        if ix > 0 {
            made = known_metrics((run, *sample_type), &chosen.texts, own)?;
        }
        let (mut others, omitted) = run.all_metrics(*sample_type, own, MOST_FUNCTIONS);
        unranked += omitted;
        let is_made = |name: &str| made.iter().any(|series| series.name == name);
        others.retain(|series| !is_made(&series.name));
        let all_others = others.len();
        others.retain(|series| !is_rare(series));
        unranked += all_others - others.len();
        for series in made.drain(..).chain(others) {
            let values = match &warped {
                Some(warped) if warped.is_by(&series.values) => {
                    let (name, why) = (series.name, WhyLeftOut::Aligned);
                    left_out.push(LeftOut { name, why });
                    continue;
                }
                Some(warped) => warped.bring(&series.values),
                None => series.values,
            };
            all.push(NamedSeries {
                name: series.name,
                values,
                run: Some(ix),
            });
        }
        ranked_runs.push(RankedRun {
            run: AlignedRun::new((run, *sample_type), own),
            fit: warped.map(|warped| warped.fit),
        });
    }
    let mut is_target = true;
    all.retain(|series| {
        // The first one.
        if std::mem::take(&mut is_target) {
            return true;
        }
        let of_first = series.run == Some(0);
        let why = match is_same(&series.values, &target.values) {
            _ if of_first && chosen.parts.contains(&series.name) => WhyLeftOut::Part,
            true => WhyLeftOut::Same,
            false => return true,
        };
        let name = series.name.clone();
        // The target itself is among all metrics, too.
        if !(of_first && name == target.name) {
            left_out.push(LeftOut { name, why });
        }
        false
    });
    let (times, mut series) = within(grid.times(), all, options);
    let mut ranked = RankedMetrics::new(&times, (&target.name, options.by), None);
    ranked.runs = ranked_runs;
    ranked.unranked = unranked;
    ranked.left_out = left_out;
    let target = series.remove(0);
    rank(times, (target, series), options, &mut ranked)?;
    Ok(ranked)
}

/// Whether it is a cost of so few slices that it explains nothing.
fn is_rare(series: &timeline::NamedSeries) -> bool {
    let is_cost = COSTS.iter().any(|prefix| series.name.starts_with(prefix));
    is_cost && series.values.iter().filter(|value| **value > 0.0).count() < LEAST_SLICES
}

/// The target, and metrics that are made of others.
struct Chosen {
    /// The formulas and the target, as [`RunOverTime::metrics`] takes them.
    texts: Vec<String>,
    /// Which of them is the target.
    target: usize,
    /// All that it is made of.
    parts: BTreeSet<String>,
}

impl Chosen {
    fn new(formulas: &[String], target: &str) -> Chosen {
        let parse = |text: &String| Formula::parse(text).and_then(Result::ok);
        let mut texts = formulas.to_vec();
        let is_target = |text: &String| parse(text).is_some_and(|formula| formula.name == target);
        let at = texts.iter().position(is_target).unwrap_or_else(|| {
            texts.push(target.to_owned());
            texts.len() - 1
        });
        let formulas: Vec<Formula> = texts.iter().filter_map(parse).collect();
        let mut parts = BTreeSet::new();
        let mut open: Vec<Formula> = parse(&texts[at]).into_iter().collect();
        while let Some(formula) = open.pop() {
            for part in formula.parts() {
                if parts.insert(part.to_owned()) {
                    open.extend(formulas.iter().filter(|made| made.name == part).cloned());
                }
            }
        }
        Chosen {
            texts,
            target: at,
            parts,
        }
    }
}

/// Those of these metrics that a run has.
fn known_metrics(
    (run, sample_type): (&RunOverTime, usize),
    texts: &[String],
    grid: Grid,
) -> Result<Vec<timeline::NamedSeries>, TimelineError> {
    let mut known = Vec::new();
    let mut series = Vec::new();
    for text in texts {
        known.push(text.clone());
        // Those before it are made again, as it may be made of them.
        match run.metrics(sample_type, &known, grid) {
            Ok(made) => series = made,
            Err(TimelineError::NoMetric { .. } | TimelineError::Function(_)) => {
                known.pop();
            }
            Err(error) => return Err(error),
        }
    }
    Ok(series)
}
