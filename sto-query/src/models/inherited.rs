//! Attribution of changes to the called functions that cause them.

use super::change::{FunctionChange, ModelChange};
use super::costs::{Costs, FunctionCosts};
use std::collections::BTreeMap;

/// Share of a function's change that calls of other functions must explain.
const EXPLAINED: f64 = 0.8;

/// Function name and module.
type Key<'a> = (&'a str, &'a str);

/// Removes functions that inherit their change: at the largest x, calls of other functions with the same result
/// explain at least four fifths of it, not counting calls of functions with another result. Each is listed with the
/// function that it inherits most from, or with that function's own cause.
///
/// Nothing is removed if the sides have different largest x.
pub(super) fn drop_inherited(
    changes: Vec<FunctionChange>,
    sides: [&Costs; 2],
) -> Vec<FunctionChange> {
    let largest = sides.map(|side| {
        let points = side.functions.iter().flat_map(|of| &of.points);
        points.map(|&(x, _)| x).fold(f64::MIN, f64::max)
    });
    if largest[0] != largest[1] {
        return changes;
    }
    let mut number_of: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for (ix, change) in changes.iter().enumerate() {
        if change.result != ModelChange::NoChange {
            number_of.insert((&change.function, &change.module), ix);
        }
    }
    let number = |of: &FunctionCosts| number_of.get(&(&*of.function, &*of.module)).copied();
    // Cost increase of each function, without calls of functions with another result, and the part in calls by each
    // caller.
    let mut more = vec![0.0; changes.len()];
    let mut in_calls: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (side, sign) in sides.into_iter().zip([-1.0, 1.0]) {
        for function in &side.functions {
            if let Some(ix) = number(function) {
                more[ix] += sign * function.cost_at_largest_x();
            }
        }
        for called in &side.called {
            let [caller, callee] =
                [called.caller, called.callee].map(|ix| number(&side.functions[ix]));
            let Some(caller) = caller.filter(|&caller| Some(caller) != callee) else {
                continue;
            };
            let is_alike = |&callee: &usize| changes[caller].result == changes[callee].result;
            match callee.filter(is_alike) {
                Some(callee) => {
                    *in_calls.entry((caller, callee)).or_default() += sign * called.cost;
                }
                // A callee with another result is reported on its own.
                None => more[caller] -= sign * called.cost,
            }
        }
    }
    let mut parts: Vec<Vec<(f64, usize)>> = vec![Vec::new(); changes.len()];
    for ((caller, callee), more_in_calls) in in_calls {
        parts[caller].push((more_in_calls / more[caller], callee));
    }
    let mut inherits_from: Vec<Option<usize>> = vec![None; changes.len()];
    for (caller, mut parts) in parts.into_iter().enumerate() {
        let explained: f64 = parts.iter().map(|(part, _)| part).sum();
        if explained >= EXPLAINED {
            parts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            // Functions that call each other must not inherit in a cycle.
            let mut callees = parts.into_iter().map(|(_, callee)| callee);
            inherits_from[caller] = callees.find(|&callee| cause(&inherits_from, callee) != caller);
        }
    }
    let causes: Vec<usize> = (0..changes.len())
        .map(|ix| cause(&inherits_from, ix))
        .collect();
    let mut callers: Vec<Vec<String>> = vec![Vec::new(); changes.len()];
    for (ix, &cause) in causes
        .iter()
        .enumerate()
        .filter(|&(ix, cause)| ix != *cause)
    {
        callers[cause].push(changes[ix].function.clone());
    }
    let listed = changes.into_iter().zip(callers).enumerate();
    listed
        .filter(|(ix, _)| causes[*ix] == *ix)
        .map(|(_, (change, inherited_by))| FunctionChange {
            inherited_by,
            ..change
        })
        .collect()
}

/// Follows the chain of inheritance to its end.
fn cause(inherits_from: &[Option<usize>], mut ix: usize) -> usize {
    while let Some(from) = inherits_from[ix] {
        ix = from;
    }
    ix
}

#[cfg(test)]
mod tests {
    use super::super::costs::CallCost;
    use super::super::{CompareModelsOptions, Modelled, compare_models};
    use super::*;
    use crate::tree::Order;

    /// Functions by name with their costs at x, and the calls between them.
    fn costs(names: [&str; 4], y: impl Fn(usize, f64) -> f64, calls: &[(usize, usize)]) -> Costs {
        let sizes = (1..=24_u32).map(|x| f64::from(x / 2 * 100 + 100));
        let points = |ix: usize| sizes.clone().map(|x| (x, y(ix, x))).collect();
        let function = |(ix, name): (usize, &str)| FunctionCosts {
            function: name.to_owned(),
            module: "app".to_owned(),
            points: points(ix),
        };
        let largest = sizes.clone().fold(0.0, f64::max);
        let called = calls.iter().map(|&(caller, callee)| CallCost {
            caller,
            callee,
            cost: y(callee, largest),
        });
        Costs {
            of: Modelled {
                executable: Some("app".to_owned()),
                build: Some("v".to_owned()),
                x: "n".to_owned(),
                sample_type: None,
                cost: Some(Order::Total),
                of_calls: false,
                runs: 24,
                without_x: 0,
            },
            commit: None,
            nothing: sizes.clone().map(|x| (x, 0.0)).collect(),
            pointless: BTreeMap::new(),
            called: called.collect(),
            functions: names.into_iter().enumerate().map(function).collect(),
        }
    }

    fn listed(
        names: [&str; 4],
        now: impl Fn(usize, f64) -> f64,
        calls: &[(usize, usize)],
    ) -> Vec<(String, Vec<String>)> {
        listed_of(names, [&|_, x| 50.0 + x, &now], calls)
    }

    fn listed_of(
        names: [&str; 4],
        sides: [&dyn Fn(usize, f64) -> f64; 2],
        calls: &[(usize, usize)],
    ) -> Vec<(String, Vec<String>)> {
        let sides = sides.map(|side| costs(names, side, calls));
        let options = CompareModelsOptions::default();
        let found = compare_models(sides, None, &options, None).unwrap();
        let functions = found.functions.into_iter();
        functions.map(|of| (of.function, of.inherited_by)).collect()
    }

    #[test]
    fn lists_callers_with_their_cause_even_in_cycles() {
        let names = ["find", "main", "ping", "pong"];
        let calls = [(1, 2), (2, 3), (3, 2), (2, 0), (3, 0)];
        let found = listed(names, |_, x| 50.0 + x * x / 100.0, &calls);
        let callers = ["main", "ping", "pong"].map(str::to_owned).to_vec();
        assert_eq!(found, [("find".to_owned(), callers)]);
    }

    #[test]
    fn ignores_insignificant_changes_of_other_callees() {
        let names = ["find", "main", "rest", "sort"];
        let find = |x: f64| 50.0 + x * x / 100.0;
        let sort = 150_000.0;
        let before = |ix: usize, x: f64| match ix {
            0 => 50.0 + x,
            1 => sort + 50.0 + x,
            2 => 50.0,
            _ => sort,
        };
        let now = |ix: usize, x: f64| match ix {
            0 => find(x),
            1 => 1.04 * sort + find(x),
            2 => 50.0,
            _ => 1.04 * sort,
        };
        let found = listed_of(names, [&before, &now], &[(1, 0), (1, 3)]);
        assert_eq!(found[0], ("find".to_owned(), vec!["main".to_owned()]));
    }

    #[test]
    fn lists_caller_that_changed_more_than_its_callees() {
        let names = ["find", "main", "rest", "sort"];
        let now = |ix: usize, x: f64| match ix {
            0 => 50.0 + x * x / 100.0,
            1 => 50.0 + x * x / 50.0,
            _ => 50.0 + x,
        };
        let found = listed(names, now, &[(1, 0), (1, 3)]);
        let listed: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
        assert_eq!(&listed[..2], ["main", "find"]);
        assert!(found.iter().all(|(_, callers)| callers.is_empty()));
    }
}
