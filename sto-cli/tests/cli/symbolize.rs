//! `sto symbolize`: symbols that become available after a profile was stored.

use crate::support::{Sandbox, repository};
use serde_json::json;

/// A sandbox that stores a recording without the program's file.
fn without_symbols() -> Sandbox {
    let sandbox = Sandbox::new();
    let recording = repository().join("testdata/demo/v1.perf.data");
    std::fs::copy(recording, sandbox.path("v1.perf.data")).unwrap();
    sandbox
        .sto(&["ingest", "v1.perf.data", "--exe", "demo", "--build", "v1"])
        .succeeds();
    sandbox
}

fn demo() -> String {
    repository().join("testdata/demo").display().to_string()
}

#[test]
fn symbols_are_added_once_and_the_profile_names_its_predecessor() {
    let sandbox = without_symbols();
    let id = |sandbox: &Sandbox| sandbox.json(&["show", "v1"])["profiles"][0]["id"].clone();
    let first = id(&sandbox);
    let output = sandbox.sto(&["symbolize"]).succeeds().stdout;
    // The number of other modules without symbols depends on the system's libraries.
    let unnamed = output
        .split_once("demo@v1: none of ")
        .and_then(|(_, rest)| rest.split_once(" has a name yet"));
    let (addresses, _) = unnamed.expect(&output);
    assert_eq!(id(&sandbox), first);

    let output = sandbox.sto(&["symbolize", "v1", "--symbol-dir", &demo()]);
    let output = output.succeeds().stdout;
    let line = output.lines().next().unwrap();
    assert!(line.starts_with("demo@v1: "), "{output}");
    assert!(
        line.ends_with(&format!(" of {addresses} now have names")),
        "{output}"
    );
    assert!(output.contains(" in place of "), "{output}");
    let second = id(&sandbox);
    assert_ne!(second, first);
    let shown = sandbox.json(&["show", "v1"]);
    assert_eq!(shown["profiles"][0]["replaces"], json!([first]));
    let text = sandbox.sto(&["show", "v1"]).succeeds().stdout;
    let short = &first.as_str().unwrap()[..12];
    assert!(text.contains(&format!("  replaces {short}\n")), "{text}");
    let top = sandbox.sto(&["top", "v1", "-n", "2"]).succeeds().stdout;
    assert!(
        top.contains("compress") && top.contains("multiply"),
        "{top}"
    );
    let gone = sandbox.sto(&["top", short]);
    gone.fails_with(&["no build or profile is called", short]);

    let before = sandbox.store_bytes();
    let again = sandbox.json(&["symbolize", "--symbol-dir", &demo()]);
    assert_eq!(again["schema"], "sto.symbolize/1");
    assert_eq!(again["profiles"][0]["became"], json!(null));
    assert_eq!(sandbox.store_bytes(), before);
    sandbox.sto(&["verify"]).succeeds();

    // The result equals a profile that was ingested with symbols.
    let path = sandbox.path("v1.perf.data").display().to_string();
    let build = ["--exe", "demo", "--build", "v1", "--symbol-dir", &demo()];
    let fresh = ["--store", "fresh", "ingest", &path];
    sandbox.sto(&[&fresh[..], &build].concat()).succeeds();
    let fresh = sandbox.json(&["--store", "fresh", "show", "v1"]);
    assert_eq!(fresh["profiles"][0]["id"], second);
}

#[test]
fn store_with_all_symbols_has_nothing_to_do() {
    let sandbox = Sandbox::new();
    let output = sandbox.sto(&["symbolize"]);
    output.fails_with(&["there is no store"]);
    sandbox.write("a.folded", "main;work 3\n");
    sandbox
        .sto(&["ingest", "a.folded", "--build", "v1"])
        .succeeds();
    let output = sandbox.sto(&["symbolize"]).succeeds().stdout;
    let expected = "Nothing to do: all stored addresses have names.\n";
    assert!(output.starts_with(expected), "{output}");
}

#[test]
fn pull_replaces_profiles_without_symbols() {
    let sandbox = without_symbols();
    sandbox.sto(&["push", "place"]).succeeds();
    for store in ["helper", "colleague"] {
        sandbox.sto(&["--store", store, "pull", "place"]).succeeds();
    }
    let symbolize = ["--store", "helper", "symbolize", "--symbol-dir", &demo()];
    sandbox.sto(&symbolize).succeeds();
    let push = ["--store", "helper", "push", "place"];
    let output = sandbox.sto(&push).succeeds().stdout;
    assert!(output.starts_with("sent 1 profile "), "{output}");
    let ids = |store: &str| {
        let runs = sandbox.json(&["--store", store, "runs"]);
        let runs = runs["runs"].as_array().unwrap().clone();
        runs.into_iter()
            .map(|run| run["id"].clone())
            .collect::<Vec<_>>()
    };
    let named = ids("helper");
    for store in ["colleague", "newcomer", "colleague", "helper"] {
        sandbox.sto(&["--store", store, "pull", "place"]).succeeds();
        assert_eq!(ids(store), named, "{store}");
    }
    let output = sandbox.sto(&["--store", "helper", "pull", "place", "-n"]);
    let output = output.succeeds().stdout;
    assert_eq!(
        output,
        "nothing to take from place; all 2 profiles are here\n"
    );
}
