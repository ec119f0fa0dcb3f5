//! Estimates how much counts vary from run to run beyond sampling noise.

use super::counts::{Counts, FunctionCounts, attribute_nodes, count};
use super::functions::Functions;
use super::normalise::SizeFactors;
use super::pair::Pair;
use super::result::{CompareOptions, NormalisationMethod};
use super::runs::Runs;
use super::union::UnionTree;
use crate::tree::View;
use sto_core::units::{Nanoseconds, SampleType};
use sto_stats::{Design, Variation};

/// Dispersion that is assumed if no side has several runs: functions vary by 10 % from run to run.
/// Published deviations of whole benchmarks on shared machines are 2 to 5 %; single functions vary
/// more.
const ASSUMED: f64 = 0.01;
/// Minimum mean samples per run of a function whose variation is used.
const MIN_MEAN: u64 = 10;
/// Minimum number of functions. With fewer, agreement between runs may be luck.
const MIN_FUNCTIONS: usize = 3;
/// Minimum number of functions of an earlier build. It is higher because the functions' own
/// variation is unknown, and only their similarity counts.
const MIN_EARLIER_FUNCTIONS: usize = 10;

/// The variation of self counts (attributed or not) and of total counts.
pub(super) struct Variations {
    pub(super) self_: Variation,
    pub(super) total: Variation,
    /// Whether the variation was estimated from the runs that are compared.
    pub(super) estimated: bool,
    /// The earlier build that the variation was estimated from. If `None` and not `estimated`, the
    /// variation is an assumption.
    pub(super) earlier_build: Option<String>,
}

impl Variations {
    pub(super) fn new(
        counts: &FunctionCounts,
        design: &Design,
        earlier: Option<&EarlierCounts>,
    ) -> Variations {
        let estimates = |counts: &FunctionCounts, design: &Design, least| {
            let (self_, total) = rayon::join(
                || estimate(&counts.attributed, design, least),
                || estimate(&counts.total, design, least),
            );
            self_.zip(total)
        };
        let own = estimates(counts, design, MIN_FUNCTIONS);
        let estimated = own.is_some();
        let of_earlier = || {
            let earlier = earlier?;
            let estimates = estimates(&earlier.counts, &earlier.design, MIN_EARLIER_FUNCTIONS)?;
            Some((estimates, Some(earlier.build.clone())))
        };
        let assumed = || {
            (
                Variation::with_dispersion(ASSUMED),
                Variation::with_dispersion(ASSUMED),
            )
        };
        let ((self_, total), earlier_build) = own
            .map(|own| (own, None))
            .or_else(of_earlier)
            .unwrap_or_else(|| (assumed(), None));
        Variations {
            self_,
            total,
            estimated,
            earlier_build,
        }
    }
}

/// The counts of an earlier build, which is not compared itself.
pub(super) struct EarlierCounts {
    build: String,
    counts: FunctionCounts,
    design: Design,
}

impl EarlierCounts {
    /// Returns `None` if the build does not have several runs with samples of this event.
    pub(super) fn new(
        view: &View,
        sample_type: &SampleType,
        counted_in: Option<Nanoseconds>,
        options: &CompareOptions,
    ) -> Option<EarlierCounts> {
        let runs = Runs::new(view, sample_type).with_period(counted_in);
        if runs.costs.len() < 2 {
            return None;
        }
        let functions = Functions::new(view, view, options.matching, &options.attribution);
        let tree = UnionTree::new(Pair::new(&view.tree, &view.tree), &functions);
        let owners = attribute_nodes(&tree, &functions);
        let costs: Pair<&[_]> = Pair::new(&runs.costs, &[]);
        let (counts, _) = count(costs, &tree, &owners, functions.list.len());
        let sizes = SizeFactors::new(
            &counts.attributed,
            &runs.periods,
            &vec![1.0; runs.periods.len()],
            &NormalisationMethod::Tmm,
        );
        Some(EarlierCounts {
            build: view.selection.build.version.clone(),
            design: Design::new(sizes.factors().to_vec(), counts.attributed.split),
            counts,
        })
    }
}

fn estimate(counts: &Counts, design: &Design, functions: usize) -> Option<Variation> {
    let least = MIN_MEAN.saturating_mul(counts.runs.len() as u64);
    let has_enough = |&function: &usize| {
        let sums = counts.sums(function);
        sums.baseline.saturating_add(sums.candidate) >= least
    };
    let rows: Vec<Vec<f64>> = (0..counts.functions())
        .filter(has_enough)
        .map(|function| counts.samples_by_run(function))
        .collect();
    if rows.len() < functions {
        return None;
    }
    Some(Variation::estimate(&rows, design)?.cautious())
}
