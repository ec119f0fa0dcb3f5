//! Comparison of how functions' costs grow with x in two builds.

use super::change::{Commits, FunctionChange, Growth, ModelChange, SideModel};
use super::costs::{Costs, FunctionCosts};
use super::detectors::{ComparedCurves, Detector};
use super::inherited::drop_inherited;
use super::{ModelError, Modelled, Point, sentence};
use crate::answer::{Answer, Verdict, truncate};
use crate::tree::Order;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sto_stats::benjamini_hochberg;
use sto_stats::models::changes::DetectorRules;
use sto_stats::models::{
    Bins, Certainty, Fit, ModelKind, Models, Points, curves_differ, regression_with_certainty,
    weighted_regression,
};

/// Number of x that are checked to find where a change begins to matter.
const STEPS: usize = 1_000;

/// Factor on `alpha` up to which the q of a possible change may be.
const MAYBE: f64 = 2.0;

/// Thresholds of a comparison of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareModelsOptions {
    /// Share of comparisons of equal builds that report any change.
    pub alpha: f64,
    /// Minimum change in a function's cost at the largest x, relative to the smaller cost.
    pub min_effect: f64,
    /// Minimum share of the total cost at the largest x that a function must have on one side.
    pub min_share: f64,
    /// Whether to estimate the certainty of models and exponents, which takes most of the time. The verdict does not
    /// depend on it.
    pub how_sure: bool,
    /// Perun detectors to run as well. The verdict does not depend on them.
    pub detectors: Vec<Detector>,
    /// Curves that the detectors compare.
    pub fit: Fit,
    /// Thresholds of the detectors.
    pub rules: DetectorRules,
    /// Bins of x that are applied to the points of both sides.
    pub bins: Option<Bins>,
}

impl Default for CompareModelsOptions {
    fn default() -> Self {
        CompareModelsOptions {
            alpha: 0.05,
            min_effect: 0.10,
            min_share: 0.005,
            how_sure: true,
            detectors: Vec::new(),
            fit: Fit::default(),
            rules: DetectorRules::default(),
            bins: None,
        }
    }
}

/// Functions of two builds whose cost grows differently with x.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ModelChanges {
    /// Outcome: a regression if any function is a degradation, insufficient if no function could be tested.
    pub verdict: Verdict,
    /// The commits of the two builds, if both are known and differ; omitted from JSON otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<Commits>,
    /// The baseline.
    pub baseline: Modelled,
    /// The candidate.
    pub candidate: Modelled,
    /// The functions: degradations first; within each result, the highest cost at the largest x first.
    pub functions: Vec<FunctionChange>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
    /// Number of unchanged functions left out because only changes were requested; omitted from JSON if zero.
    #[serde(skip_serializing_if = "is_zero")]
    pub unchanged: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Answer for ModelChanges {
    const SCHEMA: &'static str = "sto.compare-models/1";
}

/// Compares how the cost of functions grows with x in a baseline and a candidate, for one function if a name is
/// given.
///
/// # Errors
///
/// Returns an error if no function has the name, or if nothing can be fitted.
pub(crate) fn compare_models(
    [old, new]: [Costs; 2],
    function: Option<&str>,
    options: &CompareModelsOptions,
    limit: Option<usize>,
) -> Result<ModelChanges, ModelError> {
    let sides = [&old, &new];
    let whole = whole(&old).max(whole(&new));
    let mut pairs: BTreeMap<(&str, &str), [Option<&FunctionCosts>; 2]> = BTreeMap::new();
    for (side, costs) in sides.into_iter().enumerate() {
        for function in &costs.functions {
            let key = (&*function.function, &*function.module);
            pairs.entry(key).or_default()[side] = Some(function);
        }
    }
    if let Some(name) = function {
        let keys: Vec<_> = pairs.keys().copied().collect();
        let chosen = super::named(keys.iter().map(|(function, _)| *function), name, &sides)?;
        let is_chosen: Vec<bool> = (0..keys.len()).map(|ix| chosen.contains(&ix)).collect();
        let mut is_chosen = is_chosen.into_iter();
        pairs.retain(|_, _| is_chosen.next().unwrap_or(false));
    }
    let changes = pairs.into_par_iter().map(|((name, module), pair)| {
        let mut points = [0, 1].map(|side| match pair[side] {
            Some(function) => function.points.clone(),
            None => sides[side].nothing.clone(),
        });
        if let Some(bins) = options.bins {
            bins.apply(&mut points);
        }
        let [old, new] = points.map(Points::new);
        let points = [old?, new?];
        let largest = points.each_ref().map(|of| of.y().last().copied());
        let is_small =
            largest.into_iter().flatten().fold(0.0, f64::max) < options.min_share * whole;
        let change = || change((name, module), points, options);
        Ok((function.is_some() || !is_small).then(change))
    });
    let changes = changes.collect::<Result<Vec<_>, ModelError>>()?;
    let mut functions: Vec<FunctionChange> = changes.into_iter().flatten().collect();
    judge(&mut functions, options);
    let mut functions = drop_inherited(functions, [&old, &new]);
    functions.sort_by(|a, b| {
        let order = |of: &FunctionChange| of.result;
        order(a)
            .cmp(&order(b))
            .then(b.cost_at_largest_x().total_cmp(&a.cost_at_largest_x()))
    });
    let commits = old.commit.as_ref().zip(new.commit.as_ref());
    let commits = commits.and_then(|(old, new)| Commits::new(old, new));
    for change in &mut functions {
        change.reason = sentence::reason(change, &new.of.x, commits.as_ref());
    }
    let verdict = verdict(&functions);
    let omitted = truncate(&mut functions, limit);
    Ok(ModelChanges {
        verdict,
        commits,
        baseline: old.of,
        candidate: new.of,
        functions,
        omitted,
        unchanged: 0,
    })
}

fn verdict(functions: &[FunctionChange]) -> Verdict {
    if functions.iter().any(FunctionChange::is_regression) {
        Verdict::Regression
    } else if functions.iter().any(|change| change.p.is_some()) {
        Verdict::Clean
    } else {
        Verdict::Insufficient
    }
}

impl ModelChanges {
    /// Marks functions, chosen by name and module, as ignored for the verdict.
    pub(crate) fn ignore(&mut self, is_ignored: impl Fn(&str, &str) -> bool) {
        for change in &mut self.functions {
            change.ignored = is_ignored(&change.function, &change.module);
        }
        self.verdict = verdict(&self.functions);
    }

    /// Returns a short description of a function's change.
    pub(crate) fn headline(&self, change: &FunctionChange) -> String {
        sentence::headline(change, &self.candidate.x, self.commits.as_ref())
    }

    /// Removes unchanged functions.
    pub(crate) fn leave_out_unchanged(&mut self) {
        let all = self.functions.len();
        self.functions
            .retain(|of| of.result != ModelChange::NoChange);
        self.unchanged += all - self.functions.len();
    }
}

/// Returns the average total cost at the largest x.
fn whole(costs: &Costs) -> f64 {
    let of_each = costs.functions.iter().map(FunctionCosts::cost_at_largest_x);
    match costs.of.cost {
        Some(Order::SelfCost) => of_each.sum(),
        // The total cost of the root includes all other functions.
        _ => of_each.fold(0.0, f64::max),
    }
}

fn change(
    (function, module): (&str, &str),
    [old, new]: [Points; 2],
    options: &CompareModelsOptions,
) -> FunctionChange {
    let kinds = &ModelKind::REGRESSION;
    let [before, now] = [&old, &new].map(|points| {
        if options.how_sure {
            regression_with_certainty(points, kinds)
        } else {
            (weighted_regression(points, kinds), None)
        }
    });
    let curves = match &options.detectors[..] {
        [] => Vec::new(),
        _ => compared_curves([&old, &new], [&before.0, &now.0], options),
    };
    let side = |points: &Points, (found, certainty): (Models, Option<Certainty>)| SideModel {
        points: shown(points),
        model: found.models.into_iter().next(),
        certainty,
    };
    let (baseline, candidate) = (side(&old, before), side(&new, now));
    let start = smallest(&old).max(smallest(&new));
    let end = largest(&old).min(largest(&new));
    let p = if start < end {
        curves_differ(&old, &new)
    } else {
        None
    };
    let at = |side: &SideModel, x: f64| side.model.as_ref().map(|model| model.curve.at(x));
    let ratio = |x: f64| match (at(&baseline, x)?, at(&candidate, x)?) {
        (old, new) if old > 0.0 => Some(new.max(0.0) / old),
        _ => None,
    };
    let is_other = |x: f64| {
        let (Some(old), Some(new)) = (at(&baseline, x), at(&candidate, x)) else {
            return false;
        };
        let (less, more) = (old.min(new).max(0.0), old.max(new));
        more > less * (1.0 + options.min_effect)
    };
    let step = |step: usize| start + (end - start) * step as f64 / STEPS as f64;
    let same = (0..=STEPS).rev().find(|&at| !is_other(step(at)));
    let matters_from = match same {
        None => Some(start),
        Some(STEPS) => None,
        Some(last) => Some(step(last + 1)),
    };
    FunctionChange {
        function: function.to_owned(),
        module: module.to_owned(),
        result: ModelChange::NoChange,
        reason: String::new(),
        ignored: false,
        largest_x: end,
        ratio: ratio(end),
        matters_from,
        growth: growth(&baseline, &candidate),
        p,
        q: None,
        curves,
        inherited_by: Vec::new(),
        baseline,
        candidate,
    }
}

/// Runs the detectors on the requested curves of both sides, reusing the best formulas.
fn compared_curves(
    points: [&Points; 2],
    formulas: [&Models; 2],
    options: &CompareModelsOptions,
) -> Vec<ComparedCurves> {
    let of_each = options.fit.each().iter().map(|fit| {
        let [before, now] = if *fit == Fit::default() {
            formulas.map(Models::clone)
        } else {
            points.map(|points| fit.models(points))
        };
        let unified = fit.unified(points[1], [&before, &now]);
        let sides = [
            (points[0], &before),
            (points[1], unified.as_ref().unwrap_or(&now)),
        ];
        let detectors = options.detectors.iter();
        let detectors = detectors.map(|of| of.compare(sides, &options.rules));
        let best = |models: Models| models.models.into_iter().next();
        ComparedCurves {
            detectors: detectors.collect(),
            unified: unified.and_then(best),
            baseline: best(before),
            candidate: best(now),
        }
    });
    of_each.collect()
}

/// Adjusts p-values for the number of functions, and sets the outcome of each.
fn judge(functions: &mut [FunctionChange], options: &CompareModelsOptions) {
    let p: Vec<Option<f64>> = functions.iter().map(|of| of.p).collect();
    for (change, q) in functions.iter_mut().zip(benjamini_hochberg(&p)) {
        change.q = q;
        let is_sure = change.q.is_some_and(|q| q <= options.alpha);
        let is_likely = change.q.is_some_and(|q| q <= MAYBE * options.alpha);
        change.result = match (change.matters_from.is_some(), is_sure, is_likely) {
            (false, ..) | (true, false, false) => ModelChange::NoChange,
            (true, true, _) if change.is_increase() => ModelChange::Degradation,
            (true, true, _) => ModelChange::Optimisation,
            (true, false, true) if change.is_increase() => ModelChange::MaybeDegradation,
            (true, false, true) => ModelChange::MaybeOptimisation,
        };
    }
}

/// Returns the difference of the exponents. The interval of a difference of independent estimates extends on each
/// side by the root of the sum of the squared widths.
fn growth(before: &SideModel, now: &SideModel) -> Option<Growth> {
    let (old, new) = (before.certainty?.exponent?, now.certainty?.exponent?);
    let difference = new.value - old.value;
    Some(Growth {
        baseline: old.value,
        candidate: new.value,
        low: difference - (new.value - new.low).hypot(old.high - old.value),
        high: difference + (new.high - new.value).hypot(old.value - old.low),
    })
}

fn shown(points: &Points) -> Vec<Point> {
    let points = points.x().iter().zip(points.y());
    points.map(|(&x, &y)| Point { x, y }).collect()
}

fn smallest(points: &Points) -> f64 {
    points
        .range()
        .map_or(f64::INFINITY, |(smallest, _)| smallest)
}

fn largest(points: &Points) -> f64 {
    points
        .range()
        .map_or(f64::NEG_INFINITY, |(_, largest)| largest)
}
