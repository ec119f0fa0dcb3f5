//! Files in each format.

use std::path::Path;
use sto_core::formats::{Format, ReadOptions, read_bytes, read_stream};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::Recording;
use sto_core::store::Store;

/// Reads hostile bytes as a given or detected format, from memory and as a stream: both
/// must give the same result, and a recording must be storable or be rejected.
pub(crate) fn read(format: Option<Format>, bytes: &[u8]) {
    let path = Path::new("fuzzed");
    for allow_truncated in [false, true] {
        let options = ReadOptions {
            format,
            allow_truncated,
            ..ReadOptions::default()
        };
        let whole = read_bytes(path, bytes, &options).map_err(|error| error.to_string());
        let stream = read_stream(path, bytes, &options).map_err(|error| error.to_string());
        match (&whole, &stream) {
            (Ok(whole), Ok(stream)) => assert_eq!(whole.samples, stream.samples),
            _ => assert_eq!(whole.as_ref().err(), stream.as_ref().err()),
        }
        if let Ok(recording) = whole {
            store_it(path, recording);
        }
    }
}

/// Stores a recording, or checks that it is rejected.
pub(crate) fn store_it(path: &Path, recording: Recording) {
    let options = IngestOptions {
        version: Some("v".to_owned()),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().expect("a store in memory");
    let _ = ingest(&store, (path, recording), &options, &mut |_| {});
}
