//! Signs that one function took the place of another, besides their costs.

use super::functions::{Function, FunctionIx};
use super::pair::Pair;
use super::regions::Regions;
use crate::functions::split_version;
use crate::keys::Method;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Minimum similarity of names and callees.
const HALF: f64 = 0.5;
/// Minimum similarity of two names that proves a renaming together with another sign. `parse_body`
/// and `parse_header` have a similarity of a half.
const PROOF: f64 = 0.6;
/// Minimum similarity of names that are nearly the same.
const NEARLY_ALL: f64 = 0.8;
/// Minimum share of a function's cost in its callees for identifying it by them.
const SUBSTANTIAL: f64 = 0.1;

/// A sign that one function took the place of another, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// The names have most words in common, and so have their last parts.
    Names,
    /// Most of the cost of their callees is in functions that both call.
    Callees,
    /// They are in the same source file.
    File,
    /// The names have nearly all words in common.
    SameNames,
}

impl Sign {
    /// The signs in the order in which they are tried, and whether both functions must have the
    /// same caller. Functions with the same callees or nearly the same name may have different
    /// callers.
    pub(super) const ALL: [(Sign, bool); 5] = [
        (Sign::Names, true),
        (Sign::Callees, true),
        (Sign::File, true),
        (Sign::SameNames, false),
        (Sign::Callees, false),
    ];
}

/// The data for evaluating signs.
pub(super) struct Signs<'a> {
    regions: &'a Regions<'a>,
    names: Vec<Name>,
    files: Vec<Option<String>>,
    /// For each one-sided function, the costs of the functions below it that both sides have.
    callees: HashMap<FunctionIx, HashMap<FunctionIx, Pair<f64>>>,
}

impl<'a> Signs<'a> {
    pub(super) fn new(regions: &'a Regions<'a>) -> Signs<'a> {
        let list = &regions.evidences.functions.list;
        let name = |(ix, f): (usize, &Function)| {
            let is_asked = regions.is_costly(FunctionIx(ix as u32));
            Name::new(if is_asked { &f.symbol } else { "" })
        };
        Signs {
            regions,
            names: list.par_iter().enumerate().map(name).collect(),
            files: list.iter().map(source_file).collect(),
            callees: callees(regions),
        }
    }

    /// Whether the sign says that one function took the place of the other. It never does so for
    /// kernel and user code.
    pub(super) fn matches(&self, sign: Sign, a: FunctionIx, b: FunctionIx) -> bool {
        let list = &self.regions.evidences.functions.list;
        let is_asked = self.regions.is_costly(a) && self.regions.is_costly(b);
        if !is_asked || list[a.get()].kernel != list[b.get()].kernel {
            return false;
        }
        // A function that still exists merely got faster.
        let neither_stays =
            || !self.regions.is_on_both_sides(a) && !self.regions.is_on_both_sides(b);
        let names = || (&self.names[a.get()], &self.names[b.get()]);
        match sign {
            Sign::Names => names().0.is_like(names().1, HALF),
            Sign::SameNames => neither_stays() && names().0.is_like(names().1, NEARLY_ALL),
            Sign::Callees => neither_stays() && self.call_alike(a, b),
            Sign::File => {
                neither_stays()
                    && self.files[a.get()].is_some()
                    && self.files[a.get()] == self.files[b.get()]
            }
        }
    }

    /// Whether two functions are certainly one that was renamed, whatever they cost: two signs
    /// match, or only numbers in their names differ.
    pub(super) fn are_same_function(&self, a: FunctionIx, b: FunctionIx) -> bool {
        let [a_name, b_name] = [a, b].map(|function| &self.names[function.get()]);
        let alike = self.matches(Sign::Names, a, b) && a_name.is_like(b_name, PROOF);
        let others = [Sign::Callees, Sign::File];
        let matched = others.into_iter().filter(|sign| self.matches(*sign, a, b));
        usize::from(alike) + matched.count() >= 2 || alike && a_name.differs_in_numbers(b_name)
    }

    fn call_alike(&self, a: FunctionIx, b: FunctionIx) -> bool {
        let (Some(of_a), Some(of_b)) = (self.callees.get(&a), self.callees.get(&b)) else {
            return false;
        };
        let evidences = self.regions.evidences;
        let sizes = evidences.sizes.sums();
        // One function is the baseline's, the other the candidate's.
        let mean = |samples: Pair<f64>| {
            samples.baseline / sizes.baseline + samples.candidate / sizes.candidate
        };
        let sum = |callees: &HashMap<FunctionIx, Pair<f64>>| -> f64 {
            callees.values().map(|&samples| mean(samples)).sum()
        };
        let shared: f64 = of_a
            .iter()
            .filter_map(|(callee, &samples)| Some(mean(samples).min(mean(*of_b.get(callee)?))))
            .sum();
        let total = |function: FunctionIx| {
            let means = evidences.tests.total[function.get()].means;
            means.baseline + means.candidate
        };
        shared >= HALF * sum(of_a).min(sum(of_b)) && shared >= SUBSTANTIAL * total(a).max(total(b))
    }
}

/// Returns the costs of functions that stay below each one-sided function. The kernel is left out,
/// because every function calls it.
fn callees(regions: &Regions) -> HashMap<FunctionIx, HashMap<FunctionIx, Pair<f64>>> {
    let evidences = regions.evidences;
    let tree = evidences.tree;
    let mut callees: HashMap<_, HashMap<_, Pair<f64>>> = HashMap::new();
    for &node in &regions.nodes {
        let function = tree.function(node);
        let is_asked = regions.is_costly(function) && !regions.is_on_both_sides(function);
        if !is_asked || !tree.is_outermost(node) {
            continue;
        }
        for below in regions.common_nodes_below(node) {
            let callee = tree.function(below);
            if !evidences.functions.list[callee.get()].kernel {
                let of_function = callees.entry(function).or_default();
                let sum = of_function
                    .entry(regions.classes.class_of(callee))
                    .or_default();
                *sum = super::cause::add(*sum, evidences.total(below));
            }
        }
    }
    callees
}

/// Returns a function's source file, without version numbers in the names of its folders; `None`
/// for files of the standard library, which all kinds of code are compiled from.
fn source_file(function: &Function) -> Option<String> {
    let file = function.file.as_deref()?;
    let common_folders = ["library/", "/rustc/", "/usr/"];
    if common_folders.iter().any(|folder| file.starts_with(folder)) {
        return None;
    }
    let parts = file
        .split('/')
        .map(|part| split_version(part).map_or(part, |(name, _)| name));
    Some(parts.collect::<Vec<_>>().join("/"))
}

/// The words of a function's name.
#[derive(Debug)]
struct Name {
    all: BTreeSet<String>,
    last: BTreeSet<String>,
}

impl Name {
    fn new(symbol: &str) -> Name {
        let symbol = without_trait(without_arguments(symbol));
        let mut parts: Vec<&str> = parts(&symbol);
        // `{closure}` and `func` are meaningless without the enclosing name.
        let is_closure = |part: &&str| {
            let name = part.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            matches!(name, "closure" | "func" | "lambda" | "impl" | "")
        };
        let named = parts
            .iter()
            .rposition(|part| !is_closure(part))
            .unwrap_or(0);
        let last = parts.split_off(named.min(parts.len()));
        let last = words(&last);
        let mut all = words(&parts);
        all.extend(last.iter().cloned());
        Name { all, last }
    }

    fn differs_in_numbers(&self, other: &Name) -> bool {
        let is_word = |word: &&String| !word.starts_with(|c: char| c.is_ascii_digit());
        let words =
            |name: &Name| -> Vec<String> { name.all.iter().filter(is_word).cloned().collect() };
        words(self) == words(other)
    }

    fn is_like(&self, other: &Name, part: f64) -> bool {
        alike(&self.all, &other.all, part) && alike(&self.last, &other.last, part)
    }
}

/// Whether the similarity of two sets of words is at least this (L. R. Dice, Ecology 26:297, 1945).
fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>, part: f64) -> bool {
    let shared = a.intersection(b).count();
    shared > 0 && 2.0 * shared as f64 >= part * (a.len() + b.len()) as f64
}

/// Splits names into lower-case words at `snake_case`, `camelCase` and digit boundaries.
fn words(parts: &[&str]) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for part in parts {
        let mut word = String::new();
        let mut before = ' ';
        for c in part.chars() {
            let begins = c.is_uppercase() && before.is_lowercase()
                || c.is_ascii_digit() != before.is_ascii_digit();
            if begins || !c.is_alphanumeric() {
                words.insert(std::mem::take(&mut word));
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
            before = c;
        }
        words.insert(word);
    }
    words.remove("");
    words
}

/// Splits a path at `::`, `.` and `/` outside of brackets.
fn parts(symbol: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in symbol.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' | '.' | '/' if depth == 0 => {
                parts.push(&symbol[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&symbol[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Removes the parameters of a C++ function.
fn without_arguments(symbol: &str) -> &str {
    let symbol = symbol.trim_end_matches(" const");
    if !symbol.ends_with(')') {
        return symbol;
    }
    let mut depth = 0;
    for (at, c) in symbol.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let name = &symbol[..at];
            // `operator()` is a name, and so is Java's `(...)` without one.
            return if name.is_empty() || name.ends_with("operator") {
                symbol
            } else {
                name
            };
        }
    }
    symbol
}

/// Turns `<Type as Trait>::method` into `Type::method`, so that methods are not similar only
/// because of their trait.
fn without_trait(symbol: &str) -> Cow<'_, str> {
    match Method::parse(symbol) {
        Some(method) => Cow::Owned(format!("{}{}", method.self_type, method.after)),
        None => Cow::Borrowed(symbol),
    }
}
