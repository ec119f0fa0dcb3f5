//! Files that another process truncates while they are read: no signal or panic, and errors name the file.

use crate::symbolize::compile::Program;
use crate::symbolize::recording::resolve;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use sto_core::formats;
use sto_core::ingest::SymbolOptions;

/// Repeats `work` while another thread truncates and restores a file.
fn while_truncated(path: &Path, whole: &[u8], mut work: impl FnMut()) {
    const TIMES: usize = 300;
    fs::write(path, whole).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let file = File::options().write(true).open(path).unwrap();
                file.set_len(4096).unwrap();
                fs::write(path, whole).unwrap();
            }
        });
        (0..TIMES).for_each(|_| work());
        is_done.store(true, Ordering::Relaxed);
    });
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(name)
}

#[test]
fn truncating_a_profile_during_reading_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "demo/v1.dwarf.perf.data",
        "perf-script/frame-pointers.txt",
        "firefox/samply.json",
    ] {
        let path = folder.path().join("profile");
        let whole = fs::read(testdata(name)).unwrap();
        while_truncated(&path, &whole, || {
            if let Err(error) = formats::read(&path, &Default::default()) {
                let error = error.to_string();
                assert!(error.contains(path.to_str().unwrap()), "{error}");
            }
        });
    }
}

#[test]
fn truncating_a_program_during_symbolization_only_loses_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let source = "volatile long sink;\n\
        int main(int argc, char **argv) { sink = argc; return 0; }\n";
    let program = Program::c(folder.path(), source);
    let addresses = program.offsets_of("main");
    while_truncated(&program.path, program.bytes(), || {
        let found = resolve(
            program.module(),
            addresses.clone(),
            &SymbolOptions::default(),
        );
        assert_eq!(found.frames.len(), addresses.clone().count());
    });
}
