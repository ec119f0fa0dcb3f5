//! Why two symbols are one function, or are not.

use super::{KeyOptions, Matching, Rule, take_out};
use crate::answer::Answer;
use serde::Serialize;

/// How two symbols got their keys.
///
/// Keys are of symbols: a comparison also asks that the modules match.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolMatch {
    /// The rules.
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

/// How one symbol got its key.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SymbolKey {
    /// As given.
    pub symbol: String,
    /// What rules did, in this order.
    pub steps: Vec<Step>,
    /// What is left.
    pub key: String,
}

/// What a rule did to a symbol.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Step {
    /// Which rule.
    pub rule: Rule,
    /// What it took out.
    pub taken: String,
    /// What it wrote instead; mostly nothing.
    pub written: String,
}

/// Says which rule took what out of each of two symbols, and whether their keys are equal.
///
/// ```
/// use sto_query::questions::{KeyOptions, explain_match};
/// let report = explain_match("parse.part.0", "parse.cold", KeyOptions::default());
/// assert!(report.matches);
/// assert_eq!(report.symbols[0].steps[0].rule.name(), "clone");
/// assert_eq!(report.symbols[0].steps[0].taken, ".part.0");
/// ```
pub fn explain_match(first: &str, second: &str, options: KeyOptions) -> SymbolMatch {
    let symbols = [first, second].map(|symbol| explain(symbol, options));
    SymbolMatch {
        matching: options.into(),
        matches: symbols[0].key == symbols[1].key,
        symbols,
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
        // Nothing would have been left.
        steps.clear();
    }
    SymbolKey {
        symbol: symbol.to_owned(),
        steps,
        key: key.into_owned(),
    }
}
