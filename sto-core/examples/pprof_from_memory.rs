//! A service receives profiles in pprof's format, as Go programs serve them, and keeps them in a store.
//!
//! `cargo run -p sto-core --example pprof_from_memory`

use std::error::Error;
use std::path::Path;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::{Added, Store};

/// What came over the network: the program's profile of its own CPU time, compressed as it was served.
const RECEIVED: &[u8] = include_bytes!("../../testdata/pprof/go-cpu.pb.gz");

fn main() -> Result<(), Box<dyn Error>> {
    let store = Store::in_memory()?;
    let options = IngestOptions {
        version: Some("v1.2.3".to_owned()),
        ..IngestOptions::default()
    };
    // The name stands in errors, and names the program where the profile does not.
    let input = (Path::new("request 17"), RECEIVED);
    let report = ingest(&store, input, &options, &mut |_stage| {})?;
    for ingested in &report.profiles {
        println!(
            "{} of {}: {}",
            ingested.id, ingested.build.executable, ingested.profile.format
        );
    }

    // The same bytes again change nothing.
    let again = ingest(&store, input, &options, &mut |_stage| {})?;
    assert!(matches!(again.profiles[0].added, Added::AlreadyStored(_)));

    // What does not follow the format is an error that says where, and leaves the store as it was.
    let cut = (Path::new("request 18"), &RECEIVED[..RECEIVED.len() / 2]);
    let refused = ingest(&store, cut, &options, &mut |_stage| {}).expect_err("half a profile");
    println!("{refused}");
    assert_eq!(store.snapshot()?.builds()?.len(), 1);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("it keeps the profile");
}
