//! Models of cost as a function of the input size, and their changes between builds.

mod changes;
mod tables;

use crate::export::written;
use crate::views::{assert_fits, assert_golden};
use crate::{ask, of_function};
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::id::RecordingDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model::{Commit, LabelValue, SampleLabel};
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Nanoseconds, UnixSeconds};
use sto_core::{Cost, Format, Frame, FrameKind, RecordingBuilder, Unit};
use sto_query::QueryError;
use sto_query::error::ModelError;
use sto_query::questions::{
    CompareModelsRequest, ExportFormat, ExportRequest, ModelRequest, Order, TwoNumberModelRequest,
    model_table,
};
use sto_query::render;
use sto_query::results::{SideModel, Verdict, json};
use sto_query::sources::{BuildRef, Sources};
use sto_query::statistics::models::{Buckets, Fit, Middle, ModelKind};
use sto_query::text::Style;

const SIZES: [u64; 6] = [100, 200, 400, 800, 1600, 3200];

/// Four builds with two runs per size: `sort` costs n log n, `fixed` is constant, and `find` is linear in `v1` and
/// `same` and quadratic in `v2` and `v3`. The commit of `v2` follows that of `v1`; all sizes of `v3` add up to the cost
/// of `v1`. One run of `v1` has no size.
fn sources() -> Sources {
    sources_with_find(|build, n| match build {
        "v2" => 2000 + n * n / 40,
        "v3" => 2000 + n * n * 189 / 136_500,
        _ => 2000 + 3 * n,
    })
}

/// Like [`sources`], with this cost of `find` by build and size.
fn sources_with_find(cost_of_find: impl Fn(&str, u64) -> u64) -> Sources {
    let store = Store::in_memory().unwrap();
    let add = |build: &str, run: u64, size: Option<u64>, lines: &[(&str, u64)]| {
        let folded: String = lines
            .iter()
            .map(|(name, count)| format!("main;{name} {count}\n"))
            .collect();
        let folded = format!("# {build} {run} {size:?}\n{folded}");
        let commit = match build {
            "v1" => Some(commit('1', None)),
            "v2" => Some(commit('2', Some('1'))),
            _ => None,
        };
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some(build.to_owned()),
            revision: commit.as_ref().map(|commit| commit.hash.to_string()),
            commit,
            metrics: size
                .map(|n| ("n".to_owned(), n as f64))
                .into_iter()
                .collect(),
            ..IngestOptions::default()
        };
        let path = Path::new("run.folded");
        let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
        ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    };
    for (build, jitter) in [
        ("v1", [0, 7]),
        ("same", [5, 2]),
        ("v2", [3, 6]),
        ("v3", [1, 4]),
    ] {
        for (run, jitter) in (0..).zip(jitter) {
            for (ix, n) in (0..).zip(SIZES) {
                let log = n as f64 * (n as f64).ln();
                // Up to one percent of noise that depends on the size.
                let noise = |count: u64| count * (99 + (jitter * 5 + ix * ix) % 3) / 100;
                let lines = [
                    ("sort", noise(log as u64)),
                    ("find", noise(cost_of_find(build, n))),
                    ("fixed", noise(5000)),
                ];
                add(build, run, Some(n), &lines);
            }
        }
    }
    add("v1", 9, None, &[("sort", 1)]);
    Sources::from_snapshot(store.snapshot().unwrap())
}

/// A commit whose id repeats one digit.
fn commit(digit: char, parent: Option<char>) -> Commit {
    let hash = |digit: char| digit.to_string().repeat(40).parse().unwrap();
    Commit {
        hash: hash(digit),
        parents: parent.into_iter().map(hash).collect(),
        author_time: UnixSeconds(0),
        subject: String::new(),
        dirty: false,
    }
}

fn request() -> ModelRequest {
    let mut request = ModelRequest::default();
    request.named = BuildRef::from("app@v1");
    request.x = "n".to_owned();
    request
}

#[test]
fn functions_with_their_models_are_sorted_by_cost() {
    let sources = sources();
    let found = ask(&sources, &request()).unwrap();
    let best: Vec<(&str, ModelKind)> = found
        .functions
        .iter()
        .map(|of| (&*of.function, of.models[0].kind))
        .collect();
    assert_eq!(
        best[1..],
        [
            ("sort", ModelKind::Linearithmic),
            ("find", ModelKind::Linear),
            ("fixed", ModelKind::Constant),
        ]
    );
    assert_eq!((found.of.runs, found.of.without_x), (12, 1));
    assert_fits("models", |style| {
        render::models::all_functions(&found, style)
    });
    assert_golden("models.json", &json(&found).unwrap());
    let mut some = request();
    some.limit = Some(1);
    let some = ask(&sources, &some).unwrap();
    assert_eq!((some.functions.len(), some.omitted), (1, 3));
}

#[test]
fn draws_points_and_best_curve_of_one_function() {
    let found = ask(&sources(), &of_function(&request(), "find")).unwrap();
    let slope = found.function.models[0].coefficients[1].value;
    assert!((2.9..3.1).contains(&slope), "{slope}");
    assert_eq!(found.function.points.len(), 12);
    assert_fits("model", |style| render::models::text(&found, style, false));
    assert_fits("model-log", |style| {
        render::models::text(&found, style, true)
    });
    assert_golden("model.json", &json(&found).unwrap());
    assert_golden("model.svg", &render::models::svg(&found, false, 1));
    assert_golden("model.html", &render::models::html(&found, 1, false));
}

#[test]
fn missing_metric_lists_existing_ones() {
    let mut other = request();
    other.x = "m".to_owned();
    let error = ask(&sources(), &of_function(&other, "find")).unwrap_err();
    assert!(matches!(error, QueryError::Model(ModelError::NoX { .. })));
    assert_eq!(
        error.to_string(),
        "no run of app@v1 has a metric or a label `m` that is a number; runs have n"
    );
    let error = ask(&sources(), &of_function(&request(), "fined"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean `find`?"), "{error}");
}

#[test]
fn models_table_by_group() {
    let table = "x,y,group\n1,1,b\n2,2,b\n3,3.1,b\n4,4,b\n1,5,a\n2,5,a\n3,5,a\n4,5,a\n";
    let found = model_table(table, &ModelRequest::default()).unwrap();
    let best: Vec<(&str, ModelKind)> = found
        .functions
        .iter()
        .map(|of| (&*of.function, of.models[0].kind))
        .collect();
    assert_eq!(best[0], ("a", ModelKind::Constant));
    assert_eq!(best[1].0, "b");
    assert!(found.into_one().is_err());
    let one = model_table("1,2\n2,4\n3,6\n", &ModelRequest::default()).unwrap();
    let one = one.into_one().unwrap();
    assert_eq!(one.function.points.len(), 3);
    let text = json(&one).unwrap();
    let text: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(text["models"][0]["kind"].is_string());
}

#[test]
fn reports_functions_without_a_curve_that_perun_knows() {
    let mut request = ExportRequest::default();
    request.named = BuildRef::from("app@v1");
    request.format = ExportFormat::Perun;
    request.x = "n".to_owned();
    let exported = ask(&sources(), &request).unwrap();
    let sentence = "Perun knows neither n log n nor cubic curves, so these are left out; one is the best of main, sort";
    assert_eq!(
        render::export::missing_models_warning(&exported).as_deref(),
        Some(sentence)
    );
    let text = String::from_utf8(written(&exported)).unwrap();
    assert!(text.contains("\"quadratic\"") && !text.contains("\"linearithmic\""));
    request.format = ExportFormat::Folded;
    let exported = ask(&sources(), &request).unwrap();
    assert_eq!(render::export::missing_models_warning(&exported), None);
}

/// Two runs of each of two builds, whose samples are labelled with the bytes of their request: `find` has as many
/// samples as bytes in `v1`, and their square in `v2`. Each request takes a second.
fn served() -> Store {
    let store = Store::in_memory().unwrap();
    for (build, power) in [("v1", 1), ("v2", 2)] {
        for run in 0..2 {
            let mut builder = RecordingBuilder::default();
            let process = builder.process(1, "app");
            let event = builder.sample_type("cpu", Unit::Samples);
            let find = builder.frame(Frame {
                module: "app",
                symbol: "find",
                kind: FrameKind::User,
                file: "",
                line: 0,
            });
            let stack = builder.stack(&[find.unwrap()]).unwrap();
            let sizes = [1_i64, 2, 4, 8, 16, 32, 64];
            for (tid, size) in (1..).zip(sizes) {
                let thread = builder.thread(process, tid, "serve").unwrap();
                let cost = Cost {
                    samples: (100 * size as u64).pow(power) + run,
                    value: 0,
                };
                builder.add(thread, event, stack, cost).unwrap();
            }
            let name = format!("{build} {run}");
            let recording = builder.finish(
                Format::Folded,
                RecordingDigest::hash_bytes(name.as_bytes()),
                Bytes(0),
            );
            let recording = recording.edit(|parts| {
                for (thread, size) in parts.threads.iter_mut().zip(sizes) {
                    let value = LabelValue::Number {
                        number: size,
                        unit: String::new(),
                    };
                    let key = "bytes".to_owned();
                    thread.labels = [SampleLabel { key, value }].into();
                }
                for (second, sample) in (0..).zip(&mut parts.samples) {
                    sample.time = Some(Nanoseconds(second * 1_000_000_000));
                }
            });
            let options = IngestOptions {
                executable: Some("app".to_owned()),
                version: Some(build.to_owned()),
                slices: SliceCount::new(1000),
                ..IngestOptions::default()
            };
            let recording = recording.unwrap();
            ingest(&store, (Path::new("app"), recording), &options, &mut |_| {}).unwrap();
        }
    }
    store
}

#[test]
fn sample_labels_and_time_can_be_x() {
    let sources = Sources::from_snapshot(served().snapshot().unwrap());
    for (x, points) in [("bytes", 14), ("time", 200)] {
        let mut one = request();
        one.x = x.to_owned();
        let one = ask(&sources, &of_function(&one, "find")).unwrap();
        assert_eq!((one.function.points.len(), one.of.runs), (points, 2), "{x}");
        let text = render::models::text(&one, Style::default(), false);
        let head = format!("find: total cpu by {x}, {points} parts of 2 runs of app@v1\n");
        assert!(text.starts_with(&head), "{text}");

        let mut two = CompareModelsRequest::default();
        two.named = ["app@v1", "app@v2"].map(BuildRef::from);
        two.x = x.to_owned();
        let two = ask(&sources, &two).unwrap();
        assert_eq!((two.baseline.runs, two.candidate.runs), (2, 2));
        let [find] = &two.functions[..] else {
            panic!("{two:?}");
        };
        assert_eq!(find.baseline.points, one.function.points);
        let kind = |side: &SideModel| side.model.as_ref().unwrap().kind;
        if x == "bytes" {
            let kinds = (kind(&find.baseline), kind(&find.candidate));
            assert_eq!(kinds, (ModelKind::Linear, ModelKind::Power));
            assert_eq!(two.verdict, Verdict::Regression);
        }
    }
    let mut none = request();
    none.x = "rows".to_owned();
    let error = ask(&sources, &none).unwrap_err().to_string();
    assert_eq!(
        error,
        "no run of app@v1 has a metric or a label `rows` that is a number; samples have bytes"
    );
}

#[test]
fn side_without_x_is_named_with_its_metrics() {
    let store = Store::in_memory().unwrap();
    for build in ["v1", "v2"] {
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some(build.to_owned()),
            metrics: [(build.replace('v', "n"), 1.0)].into(),
            ..IngestOptions::default()
        };
        let path = Path::new("run.folded");
        let recording = read_bytes(path, b"main;find 1\n", &options.read_options()).unwrap();
        ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    }
    let sources = Sources::from_snapshot(store.snapshot().unwrap());
    let mut request = CompareModelsRequest::default();
    request.named = ["app@v1", "app@v2"].map(BuildRef::from);
    for (x, lacks, has) in [("n1", "app@v2", "app@v1"), ("n2", "app@v1", "app@v2")] {
        request.x = x.to_owned();
        let error = ask(&sources, &request).unwrap_err().to_string();
        let sentence = format!(
            "no run of {lacks} has a metric or a label `{x}` that is a number, although runs of {has} have one; "
        );
        assert!(error.starts_with(&sentence), "{error}");
    }
}

#[test]
fn rejects_comparison_of_sample_labels_with_call_arguments() {
    let store = served();
    let options = IngestOptions {
        executable: Some("app".to_owned()),
        version: Some("v3".to_owned()),
        ..IngestOptions::default()
    };
    let trace = br#"[{"ph":"X","name":"find","pid":1,"tid":1,"ts":0,"dur":1,"args":{"bytes":1}}]"#;
    let path = Path::new("trace.json");
    let recording = read_bytes(path, trace, &options.read_options()).unwrap();
    ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    let sources = Sources::from_snapshot(store.snapshot().unwrap());
    let mut request = CompareModelsRequest::default();
    request.x = "bytes".to_owned();
    for builds in [["app@v1", "app@v3"], ["app@v3", "app@v1"]] {
        request.named = builds.map(BuildRef::from);
        let error = ask(&sources, &request).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`bytes` is a number of samples in app@v1, but of calls in app@v3; these cannot be compared"
        );
    }
}

#[test]
fn function_without_cost_where_x_is_known_is_not_unknown() {
    let mut by_itself = request();
    by_itself.cost = Order::SelfCost;
    let error = ask(&sources(), &of_function(&by_itself, "main")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`main` cost nothing by itself where app@v1 has a number `n`; these did: find, fixed, sort"
    );
}

/// A build of runs with n rows and m columns: `fill` costs 40 + n m / 2 and `sort` n log2(n). One run only has n.
fn filled() -> Sources {
    let store = Store::in_memory().unwrap();
    let sizes = [16_u64, 32, 64, 128, 256];
    let both = sizes.into_iter().flat_map(|n| sizes.map(|m| (n, Some(m))));
    for (n, m) in both.chain([(16, None)]) {
        let sort = n * u64::from(n.ilog2());
        let folded = format!(
            "# {n} {m:?}\nmain;fill {}\nmain;sort {sort}\n",
            40 + n * m.unwrap_or(9) / 2
        );
        let metrics = [("rows", Some(n)), ("columns", m)].into_iter();
        let metrics = metrics.filter_map(|(name, x)| Some((name.to_owned(), x? as f64)));
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some("v1".to_owned()),
            metrics: metrics.collect(),
            ..IngestOptions::default()
        };
        let path = Path::new("run.folded");
        let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
        ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

#[test]
fn models_function_by_two_numbers_of_its_runs() {
    let sources = filled();
    let two_numbers = |other: &str, function: &str| {
        with!(TwoNumberModelRequest {
            function: function.to_owned(),
            other: other.to_owned(),
            model: with!(ModelRequest {
                x: "rows".to_owned(),
                ..request()
            }),
        })
    };
    let found = ask(&sources, &two_numbers("columns", "fill")).unwrap();
    assert_eq!(
        (found.points.len(), found.runs, found.without_x),
        (25, 25, 1)
    );
    assert_fits("model-of-two", |style| {
        render::models::two_variables(&found, style)
    });
    assert_golden("model-of-two.json", &json(&found).unwrap());
    let sort = ask(&sources, &two_numbers("columns", "sort")).unwrap();
    let text = render::models::two_variables(&sort, Style::default());
    assert!(
        text.contains("\nnormal form: 1.00\u{b7}rows log2(rows), R² 1.000, off by 0.0%"),
        "{text}"
    );
    let error = ask(&sources, &two_numbers("colums", "fill"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean `columns`?"), "{error}");
}

#[test]
fn curves_without_formula_are_drawn_with_their_smoother() {
    let found = |fit: Fit| {
        let mut request = request();
        request.fit = fit;
        ask(&sources(), &of_function(&request, "find")).unwrap()
    };
    let buckets = found(Fit::Regressogram {
        buckets: Buckets::Number(4),
        middle: Middle::Median,
    });
    assert_fits("regressogram", |style| {
        render::models::text(&buckets, style, false)
    });
    let normal = found(Fit::NormalForm);
    assert_fits("normal-form", |style| {
        render::models::text(&normal, style, false)
    });
    let ridge = found(Fit::KernelRidge(Vec::new()));
    assert!(ridge.function.models[0].r_square > 0.9, "{ridge:?}");
}

#[test]
fn logarithmic_axes_are_offered_if_an_outlier_flattens_the_rest() {
    let modelled = |last: u32| {
        let rows = (1..40).map(|x| format!("{x},{}\n", 10 + x));
        let table = rows.collect::<String>() + &format!("40,{last}\n");
        model_table(&table, &ModelRequest::default())
            .unwrap()
            .into_one()
            .unwrap()
    };
    let style = Style::default();
    for (last, is_offered) in [(5_000, true), (51, false)] {
        let found = modelled(last);
        let page = render::models::html(&found, 1, false);
        assert_eq!(
            page.contains("id=\"logarithms\" checked"),
            is_offered,
            "{page}"
        );
        let text = render::models::text(&found, style, false);
        assert_eq!(text.contains("flatten the others"), is_offered, "{text}");
        let text = render::models::text(&found, style, true);
        assert!(!text.contains("flatten the others"), "{text}");
    }
}
