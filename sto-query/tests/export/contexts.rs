//! Threads and labels of samples, exported as pprof and OTLP and read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::tree::{SampleContext, SliceCount};
use sto_core::units::Cost;
use sto_query::error::ExportError;
use sto_query::render::export::{otlp, pprof};
use sto_query::results::{ContextCosts, View};
use sto_query::select::Selection;
use sto_test_support::{is_there, skip};

/// Cost by event, context and stack, root first.
type Content = BTreeMap<(String, SampleContext, Vec<String>), Cost>;

/// Stores a recording with one slice in a new store.
fn stored(file: &Path) -> (Store, View) {
    let store = Store::in_memory().unwrap();
    ingest_one_slice(&store, file);
    let view = view_of_only_build(&store);
    (store, view)
}

fn ingest_one_slice(store: &Store, file: &Path) {
    let options = IngestOptions {
        executable: Some("app".to_owned()),
        version: Some("v1".to_owned()),
        slices: SliceCount::new(1),
        ..IngestOptions::default()
    };
    ingest(store, file, &options, &mut |_| ()).unwrap();
}

/// Returns the sum of the runs of the only build.
fn view_of_only_build(store: &Store) -> View {
    let build = store.snapshot().unwrap().builds().unwrap().remove(0);
    let selection = Selection::new(build.build, build.profiles);
    View::load_sum(&store.snapshot().unwrap(), selection).unwrap()
}

fn content(store: &Store, view: &View) -> Content {
    let mut content = Content::new();
    let kept = view
        .context_costs(&store.snapshot().unwrap())
        .unwrap()
        .unwrap();
    for ((context, node), costs) in &kept.costs {
        let stack = view.tree.ancestors(*node);
        let stack = stack.map(|node| format!("{:?}", view.frames.frame(view.tree.frame(node))));
        let mut stack: Vec<String> = stack.collect();
        stack.reverse();
        for (sample_type, &cost) in view.sample_types.iter().zip(costs) {
            let context = kept.contexts[context.0 as usize].clone();
            let key = (sample_type.event.clone(), context, stack.clone());
            if !cost.is_zero() {
                content.insert(key, cost);
            }
        }
    }
    content
}

fn testdata(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(file)
}

type Renderer = fn(&View, Option<&ContextCosts>, &mut Vec<u8>) -> Result<(), ExportError>;
const PPROF: Renderer = |view, contexts, out| pprof(view, contexts, out);
const OTLP: Renderer = |view, contexts, out| otlp(view, contexts, out);

/// Exports a recording with its threads and labels.
fn exported(file: &str, render: Renderer, folder: &Path) -> (PathBuf, Content) {
    let (store, view) = stored(&testdata(file));
    let contexts = view.context_costs(&store.snapshot().unwrap()).unwrap();
    let mut bytes = Vec::new();
    render(&view, contexts.as_ref(), &mut bytes).unwrap();
    let path = folder.join("exported");
    std::fs::write(&path, bytes).unwrap();
    (path, content(&store, &view))
}

#[test]
fn threads_and_labels_round_trip() {
    for file in [
        "pprof/go-labels-cpu.pb.gz",
        "pprof/go-labels-heap.pb.gz",
        "pprof/go-cpu.pb.gz",
        "otlp/v1.10.otlp",
        "perf-data/threads.perf.data",
    ] {
        for render in [PPROF, OTLP] {
            let folder = tempfile::tempdir().unwrap();
            let (path, before) = exported(file, render, folder.path());
            let (store, view) = stored(&path);
            let after = content(&store, &view);
            assert!(before.len() > 1, "{file}");
            assert_eq!(after, before, "{file}");
        }
    }
}

/// A profile and its exported copy are two files, and thus two runs.
#[test]
fn threads_and_labels_of_several_runs_round_trip() {
    let file = "pprof/go-labels-cpu.pb.gz";
    let folder = tempfile::tempdir().unwrap();
    let (path, mut expected) = exported(file, PPROF, folder.path());
    for cost in expected.values_mut() {
        *cost += *cost;
    }
    let store = Store::in_memory().unwrap();
    ingest_one_slice(&store, &testdata(file));
    ingest_one_slice(&store, &path);
    let both = view_of_only_build(&store);
    assert_eq!(both.selection.profiles.len(), 2);
    let mut bytes = Vec::new();
    let contexts = both.context_costs(&store.snapshot().unwrap()).unwrap();
    pprof(&both, contexts.as_ref(), &mut bytes).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let (store, view) = stored(&path);
    assert_eq!(content(&store, &view), expected);
}

/// Needs Go (Debian: `golang-go`).
#[test]
fn go_tool_pprof_finds_the_same_tags() {
    if !is_there("go") {
        skip("no go");
        return;
    }
    for (file, event) in [("go-labels-cpu", "cpu"), ("go-labels-heap", "alloc_space")] {
        let folder = tempfile::tempdir().unwrap();
        let original = format!("pprof/{file}.pb.gz");
        let (path, _) = exported(&original, PPROF, folder.path());
        let tags = |path: &Path| {
            let mut go = Command::new("go");
            go.args(["tool", "pprof", "-tags", "-symbolize=none"]);
            go.arg(format!("-sample_index={event}")).arg(path);
            let output = go.env("HOME", folder.path()).output().ok()?;
            assert!(output.status.success(), "{output:?}");
            Some(String::from_utf8(output.stdout).unwrap())
        };
        let Some(expected) = tags(&testdata(&original)) else {
            return;
        };
        assert_eq!(tags(&path).unwrap(), expected);
    }
}
