//! The packed parts of profiles besides stacks and costs.

use std::path::Path;
use std::sync::Mutex;
use sto_core::id::ExecutableId;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model::{SourceFileDigest, SourceFileDigests};
use sto_core::store::{pack_rest, unpack_rest};
use sto_core::tree::{ProfileData, SliceCount};
use sto_core::{Store, StoreError};

/// A profile of a real trace with lines, slices, calls over time and every call.
fn recorded() -> ProfileData {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        slices: SliceCount::new(5),
        keep_calls: true,
        ..IngestOptions::default()
    };
    let path = testdata.join("uftrace/arguments.data");
    ingest(&store, &path, &options, &mut |_| {}).unwrap();
    let snapshot = store.snapshot().unwrap();
    let builds = snapshot.builds().unwrap();
    let executable = ExecutableId::from_name(&builds[0].build.executable);
    let found = Mutex::new(None);
    let take = |_, interned| {
        *found.lock().unwrap() = Some(interned);
        Ok::<_, StoreError>(())
    };
    let ids = [builds[0].profiles[0].id];
    snapshot.load_each(executable, &ids, take).unwrap();
    found.into_inner().unwrap().unwrap()
}

#[test]
fn packed_parts_round_trip_and_truncated_ones_are_rejected() {
    let mut all = recorded();
    let digest = SourceFileDigest(std::array::from_fn(|byte| byte as u8));
    all.source_digests.insert("src/demo.c".to_owned(), digest);
    let packed = pack_rest(&all).unwrap();
    let mut back = ProfileData {
        line_costs: Vec::new(),
        slices: None,
        metrics: None,
        calls: None,
        kept_calls: None,
        source_digests: SourceFileDigests::new(),
        addresses: None,
        ..all.clone()
    };
    for length in (0..packed.len()).step_by(1 + packed.len() / 500) {
        assert!(unpack_rest(&mut back.clone(), &packed[..length]).is_err());
        let mut changed = packed.clone();
        changed[length] ^= 0x81;
        // It may decode to something else, but must not panic.
        let _ = unpack_rest(&mut back.clone(), &changed);
    }
    unpack_rest(&mut back, &packed).unwrap();
    assert_eq!(pack_rest(&back).unwrap(), packed);
    assert!(back.calls.is_some() && back.kept_calls.is_some() && back.slices.is_some());
    assert_eq!(back.calls, all.calls);
    assert_eq!(back.slices, all.slices);
    assert_eq!(back.line_costs, all.line_costs);
    assert_eq!(back.source_digests, all.source_digests);
}
