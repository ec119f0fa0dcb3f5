//! Tests of the library's public interface, from bytes to the store; one module per subject.
//!
//! They are one binary because linking many takes longer than running the tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod aarch64;
mod call_traces;
mod callgrind;
mod common;
mod compressed;
mod cut;
mod damaged;
mod executable_name;
mod folded;
mod hostile;
mod ids;
mod ingest;
mod intern;
mod jfr;
mod jit;
mod memray;
mod native;
mod nonsequitur;
mod otlp;
mod perf_data;
mod perf_script;
mod pprof;
mod pstats;
mod recording;
mod reports;
mod scripts;
mod serde;
mod slices;
mod store;
mod sums;
mod symbolize;
mod testdata;
mod thread_dumps;
mod traces;
mod viewers;
mod worst_shapes;

/// A file that is not declared here would silently be skipped.
#[test]
fn every_test_file_is_declared() {
    let declared = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_module =
            path.extension().is_some_and(|ending| ending == "rs") || path.join("mod.rs").exists();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            !is_module || name == "main" || declared.contains(&format!("mod {name};\n")),
            "{} is not declared in main.rs",
            path.display()
        );
    }
}
