//! Finds generic functions whose instances changed together.
//!
//! A generic function or template is compiled once for each type, and each instance may be too cheap
//! for a change of it to be significant. Instances of which none changed are tested by their sum.

use super::counts::Counts;
use super::evidence::{Evidence, Tests, adjust, test};
use super::functions::{FunctionIx, Functions, Instances};
use crate::functions::without_arguments;
use std::collections::BTreeMap;

/// Returns generic functions whose attributed self changed significantly as a sum, in every test
/// of `tests`, although that of no instance did.
pub(super) fn changed_together(functions: &Functions, tests: &[Tests]) -> Vec<Instances> {
    let mut by_name: BTreeMap<(String, &str), Vec<FunctionIx>> = BTreeMap::new();
    for (ix, function) in functions.list.iter().enumerate() {
        let is_cause = !function.is_bystander() && !function.is_attributed_to_caller();
        if is_cause && let Some(symbol) = without_arguments(&function.symbol) {
            let key = (symbol, &*function.module);
            by_name.entry(key).or_default().push(FunctionIx(ix as u32));
        }
    }
    let is_unchanged = |function: &FunctionIx| {
        let mut evidence = tests.iter().map(|tests| &tests.attributed[function.get()]);
        evidence.all(|evidence| evidence.changed.is_none())
    };
    let mut generic: Vec<Instances> = by_name
        .into_iter()
        .filter(|(_, functions)| functions.len() > 1 && functions.iter().all(is_unchanged))
        .map(|((symbol, _), functions)| Instances { symbol, functions })
        .collect();

    if generic.is_empty() {
        return generic;
    }
    let sums: Vec<Vec<Evidence>> = tests
        .iter()
        .map(|tests| test_sums(&generic, tests))
        .collect();
    let mut changed = (0..generic.len()).map(|ix| {
        let direction = sums[0][ix].changed;
        direction.is_some() && sums.iter().all(|sums| sums[ix].changed == direction)
    });
    generic.retain(|_| changed.next() == Some(true));
    generic
}

/// Tests the sum of the instances of each generic function, and adjusts for all other tests.
fn test_sums(generic: &[Instances], tests: &Tests) -> Vec<Evidence> {
    let (counts, setting) = (&tests.counts.attributed, tests.setting);
    let sum = |run: &Vec<u64>, instances: &Instances| {
        let samples = instances.functions.iter().map(|f| run[f.get()]);
        samples.fold(0, u64::saturating_add)
    };
    let sums = Counts {
        runs: (counts.runs.iter())
            .map(|run| {
                generic
                    .iter()
                    .map(|instances| sum(run, instances))
                    .collect()
            })
            .collect(),
        split: counts.split,
    };
    let mut sums = test(&sums, &setting.variations.self_, setting);
    let mut others = [&*tests.attributed, &*tests.total].concat();
    adjust(&mut sums, &mut others, setting.options.alpha);
    sums
}
