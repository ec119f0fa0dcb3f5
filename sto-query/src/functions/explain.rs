//! Explains whether two symbols are the same function.

use super::{ModuleKey, Spellings};
use crate::answer::Answer;
use crate::keys::{KeyOptions, Matching, Rule, take_out};
use serde::Serialize;
use std::borrow::Cow;

/// An explanation of the keys of two symbols.
///
/// Keys only concern symbols; comparisons also require that modules match.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolMatch {
    /// The rules by which symbols were matched.
    #[serde(flatten)]
    pub matching: Matching,
    /// Whether the keys are equal.
    pub matches: bool,
    /// The two symbols, in the order in which they were given.
    pub symbols: [SymbolKey; 2],
}

impl Answer for SymbolMatch {
    const SCHEMA: &'static str = "sto.explain-match/1";
}

/// An explanation of the key of one symbol.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolKey {
    /// The symbol as given.
    pub symbol: String,
    /// The changes that rules made, in this order.
    pub steps: Vec<Step>,
    /// The resulting key.
    pub key: String,
}

/// A change that a rule made to a symbol.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// The text that was removed.
    pub taken: String,
    /// The text that replaced it; usually empty.
    pub written: String,
}

/// Reports what each rule removed from two symbols, and whether their keys are equal.
///
/// ```
/// use sto_query::questions::{KeyOptions, explain_match};
/// let report = explain_match("parse.part.0", "parse.cold", KeyOptions::default());
/// assert!(report.matches);
/// assert_eq!(report.symbols[0].steps[0].rule.name(), "clone");
/// assert_eq!(report.symbols[0].steps[0].taken, ".part.0");
/// ```
pub fn explain_match(first: &str, second: &str, options: KeyOptions) -> SymbolMatch {
    let mut symbols = [first, second].map(|symbol| explain(symbol, options));
    if !options.exact_symbols {
        match_spellings(&mut symbols);
    }
    SymbolMatch {
        matching: options.into(),
        matches: symbols[0].key == symbols[1].key,
        symbols,
    }
}

/// Applies the rules that need the symbols of both builds.
fn match_spellings(symbols: &mut [SymbolKey; 2]) {
    let names = symbols.each_ref().map(|symbol| symbol.symbol.clone());
    let keys = symbols.each_ref().map(|symbol| symbol.key.clone());
    let function = |side: usize| (Cow::Borrowed(&*keys[side]), ModuleKey::MainProgram);
    let builds = [0, 1].map(|side| vec![(function(side), &*names[side])]);
    let spellings = Spellings::new(&builds);
    let found = [0, 1].map(|side| spellings.find(&function(side)));
    for (symbol, found) in symbols.iter_mut().zip(found) {
        if let Some((rule, name)) = found {
            let name = name.to_owned();
            symbol.steps.push(Step {
                rule,
                taken: std::mem::replace(&mut symbol.key, name.clone()),
                written: name,
            });
        }
    }
}

fn explain(symbol: &str, options: KeyOptions) -> SymbolKey {
    let mut steps = Vec::new();
    let key = take_out(symbol, options, &mut |rule, taken, written| {
        steps.push(Step {
            rule,
            taken: taken.to_owned(),
            written: written.to_owned(),
        });
    });
    if key == symbol {
        // The key would have been empty, so the symbol was kept.
        steps.clear();
    }
    SymbolKey {
        symbol: symbol.to_owned(),
        steps,
        key: key.into_owned(),
    }
}
