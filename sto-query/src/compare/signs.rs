//! Signs that one function took the place of another: something other than their cost says so.

use super::functions::{Function, FunctionIx};
use super::pair::Pair;
use super::regions::Regions;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Part of two things that must be alike.
const HALF: f64 = 0.5;
/// Part of two names that must be alike to prove something with another sign: of `parse_body` and
/// `parse_header`, half is alike.
const MORE_THAN_HALF: f64 = 0.6;
/// Part of two names that must be alike to be the same.
const NEARLY_ALL: f64 = 0.8;
/// Part of a function's cost that its callees need, to be known by them.
const SUBSTANTIAL: f64 = 0.1;

/// What says that one function took the place of another, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Their names have most words in common, and so have the last parts of their names.
    Names,
    /// Most of what they call costs is in functions that both call.
    Callees,
    /// They are in one source file.
    File,
    /// Their names have nearly all words in common.
    SameNames,
}

impl Sign {
    /// In the order in which they are tried, and whether both must be under the same caller: what calls
    /// the same functions, or has the same words in its name, may have got another caller, too.
    pub(super) const ALL: [(Sign, bool); 5] = [
        (Sign::Names, true),
        (Sign::Callees, true),
        (Sign::File, true),
        (Sign::SameNames, false),
        (Sign::Callees, false),
    ];
}

/// What is known of functions for signs.
pub(super) struct Signs<'a> {
    regions: &'a Regions<'a>,
    names: Vec<Name>,
    files: Vec<Option<String>>,
    /// For each function that only one side has, what those cost that it calls and that stay.
    callees: HashMap<FunctionIx, HashMap<FunctionIx, Pair<f64>>>,
}

impl<'a> Signs<'a> {
    pub(super) fn of(regions: &'a Regions<'a>) -> Signs<'a> {
        let list = &regions.evidences.functions.list;
        let name = |(ix, f): (usize, &Function)| {
            let is_asked = regions.is_costly(FunctionIx(ix as u32));
            Name::of(if is_asked { &f.symbol } else { "" })
        };
        Signs {
            regions,
            names: list.par_iter().enumerate().map(name).collect(),
            files: list.iter().map(source_file).collect(),
            callees: callees(regions),
        }
    }

    /// Whether the sign says that one took the place of the other. Kernel and user code never do.
    pub(super) fn matches(&self, sign: Sign, a: FunctionIx, b: FunctionIx) -> bool {
        let list = &self.regions.evidences.functions.list;
        let is_asked = self.regions.is_costly(a) && self.regions.is_costly(b);
        if !is_asked || list[a.get()].kernel != list[b.get()].kernel {
            return false;
        }
        // A function that is still there merely got faster.
        let neither_stays = || !self.regions.stays(a) && !self.regions.stays(b);
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

    /// Whether two functions are one by two names, whatever they cost: two signs match, or their names
    /// differ in numbers alone.
    pub(super) fn prove(&self, a: FunctionIx, b: FunctionIx) -> bool {
        let [a_name, b_name] = [a, b].map(|function| &self.names[function.get()]);
        let alike = self.matches(Sign::Names, a, b) && a_name.is_like(b_name, MORE_THAN_HALF);
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
        // One of them is the baseline's, the other the candidate's.
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

/// What those that stay cost below each function that only one side has. The kernel is called by all.
fn callees(regions: &Regions) -> HashMap<FunctionIx, HashMap<FunctionIx, Pair<f64>>> {
    let evidences = regions.evidences;
    let tree = evidences.tree;
    let mut callees: HashMap<_, HashMap<_, Pair<f64>>> = HashMap::new();
    for &node in &regions.nodes {
        let function = tree.function(node);
        let is_asked = regions.is_costly(function) && !regions.stays(function);
        if !is_asked || !tree.is_outermost(node) {
            continue;
        }
        for below in regions.staying_below(node) {
            let callee = tree.function(below);
            if !evidences.functions.list[callee.get()].kernel {
                let of_function = callees.entry(function).or_default();
                let sum = of_function.entry(regions.classes.of(callee)).or_default();
                *sum = super::cause::plus(*sum, evidences.total(below));
            }
        }
    }
    callees
}

/// A function's own source file, without the versions of the folders that it is in; `None` where it is
/// one of the standard library's, as code of all kinds is compiled from those.
fn source_file(function: &Function) -> Option<String> {
    let file = function.file.as_deref()?;
    let of_everyone = ["library/", "/rustc/", "/usr/"];
    if of_everyone.iter().any(|folder| file.starts_with(folder)) {
        return None;
    }
    let parts = file.split('/').map(|part| match part.rsplit_once('-') {
        Some((name, version))
            if version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.') =>
        {
            name
        }
        _ => part,
    });
    Some(parts.collect::<Vec<_>>().join("/"))
}

/// The words of a function's name.
#[derive(Debug)]
struct Name {
    all: BTreeSet<String>,
    last: BTreeSet<String>,
}

impl Name {
    fn of(symbol: &str) -> Name {
        let symbol = without_trait(without_arguments(symbol));
        let mut parts: Vec<&str> = parts(&symbol);
        // `{closure}` and `func` say nothing: they are named after what they are in.
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

/// Whether at least this part of the words of both are in both (L. R. Dice, Ecology 26:297, 1945).
fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>, part: f64) -> bool {
    let shared = a.intersection(b).count();
    shared > 0 && 2.0 * shared as f64 >= part * (a.len() + b.len()) as f64
}

/// Words as `snake_case`, `camelCase` and digits part them, in lower case.
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

/// The parts of a path, as `::`, `.` and `/` part them outside of brackets.
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

/// A C++ function's name without its parameters.
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
            // `operator()` is a name, as is Java's `(...)` of nothing.
            return if name.is_empty() || name.ends_with("operator") {
                symbol
            } else {
                name
            };
        }
    }
    symbol
}

/// `<Type as Trait>::method` as `Type::method`: methods of one trait are not alike for it.
fn without_trait(symbol: &str) -> String {
    let Some(path) = symbol.strip_prefix('<') else {
        return symbol.to_owned();
    };
    let (mut depth, mut of_trait) = (1_usize, None);
    let mut before = ' ';
    for (at, c) in path.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            ' ' if depth == 1 && path[at..].starts_with(" as ") => of_trait = Some(at),
            _ => {}
        }
        if depth == 0 {
            let of_type = &path[..of_trait.unwrap_or(at)];
            return format!("{of_type}{}", &path[at + 1..]);
        }
        before = c;
    }
    symbol.to_owned()
}
