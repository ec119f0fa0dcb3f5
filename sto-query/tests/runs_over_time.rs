//! Metrics of runs over time: ranking, and alignment of two runs.

use crate::ask;
use crate::views::{assert_fits, assert_golden};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_query::error::CorrelateError;
use sto_query::questions::{AlignRequest, CorrelateRequest, Correlator};
use sto_query::results::{Doubt, RankedMetrics, WhyLeftOut, json};
use sto_query::sources::{BuildRef, Sources};
use sto_query::{QueryError, render};

fn sources() -> Sources {
    Sources::from_folder(Path::new("there is no store"))
}

fn testdata(name: &str) -> BuildRef {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    BuildRef::File(repository.join("testdata").join(name))
}

fn recording(name: &str) -> BuildRef {
    testdata(&format!("perf-data/{name}"))
}

fn request(name: &str, target: &str) -> CorrelateRequest {
    let mut request = CorrelateRequest::default();
    request.named = vec![recording(name)];
    request.options.target = target.to_owned();
    request
}

fn names(ranked: &RankedMetrics) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for metric in &ranked.metrics {
        names.insert(&*metric.name);
        names.extend(metric.same.iter().map(String::as_str));
    }
    names
}

fn left_out(ranked: &RankedMetrics, why: WhyLeftOut) -> Vec<&str> {
    let out = ranked.left_out.iter().filter(|out| out.why == why);
    out.map(|out| &*out.name).collect()
}

/// Writes output of `perf script` with one sample per function and time step; `functions` have their nanoseconds by
/// step.
fn script(name: &str, functions: &[(&str, &dyn Fn(f64) -> f64)]) -> PathBuf {
    let mut text = String::new();
    for step in 0..1000 {
        for (function, cost) in functions {
            let cost = cost(f64::from(step)).round();
            if cost > 0.0 {
                let (time, part) = (step / 100, step % 100);
                let _ = write!(
                    text,
                    "work 7/7 {time}.{part:02}0000: {cost} cpu-clock:\n\t1 {function} (work)\n\n"
                );
            }
        }
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A metric of successive peaks, as a function of the step; `time` is the progress of the work at a step.
fn hills(time: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    let hill = |at: f64, width: f64, time: f64| 1e6 * (-((time - at) / width).powi(2)).exp();
    move |step| {
        let time = time(step);
        1e5 + hill(200.0, 60.0, time) + 2.0 * hill(500.0, 30.0, time) + hill(760.0, 90.0, time)
    }
}

fn uneven(step: f64) -> f64 {
    step + 80.0 * (step / 1000.0 * std::f64::consts::TAU).sin()
}

fn plus_cause(hills: &impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    move |step| 2e6 - 0.4 * hills(step)
}

#[test]
fn every_metric_is_ranked_once() {
    let mut request = request("", "thread:pool worker 1");
    request.named = vec![testdata("perf-script/frame-pointers.txt")];
    let ranked = ask(&sources(), &request).unwrap();
    let found = names(&ranked);
    for name in [
        "event:cpu-clock",
        "thread:work",
        "module:work",
        "self:geometry::length",
        "total:recurse",
    ] {
        assert!(found.contains(name), "{name}: {found:?}");
    }
    // All samples of the thread are below these.
    let same = left_out(&ranked, WhyLeftOut::Same);
    assert_eq!(same, ["total:start_thread", "total:worker"]);
    let first = &ranked.metrics[0];
    assert_eq!(
        (&*first.name, first.run),
        ("self:geometry::length", Some(0))
    );
    let count: usize = ranked
        .metrics
        .iter()
        .map(|metric| 1 + metric.same.len())
        .sum();
    assert_eq!(count, found.len(), "no name is there twice");
    assert_eq!(ranked.runs.len(), 1);
    assert_eq!(ranked.rows, 200);
}

#[test]
fn parts_of_a_target_do_not_explain_it() {
    let mut request = request("threads.perf.data", "share");
    request.metrics = vec![
        "both = \"thread:adder\" + \"thread:divider\"".to_owned(),
        "share = \"thread:adder\" / both".to_owned(),
        "other = 2 * \"module:libc.so.6\"".to_owned(),
    ];
    request.slices = Some(50);
    let ranked = ask(&sources(), &request).unwrap();
    let parts = left_out(&ranked, WhyLeftOut::Part);
    assert_eq!(parts, ["both", "thread:adder", "thread:divider"]);
    assert_eq!((&*ranked.target, ranked.rows), ("share", 50));
    request.metrics.remove(1);
    request.options.target = "share = \"thread:adder\" / both".to_owned();
    assert_eq!(ask(&sources(), &request).unwrap(), ranked);
}

#[test]
fn aligns_runs_by_a_common_metric() {
    let (even, bent) = (hills(|step| step), hills(uneven));
    let first = script("first.perf", &[("work", &even)]);
    let second = script(
        "second.perf",
        &[("work", &bent), ("cause", &plus_cause(&bent))],
    );
    let named = [BuildRef::File(first), BuildRef::File(second)];
    let mut request = CorrelateRequest::default();
    request.named = named.to_vec();
    request.options.target = "self:work".to_owned();
    request.slices = Some(1000);
    let cause = |request: &CorrelateRequest| {
        let ranked = ask(&sources(), request).unwrap();
        let cause = ranked
            .metrics
            .iter()
            .find(|metric| metric.name == "self:cause");
        let cause = cause.unwrap();
        assert_eq!(cause.run, Some(1));
        (cause.scores[&Correlator::Pearson], ranked)
    };
    let (apart, ranked) = cause(&request);
    assert!(ranked.runs[1].fit.is_none());
    request.align = Some("self:work".to_owned());
    let (together, ranked) = cause(&request);
    assert!(apart < 0.7 && together > 0.999, "{apart} {together}");
    let fit = ranked.runs[1].fit.as_ref().unwrap();
    assert!(fit.mean_error < 0.005, "{fit:?}");
    assert_eq!(ranked.runs[0].fit, None);
    // The alignment used this metric, so its correlation means nothing.
    let aligned = left_out(&ranked, WhyLeftOut::Aligned);
    assert_eq!(aligned, ["self:work", "total:work"]);

    let mut request = AlignRequest::default();
    request.named = named;
    request.metric = Some("self:work".to_owned());
    let alignment = ask(&sources(), &request).unwrap();
    assert_eq!(alignment.fit, *fit);
    // The path maps each step of the second run to the step of the first with the same work.
    for &[of_first, of_second] in alignment.path.iter().step_by(50) {
        let expected = uneven(of_second * 100.0) / 100.0;
        let is_hill = (1.0..9.0).contains(&expected);
        assert!(
            !is_hill || (of_first - expected).abs() < 0.3,
            "{of_first} {expected}"
        );
    }
    assert_fits("align", |style| render::align::text(&alignment, style));
    assert_fits("correlate-runs", |style| {
        render::correlate::text(&ranked, style)
    });
}

#[test]
fn alignment_of_a_run_with_itself_is_exact() {
    let mut request = AlignRequest::default();
    request.named = [
        recording("threads.perf.data"),
        recording("threads.perf.data"),
    ];
    request.slices = Some(40);
    let alignment = ask(&sources(), &request).unwrap();
    assert_eq!(
        (alignment.fit.error, alignment.fit.warnings.len()),
        (0.0, 0)
    );
    assert_eq!(alignment.fit.metric, "event:cpu-clock");
    assert!(alignment.path.iter().all(|[a, b]| a == b));
    assert_golden("align.json", &json(&alignment).unwrap());
}

#[test]
fn rejects_metrics_that_cannot_be_ranked_or_aligned() {
    let error = |request: &CorrelateRequest| ask(&sources(), request).unwrap_err();
    let unknown = error(&request("threads.perf.data", "thread:addr")).to_string();
    assert!(
        unknown.contains("`thread:addr`; did you mean `thread:adder`?"),
        "{unknown}"
    );
    let mut constant = request("threads.perf.data", "one = 1");
    let found = error(&constant);
    let is_constant = matches!(
        found,
        QueryError::Correlate(CorrelateError::ConstantTarget { .. })
    );
    assert!(is_constant, "{found}");
    constant.options.target = "none = 0 / 0".to_owned();
    assert!(error(&constant).to_string().contains("has no value"));
    let mut align = request("threads.perf.data", "thread:adder");
    align.named.push(recording("node-map.perf.data"));
    align.align = Some("thread:adder".to_owned());
    assert!(
        error(&align)
            .to_string()
            .contains("no metric is named `thread:adder`")
    );
    align.align = Some("none = 0 / 0".to_owned());
    let no_value = error(&align).to_string();
    assert!(
        no_value.contains("threads@threads.perf.data has no value of `none`"),
        "{no_value}"
    );
    align.align = Some("x = (".to_owned());
    assert!(error(&align).to_string().contains("character 6"));
}

#[test]
fn uncertain_parts_are_in_seconds_of_each_run() {
    let steps = |step: f64| {
        if (200.0..800.0).contains(&step) {
            9e5
        } else {
            1e5
        }
    };
    let noise = |step: f64| if step == 300.0 { 7e5 } else { steps(step) };
    let later = |step: f64| if step == 700.0 { 6e5 } else { steps(step) };
    let first = script("constant-first.perf", &[("work", &noise)]);
    let second = script("constant-second.perf", &[("work", &later)]);
    let mut request = AlignRequest::default();
    request.named = [BuildRef::File(first), BuildRef::File(second)];
    let alignment = ask(&sources(), &request).unwrap();
    let Some(Doubt::NearlyConstant { first, second }) = alignment.fit.warnings.first() else {
        panic!("{:?}", alignment.fit.warnings);
    };
    // The first run's point aligns with the part of the second run up to its own point.
    let near = |found: f64, expected: f64| (found - expected).abs() < 0.02;
    assert!(near(first[0], 2.0) && near(first[1], 8.0), "{first:?}");
    assert!(near(second[0], 2.0) && near(second[1], 7.0), "{second:?}");
    let text = render::align::text(&alignment, crate::words::plain());
    assert!(text.contains("is nearly constant from"), "{text}");
    let mut many = alignment.clone();
    while many.fit.warnings.len() < 40 {
        many.fit.warnings.extend(alignment.fit.warnings.clone());
    }
    let text = render::align::text(&many, crate::words::plain());
    assert_eq!(text.matches("is nearly constant").count(), 2, "{text}");
    assert!(
        text.contains("The same applies to 38 more parts; JSON lists all."),
        "{text}"
    );
}
