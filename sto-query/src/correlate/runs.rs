//! Ranking of all metrics of runs over time by how well they explain one of them.

use super::align::{AlignedRun, MAX_ALIGNED, RankedRun, find_path};
use super::error::{CorrelateError, LeftOut, WhyLeftOut};
use super::grid::is_same;
use super::rank::{CorrelateOptions, rank};
use super::result::RankedMetrics;
use super::table::NamedSeries;
use super::windows::within;
use crate::timeline::{self, Formula, Grid, RunOverTime, TimelineError};
use crate::tree::Subject;
use std::collections::BTreeSet;

/// Maximum number of functions whose self and total costs are metrics; the most expensive ones.
const MOST_FUNCTIONS: usize = 1_000;
/// Minimum number of slices with a cost; fewer may match the target by chance.
const LEAST_SLICES: usize = 5;
/// Prefixes of the names of costs.
const COSTS: [&str; 5] = ["self:", "total:", "module:", "thread:", "label:"];
/// Default minimum and maximum number of slices of a run.
const SLICES: (u64, u64) = (200, 1_000);
/// Desired number of samples per slice.
const SAMPLES: u64 = 4;

/// Choice of the metrics of runs that are compared, and of their alignment in time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub(crate) struct RunMetrics<'a> {
    /// Metrics computed from others, as `NAME = EXPRESSION`.
    pub formulas: &'a [String],
    /// Metric by which runs are aligned to the first; without it, they are aligned by the time since their first
    /// samples.
    pub align: Option<&'a str>,
    /// Number of slices of the first run's time, if it is long enough; without it, chosen so that each has some
    /// samples.
    pub slices: Option<usize>,
}

/// Returns the default number of slices for the metrics of a run with this number of samples.
pub(crate) fn slices_for(samples: u64) -> usize {
    (samples / SAMPLES).clamp(SLICES.0, SLICES.1) as usize
}

/// Ranks every metric of the runs by how well it explains a metric of the first. Each run comes with the index of a
/// sample type. Times in the options are seconds since the first sample of the first run.
///
/// # Errors
///
/// Returns an error if the first run does not have the target or a metric, if the target is constant, or if runs
/// cannot be aligned.
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
    let samples = Subject::new(&first.view, *sample_type).samples;
    let most = metrics.slices.unwrap_or_else(|| slices_for(samples));
    let most = most.min(MAX_ALIGNED);
    let grid = first.grid().with_max_slices(most);

    let chosen = Chosen::new(metrics.formulas, &options.target);
    let mut made = first.metrics(*sample_type, &chosen.texts, grid)?;
    let target = made.remove(chosen.target);

    let mut all = vec![NamedSeries {
        name: target.name.clone(),
        values: target.values.clone(),
        unit: first.unit_of(*sample_type, &target.name),
        run: Some(0),
    }];
    let (mut ranked_runs, mut left_out) = (Vec::new(), Vec::new());
    let mut unranked = 0;
    for (ix, (run, sample_type)) in runs.iter().enumerate() {
        let (own, warped) = match metrics.align.filter(|_| ix > 0) {
            // Aligned by the time since the first sample.
            None => (grid, None),
            Some(align) => {
                let own = run.grid().with_max_slices(most);
                let both = [((first, runs[0].1), grid), ((run, *sample_type), own)];
                (own, Some(find_path(both, align)?))
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
                Some(warped) if warped.is_alignment_metric(&series.values) => {
                    let (name, why) = (series.name, WhyLeftOut::Aligned);
                    left_out.push(LeftOut { name, why });
                    continue;
                }
                Some(warped) => warped.map_to_first(&series.values),
                None => series.values,
            };
            all.push(NamedSeries {
                unit: run.unit_of(*sample_type, &series.name),
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
        // The first series is the target.
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
        // The target itself is also among all metrics.
        if !(of_first && name == target.name) {
            left_out.push(LeftOut { name, why });
        }
        false
    });
    let (times, mut series) = within(&grid.times(), all, &options.windows);
    let mut ranked = RankedMetrics::new(&times, (&target.name, options.by), None);
    ranked.runs = ranked_runs;
    ranked.unranked = unranked;
    ranked.left_out = left_out;
    let target = series.remove(0);
    rank(times, (target, series), options, &mut ranked)?;
    Ok(ranked)
}

/// Returns `true` for costs in too few slices.
fn is_rare(series: &timeline::NamedSeries) -> bool {
    let is_cost = COSTS.iter().any(|prefix| series.name.starts_with(prefix));
    is_cost && series.values.iter().filter(|value| **value > 0.0).count() < LEAST_SLICES
}

/// The target, and metrics computed from others.
struct Chosen {
    /// The formulas and the target, in the form that [`RunOverTime::metrics`] expects.
    texts: Vec<String>,
    /// Index of the target in `texts`.
    target: usize,
    /// Names of all metrics from which the target is computed.
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

/// Returns the metrics that a run has.
fn known_metrics(
    (run, sample_type): (&RunOverTime, usize),
    texts: &[String],
    grid: Grid,
) -> Result<Vec<timeline::NamedSeries>, TimelineError> {
    let mut known = Vec::new();
    let mut series = Vec::new();
    for text in texts {
        known.push(text.clone());
        // The earlier metrics are needed again, because this one may be computed from them.
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
