//! Runs of any programs and builds, by labels and time.

use std::collections::BTreeMap;
use std::path::Path;
use sto_core::id::RecordingDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::Sample;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Nanoseconds, UnixSeconds};
use sto_core::{Cost, Format, Frame, FrameKind, RecordingBuilder, Unit};
use sto_query::QueryError;
use sto_query::error::ErrorClass;
use sto_query::questions::{
    CostOverTimeRequest, DiffRequest, ExportFormat, ExportRequest, LabelSetsRequest, TopRequest,
};
use sto_query::render::export::{FlamebearerOptions, flamebearer, write};
use sto_query::results::{CostOverTime, View};
use sto_query::select::LabelledRuns;
use sto_query::sources::{BuildRef, Filter, Sources};

/// A run whose function `work` takes a sample of `weight` ns in each of 10 seconds.
struct Run {
    program: &'static str,
    build: &'static str,
    host: &'static str,
    recorded: u64,
    weight: u64,
}

const RUNS: [Run; 4] = [
    run("shop", "v1", "a", 1000, 1),
    run("shop", "v1", "b", 1010, 2),
    run("shop", "v2", "a", 1020, 3),
    run("api", "v1", "a", 1000, 4),
];

const fn run(
    program: &'static str,
    build: &'static str,
    host: &'static str,
    recorded: u64,
    weight: u64,
) -> Run {
    Run {
        program,
        build,
        host,
        recorded,
        weight,
    }
}

fn add(store: &Store, run: &Run, slices: Option<SliceCount>) {
    let mut builder = RecordingBuilder::default();
    let process = builder.process(1, run.program);
    let thread = builder.thread(process, 1, "main").unwrap();
    let cpu = builder.sample_type("cpu", Unit::Nanoseconds);
    let [main, work] = ["main", "work"].map(|symbol| {
        let module = run.program;
        let frame = Frame {
            module,
            symbol,
            kind: FrameKind::User,
            file: "",
            line: 0,
        };
        builder.frame(frame).unwrap()
    });
    let stack = builder.stack(&[main, work]).unwrap();
    // From begin to end of 10 seconds, so that a slice of ten is a second.
    let times = (0..10).map(|second| match second {
        0 => 0,
        9 => 9_999_999_999,
        _ => second * 1_000_000_000 + 500_000_000,
    });
    for time in times {
        builder
            .add_sample(Sample {
                stack,
                thread,
                sample_type: cpu,
                time: Some(Nanoseconds(time)),
                cost: Cost {
                    samples: 1,
                    value: run.weight,
                },
                truncated: false,
            })
            .unwrap();
    }
    let digest = format!("{} {} {}", run.program, run.build, run.recorded);
    let digest = RecordingDigest::hash_bytes(digest.as_bytes());
    let recording = builder.finish(Format::Own("test"), digest, Bytes(0));
    let options = IngestOptions {
        executable: Some(run.program.to_owned()),
        version: Some(run.build.to_owned()),
        labels: BTreeMap::from([("host".to_owned(), run.host.to_owned())]),
        recorded: Some(UnixSeconds(run.recorded)),
        slices,
        ..IngestOptions::default()
    };
    ingest(store, (Path::new("test"), recording), &options, &mut |_| {}).unwrap();
}

fn stored(slices: Option<u32>) -> Sources {
    let store = Store::in_memory().unwrap();
    for run in &RUNS {
        add(&store, run, slices.and_then(SliceCount::new));
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn labelled(labels: &str, time: Option<[u64; 2]>) -> LabelledRuns {
    with!(LabelledRuns {
        labels: labels.parse().unwrap(),
        since: time.map(|[since, _]| UnixSeconds(since)),
        until: time.map(|[_, until]| UnixSeconds(until)),
    })
}

fn view(sources: &Sources, labels: &str, time: Option<[u64; 2]>) -> View {
    let named = BuildRef::Labelled(labelled(labels, time));
    let view = sources.view(&named, &Filter::default()).unwrap();
    View::clone(&view)
}

fn total(sources: &Sources, labels: &str, time: Option<[u64; 2]>) -> u64 {
    let view = view(sources, labels, time);
    view.self_costs(0).iter().map(|cost| cost.value).sum()
}

#[test]
fn costs_of_all_matching_runs_are_added_up() {
    let sources = stored(None);
    assert_eq!(total(&sources, r#"{service_name="shop"}"#, None), 60);
    assert_eq!(
        total(&sources, r#"{service_name="shop", version="v1"}"#, None),
        30
    );
    assert_eq!(total(&sources, r#"{host=~"a|c"}"#, None), 80);
    assert_eq!(total(&sources, "{}", None), 100);
}

#[test]
fn stacks_of_several_builds_are_one_tree_and_those_of_programs_are_not() {
    let sources = stored(None);
    let shop = view(&sources, r#"{service_name="shop"}"#, None);
    assert_eq!(shop.tree.len(), 2);
    assert_eq!(shop.selection.build.executable, "shop");
    assert_eq!(shop.selection.build.version, "v1, v2");
    assert_eq!(shop.selection.profiles.len(), 3);
    let all = view(&sources, "{}", None);
    assert_eq!(all.tree.len(), 4);
    assert_eq!(all.selection.build.executable, "2 programs");
}

#[test]
fn a_period_cuts_runs_at_their_slices() {
    let sources = stored(Some(10));
    let shop = r#"{service_name="shop"}"#;
    assert_eq!(total(&sources, shop, Some([1005, 1012])), 5 + 2 * 2);
    assert_eq!(total(&sources, shop, Some([1000, 1030])), 60);
    // Consecutive periods count each slice once.
    let parts = (1000..1030).step_by(3);
    let parts = parts.filter_map(|since| {
        let named = BuildRef::Labelled(labelled(shop, Some([since, since + 3])));
        sources.view(&named, &Filter::default()).ok()
    });
    let costs = parts.flat_map(|view| view.self_costs(0));
    assert_eq!(costs.map(|cost| cost.value).sum::<u64>(), 60);
}

#[test]
fn runs_without_slices_count_when_they_begin() {
    let sources = stored(None);
    let shop = r#"{service_name="shop"}"#;
    assert_eq!(total(&sources, shop, Some([1000, 1005])), 10);
    assert_eq!(total(&sources, shop, Some([1005, 1012])), 20);
}

#[test]
fn nothing_found_is_an_error_of_its_own_class() {
    let sources = stored(None);
    for (labels, time) in [
        (r#"{service_name="none"}"#, None),
        ("{}", Some([2000, 3000])),
    ] {
        let named = BuildRef::Labelled(labelled(labels, time));
        let error = sources.view(&named, &Filter::default()).unwrap_err();
        assert_eq!(error.class(), ErrorClass::NotFound, "{error}");
    }
}

#[test]
fn questions_that_need_one_program_say_which_are_selected() {
    let sources = stored(None);
    let request = with!(DiffRequest {
        baseline: BuildRef::Labelled(labelled("{}", None)),
        candidate: "shop@v2".into(),
    });
    let error = crate::ask(&sources, &request).unwrap_err();
    assert!(matches!(error, QueryError::Select(_)));
    assert!(
        error.to_string().contains("only one is allowed: api, shop"),
        "{error}"
    );
    let request = with!(DiffRequest {
        baseline: BuildRef::Labelled(labelled(r#"{service_name="shop", version="v1"}"#, None)),
        candidate: BuildRef::Labelled(labelled(r#"{service_name="shop", version!="v1"}"#, None)),
    });
    let diff = crate::ask(&sources, &request).unwrap();
    assert_eq!(diff.comparison.baseline.runs, 2);
    assert_eq!(diff.comparison.candidate.build, "v2");
}

#[test]
fn other_questions_take_labels_in_place_of_a_build() {
    let sources = stored(None);
    let named: BuildRef =
        serde_json::from_str(r#"{"labelled": {"labels": "{host=\"a\"}"}}"#).unwrap();
    let top = crate::ask(
        &sources,
        &with!(TopRequest {
            named: named.clone()
        }),
    )
    .unwrap();
    assert_eq!(top.functions.len(), 4);
    let request = with!(ExportRequest {
        named,
        format: ExportFormat::Folded,
    });
    let mut folded = Vec::new();
    write(&crate::ask(&sources, &request).unwrap(), false, &mut folded).unwrap();
    assert_eq!(
        String::from_utf8(folded).unwrap(),
        "main;work 40\nmain;work 40\n"
    );
}

#[test]
fn label_sets_have_programs_builds_and_events() {
    let request = LabelSetsRequest(labelled(r#"{service_name="shop"}"#, None));
    let sets = crate::ask(&stored(None), &request).unwrap().sets;
    let labels: Vec<Vec<(&str, &str)>> = sets
        .iter()
        .map(|set| set.labels.iter().map(|(n, v)| (&**n, &**v)).collect())
        .collect();
    assert_eq!(
        labels,
        [
            [("host", "a"), ("service_name", "shop"), ("version", "v1")],
            [("host", "a"), ("service_name", "shop"), ("version", "v2")],
            [("host", "b"), ("service_name", "shop"), ("version", "v1")],
        ]
    );
    assert_eq!(sets[0].events[0].event, "cpu");
    assert_eq!(sets[0].runs, 1);
}

fn over_time(slices: Option<u32>, time: Option<[u64; 2]>, group_by: &[&str]) -> CostOverTime {
    let request = with!(CostOverTimeRequest {
        runs: labelled(r#"{service_name="shop"}"#, time),
        group_by: group_by.iter().map(|&name| name.to_owned()).collect(),
        step: 4,
    });
    crate::ask(&stored(slices), &request).unwrap()
}

fn points(costs: &CostOverTime) -> Vec<Vec<(u64, u64)>> {
    let series = costs.series.iter().map(|series| &series.points);
    series
        .map(|points| points.iter().map(|p| (p.time.0, p.cost.value)).collect())
        .collect()
}

#[test]
fn cost_over_time_has_each_slice_in_its_step() {
    let costs = over_time(Some(10), None, &["version"]);
    assert_eq!(costs.series[0].labels["version"], "v1");
    assert_eq!(
        points(&costs),
        [
            vec![(1000, 4), (1004, 4), (1008, 2 + 4), (1012, 8), (1016, 8)],
            vec![(1020, 12), (1024, 12), (1028, 6)],
        ]
    );
    assert_eq!(
        points(&over_time(None, None, &[])),
        [[(1000, 10), (1008, 20), (1020, 30)]]
    );
}

#[test]
fn cost_over_time_is_of_whole_steps() {
    let costs = over_time(Some(10), Some([1006, 1009]), &[]);
    assert_eq!(points(&costs), [[(1004, 4), (1008, 6)]]);
}

const OPTIONS: FlamebearerOptions = FlamebearerOptions {
    max_nodes: 100,
    by_samples: false,
};

#[test]
fn flamebearer_nests_children_and_counts_what_it_leaves_out() {
    let store = Store::in_memory().unwrap();
    let stacks = "a;b;c 1\na;b 2\na;d 4\na 1\ne 8\n";
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let input = (Path::new("x.folded"), stacks.as_bytes());
    ingest(&store, input, &options, &mut |_| {}).unwrap();
    let sources = Sources::from_snapshot(store.snapshot().unwrap());
    let view = sources.view(&"v1".into(), &Filter::default()).unwrap();
    let graph = flamebearer(&[&view], OPTIONS);
    assert_eq!(graph.names, ["total", "a", "b", "c", "d", "e"]);
    assert_eq!(
        graph.levels,
        [
            vec![0, 16, 0, 0],
            vec![0, 8, 1, 1, 0, 8, 8, 5],
            vec![1, 3, 2, 2, 0, 4, 4, 4],
            vec![3, 1, 1, 3],
        ]
    );
    assert_eq!((&*graph.totals, graph.max_self), (&[16][..], 8));
    let fewer = flamebearer(
        &[&view],
        FlamebearerOptions {
            max_nodes: 3,
            ..OPTIONS
        },
    );
    assert_eq!(fewer.names, ["total", "a", "other", "d", "e"]);
    assert_eq!(fewer.levels[2], [1, 3, 3, 2, 0, 4, 4, 3]);
    let both = flamebearer(&[&view, &view], OPTIONS);
    assert_eq!(both.levels[1], [0, 8, 1, 0, 8, 1, 1, 0, 8, 8, 0, 8, 8, 5]);
    assert_eq!(both.totals, [16, 16]);
}

#[test]
fn flamebearer_of_nothing_has_one_box() {
    let mut empty = view(&stored(None), "{}", None);
    empty.runs.clear();
    let graph = flamebearer(&[&empty], OPTIONS);
    assert_eq!(graph.names, ["total"]);
    assert_eq!(graph.levels, [[0, 0, 0, 0]]);
}
