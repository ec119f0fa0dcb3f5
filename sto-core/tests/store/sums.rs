//! The costs of a build over all its profiles, which the store adds up.

use super::model::{ById, Plain, build, by_id, expected, plain, profile};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::store::{LoadedBuild, Store, StoreError};
use sto_core::units::{Cost, SampleType};

/// The costs of all profiles together, by sample type.
fn added(profiles: &[&Plain]) -> BTreeMap<SampleType, BTreeMap<sto_core::id::NodeId, Cost>> {
    let build = build("v1");
    let mut sums: BTreeMap<SampleType, BTreeMap<_, Cost>> = BTreeMap::new();
    for plain in profiles {
        let types = profile(&build, "", plain).sample_types;
        for (sample_type, costs) in types.into_iter().zip(expected(plain)) {
            let sum = sums.entry(sample_type).or_default();
            for (node, cost) in costs {
                *sum.entry(node).or_default() += cost;
            }
        }
    }
    sums
}

fn loaded(
    build: LoadedBuild,
) -> (
    usize,
    BTreeMap<SampleType, BTreeMap<sto_core::id::NodeId, Cost>>,
) {
    let costs: ById = by_id(&build.frames, &build.tree, &build.costs);
    let sums = build.sample_types.into_iter().zip(costs).collect();
    (build.profiles, sums)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn build_costs_are_the_sum_of_its_profiles(
        profiles in proptest::collection::vec((plain(), any::<bool>()), 1..14),
        other in plain(),
    ) {
        let store = Store::in_memory().unwrap();
        let add = |version: &str, source: &str, plain: &Plain| {
            let build = build(version);
            let profile = profile(&build, source, plain);
            store.writer().add(&build, &profile, &plain.interned()).unwrap().id()
        };
        let (mut gone, mut ids) = (BTreeSet::new(), Vec::new());
        for (run, (plain, keep)) in profiles.iter().enumerate() {
            let id = add("v1", &format!("run {run}"), plain);
            ids.push(id);
            if !keep {
                gone.insert(id);
            }
        }
        let strange = add("v2", "other", &other);
        let all: Vec<&Plain> = profiles.iter().map(|(plain, _)| plain).collect();
        let whole = || store.snapshot().unwrap().load_build(build("v1").id());
        prop_assert_eq!(loaded(whole().unwrap()), (all.len(), added(&all)));

        let kept = profiles.iter().filter(|(_, keep)| *keep);
        let kept: Vec<&Plain> = kept.map(|(plain, _)| plain).collect();
        ids.retain(|id| !gone.contains(id));
        let some = store.snapshot().unwrap().load_sum(build("v1").id(), &ids).unwrap();
        prop_assert_eq!(loaded(some), (kept.len(), added(&kept)));
        let strange = store.snapshot().unwrap().load_sum(build("v1").id(), &[ids.clone(), vec![strange; 20]].concat());
        let is_refused = matches!(strange, Err(StoreError::NoProfile { .. }));
        prop_assert!(is_refused);

        store.prune(&gone).unwrap();
        if kept.is_empty() {
            let error = whole().unwrap_err();
            prop_assert!(matches!(error, StoreError::NoBuild { .. }), "{}", error);
        } else {
            prop_assert_eq!(loaded(whole().unwrap()), (kept.len(), added(&kept)));
        }
    }
}
