//! Detects renamed functions, whatever they cost.
//!
//! If a [sign](super::signs) says that the cost of a gone function is in a new function now, and no
//! other function matches either of them, they are one function that was renamed. They are then
//! compared as one function, so that a change of cost is judged once, like any other change.

use super::cause::{Cause, Evidences};
use super::evidence::Direction;
use super::functions::{FunctionIx, Renamed};
use super::partner::Partner;
use super::regions::Regions;
use super::result::Basis;
use super::signs::Signs;
use std::collections::{BTreeMap, BTreeSet};

/// A new function and a gone one.
type Pair = (FunctionIx, FunctionIx);

/// The evidence for a pair.
struct Known {
    basis: Basis,
    explains: f64,
    /// Number of the two functions from which the other was found, by more than the source file.
    found: usize,
    /// Whether signs prove that they are one function, whatever they cost.
    proved: bool,
}

/// Pairs of new and gone functions that signs match.
pub(super) struct Pairs<'a> {
    evidences: &'a Evidences<'a>,
    causes: &'a [Cause],
    known: BTreeMap<Pair, Known>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(evidences: &'a Evidences<'a>, causes: &'a [Cause]) -> Pairs<'a> {
        Pairs {
            evidences,
            causes,
            known: BTreeMap::new(),
        }
    }

    /// Returns the direction of a function that only one side has.
    fn direction(&self, function: FunctionIx) -> Option<Direction> {
        let samples = self.evidences.tests.total[function.get()].samples;
        match (samples.baseline, samples.candidate) {
            (0, 0) => None,
            (0, _) => Some(Direction::Up),
            (_, 0) => Some(Direction::Down),
            _ => None,
        }
    }

    /// Records that a sign matches a cause with another function. `are_one` is whether more than
    /// the source file matches.
    pub(super) fn add(&mut self, cause: &Cause, other: FunctionIx, signs: &Signs, are_one: bool) {
        let (new, old) = match (self.direction(cause.function), self.direction(other)) {
            (Some(Direction::Up), Some(Direction::Down)) => (cause.function, other),
            (Some(Direction::Down), Some(Direction::Up)) => (other, cause.function),
            _ => return,
        };
        let is_rival = |rival: &Cause| match self.direction(rival.function) {
            Some(Direction::Up) => {
                rival.function != new && signs.are_same_function(rival.function, old)
            }
            Some(Direction::Down) => {
                rival.function != old && signs.are_same_function(new, rival.function)
            }
            None => false,
        };
        let proved = signs.are_same_function(new, old) && !self.causes.iter().any(is_rival);
        let known = self.known.entry((new, old)).or_insert(Known {
            basis: cause.basis,
            explains: 0.0,
            found: 0,
            proved: false,
        });
        known.explains = known.explains.max(cause.explains.abs());
        known.found += usize::from(are_one);
        known.proved |= proved;
    }

    /// Returns the pairs that were found from both functions or proved, unless the cost of either
    /// moved elsewhere; and their callers that are matched by their callees.
    pub(super) fn renamed(&self, of_cause: &[Option<Partner>], regions: &Regions) -> Vec<Renamed> {
        let is_elsewhere = |function: FunctionIx, other: FunctionIx| {
            let causes = self.causes.iter().zip(of_cause);
            let mut partners = causes.filter(|(cause, _)| cause.function == function);
            partners.any(|(_, partner)| match partner {
                Some(Partner::Moved(known) | Partner::Renamed(known)) => *known != other,
                _ => false,
            })
        };
        let is_sure = |(pair, known): &(&Pair, &Known)| {
            let &&(new, old) = pair;
            let may_be = known.found == 2 || known.proved;
            may_be && !is_elsewhere(new, old) && !is_elsewhere(old, new)
        };
        let pairs = without_rivals(self.known.keys().copied());
        let renamed = self.known.iter().filter(|(pair, _)| pairs.contains(pair));
        let renamed = renamed.filter(is_sure);
        let mut renamed: Vec<Renamed> = renamed
            .map(|(&(new, old), known)| Renamed {
                old,
                new,
                was_cause: Some((known.basis, known.explains)),
            })
            .collect();
        if !renamed.is_empty() {
            renamed.extend(self.callers(regions));
        }
        renamed
    }

    /// Returns proved pairs of functions without a finding, whose callees explain their cost.
    fn callers(&self, regions: &Regions) -> Vec<Renamed> {
        let causes: BTreeSet<FunctionIx> = self.causes.iter().map(|c| c.function).collect();
        let signs = Signs::new(regions);
        let functions = (0..self.evidences.functions.list.len() as u32).map(FunctionIx);
        let asked = functions.filter(|&function| {
            regions.is_costly(function)
                && !regions.is_on_both_sides(function)
                && !causes.contains(&function)
        });
        let (new, gone): (Vec<FunctionIx>, Vec<FunctionIx>) =
            asked.partition(|&function| self.direction(function) == Some(Direction::Up));
        let alike = new.iter().flat_map(|&new| {
            let pairs = gone.iter().map(move |&old| (new, old));
            pairs.filter(|&(new, old)| signs.are_same_function(new, old))
        });
        let pairs = without_rivals(alike.collect::<Vec<_>>().into_iter());
        let renamed = pairs.into_iter().map(|(new, old)| Renamed {
            old,
            new,
            was_cause: None,
        });
        renamed.collect()
    }
}

/// Returns the pairs whose functions are in no other pair.
fn without_rivals(pairs: impl Iterator<Item = Pair> + Clone) -> BTreeSet<Pair> {
    let mut times: BTreeMap<FunctionIx, usize> = BTreeMap::new();
    for function in pairs.clone().flat_map(|(new, old)| [new, old]) {
        *times.entry(function).or_default() += 1;
    }
    pairs
        .filter(|(new, old)| times[new] == 1 && times[old] == 1)
        .collect()
}
