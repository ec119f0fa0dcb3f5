//! Runs all steps of a comparison, from two views to findings. `compare.md` describes them with
//! formulas and an example.

use super::blame::find_causes;
use super::call_counts::CallCounts;
use super::cause::{Cause, Evidences};
use super::counts::{attribute_nodes, count};
use super::evidence::{Direction, Evidence, TestParameters, Tests};
use super::findings::{findings, tested_functions};
use super::flat;
use super::functions::{Functions, Instances, Renamed};
use super::instances::changed_together;
use super::metrics::{Compared, Side as MeasuredSide, metrics};
use super::moved::find_partners;
use super::normalise::SizeFactors;
use super::pair::Pair;
use super::partner::Partner;
use super::readings::methods;
use super::result::{
    CompareError, CompareOptions, Comparison, Dispersion, MetricChange, Normalisation,
    NormalisationMethod, Side, Statistics, Tested, Undecided, Verdict, round_for_output,
};
use super::runs::{
    Runs, are_of_same_runs, choose_sample_type, describe_side, seconds, work_amounts,
};
use super::sentence;
use super::stacks::stacks;
use super::statuses::{ExitStatuses, sides_to_compare};
use super::union::UnionTree;
use super::variation::{EarlierCounts, Variations};
use super::verdict::{combine_with_metrics, compute_needed, verdict};
use super::warnings::warnings;
use crate::text::Command;
use crate::tree::View;
use rayon::prelude::*;
use sto_core::units::SampleType;

/// Compares two builds and reports regressions and other changes.
///
/// The result depends only on stacks and counts, not on the order of runs or stacks, nor on the
/// number of processor cores.
///
/// # Errors
/// Returns an error if a threshold is out of range, or if a profile lacks the metric that
/// normalises costs. Data that cannot be compared are not an error; they give the verdict
/// [`Verdict::Insufficient`].
pub fn compare(
    baseline: &View,
    candidate: &View,
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    compare_with_earlier(baseline, candidate, None, options)
}

/// Like [`compare`], but estimates the variation between runs from an earlier build if neither side
/// has several runs.
///
/// # Errors
/// Returns the same errors as [`compare`].
pub fn compare_with_earlier(
    baseline: &View,
    candidate: &View,
    earlier: Option<&View>,
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    compare_sides(Pair::new(baseline, candidate), None, earlier, options)
}

/// Like [`compare`], for function counts without stacks.
///
/// `own` has the self cost of each function, as stacks of one frame, and `total` its total cost,
/// each for the baseline and the candidate.
///
/// # Errors
/// Returns the same errors as [`compare`].
#[cfg(feature = "lake")]
pub(crate) fn compare_counts(
    own: [&View; 2],
    total: [&View; 2],
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    let [own, total] = [own, total].map(|[baseline, candidate]| Pair::new(baseline, candidate));
    compare_sides(own, Some(total), None, options)
}

fn compare_sides(
    views: Pair<&View>,
    totals: Option<Pair<&View>>,
    earlier: Option<&View>,
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    options.check()?;
    let statuses = ExitStatuses::new(views);
    let views = sides_to_compare(&statuses.kept, views);
    let Pair {
        baseline,
        candidate,
    } = views;
    let of_totals = totals.map(ExitStatuses::new);
    let totals = totals.zip(of_totals.as_ref());
    let totals = totals.map(|(totals, statuses)| sides_to_compare(&statuses.kept, totals));
    let (sample_type, runs) = choose_sample_type(views).unzip();
    let mut comparison = Comparison {
        benchmark: None,
        policy: None,
        verdict: Verdict::Insufficient,
        reason: String::new(),
        baseline: describe_side(baseline, runs.as_ref().map(|runs| &runs.baseline)),
        candidate: describe_side(candidate, runs.as_ref().map(|runs| &runs.candidate)),
        sample_type: sample_type.cloned(),
        counted_in: runs.as_ref().and_then(|runs| runs.baseline.counted_in),
        metrics: Vec::new(),
        statistics: None,
        unchanged_modules: Vec::new(),
        thresholds: options.clone(),
        matching: options.matching.into(),
        within_runs: are_of_same_runs(views),
        weak: false,
        findings: Vec::new(),
        undecided: Vec::new(),
        curves: None,
        warnings: Vec::new(),
        command: Command::default(),
        functions: None,
        stacks: None,
    };
    match &runs {
        None if baseline.runs.is_empty() || candidate.runs.is_empty() => {
            comparison.reason =
                sentence::no_runs(baseline.runs.is_empty(), candidate.runs.is_empty());
        }
        None => {
            let names = |view: &View| -> Vec<String> {
                view.sample_types.iter().map(|t| t.event.clone()).collect()
            };
            comparison.reason = sentence::no_shared_event(&names(baseline), &names(candidate));
        }
        Some(runs) if runs.baseline.costs.is_empty() => {
            comparison.reason = sentence::no_samples("baseline");
        }
        Some(runs) if runs.candidate.costs.is_empty() => {
            comparison.reason = sentence::no_samples("candidate");
        }
        Some(runs) => {
            let earlier = earlier.zip(sample_type).and_then(|(view, t)| {
                EarlierCounts::new(view, t, runs.baseline.counted_in, options)
            });
            let amounts = work_amounts(views, runs, options.normalisation.as_ref())?;
            let mut functions =
                Functions::new(baseline, candidate, options.matching, &options.attribution);
            for pass in 1..=PASSES {
                options.cancel.check()?;
                let merges = find(
                    views,
                    runs,
                    totals.zip(sample_type),
                    &amounts,
                    earlier.as_ref(),
                    &functions,
                    &mut comparison,
                );
                if merges.is_empty() || pass == PASSES {
                    break;
                }
                functions.rename(merges.renamed);
                functions.merge_instances(merges.generic);
            }
        }
    }
    let compared = comparison.statistics.as_ref().zip(sample_type);
    let compared = compared.map(|(statistics, t)| Compared {
        unit: t.unit,
        rests_on_majority: statistics.normalisation.method == NormalisationMethod::Tmm,
        candidate_size: statistics.normalisation.candidate_size,
    });
    let mut measured = Pair::new(
        MeasuredSide::new(baseline, runs.as_ref().map(|runs| &runs.baseline)),
        MeasuredSide::new(candidate, runs.as_ref().map(|runs| &runs.candidate)),
    );
    if let Some(seconds) = runs.as_ref().and_then(|runs| seconds(views, runs)) {
        let (baseline, candidate) = seconds.split_at(measured.baseline.totals.len());
        measured.baseline.divide_by_seconds(baseline);
        measured.candidate.divide_by_seconds(candidate);
    }
    comparison.metrics = metrics(measured.as_ref(), compared, &comparison.findings, options);
    let absent = options.worse_if.keys().filter(|name| {
        let has_name = |metric: &MetricChange| metric.name == **name;
        !comparison.metrics.iter().any(has_name)
    });
    let absent = absent.map(|name| sentence::no_such_metric(name));
    let flat = totals.map(|_| sentence::NO_STACKS.to_owned());
    comparison.warnings = flat
        .into_iter()
        .chain(statuses.warnings)
        .chain(absent)
        .collect();
    (comparison.verdict, comparison.reason) = combine_with_metrics(
        (comparison.verdict, comparison.reason),
        &comparison.metrics,
        statuses.failed,
    );
    let others = warnings(views, &comparison);
    comparison.warnings.extend(others);
    Ok(comparison)
}

/// Maximum number of passes. Each pass counts functions as one that the previous one found to be
/// renamed, which rarely reveals that their callers were renamed, too, or to have changed together.
const PASSES: usize = 3;

/// Functions that the next pass counts as one.
struct Merges {
    renamed: Vec<Renamed>,
    /// Empty if there are renamed functions, whose costs come first.
    generic: Vec<Instances>,
}

impl Merges {
    fn is_empty(&self) -> bool {
        self.renamed.is_empty() && self.generic.is_empty()
    }
}

/// Fills in findings and verdict, and returns the functions that should be counted as one. Both
/// sides must have samples.
fn find(
    views: Pair<&View>,
    runs: &Pair<Runs>,
    totals: Option<(Pair<&View>, &SampleType)>,
    amounts: &[f64],
    earlier: Option<&EarlierCounts>,
    functions: &Functions,
    comparison: &mut Comparison,
) -> Merges {
    let options = comparison.thresholds.clone();
    let tree = UnionTree::new(views.map(|view| &view.tree), functions);
    let owners = attribute_nodes(&tree, functions);
    let costs = Pair::new(&*runs.baseline.costs, &*runs.candidate.costs);
    let (mut counts, nodes) = count(costs, &tree, &owners, functions.list.len());
    if let Some((totals, sample_type)) = totals {
        let of_totals = totals.map(|view| Runs::new(view, sample_type));
        let costs = of_totals.as_ref().map(|runs| &*runs.costs);
        counts.total = count(costs, &tree, &owners, functions.list.len()).0.self_;
    }

    let mut periods = [&*runs.baseline.periods, &*runs.candidate.periods].concat();
    let mut lengths = Pair::new(
        runs.baseline.costs.len() as f64,
        runs.candidate.costs.len() as f64,
    );
    let seconds = seconds(views, runs);
    if let Some(seconds) = &seconds {
        // Parts of runs are compared by their cost per second.
        for (period, seconds) in periods.iter_mut().zip(seconds) {
            *period /= seconds;
        }
        let (baseline, candidate) = seconds.split_at(runs.baseline.costs.len());
        lengths = Pair::new(baseline, candidate).map(|seconds| seconds.iter().sum());
    }
    let unit = comparison.unit();
    let setting = |method: &NormalisationMethod| {
        let sizes = match method {
            NormalisationMethod::Tmm if seconds.is_some() => {
                SizeFactors::of_parts(&counts.attributed, &periods)
            }
            _ => SizeFactors::new(&counts.attributed, &periods, amounts, method),
        };
        let design = sizes.design();
        TestParameters {
            options: &options,
            variations: Variations::new(&counts, &design, earlier),
            design,
            sizes,
            samples: Pair::new(runs.baseline.cost.samples, runs.candidate.cost.samples),
            unit,
            within_runs: comparison.within_runs,
            has_stacks: totals.is_none(),
        }
    };
    let methods = methods(views, runs.as_ref(), &options);
    let mut settings: Vec<TestParameters> = methods.par_iter().map(setting).collect();
    // If the methods agree, one test is enough.
    settings.dedup_by(|second, first| second.sizes.equals(&first.sizes));
    let tests: Vec<Tests> = settings
        .iter()
        .map(|setting| Tests::new(&counts, setting))
        .collect();
    let callers =
        tree.callers(|function| !functions.list[function.get()].is_attributed_to_caller());
    let evidences: Vec<Evidences> = tests
        .iter()
        .map(|tests| Evidences {
            tree: &tree,
            callers: &callers,
            functions,
            nodes: &nodes,
            sizes: &tests.setting.sizes,
            tests,
        })
        .collect();
    let called = CallCounts::new(
        views,
        runs.as_ref().map(|runs| &*runs.profiles),
        &tree,
        functions.list.len(),
    );
    let (first, last) = (&evidences[0], &evidences[evidences.len() - 1]);
    let TestParameters {
        sizes, variations, ..
    } = first.tests.setting;
    let dispersion = Dispersion {
        self_: round_for_output(typical_dispersion(&first.tests.attributed)),
        total: round_for_output(typical_dispersion(&first.tests.total)),
        estimated: variations.estimated,
        earlier_build: variations.earlier_build.clone(),
    };
    let needed = compute_needed(&options, &dispersion, variations.self_.df_prior());
    let mean_cost = |runs: &Runs, length: f64| runs.cost.value as f64 / length;
    let tested = |tests: &[Evidence]| tests.iter().filter(|e| e.tested.is_some()).count();
    comparison.statistics = Some(Statistics {
        normalisation: Normalisation {
            method: sizes.method.clone(),
            also_per_run: evidences.len() > 1,
            is_same_work: options.normalisation.is_none()
                && methods == [NormalisationMethod::PerRun],
            functions: sizes.functions,
            candidate_size: round_for_output(sizes.candidate_size()),
            candidate_cost: round_for_output(
                mean_cost(&runs.candidate, lengths.candidate)
                    / mean_cost(&runs.baseline, lengths.baseline),
            ),
        },
        dispersion,
        tested: Tested {
            functions: functions.count(),
            shared: first
                .tests
                .total
                .iter()
                .filter(|e| e.is_on_both_sides())
                .count(),
            self_: tested(&first.tests.self_),
            total: tested(&first.tests.total),
        },
        needed,
    });
    comparison.unchanged_modules = functions
        .unchanged_modules()
        .into_iter()
        .map(str::to_owned)
        .collect();
    comparison.weak = !variations.estimated;
    let explained: Vec<Explained> = evidences.par_iter().map(explain).collect();
    let mut renamed = Vec::new();
    let mut counted = Vec::new();
    for (ix, (evidences, explained)) in evidences.iter().zip(explained).enumerate() {
        let others = || tests.iter().enumerate().filter(|(other, _)| *other != ix);
        let is_found_by_all = |(cause, partner): &(Cause, Option<Partner>)| {
            partner.is_some_and(Partner::has_the_cost)
                || others()
                    .all(|(_, tests)| tests.agree(cause.basis, cause.function, cause.direction))
        };
        let (agreed, alone) = explained.causes.into_iter().partition(is_found_by_all);
        if ix == 0 {
            renamed = explained.renamed;
            counted = agreed;
        }
        // The findings of no causes would still walk the whole tree.
        if alone.is_empty() {
            continue;
        }
        let found = findings(evidences, evidences.tests, alone, &owners, called.as_ref());
        let undecided = found.0.into_iter().map(|finding| Undecided {
            method: evidences.sizes.method.clone(),
            finding,
        });
        comparison.undecided.extend(undecided);
    }
    let (findings, in_common, replaced) =
        findings(first, last.tests, counted, &owners, called.as_ref());
    comparison.findings = findings;
    let factors = last.sizes.sides();
    set_size_factors(&mut comparison.baseline, factors.baseline);
    set_size_factors(&mut comparison.candidate, factors.candidate);
    comparison.stacks = options.stacks.then(|| stacks(last));
    comparison.functions = options.all.then(|| tested_functions(last));
    let sides = [
        ("baseline", &comparison.baseline),
        ("candidate", &comparison.candidate),
    ];
    (comparison.verdict, comparison.reason) = verdict(
        sides,
        in_common,
        replaced,
        &comparison.findings,
        &comparison.undecided,
        needed,
        &options,
    );
    let is_by_instance = options.instances || options.matching.exact_symbols || !renamed.is_empty();
    Merges {
        renamed,
        generic: if is_by_instance {
            Vec::new()
        } else {
            changed_together(functions, &tests)
        },
    }
}

/// The causes found under one assumption.
struct Explained {
    causes: Vec<(Cause, Option<Partner>)>,
    renamed: Vec<Renamed>,
}

fn explain(evidences: &Evidences) -> Explained {
    let setting = evidences.tests.setting;
    let mut causes = if setting.has_stacks {
        find_causes(evidences)
    } else {
        flat::find_causes(evidences)
    };
    let mut partners = find_partners(evidences, &causes);
    // A renamed function with unchanged cost is a finding; otherwise its callees explain the
    // change.
    for renamed in &evidences.functions.renamed {
        if let Some(was) = renamed.was_cause
            && !causes.iter().any(|cause| cause.function == renamed.new)
            && evidences.tests.changed(was.0, renamed.new).is_none()
        {
            causes.push(Cause {
                explains: was.1,
                ..Cause::new(renamed.new, was.0, Direction::Up)
            });
            partners.of_cause.push(Some(Partner::Renamed(renamed.old)));
        }
    }
    Explained {
        causes: causes.into_iter().zip(partners.of_cause).collect(),
        renamed: partners.renamed,
    }
}

fn set_size_factors(side: &mut Side, factors: &[f64]) {
    for (run, &factor) in side.profiles.iter_mut().zip(factors) {
        run.size_factor = Some(round_for_output(factor));
    }
}

/// Returns the median dispersion of the tested functions, or 0 if none was tested.
fn typical_dispersion(functions: &[Evidence]) -> f64 {
    let tested = functions.iter().filter_map(|evidence| evidence.tested);
    let mut dispersions: Vec<f64> = tested.map(|tested| tested.fit.overdispersion()).collect();
    dispersions.sort_unstable_by(f64::total_cmp);
    dispersions
        .get(dispersions.len() / 2)
        .copied()
        .unwrap_or(0.0)
}
