//! Tests of the pages in Chromium: `pages.test.js` drives it, and asks axe-core for what assistive technology misses.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use sto_core::store::Store;
use sto_core::{IngestOptions, ingest};
use sto_serve::Options;
use sto_test_support::missing;

/// What the browser's script needs. Packages of Node.js are found by `NODE_PATH`.
const TOOLS: [&str; 4] = ["node", "chromium", "node puppeteer-core", "node axe-core"];

/// Stacks with names that a careless page would run.
const HOSTILE: &str = "main;<img src=x onerror=\"hacked=1\">;\"><script>hacked=1</script> 60\n\
    main;javascript:hacked=1;a&lt;b 40\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Stores two builds of the demo, and one whose names are hostile.
fn filled_store(folder: &Path) -> Store {
    let store = Store::open_or_create(&folder.join("store.redb")).unwrap();
    let add = |path: &Path, program: &str, build: &str| {
        let bytes = std::fs::read(path).unwrap();
        let mut options = IngestOptions {
            executable: Some(program.to_owned()),
            version: Some(build.to_owned()),
            ..IngestOptions::default()
        };
        options.symbols.symbol_dirs = vec![repository().join("testdata/demo")];
        ingest(&store, (path, &bytes[..]), &options, &mut |_| {}).unwrap();
    };
    for build in ["v1", "v2"] {
        let file = format!("testdata/demo/{build}.perf.data");
        add(&repository().join(file), "demo", build);
    }
    let hostile = folder.join("hostile.folded");
    std::fs::write(&hostile, HOSTILE).unwrap();
    add(&hostile, "<b>evil</b>", "<img src=x onerror=\"hacked=1\">");
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
    let server = thread::spawn(move || {
        sto_serve::serve(store, options, stopped, |at| ready.send(at).unwrap())
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/pages.test.js");
    let output = Command::new("node")
        .arg("--test")
        .arg(script)
        .env("STO_PAGES", format!("http://{}", address.recv().unwrap()))
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
