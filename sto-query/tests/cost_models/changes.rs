//! Changes of models between two builds.

use super::{sources, sources_with_find};
use crate::ask;
use crate::views::{assert_fits, assert_golden};
use crate::words;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::policy::Policy;
use sto_query::questions::{
    CalibrateCurvesRequest, CalibrateRequest, CompareModelsRequest, Detector,
};
use sto_query::render::{self, Detail};
use sto_query::results::{ModelChange, Verdict, json};
use sto_query::sources::BuildRef;
use sto_query::statistics::models::ModelKind;
use sto_query::statistics::models::changes::ChangeKind;
use sto_query::text::Style;

#[test]
fn faster_growing_function_is_a_degradation() {
    let sources = sources();
    let mut request = CompareModelsRequest::default();
    request.named = ["app@v1", "app@v2"].map(BuildRef::from);
    request.x = "n".to_owned();
    let found = ask(&sources, &request).unwrap();
    assert_eq!(found.verdict, Verdict::Regression);
    let results: Vec<(&str, ModelChange)> = found
        .functions
        .iter()
        .map(|of| (&*of.function, of.result))
        .collect();
    assert_eq!(
        results,
        [
            ("find", ModelChange::Degradation),
            ("sort", ModelChange::NoChange),
            ("fixed", ModelChange::NoChange),
        ]
    );
    let find = &found.functions[0];
    assert_eq!(find.inherited_by, ["main"]);
    let growth = find.growth.unwrap();
    assert!(growth.low > 0.8, "{growth:?}");
    // 2000 + n²/40 exceeds 2000 + 3 n by a tenth from n = 177.
    let from = find.matters_from.unwrap();
    assert!((165.0..190.0).contains(&from), "{from}");
    assert!((find.ratio.unwrap() - 258.0 / 11.6).abs() < 1.0);
    assert_fits("compare-models", |style| {
        render::models::changes::text(&found, style)
    });
    assert_golden("compare-models.json", &json(&found).unwrap());

    request.function = Some("sort".to_owned());
    let one = ask(&sources, &request).unwrap();
    assert_eq!((one.functions.len(), one.verdict), (1, Verdict::Clean));
    request.function = None;
    request.named = ["app@v1", "app@same"].map(BuildRef::from);
    let same = ask(&sources, &request).unwrap();
    assert_eq!(same.verdict, Verdict::Clean, "{:?}", same.functions);
}

/// A nearly linear parabola is still named quadratic.
#[test]
fn larger_exponent_is_a_change() {
    let sources = sources_with_find(|build, n| match build {
        "v2" => 100 + n * n / 4,
        _ => 100 + 100 * n - n * n / 128,
    });
    let mut request = CompareModelsRequest::default();
    request.named = ["app@v1", "app@v2"].map(BuildRef::from);
    request.x = "n".to_owned();
    request.function = Some("find".to_owned());
    let found = ask(&sources, &request).unwrap();
    let find = &found.functions[0];
    let before = find.baseline.model.as_ref().unwrap();
    assert_eq!(before.kind, ModelKind::Quadratic);
    let is_said = "find went from O(n^0.845) to O(n²) with commit 222222222222; ";
    assert!(find.reason.starts_with(is_said), "{}", find.reason);
}

fn curves(runs: &CalibrateRequest, x: &str) -> CalibrateCurvesRequest {
    with!(CalibrateCurvesRequest {
        x: x.to_owned(),
        runs: runs.clone(),
    })
}

#[test]
fn splits_of_one_build_are_rarely_degradations() {
    let sources = sources();
    let mut asked = CalibrateRequest::default();
    asked.named = BuildRef::from("app@v1");
    asked.splits = Some(20);
    let found = ask(&sources, &curves(&asked, "n")).unwrap();
    assert_eq!(found.ways.len(), 8);
    assert_eq!(
        (
            found.ways[0].detector,
            found.ways[0].comparisons.comparisons
        ),
        (None, 20)
    );
    // The two runs of each x differ by one percent, which is less than the smallest effect.
    assert_eq!(found.ways[0].comparisons.reports, 0);
    assert_eq!(found.ways[0].functions.comparisons, 80);
    assert_fits("calibrate-models", |style| {
        render::models::calibrated(&found, style)
    });
    assert_golden("calibrate-models.json", &json(&found).unwrap());
    let lone = ask(&sources, &curves(&asked, "m")).unwrap_err();
    assert!(lone.to_string().starts_with("no run of app@v1"), "{lone}");
}

fn checked(candidate: &str, x: &str) -> CheckRequest {
    let mut request = CheckRequest::default();
    request.baseline = Some(Baseline::Any(BuildRef::from("app@v1")));
    request.candidate = BuildRef::from(candidate);
    request.thresholds.x = Some(x.to_owned());
    request
}

#[test]
fn every_format_reports_changed_growth_and_its_commit() {
    let sources = sources();
    let mut request = checked("app@v2", "n");
    let found = ask(&sources, &request).unwrap();
    assert_eq!(found.verdict, Verdict::Regression);
    let sentence =
        "find went from O(n) to O(n²) with commit 222222222222; 22.3 times as much at n = 3200";
    let start = format!("{sentence}; ");
    assert!(found.reason.starts_with(&start), "{}", found.reason);
    assert_fits("find-regressions-by-x", |style| {
        render::check_text(&found, style, Detail::Short)
    });
    let comparisons = &found.comparisons;
    let curves = comparisons[0].curves.as_ref().unwrap();
    assert_eq!((curves.functions.len(), curves.unchanged), (1, 2));
    assert_golden("find-regressions-by-x.md", &words::markdown(comparisons));
    let github = words::github(comparisons);
    assert!(
        github.contains("::error title=sto%3A degradation of find (app)::find went"),
        "{github}"
    );
    let sarif: serde_json::Value = serde_json::from_str(&render::sarif(comparisons)).unwrap();
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    let rule = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], "degradation");
    assert_eq!(
        (&result["ruleId"], &result["level"]),
        (&"degradation".into(), &"error".into())
    );
    assert!(
        result["message"]["text"]
            .as_str()
            .unwrap()
            .starts_with(sentence),
        "{result}"
    );
    let html = words::html(comparisons);
    assert!(
        html.contains("<h3>Cost by n</h3>") && html.contains(sentence),
        "{html}"
    );
    let json = json(&comparisons[0]).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["curves"]["functions"][0]["result"], "degradation");
    assert_eq!(json["curves"]["commits"]["is_next"], true);

    request.all = true;
    let all = ask(&sources, &request).unwrap();
    let junit = words::junit(&all.comparisons);
    let failed = "<testcase name=\"find by n\" classname=\"app\">\n<failure type=\"degradation\"";
    assert!(junit.contains(failed), "{junit}");
    let passed = "<testcase name=\"sort by n\" classname=\"app\"></testcase>";
    assert!(junit.contains(passed), "{junit}");
}

#[test]
fn changed_growth_is_a_regression_unless_ignored() {
    let sources = sources();
    let mut request = checked("app@v3", "n");
    let found = ask(&sources, &request).unwrap();
    assert_eq!(found.verdict, Verdict::Regression, "{}", found.reason);
    let start =
        "find went from O(n) to O(n²); 1.39 times as much at n = 3200; but no function got slower";
    assert!(found.reason.starts_with(start), "{}", found.reason);
    assert!(found.comparisons[0].findings.is_empty());

    let policy = "[thresholds]\nx = \"n\"\n[[ignore]]\nfunction = \"find\"\nreason = \"known\"\nexpires = 2099-12-31\n";
    request.thresholds.x = None;
    request.policy = Policy::parse(policy).unwrap();
    let ignored = ask(&sources, &request).unwrap();
    assert_eq!(ignored.verdict, Verdict::Clean, "{}", ignored.reason);
    let text = render::check_text(&ignored, Style::default(), Detail::Short);
    assert!(text.contains("\nignored degradation: find went"), "{text}");

    let clean = ask(&sources, &checked("app@same", "n")).unwrap();
    assert_eq!(clean.verdict, Verdict::Clean, "{}", clean.reason);
    let error = ask(&sources, &checked("app@same", "m")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no run of app@v1 has a metric or a label `m`"),
        "{error}"
    );
}

#[test]
fn detectors_of_perun_do_not_change_the_verdict() {
    let mut request = CompareModelsRequest::default();
    request.named = ["app@v1", "app@v2"].map(BuildRef::from);
    request.x = "n".to_owned();
    request.options.detectors = Detector::ALL.to_vec();
    let found = ask(&sources(), &request).unwrap();
    let find = found
        .functions
        .iter()
        .find(|of| of.function == "find")
        .unwrap();
    assert_eq!(find.curves[0].detectors.len(), 7);
    for of in &find.curves[0].detectors {
        let change = of.change.as_ref().unwrap();
        assert_eq!(
            change.result,
            ChangeKind::Degradation,
            "{}",
            of.detector.name()
        );
    }
    assert_fits("compare-models-detectors", |style| {
        render::models::changes::text(&found, style)
    });
    request.named = ["app@v1", "app@same"].map(BuildRef::from);
    let same = ask(&sources(), &request).unwrap();
    assert_eq!(same.verdict, Verdict::Clean);
}
