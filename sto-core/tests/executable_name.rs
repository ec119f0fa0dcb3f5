//! Frames of a program's own file have the executable's name as their module, so that its
//! builds share their stacks.

use std::collections::BTreeSet;
use std::path::Path;
use sto_core::id::{ExecutableId, NodeId};
use sto_core::ingest::SymbolOptions;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::{Loaded, Store};

/// Ingests the recording of `demo-v1` or `demo-v2`, and loads it.
fn stored_demo(store: &Store, version: &str, options: &IngestOptions) -> Loaded {
    let options = IngestOptions {
        version: Some(version.to_owned()),
        ..options.clone()
    };
    let path = demo_folder().join(format!("{version}.perf.data"));
    let report = ingest(store, &path, &options, &mut |_| ()).unwrap();
    let ingested = &report.profiles[0];
    let executable = ExecutableId::from_name(&ingested.build.executable);
    store
        .snapshot()
        .unwrap()
        .load(executable, &[ingested.id])
        .unwrap()
}

fn demo_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/demo"))
}

fn with_symbols(executable: Option<&str>) -> IngestOptions {
    IngestOptions {
        executable: executable.map(str::to_owned),
        symbols: SymbolOptions {
            recording_dir: Some(demo_folder().to_owned()),
            ..SymbolOptions::default()
        },
        ..IngestOptions::default()
    }
}

fn modules_of<'l>(loaded: &'l Loaded, function: &str) -> BTreeSet<&'l str> {
    let frames = loaded.frames.iter().map(|(_, frame)| frame);
    frames
        .filter(|frame| frame.symbol == function)
        .map(|frame| frame.module)
        .collect()
}

/// The stacks that end in a function, and go through `main`.
fn stacks(loaded: &Loaded, function: &str) -> BTreeSet<NodeId> {
    let tree = &loaded.tree;
    let symbol = |node| loaded.frames.frame(tree.frame(node)).symbol;
    let ids = tree.node_ids(ExecutableId::from_name("demo"), &loaded.frames);
    tree.nodes()
        .filter(|&node| symbol(node) == function)
        .filter(|&node| tree.ancestors(node).any(|node| symbol(node) == "main"))
        .map(|node| ids[node.get()])
        .collect()
}

#[test]
fn builds_with_different_file_names_share_stacks() {
    let store = Store::in_memory().unwrap();
    let options = with_symbols(Some("demo"));
    let builds = ["v1", "v2"].map(|version| stored_demo(&store, version, &options));
    for loaded in &builds {
        assert_eq!(modules_of(loaded, "doLogging"), BTreeSet::from(["demo"]));
    }
    let [first, second] = builds.each_ref().map(|loaded| stacks(loaded, "doLogging"));
    assert_eq!(first.len(), 1);
    assert_eq!(first, second);
}

#[test]
fn renames_only_the_programs_own_file() {
    let loaded = stored_demo(
        &Store::in_memory().unwrap(),
        "v1",
        &with_symbols(Some("demo")),
    );
    let frames = loaded.frames.iter();
    let modules: BTreeSet<&str> = frames.map(|(_, frame)| frame.module).collect();
    // `[unknown]` is in no module.
    assert_eq!(
        modules,
        BTreeSet::from(["", "[kernel]", "demo", "libc.so.6"])
    );
}

#[test]
fn keeps_the_file_name_without_an_executable_name() {
    let split = IngestOptions {
        split_processes: true,
        ..with_symbols(Some("demo"))
    };
    for options in [with_symbols(None), split] {
        let loaded = stored_demo(&Store::in_memory().unwrap(), "v1", &options);
        assert_eq!(
            modules_of(&loaded, "doLogging"),
            BTreeSet::from(["demo-v1"])
        );
    }
}

#[test]
fn unresolved_code_has_the_executable_name() {
    let options = IngestOptions {
        symbols: SymbolOptions::default(),
        ..with_symbols(Some("demo"))
    };
    let loaded = stored_demo(&Store::in_memory().unwrap(), "v1", &options);
    let frames = loaded.frames.iter().map(|(_, frame)| frame);
    let own: Vec<_> = frames.filter(|frame| frame.module == "demo").collect();
    assert!(!own.is_empty());
    for frame in own {
        assert!(frame.symbol.starts_with("[demo+0x"), "{frame:?}");
    }
}
