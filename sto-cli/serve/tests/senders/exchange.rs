//! The exchange of profiles with other stores.

use crate::support::Server;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_query::places::{Machine, Place};
use sto_query::questions::{PushRequest, push};

/// A store with two runs.
fn store() -> Store {
    let store = Store::in_memory().unwrap();
    for (build, folded) in [("v1", &b"main;a 1\n"[..]), ("v2", b"main;b 1\n")] {
        let options = IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some(build.to_owned()),
            metrics: BTreeMap::from([("seconds".to_owned(), 1.5)]),
            ..IngestOptions::default()
        };
        ingest(&store, ("run", folded), &options, &mut |_| {}).unwrap();
    }
    store
}

#[test]
fn push_sends_what_the_server_lacks() {
    let server = Server::start();
    let store = store();
    let place = Place::parse(OsStr::new(server.url()), &Machine::default()).unwrap();
    let push = |selector: &str, dry_run| {
        let mut request = PushRequest::default();
        request.selectors = Vec::from_iter((!selector.is_empty()).then(|| selector.to_owned()));
        request.dry_run = dry_run;
        let pushed = push(&store, &(), &place, &request, &|_, _| {}).unwrap();
        (pushed.sent.len(), pushed.already_there)
    };
    assert_eq!(push("v1", true), (1, 0));
    assert_eq!(push("v1", false), (1, 0));
    assert_eq!(push("", false), (1, 1));
    assert_eq!(push("", false), (0, 2));
    assert_eq!(server.profiles(), ["demo@v1 samples", "demo@v2 samples"]);
    let ids = |store: &Store| -> Vec<_> {
        let builds = store.snapshot().unwrap().builds().unwrap();
        let profiles = builds.iter().flat_map(|of| &of.profiles);
        profiles
            .map(|stored| (stored.id, stored.profile.metrics.clone()))
            .collect()
    };
    assert_eq!(ids(&server.store), ids(&store));
}

#[test]
fn files_that_are_no_profiles_are_refused() {
    let server = Server::start();
    for (name, part) in [
        ("name", "expected profiles/ID.sto.zst"),
        (
            "00000000000000000000000000000000.sto.zst",
            "00000000000000000000000000000000.sto.zst",
        ),
        ("..%2f..%2fetc%2fpasswd", "expected profiles/ID.sto.zst"),
    ] {
        let response = server.put(&format!("/api/v1/exchange/profiles/{name}"), b"no store");
        response.assert_problem(422, part);
    }
    assert!(server.profiles().is_empty());
}
