//! Invalid input gives one clear sentence and status 2, and leaves the store unchanged.

use crate::support::{BEFORE, Run, Sandbox, files_of, repository};

/// Ingests a bad file into a store with two builds, and reads it directly. Checks that both errors are one sentence
/// with the path and these parts, and that the store is unchanged.
#[track_caller]
fn assert_rejected(name: &str, content: &[u8], parts: &[&str]) {
    let sandbox = Sandbox::with_two_builds();
    sandbox.write(name, content);
    let before = sandbox.store_bytes();
    let parts = [&[name], parts].concat();
    let ingest = ["ingest", name, "--build", "v3", "--exe", "demo"];
    sandbox.sto(&ingest).fails_with(&parts);
    assert_eq!(sandbox.store_bytes(), before, "the store is as it was");
    sandbox.sto(&["top", name]).fails_with(&parts);
    sandbox
        .sto(&["find-regressions", "v1", name])
        .fails_with(&parts);
}

#[test]
fn rejects_an_empty_file() {
    assert_rejected("perf.data", b"", &["the file is empty"]);
}

#[test]
fn rejects_a_text_file_named_perf_data() {
    assert_rejected(
        "perf.data",
        b"Dear diary,\ntoday\n",
        &["not a profile", "Dear diary"],
    );
}

#[test]
fn rejects_a_binary_file_named_perf_data() {
    assert_rejected(
        "perf.data",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
        &["not a profile"],
    );
}

#[test]
fn rejects_perf_data_truncated_in_its_header() {
    assert_rejected("perf.data", b"PERFILE2\x68\0\0\0\0\0\0\0", &["truncated"]);
}

fn testdata(name: &str) -> Vec<u8> {
    std::fs::read(repository().join("testdata").join(name)).unwrap()
}

#[test]
fn rejects_saved_stacks_of_another_architecture() {
    let content = testdata("perf-data/dwarf.perf.data");
    let arch = content.windows(7).position(|window| window == b"x86_64\0");
    let arch = arch.unwrap();
    let content = [&content[..arch], b"mips64", &content[arch + 6..]].concat();
    assert_rejected(
        "perf.data",
        &content,
        &["stacks of mips64", "--call-graph fp"],
    );
}

#[test]
fn rejects_perf_data_truncated_in_its_data() {
    let whole = testdata("demo/v1.perf.data");
    assert_rejected(
        "perf.data",
        &whole[..whole.len() / 2],
        &["truncated", "ends at byte"],
    );
}

#[test]
fn rejects_folded_stacks_with_an_invalid_line() {
    assert_rejected("a.txt", b"main;work 10\nmain;work ten\n", &["line 2"]);
}

#[test]
fn rejects_folders_and_missing_files() {
    let sandbox = Sandbox::with_two_builds();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let before = sandbox.store_bytes();
    let missing = "No such file";
    for (path, ingesting, looking) in [
        (
            "./folder",
            "no file in this folder is a profile",
            "a folder that is not one recording",
        ),
        ("./missing", missing, missing),
    ] {
        sandbox
            .sto(&["ingest", path, "--build", "v3"])
            .fails_with(&[path, ingesting]);
        sandbox.sto(&["top", path]).fails_with(&[path, looking]);
    }
    assert_eq!(sandbox.store_bytes(), before);
}

#[test]
fn a_bad_file_leaves_no_build_in_the_store() {
    let sandbox = Sandbox::new();
    sandbox.write("perf.data", "");
    sandbox
        .sto(&["ingest", "perf.data", "--build", "v1"])
        .fails_with(&["perf.data"]);
    let run = sandbox.sto(&["top", "v1"]);
    run.fails_with(&["store"]);
}

#[test]
fn rejects_a_store_path_that_is_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox.write("mine", "a letter");
    let ingest = [
        "ingest", "a.folded", "--build", "v1", "--exe", "demo", "--store", "mine",
    ];
    for command in [
        &ingest[..],
        &["ls", "--store", "mine"],
        &["top", "v1", "--store", "mine"],
    ] {
        sandbox.sto(command).fails_with(&["mine"]);
        assert_eq!(
            std::fs::read_to_string(sandbox.path("mine")).unwrap(),
            "a letter"
        );
    }
}

#[test]
fn rejects_a_store_file_of_another_format() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    for content in ["", "a letter", &"a long letter".repeat(1_000)] {
        sandbox.write("store/store.redb", content);
        let before = files_of(&sandbox.path("store"));
        let ingest = ["ingest", "a.folded", "--build", "v1", "--exe", "demo"];
        for command in [&ingest[..], &["ls"], &["top", "v1"]] {
            sandbox.sto(command).fails_with(&["store.redb"]);
            assert_eq!(files_of(&sandbox.path("store")), before, "{command:?}");
        }
    }
}

#[test]
fn full_disk_during_ingestion_is_an_error() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.sto(&["ls", "--format", "json"]).succeeds().stdout;
    // Names without a pattern, so that the profile does not fit into the file's free space.
    let mut state = 1_u64;
    let mut name = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        format!("{:x}{:x}", state, state.rotate_left(29) ^ 0x5bd1_e995)
    };
    let line = |names: [String; 3]| format!("main;{} 1\n", names.join(";"));
    let large: String = (0..5_000).map(|_| line([name(), name(), name()])).collect();
    sandbox.write("large.folded", large);
    // A limit on the file's size fails like a full disk. Its signal is ignored, because Rust programs
    // do not handle it.
    let size = sandbox.store_bytes()[0].1.len();
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; exec \"$0\" ingest large.folded --build v3 --exe demo",
        size.div_ceil(512)
    );
    let mut shell = sandbox.program("sh", &["-c", &script, env!("CARGO_BIN_EXE_sto")]);
    let run = Run::new(shell.env("STO_STORE", sandbox.path("store")));
    run.fails_with(&["store.redb", "File too large"]);
    assert_eq!(
        sandbox.sto(&["ls", "--format", "json"]).succeeds().stdout,
        before
    );
}

#[test]
fn hostile_file_names_are_escaped_in_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("\u{1b}[31mred\n", "");
    let run = sandbox.sto(&["ingest", "\u{1b}[31mred\n", "--build", "v1"]);
    run.fails_with(&[r"\u{1b}[31mred\u{a}"]);
}

#[test]
fn a_rejected_run_with_absurd_counts_does_not_affect_its_build() {
    let sandbox = Sandbox::new();
    let most = 1u64 << 56;
    for (file, count) in [("absurd", u64::MAX), ("large", most), ("usual", 1000)] {
        sandbox.write(file, format!("p 1 1.5: {count} cycles:\n\t1 f (/x)\n"));
    }
    let ingest = |file| sandbox.sto(&["ingest", file, "--exe", "x", "--build", "v"]);
    ingest("absurd").fails_with(&["its counts add up to more than 2^56"]);
    ingest("large").succeeds();
    ingest("usual").succeeds();
    assert_eq!(sandbox.json(&["top", "v"])["value"], most + 1000);
}
