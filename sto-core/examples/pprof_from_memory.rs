//! A service that receives profiles in pprof's format, as Go programs serve them, and keeps them in a store.
//!
//! `cargo run -p sto-core --example pprof_from_memory`

use std::error::Error;
use std::path::Path;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::{Added, Store};

/// The data received over the network: a compressed CPU profile as `net/http/pprof` serves it.
const RECEIVED: &[u8] = include_bytes!("../../testdata/pprof/go-cpu.pb.gz");

fn main() -> Result<(), Box<dyn Error>> {
    let store = Store::in_memory()?;
    let options = IngestOptions {
        version: Some("v1.2.3".to_owned()),
        ..IngestOptions::default()
    };
    // The name appears in errors, and the program is named after it if the profile has no name.
    let input = (Path::new("request 17"), RECEIVED);
    let report = ingest(&store, input, &options, &mut |_stage| {})?;
    for ingested in &report.profiles {
        println!(
            "{} of {}: {}",
            ingested.id, ingested.build.executable, ingested.profile.format
        );
    }

    // Ingesting the same bytes again changes nothing.
    let again = ingest(&store, input, &options, &mut |_stage| {})?;
    assert!(matches!(again.profiles[0].added, Added::AlreadyStored(_)));

    // A malformed profile is an error that says where, and leaves the store unchanged.
    let truncated = (Path::new("request 18"), &RECEIVED[..RECEIVED.len() / 2]);
    let error = ingest(&store, truncated, &options, &mut |_stage| {}).expect_err("half a profile");
    println!("{error}");
    assert_eq!(store.snapshot()?.builds()?.len(), 1);
    Ok(())
}

#[test]
fn runs_without_errors() {
    main().expect("the example succeeds");
}
