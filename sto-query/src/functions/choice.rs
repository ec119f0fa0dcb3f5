//! Finds functions by a name that a user typed, by the same rule in every command.

use super::{KeyOptions, UNRESOLVED, key_of, key_symbol};
use crate::text::{find_closest, name_with_types, part_starts, printable, short_name};
use hashbrown::HashSet;
use regex_lite::Regex;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;
use sto_core::model::Frame;

/// Prefix of a regular expression.
const REGEX: &str = "re:";
/// Character that stands for any text. Displayed names use it where they were truncated.
const ANY_TEXT: char = '…';

/// A choice of functions, as the user typed it.
///
/// The prefix `re:` begins a regular expression, which is searched for in symbols and keys.
/// Any other text is compared with symbols by these rules. The first rule that matches any function
/// applies:
///
/// 1. it is the symbol, or its [key](key_symbol);
/// 2. it has the same key;
/// 3. it is the key without template arguments;
/// 4. it is a [short form](short_name) of the name;
/// 5. it is the last part of one of these, as `Parser::next` is of `demo::Parser::next`;
/// 6. it is any part of one of these, first with and then without regard to case;
/// 7. it contains `…`, which stands for any text, and begins at any part of one of these.
#[derive(Clone, Debug)]
pub(crate) struct FunctionChoice {
    text: String,
    regex: Option<Regex>,
}

/// The reason why a name does not identify a function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// The text after `re:` is not a valid regular expression.
    #[error("`{}` is not a valid regular expression: {source}", printable(.text))]
    Regex {
        /// The text that the user typed.
        text: String,
        /// The reason.
        source: regex_lite::Error,
    },
    /// No function matches.
    #[error(
        "{among}: no function has `{}` in its name{}",
        printable(.text),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NotFound {
        /// The place that was searched: builds as `EXE@BUILD`, or a history.
        among: String,
        /// The text that the user typed.
        text: String,
        /// The function with the most similar name, if there is one.
        closest: Option<String>,
    },
    /// Several functions match, but only one is allowed.
    #[error("`{}` matches {} functions", printable(.text), .names.len())]
    Several {
        /// The text that the user typed.
        text: String,
        /// The keys of the matching functions, in order.
        names: Vec<String>,
    },
}

/// A function's symbol and its key.
#[derive(Clone, Debug)]
pub(crate) struct SymbolAndKey<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) key: Cow<'a, str>,
}

impl<'a> SymbolAndKey<'a> {
    /// Creates the name of a frame's function.
    pub(crate) fn from_frame(frame: Frame<'a>) -> Self {
        SymbolAndKey {
            symbol: frame.symbol,
            key: key_of(frame, KeyOptions::default()),
        }
    }

    /// Creates the name of a function from only its key.
    pub(crate) fn from_key(key: &'a str) -> Self {
        SymbolAndKey {
            symbol: key,
            key: Cow::Borrowed(key),
        }
    }

    fn without_arguments(&self) -> Cow<'_, str> {
        match &*self.key {
            UNRESOLVED => Cow::Borrowed(UNRESOLVED),
            key => key_symbol(key, KeyOptions::WITHOUT_ARGUMENTS),
        }
    }

    /// Returns the other forms by which the function can be chosen.
    fn forms(&self) -> [String; 4] {
        [
            self.without_arguments().into_owned(),
            short_name(self.symbol),
            short_name(&self.key),
            name_with_types(self.symbol),
        ]
    }
}

impl FunctionChoice {
    /// Parses the text that a user typed.
    ///
    /// # Errors
    /// Returns an error if the text begins with `re:` and is not a valid regular expression.
    pub(crate) fn parse(text: &str) -> Result<Self, FunctionError> {
        let regex = text.strip_prefix(REGEX).map(Regex::new).transpose();
        Ok(FunctionChoice {
            text: text.to_owned(),
            regex: regex.map_err(|source| FunctionError::Regex {
                text: text.to_owned(),
                source,
            })?,
        })
    }

    /// Whether the choice may match several functions.
    pub(crate) fn is_regex(&self) -> bool {
        self.regex.is_some()
    }

    /// Returns the indices of the functions that match, in order; empty if none matches.
    pub(crate) fn find_matches(&self, functions: &[SymbolAndKey<'_>]) -> Vec<usize> {
        let those = |fits: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..functions.len()).filter(|&ix| fits(ix)).collect()
        };
        let text = &*self.text;
        let symbol = |ix: usize| functions[ix].symbol;
        let key = |ix: usize| &*functions[ix].key;
        if let Some(regex) = &self.regex {
            return those(&|ix| regex.is_match(symbol(ix)) || regex.is_match(key(ix)));
        }
        // Most texts are the symbol or key of a function, so these are rarely needed.
        let forms = LazyCell::new(|| -> Vec<[String; 4]> {
            functions.iter().map(SymbolAndKey::forms).collect()
        });
        let own_key = key_symbol(text, KeyOptions::default());
        let any_case = text.to_lowercase();
        let has = |name: &str| name.to_lowercase().contains(&any_case);
        let any_name = |ix: usize, fits: &dyn Fn(&str) -> bool| {
            fits(symbol(ix)) || fits(key(ix)) || forms[ix].iter().any(|name| fits(name))
        };
        let rules: [&dyn Fn(usize) -> bool; 8] = [
            &|ix| symbol(ix) == text || key(ix) == text || printable(symbol(ix)) == text,
            &|ix| key(ix) == own_key,
            &|ix| functions[ix].without_arguments() == text,
            &|ix| forms[ix].iter().any(|name| name == text),
            &|ix| any_name(ix, &|name| is_last_part(text, name)),
            &|ix| any_name(ix, &|name| name.contains(text)),
            &|ix| any_name(ix, &has),
            &|ix| any_name(ix, &|name| fits_part(text, name)),
        ];
        let mut chosen = rules.iter().map(|fits| those(fits));
        chosen.find(|chosen| !chosen.is_empty()).unwrap_or_default()
    }

    /// Creates the error for a choice that matches no function of `among`.
    pub(crate) fn not_found(&self, among: String, functions: &[SymbolAndKey<'_>]) -> FunctionError {
        let names = functions.iter().map(|function| &*function.key);
        FunctionError::NotFound {
            among,
            text: self.text.clone(),
            closest: find_closest(&self.text, names).map(str::to_owned),
        }
    }

    /// Returns the distinct keys of chosen functions, in order.
    ///
    /// # Errors
    /// Returns an error if there are several keys, and the choice is not a regular expression.
    pub(crate) fn names_of(
        &self,
        chosen: &[usize],
        functions: &[SymbolAndKey<'_>],
    ) -> Result<Vec<String>, FunctionError> {
        let names: BTreeSet<&str> = chosen.iter().map(|&ix| &*functions[ix].key).collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        if names.len() > 1 && !self.is_regex() {
            return Err(FunctionError::Several {
                text: self.text.clone(),
                names,
            });
        }
        Ok(names)
    }
}

/// Whether a name ends with the text, at the start of a part of the name.
fn is_last_part(text: &str, name: &str) -> bool {
    let outer = name.strip_suffix(text).filter(|_| !text.is_empty());
    outer.is_some_and(|outer| outer.ends_with("::") || outer.ends_with(['.', '/', ' ', '$']))
}

/// Whether the text with `…` fits the name from the start of one of its parts on.
fn fits_part(text: &str, name: &str) -> bool {
    let mut starts = part_starts(name).into_iter();
    text.contains(ANY_TEXT) && starts.any(|start| fits_cut(text, &name[start..]))
}

/// Whether the parts between `…` occur in the name in their order, the first at its beginning and
/// the last at its end.
fn fits_cut(text: &str, name: &str) -> bool {
    let Some((first, rest)) = text.split_once(ANY_TEXT) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once(ANY_TEXT).unwrap_or(("", rest));
    let Some(inner) = name.strip_prefix(first) else {
        return false;
    };
    let Some(mut inner) = inner.strip_suffix(last) else {
        return false;
    };
    middle.split(ANY_TEXT).all(|part| match inner.find(part) {
        Some(at) => {
            inner = &inner[at + part.len()..];
            true
        }
        None => false,
    })
}

/// Returns the symbols and the keys of the functions of frames that a choice matches.
///
/// # Errors
/// Returns an error if no function matches.
pub(crate) fn symbols_of<'a>(
    choice: &FunctionChoice,
    frames: impl Iterator<Item = Frame<'a>>,
    among: impl FnOnce() -> String,
) -> Result<(HashSet<String>, Vec<String>), FunctionError> {
    let functions: Vec<SymbolAndKey> = frames.map(SymbolAndKey::from_frame).collect();
    let chosen = choice.find_matches(&functions);
    if chosen.is_empty() {
        return Err(choice.not_found(among(), &functions));
    }
    let keys: BTreeSet<&str> = chosen.iter().map(|&ix| &*functions[ix].key).collect();
    let symbols = chosen.iter().map(|&ix| functions[ix].symbol.to_owned());
    Ok((
        symbols.collect(),
        keys.into_iter().map(str::to_owned).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTIONS: [&str; 9] = [
        "log",
        "log_all",
        "demo::Log::write",
        "demo::Log::write_all",
        "receive.isra.0",
        "receive.part.1",
        "demo::Map<int>::find",
        "demo::Map<char>::find",
        "Parser.parse",
    ];

    fn chosen(text: &str) -> Vec<&'static str> {
        let named = |symbol| SymbolAndKey {
            symbol,
            key: key_symbol(symbol, KeyOptions::default()),
        };
        let functions = FUNCTIONS.map(named);
        let choice = FunctionChoice::parse(text).expect("the expression is valid");
        choice
            .find_matches(&functions)
            .into_iter()
            .map(|ix| FUNCTIONS[ix])
            .collect()
    }

    #[test]
    fn first_matching_rule_applies() {
        for (text, expected) in [
            ("log", &["log"][..]),
            ("receive.isra.0", &["receive.isra.0"]),
            ("receive", &["receive.isra.0", "receive.part.1"]),
            ("receive.constprop.3", &["receive.isra.0", "receive.part.1"]),
            (
                "demo::Map::find",
                &["demo::Map<int>::find", "demo::Map<char>::find"],
            ),
            ("demo::Map<int>::find", &["demo::Map<int>::find"]),
            ("write", &["demo::Log::write"]),
            (
                "Map::find",
                &["demo::Map<int>::find", "demo::Map<char>::find"],
            ),
            ("parse", &["Parser.parse"]),
            ("writ", &["demo::Log::write", "demo::Log::write_all"]),
            ("WRITE_", &["demo::Log::write_all"]),
            ("re:^log", &["log", "log_all"]),
            (
                "re:::(find|write)$",
                &[
                    "demo::Log::write",
                    "demo::Map<int>::find",
                    "demo::Map<char>::find",
                ],
            ),
            ("nothing", &[]),
            ("re:nothing", &[]),
        ] {
            assert_eq!(chosen(text), expected, "{text}");
        }
    }

    #[test]
    fn finds_names_in_every_form_in_which_they_are_displayed() {
        let symbols = [
            "<alloc::vec::Vec<app::Item> as core::ops::drop::Drop>::drop",
            "<alloc::vec::Vec<u8> as core::ops::drop::Drop>::drop",
            "rayon::iter::collect::consumer::consume_iter::<app::Item>",
            "void shop::sort<int*>(int*, int*)",
            "app::run::{closure#2}",
        ];
        let functions = symbols.map(|symbol| SymbolAndKey {
            symbol,
            key: key_symbol(symbol, KeyOptions::default()),
        });
        let displayed = crate::text::names::distinct_names(symbols);
        let cut = symbols[2..].iter();
        let cut = cut.map(|symbol| crate::text::names::shorten_name(symbol, 17));
        let cut: Vec<String> = cut.collect();
        for (ix, name) in displayed.iter().enumerate().chain((2..).zip(&cut)) {
            let choice = FunctionChoice::parse(name).expect("it is no regular expression");
            assert_eq!(choice.find_matches(&functions), [ix], "{name}");
        }
        let both = FunctionChoice::parse("Vec::drop").expect("it is no regular expression");
        assert_eq!(both.find_matches(&functions), [0, 1]);
    }

    #[test]
    fn finds_truncated_names() {
        for (text, expected) in [
            ("demo::…e_all", &["demo::Log::write_all"][..]),
            ("…Log::write", &["demo::Log::write"]),
            (
                "demo::Map<…>::find",
                &["demo::Map<int>::find", "demo::Map<char>::find"],
            ),
            ("…Map<i…>…find", &["demo::Map<int>::find"]),
            ("log…", &["log", "log_all"]),
            ("…nothing", &[]),
        ] {
            assert_eq!(chosen(text), expected, "{text}");
        }
        // The truncated part must be between the two ends.
        assert!(!fits_cut("log…g", "log"));
        assert!(fits_cut("lo…g", "log"));
    }

    #[test]
    fn rejects_invalid_regular_expressions() {
        let error = FunctionChoice::parse("re:(").expect_err("it is not closed");
        assert!(
            error
                .to_string()
                .starts_with("`re:(` is not a valid regular expression"),
            "{error}"
        );
    }
}
