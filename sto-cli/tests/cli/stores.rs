//! The store in `testdata/stores`, which all later versions of sto must read.

use crate::support::{Run, Sandbox, repository};
use std::fs;

#[test]
fn store_of_version_1_has_the_same_output() {
    let path = repository().join("testdata/stores/1.redb");
    let before = fs::read(&path).unwrap();
    let sandbox = Sandbox::new();
    let run = |args: &[&str]| {
        let store = ["--store", path.to_str().unwrap()];
        Run::new(&mut sandbox.bare_command(&[&store, args].concat())).succeeds()
    };
    run(&["verify"]);
    for (name, args) in [
        ("ls", &["ls", "--format", "json"][..]),
        ("top", &["top", "v2", "--format", "json"]),
        ("tree", &["tree", "v1", "--format", "json"]),
        ("show", &["show", "labelled", "--format", "json"]),
    ] {
        let golden = path.with_extension(format!("{name}.json"));
        sto_test_support::assert_golden(&golden, &run(args).stdout);
    }
    assert!(fs::read(&path).unwrap() == before, "reading wrote to it");
}
