//! Measures how often curves of equal builds are reported to differ.

use super::FalseReports;
use crate::answer::Answer;
use crate::models::{
    CompareModelsOptions, Costs, Detector, ModelChange, ModelError, Modelled, compare_models,
};
use rayon::prelude::*;
use serde::Serialize;
use sto_core::CancelToken;
use sto_stats::Random;
use sto_stats::models::changes::ChangeKind;

/// The rates of false reports of comparisons of curves.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CurveCalibration {
    /// The build whose runs were compared with each other.
    #[serde(flatten)]
    pub of: Modelled,
    /// How often each method reports a degradation: the test first, then Perun's detectors. Empty
    /// if an x has only one run.
    pub ways: Vec<CalibratedWay>,
}

impl Answer for CurveCalibration {
    const SCHEMA: &'static str = "sto.calibrate-models/1";
}

/// How often a method reports equal builds as a degradation.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CalibratedWay {
    /// The detector; `null` for the test that the verdict rests on.
    pub detector: Option<Detector>,
    /// Comparisons with any function that is reported.
    pub comparisons: FalseReports,
    /// Functions that are reported, of all functions in all comparisons.
    pub functions: FalseReports,
}

/// Splits the runs of each x at random into two sides `times` times, and counts how often the
/// curves of equal builds are a degradation. `costs` have a point for each run.
///
/// # Errors
/// Returns an error if nothing can be fitted.
pub(crate) fn calibrate_curves(
    costs: &Costs,
    options: &CompareModelsOptions,
    times: usize,
    cancel: &CancelToken,
) -> Result<CurveCalibration, ModelError> {
    let of = costs.modelled().clone();
    if costs.min_runs_per_x() < 2 {
        return Ok(CurveCalibration {
            of,
            ways: Vec::new(),
        });
    }
    let options = CompareModelsOptions {
        detectors: Detector::ALL.to_vec(),
        how_sure: false,
        ..options.clone()
    };
    // For each method and function, whether it is a degradation.
    let compared = (0..times).into_par_iter().map(|time| {
        cancel.check()?;
        let sides = costs.split_randomly(&mut Random::new(time as u64));
        let found = compare_models(sides, None, &options, None)?;
        let of_test = found
            .functions
            .iter()
            .map(|of| of.result == ModelChange::Degradation);
        let mut ways: Vec<Vec<bool>> = vec![of_test.collect()];
        for detector in 0..Detector::ALL.len() {
            let is_worse = found.functions.iter().map(|of| {
                let change = of.curves[0].detectors[detector].change.as_ref();
                change.is_some_and(|change| change.result == ChangeKind::Degradation)
            });
            ways.push(is_worse.collect());
        }
        Ok(ways)
    });
    let compared = compared.collect::<Result<Vec<_>, ModelError>>()?;
    let names = std::iter::once(None).chain(Detector::ALL.map(Some));
    let ways = names.enumerate().map(|(way, detector)| {
        let of_way = compared.iter().map(|ways| &ways[way]);
        let functions: Vec<bool> = of_way.clone().flatten().copied().collect();
        let count = |of: &[bool]| of.iter().filter(|is| **is).count();
        let any = of_way.filter(|functions| functions.contains(&true)).count();
        CalibratedWay {
            detector,
            comparisons: FalseReports::new(any, times),
            functions: FalseReports::new(count(&functions), functions.len()),
        }
    });
    Ok(CurveCalibration {
        of,
        ways: ways.collect(),
    })
}
