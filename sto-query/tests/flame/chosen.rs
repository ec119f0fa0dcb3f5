//! Options of flame graphs: focus, ignored and inverted stacks, and roots by label or thread.

use super::{
    difference_with, drawn, find, focus, focused, is_blue, is_red, names, picture_with,
    without_script,
};
use crate::views::{Stacks, assert_golden, demo, folded, frame, view, view_of};
use std::collections::BTreeMap;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model::FrameKind;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{Cost, SampleType, Unit};
use sto_query::error::{FlameError, RootsError};
use sto_query::internal::tree::ThreadNames;
use sto_query::questions::Focus;
use sto_query::render::flame::{FlameOptions, Widths};
use sto_query::results::View;
use sto_query::select::Selection;

#[test]
fn focus_draws_whole_stacks_with_the_function() {
    let before = view(
        "v1",
        &folded("main;parse;log;write 10\nmain;run 80\nmain;log 10", 1),
    );
    let after = view(
        "v2",
        &folded("main;parse;log;write 40\nmain;run 50\nmain;log 10", 1),
    );
    let svg = focused(&before, &after, "parse");
    assert_eq!(names(&svg), ["all", "log", "main", "parse", "write"]);
    assert!(svg.contains("Only stacks with parse: 10.00% → 40.00%."));
    let frames = drawn(&svg);
    let widths: Vec<u64> = ["main", "parse", "log"]
        .map(|name| find(&frames, name).samples)
        .to_vec();
    assert_eq!(
        widths,
        [40, 40, 40],
        "the picture is as wide as what is in focus"
    );
    assert!(
        is_red(&find(&frames, "parse").fill),
        "colours are changes of the share of everything"
    );

    let one = picture_with(&after, &focus("parse", &[&after]));
    assert_eq!(names(&one), ["all", "log", "main", "parse", "write"]);
}

#[test]
fn exact_name_precedes_part_of_a_name() {
    let stacks =
        "main;log 10\nmain;log_all 10\nmain;receive.isra.0 10\nmain;sort<int> 10\nmain;sorted 10";
    let build = view("v1", &folded(stacks, 1));
    let shown = |name| names(&focused(&build, &build, name));
    assert_eq!(shown("log"), ["all", "log", "main"]);
    assert_eq!(shown("lo"), ["all", "log", "log_all", "main"]);
    assert_eq!(
        shown("receive"),
        ["all", "main", "receive"],
        "as a finding names it"
    );
    assert_eq!(shown("receive.isra.0"), ["all", "main", "receive"]);
    assert_eq!(
        shown("sort"),
        shown("sort<int>"),
        "without template arguments"
    );
    let error = Focus::new("recieve", &[&build]).unwrap_err().to_string();
    assert!(
        error.starts_with("demo@v1: no function has `recieve` in its name"),
        "{error}"
    );
}

fn inverted() -> FlameOptions {
    FlameOptions {
        inverted: true,
        ..FlameOptions::default()
    }
}

#[test]
fn ignores_stacks_with_the_function() {
    let build = view(
        "v1",
        &folded("main;log;write 10\nmain;run 20\nmain;run;log 70", 1),
    );
    let options = FlameOptions {
        ignore: Some(Focus::new("log", &[&build]).unwrap()),
        ..FlameOptions::default()
    };
    let svg = picture_with(&build, &options);
    assert_eq!(names(&svg), ["all", "main", "run"]);
    assert!(
        svg.contains("Only stacks without log, 20.00% of all."),
        "{svg}"
    );
    let both = FlameOptions {
        focus: Some(Focus::new("write", &[&build]).unwrap()),
        ..options
    };
    let error = super::svg((&build, 0), &both).unwrap_err();
    assert!(matches!(error, FlameError::NothingChosen), "{error}");
}

#[test]
fn inverted_stacks_begin_with_functions_with_self_cost() {
    let build = view(
        "v1",
        &folded(
            "main;a;hash 30\nmain;b;hash 10\nmain;b 40\nmain;fib;fib;fib 20",
            1,
        ),
    );
    let frames = drawn(&picture_with(&build, &inverted()));
    let named = |name: &str| -> Vec<u64> {
        let mut widths: Vec<_> = frames
            .iter()
            .filter(|f| f.title.split(" (").next() == Some(name))
            .map(|f| f.samples)
            .collect();
        widths.sort();
        widths
    };
    assert_eq!(
        named("hash"),
        [40],
        "what it costs by itself, whoever calls it"
    );
    assert_eq!(named("a"), [30]);
    assert_eq!(named("b"), [10, 40], "as hash's caller, and by itself");
    assert_eq!(named("fib"), [20, 20, 20]);
    assert_eq!(named("main"), [10, 20, 30, 40]);
}

#[test]
fn inverted_difference_shows_changed_self_costs() {
    let (v1, v2) = demo();
    let svg = difference_with(&v1, &v2, Widths::Candidate, &inverted()).unwrap();
    assert_golden("flame-diff-inverted-v1-v2.svg", &without_script(&svg));
    let frames = drawn(&svg);
    assert_eq!(find(&frames, "ksys_write").samples, 100);
    assert!(is_red(&find(&frames, "ksys_write").fill));
    assert!(is_blue(&find(&frames, "mix(unsigned char[16], int)").fill));
}

#[test]
fn inverted_deep_recursion_states_where_it_ends() {
    let fib = frame("fib", "demo", FrameKind::User);
    let cost = Cost {
        samples: 3,
        value: 3,
    };
    let deep = view("v1", &vec![(vec![fib; 100_000], cost)]);
    let svg = picture_with(&deep, &inverted());
    assert_eq!(drawn(&svg).len(), 501);
    assert!(svg.contains("Only the outermost 500 levels of calls are drawn."));
}

/// Two runs of one build on different machines.
fn on_two_hosts() -> View {
    let cycles = SampleType {
        event: "cycles".to_owned(),
        unit: Unit::Events,
    };
    let first: Stacks = folded("main;run 30", 1);
    let second: Stacks = folded("main;run 10\nmain;log 60", 1);
    let mut both = view_of(
        "v1",
        &[vec![(cycles.clone(), &first)], vec![(cycles, &second)]],
    );
    for (profile, host) in both.selection.profiles.iter_mut().zip(["a", "<b>"]) {
        let labels = &mut profile.profile.labels;
        labels.insert("host".to_owned(), host.to_owned());
    }
    both
}

#[test]
fn each_value_of_a_label_has_a_root() {
    let view = on_two_hosts();
    let store = Store::in_memory().unwrap();
    let by_host = view
        .with_label_roots(&store.snapshot().unwrap(), "host")
        .unwrap();
    let frames = drawn(&picture_with(&by_host, &FlameOptions::default()));
    assert_eq!(find(&frames, "host=a").samples, 30);
    assert_eq!(find(&frames, "host=&lt;b&gt;").samples, 70);
    assert_eq!(find(&frames, "log").samples, 60);
    assert_eq!(by_host.runs.len(), 2, "runs stay separate");
    assert_eq!(
        by_host.self_costs(0).into_iter().sum::<Cost>(),
        view.self_costs(0).into_iter().sum()
    );

    let error = view
        .with_label_roots(&store.snapshot().unwrap(), "hosts")
        .unwrap_err();
    let expected = "demo@v1: no profile has a label `hosts`; did you mean `host`?";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, RootsError::NoLabel { known, .. } if known == ["host"]));
}

#[test]
fn runs_without_the_label_have_a_root_without_a_value() {
    let mut view = on_two_hosts();
    view.selection.profiles[0].profile.labels.clear();
    let frames = drawn(&picture_with(
        &view
            .with_label_roots(&Store::in_memory().unwrap().snapshot().unwrap(), "host")
            .unwrap(),
        &FlameOptions::default(),
    ));
    assert_eq!(find(&frames, "host=").samples, 30);
}

/// Stores the recording of a program with two threads in `slices` slices.
fn threads(slices: Option<u32>) -> (Store, View) {
    ingested(&["perf-data/threads.perf.data"], slices)
}

/// Stores recordings of one program as runs of a build, in `slices` slices.
fn ingested(files: &[&str], slices: Option<u32>) -> (Store, View) {
    let store = Store::in_memory().unwrap();
    for (run, file) in files.iter().enumerate() {
        let file = format!("{}/../testdata/{file}", env!("CARGO_MANIFEST_DIR"));
        let options = IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some("v1".to_owned()),
            slices: slices.and_then(SliceCount::new),
            labels: BTreeMap::from([("run".to_owned(), run.to_string())]),
            ..IngestOptions::default()
        };
        ingest(&store, &file, &options, &mut |_| ()).unwrap();
    }
    let build = store.snapshot().unwrap().builds().unwrap().remove(0);
    let selection = Selection::new(build.build, build.profiles);
    let view = View::load(&store.snapshot().unwrap(), selection).unwrap();
    (store, view)
}

#[test]
fn roots_of_threads_add_up_to_the_total_cost() {
    let (store, view) = threads(Some(7));
    let of_one_slice = threads(Some(1));
    let loaded = store
        .snapshot()
        .unwrap()
        .load_slices(view.selection.profiles[0].id)
        .unwrap()
        .unwrap();
    let by_id = view
        .with_thread_roots(&store.snapshot().unwrap(), ThreadNames::NameAndId)
        .unwrap();
    let frames = drawn(&picture_with(&by_id, &FlameOptions::default()));
    for (ix, context) in loaded.slices.contexts.iter().enumerate() {
        let thread = &context.thread;
        let costs = loaded.slices.costs[0].iter();
        let own = costs.filter(|cost| cost.context.0 as usize == ix);
        let name = format!("{} ({})", thread.name, thread.tid);
        let root = frames.iter().find(|f| f.title.starts_with(&name)).unwrap();
        assert_eq!(root.samples, own.map(|cost| cost.cost.samples).sum::<u64>());
    }
    let whole: Cost = view.self_costs(0).into_iter().sum();
    assert_eq!(by_id.self_costs(0).into_iter().sum::<Cost>(), whole);
    let one = of_one_slice
        .1
        .with_thread_roots(&of_one_slice.0.snapshot().unwrap(), ThreadNames::NameAndId);
    assert_eq!(
        picture_with(&one.unwrap(), &FlameOptions::default()),
        picture_with(&by_id, &FlameOptions::default()),
        "however time was cut"
    );
}

#[test]
fn roots_of_threads_name_the_program_and_the_thread() {
    let (store, view) = ingested(&["perf-data/renames.perf.data"], Some(1));
    let by_name = view.with_thread_roots(&store.snapshot().unwrap(), ThreadNames::Name);
    let frames = drawn(&picture_with(&by_name.unwrap(), &FlameOptions::default()));
    for name in ["renames (", "renames: loader (", "renames: renderer ("] {
        let mut roots = frames.iter().filter(|frame| frame.title.starts_with(name));
        assert!(roots.next().is_some_and(|root| root.samples > 0), "{name}");
    }
}

#[test]
fn profile_without_slices_has_no_threads() {
    let (store, view) = threads(None);
    let error = view
        .with_thread_roots(&store.snapshot().unwrap(), ThreadNames::Name)
        .unwrap_err();
    assert!(matches!(error, RootsError::NoThreads { .. }), "{error}");
}

/// Returns the titles of the roots by label or thread, with their widths.
fn roots(view: &View) -> BTreeMap<String, u64> {
    let frames = drawn(&picture_with(view, &FlameOptions::default()));
    let is_root = |name: &str| name.contains('=') || name.starts_with("thread ");
    let roots = frames.iter().filter_map(|frame| {
        let name = frame.title.split(" (").next()?;
        is_root(name).then(|| (name.to_owned(), frame.samples))
    });
    roots.collect()
}

#[test]
fn values_of_sample_labels_agree_with_go_tool_pprof() {
    let (store, view) = ingested(&["pprof/go-labels-cpu.pb.gz"], Some(1));
    let expected = [
        ("request=", 2),
        ("request=read", 14),
        ("request=search", 20),
    ];
    let by_request = view
        .with_label_roots(&store.snapshot().unwrap(), "request")
        .unwrap();
    assert_eq!(
        roots(&by_request),
        expected
            .map(|(name, samples)| (name.to_owned(), samples))
            .into()
    );
    assert_eq!(
        by_request.self_costs(0).into_iter().sum::<Cost>(),
        view.self_costs(0).into_iter().sum()
    );
    // The profile does not distinguish threads.
    let error = view
        .with_thread_roots(&store.snapshot().unwrap(), ThreadNames::Name)
        .unwrap_err();
    assert_eq!(error.to_string(), "demo@v1: its samples have no threads");

    let error = view
        .with_label_roots(&store.snapshot().unwrap(), "tenants")
        .unwrap_err();
    let RootsError::NoLabel { closest, known, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(closest.as_deref(), Some("tenant"));
    assert_eq!(known, ["request", "run", "tenant"]);
}

#[test]
fn run_label_applies_to_samples_without_the_label() {
    let files = ["pprof/go-labels-cpu.pb.gz", "pprof/go-cpu.pb.gz"];
    let (store, mut view) = ingested(&files, Some(1));
    for (profile, tenant) in view.selection.profiles.iter_mut().zip(["own", "other"]) {
        let labels = &mut profile.profile.labels;
        labels.insert("tenant".to_owned(), tenant.to_owned());
    }
    let by_tenant = view
        .with_label_roots(&store.snapshot().unwrap(), "tenant")
        .unwrap();
    let names: Vec<_> = roots(&by_tenant).into_keys().collect();
    let expected = ["blue", "green", "other", "own", "red"].map(|value| format!("tenant={value}"));
    assert_eq!(names, expected);
    for run in 0..2 {
        let sum = |view: &View| -> Cost { view.runs[run][0].iter().map(|&(_, cost)| cost).sum() };
        assert_eq!(sum(&by_tenant), sum(&view), "run {run}");
    }
}

#[test]
fn numeric_labels_have_the_unit_of_their_run() {
    let (store, view) = ingested(&["pprof/go-labels-heap.pb.gz"], Some(1));
    let by_size = roots(
        &view
            .with_label_roots(&store.snapshot().unwrap(), "bytes")
            .unwrap(),
    );
    assert_eq!(by_size["bytes=1048576 bytes"], 2);
    let (store, view) = ingested(&["pprof/go-labels-heap.pb.gz"], None);
    assert!(matches!(
        view.with_label_roots(&store.snapshot().unwrap(), "bytes"),
        Err(RootsError::NoLabel { .. })
    ));
}
