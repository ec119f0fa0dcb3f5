//! What a build cost over all its profiles, added up as they came in.

use super::model::{ById, Plain, build, by_id, expected, plain, profile};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::store::{Store, StoreError};
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
    store: &Store,
) -> (
    usize,
    BTreeMap<SampleType, BTreeMap<sto_core::id::NodeId, Cost>>,
) {
    let build = store.load_build(build("v1").id()).unwrap();
    let costs: ById = by_id(&build.frames, &build.tree, &build.costs);
    let sums = build.sample_types.into_iter().zip(costs).collect();
    (build.profiles, sums)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_costs_of_a_build_are_those_of_its_profiles_added_up(
        profiles in proptest::collection::vec((plain(), any::<bool>()), 1..14),
        other in plain(),
    ) {
        let store = Store::in_memory().unwrap();
        let add = |version: &str, source: &str, plain: &Plain| {
            let build = build(version);
            let profile = profile(&build, source, plain);
            store.add(&build, &profile, &plain.interned()).unwrap();
            profile.id()
        };
        let mut gone = BTreeSet::new();
        for (run, (plain, keep)) in profiles.iter().enumerate() {
            let id = add("v1", &format!("run {run}"), plain);
            if !keep {
                gone.insert(id);
            }
        }
        add("v2", "other", &other);
        let all: Vec<&Plain> = profiles.iter().map(|(plain, _)| plain).collect();
        prop_assert_eq!(loaded(&store), (all.len(), added(&all)));

        store.prune(&gone).unwrap();
        let kept = profiles.iter().filter(|(_, keep)| *keep);
        let kept: Vec<&Plain> = kept.map(|(plain, _)| plain).collect();
        if kept.is_empty() {
            let error = store.load_build(build("v1").id()).unwrap_err();
            prop_assert!(matches!(error, StoreError::NoBuild { .. }), "{}", error);
        } else {
            prop_assert_eq!(loaded(&store), (kept.len(), added(&kept)));
        }
    }
}
