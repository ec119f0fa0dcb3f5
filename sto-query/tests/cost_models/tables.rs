//! Comparison of tables of points.

use crate::views::{assert_fits, assert_golden};
use sto_query::questions::{CompareModelsRequest, Detector, PointsTable, compare_tables};
use sto_query::render;
use sto_query::results::json;
use sto_query::statistics::models::{
    Average, Bandwidth, Buckets, Estimator, Fit, Kernel, Middle, RollingWindow,
};

/// Points of two sides, from `testdata/models`.
fn tables() -> [PointsTable; 2] {
    [
        (
            "baseline.csv",
            include_str!("../../../testdata/models/comparison_baseline.csv"),
        ),
        (
            "candidate.csv",
            include_str!("../../../testdata/models/comparison_candidate.csv"),
        ),
    ]
    .map(|(name, table)| PointsTable::read(name, table).unwrap())
}

fn comparison_of_four_kinds() -> CompareModelsRequest {
    let mut request = CompareModelsRequest::default();
    request.options.detectors = vec![Detector::IntegralComparison, Detector::LocalStatistics];
    request.options.fit = Fit::Each(vec![
        Fit::Regressogram {
            buckets: Buckets::Doane,
            middle: Middle::Mean,
        },
        Fit::MovingAverage(Average::Simple(RollingWindow::new(5, true))),
        Fit::KernelRegression {
            kernel: Kernel::Gaussian,
            estimator: Estimator::NadarayaWatson,
            bandwidth: Bandwidth::Scott,
        },
        Fit::default(),
    ]);
    request
}

/// The combinations of table 6.4 of the thesis: regressogram, moving average and kernel regression, each by integral
/// comparison and local statistics. The tests of `sto-stats` have those of a formula.
#[test]
fn curves_without_formula_compare_as_numpy_and_scipy_say() {
    let expected = include_str!("../../../testdata/models/comparison.json");
    let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
    let found = compare_tables(tables(), &comparison_of_four_kinds()).unwrap();
    let found = json(&found).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let curves = found["functions"][0]["curves"].as_array().unwrap();
    let kinds = ["regressogram", "moving-average", "kernel"];
    assert_eq!(curves.len(), kinds.len() + 1);
    for (kind, curves) in kinds.into_iter().zip(curves) {
        let expected = &expected[kind];
        let same = |what: &str, ours: &serde_json::Value, theirs: &serde_json::Value| {
            let [ours, theirs] = [ours, theirs].map(|value| value.as_f64().unwrap());
            assert!(
                (ours - theirs).abs() < 1e-7,
                "{kind}, {what}: {ours}, expected {theirs}"
            );
        };
        let [area, local] = [0, 1].map(|of| &curves["detectors"][of]["change"]);
        same(
            "area",
            &area["error_rate"],
            &expected["integral_comparison"],
        );
        same("parts", &local["error_rate"], &expected["local_statistics"]);
        assert_eq!(local["result"], expected["result"], "{kind}");
        let [ours, theirs] = [&local["intervals"], &expected["parts"]];
        let [ours, theirs] = [ours, theirs].map(|parts| parts.as_array().unwrap());
        assert_eq!(ours.len(), theirs.len(), "{kind}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert_eq!(ours["result"], theirs["result"], "{kind}: {ours}");
            for number in ["error_rate", "x_start", "x_end"] {
                same(number, &ours[number], &theirs[number]);
            }
        }
    }
    assert_eq!(
        curves[0]["unified"]["parameters"],
        curves[0]["baseline"]["parameters"]
    );
    assert_ne!(
        curves[0]["candidate"]["parameters"],
        curves[0]["baseline"]["parameters"]
    );
}

#[test]
fn curves_and_their_parts_are_written_as_text_and_drawn() {
    let found = compare_tables(tables(), &comparison_of_four_kinds()).unwrap();
    assert_fits("compare-models-kinds", |style| {
        render::models::changes::text(&found, style)
    });
    assert_golden(
        "compare-models.svg",
        &render::models::changes_svg(&found, false),
    );
    let page = render::models::changes_html(&found, false);
    assert!(
        page.contains("<figure") && page.contains("moving average of 5 points"),
        "{page}"
    );
    let [baseline, _] = tables();
    let [same, _] = tables();
    let found = compare_tables([baseline, same], &CompareModelsRequest::default()).unwrap();
    let drawn = render::models::changes_svg(&found, false);
    assert!(
        drawn.contains("The cost of 1 function grows with x as before."),
        "{drawn}"
    );
}
