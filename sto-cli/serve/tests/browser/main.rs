//! Tests of the pages in Chromium: the scripts next to this file drive it, and ask axe-core for what assistive technology
//! misses.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::UnixSeconds;
use sto_core::{IngestOptions, ingest};
use sto_serve::{Options, Program};
use sto_test_support::missing;

/// Programs and packages that the scripts need. Packages of Node.js are found by `NODE_PATH`.
const TOOLS: [&str; 4] = ["node", "chromium", "node puppeteer-core", "node axe-core"];

/// Stacks with names that a careless page would run.
const HOSTILE: &str = "main;<img src=x onerror=\"hacked=1\">;\"><script>hacked=1</script> 60\n\
    main;javascript:hacked=1;a&lt;b 40\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs of each build of `steady`.
const RUNS: u64 = 3;

/// Output of `perf script` with 100 samples, in which `parse` takes some milliseconds each time.
fn steady_run(parse: u64, second: u64) -> String {
    let sample = |step: u64| {
        let (function, milliseconds) = if step.is_multiple_of(3) {
            ("parse", parse)
        } else {
            ("main", 10)
        };
        format!(
            "steady 7/7 {second}.{step:02}0000: {milliseconds}000000 cpu-clock:\n\t1 {function} (steady)\n\n"
        )
    };
    (0..100).map(sample).collect()
}

/// Stores two builds of the demo, ten of a program whose function `parse` is slower since the sixth, and one build whose
/// names are hostile.
fn filled_store(folder: &Path) -> Store {
    let store = Store::open_or_create(&folder.join("store.redb")).unwrap();
    let add = |path: &Path, program: &str, build: &str, day: u64| {
        let bytes = std::fs::read(path).unwrap();
        let mut options = IngestOptions {
            executable: Some(program.to_owned()),
            version: Some(build.to_owned()),
            recorded: Some(UnixSeconds(1_790_000_000 + 86_400 * day)),
            slices: SliceCount::new(100).filter(|_| program == "demo"),
            ..IngestOptions::default()
        };
        options.symbols.symbol_dirs = vec![repository().join("testdata/demo")];
        ingest(&store, (path, &bytes[..]), &options, &mut |_| {}).unwrap();
    };
    for (build, day) in [("v1", 1), ("v2", 2)] {
        let file = format!("testdata/demo/{build}.perf.data");
        add(&repository().join(file), "demo", build, day);
    }
    for build in 1..=10 {
        for run in 0..RUNS {
            let script = steady_run(if build < 6 { 10 } else { 30 } + run % 2, 10 * build + run);
            let path = folder.join("steady.script");
            std::fs::write(&path, script).unwrap();
            add(&path, "steady", &format!("b{build:02}"), build);
        }
    }
    let hostile = folder.join("hostile.folded");
    std::fs::write(&hostile, HOSTILE).unwrap();
    add(
        &hostile,
        "<b>evil</b>",
        "<img src=x onerror=\"hacked=1\">",
        1,
    );
    store
}

#[test]
fn pages_work_in_a_browser() {
    if missing(&TOOLS) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = filled_store(folder.path());
    let mut options = Options::default();
    options.listen.set_port(0);
    let (ready, address) = mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async { stopped.await.unwrap_or(()) };
    let mut program = Program::default();
    program.on_ready = Arc::new(move |at| ready.send(at.to_owned()).unwrap());
    let server = thread::spawn(move || sto_serve::serve(store, options, program, stopped));
    let folder_of_scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let scripts = ["pages.test.js", "lists.test.js"].map(|name| folder_of_scripts.join(name));
    let output = Command::new("node")
        .arg("--test")
        .args(scripts)
        .env("STO_PAGES", address.recv().unwrap().trim_end_matches('/'))
        .output()
        .unwrap();
    stop.send(()).unwrap();
    server.join().unwrap().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
