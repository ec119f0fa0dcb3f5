//! Search of names in a store.

use crate::ask;
use std::path::Path;
use sto_core::ingest::{IngestOptions, Input, ingest};
use sto_core::store::Store;
use sto_query::questions::{FoundKind, SearchRequest};
use sto_query::results::{Found, SearchResults};
use sto_query::sources::Sources;

fn sources() -> Sources {
    let store = Store::in_memory().unwrap();
    let runs = [
        ("parser", "v1", "json::Parser::parse (libjson.so)"),
        ("parser", "v2-parse", "json::Parser::parse (libjson.so)"),
        ("server", "v1", "parse (libjson.so)"),
        ("server", "v1", "sparse_copy (server)"),
    ];
    for (program, version, function) in runs {
        let script =
            format!("{program} 7/7 1.000000: 1 cycles:\n\t1 {function}\n\t1 main ({program})\n\n");
        let options = IngestOptions {
            executable: Some(program.to_owned()),
            version: Some(version.to_owned()),
            benchmark: (version == "v1").then(|| "load".to_owned()),
            labels: [("host".to_owned(), format!("{program}-1"))].into(),
            ..IngestOptions::default()
        };
        let input = Input::Bytes {
            name: Path::new("run.script"),
            bytes: script.as_bytes(),
        };
        ingest(&store, input, &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn search(text: &str) -> SearchRequest {
    with!(SearchRequest {
        text: text.to_owned()
    })
}

fn find(request: &SearchRequest) -> SearchResults {
    ask(&sources(), request).unwrap()
}

fn names(found: &[Found]) -> Vec<(FoundKind, &str)> {
    found
        .iter()
        .map(|found| (found.kind, &*found.name))
        .collect()
}

#[test]
fn whole_names_come_before_beginnings_parts_and_the_rest() {
    let results = find(&search("PARSE"));
    assert_eq!(
        names(&results.found),
        [
            (FoundKind::Function, "parse"),
            (FoundKind::Program, "parser"),
            (FoundKind::Module, "parser"),
            (FoundKind::Build, "v2-parse"),
            (FoundKind::Label, "host=parser-1"),
            (FoundKind::Function, "json::Parser::parse"),
            (FoundKind::Build, "v1"),
            (FoundKind::Function, "sparse_copy"),
        ]
    );
    assert_eq!(results.found[0].executables, ["server"]);
    assert_eq!(results.more, 0);
}

#[test]
fn names_of_several_programs_are_found_once() {
    let results = find(&search("libjson.so"));
    let [library] = &results.found[..] else {
        panic!("{results:?}");
    };
    assert_eq!(library.kind, FoundKind::Module);
    assert_eq!(library.executables, ["parser", "server"]);
}

#[test]
fn every_word_must_be_in_a_name() {
    let results = find(&search("json  parse"));
    assert_eq!(
        names(&results.found),
        [(FoundKind::Function, "json::Parser::parse")]
    );
    assert!(find(&search("  ")).found.is_empty());
    assert!(find(&search("nowhere")).found.is_empty());
}

#[test]
fn kinds_programs_and_number_of_names_can_be_limited() {
    let request = with!(SearchRequest {
        kinds: vec![FoundKind::Function, FoundKind::Build],
        executable: Some("parser".to_owned()),
        limit: 1usize,
        ..search("parse")
    });
    let results = find(&request);
    assert_eq!(names(&results.found), [(FoundKind::Build, "v2-parse")]);
    assert_eq!(results.more, 2);
}
