//! Functions that a user names: the one rule by which every command reads such a name.

use super::{KeyOptions, UNRESOLVED, key_of, key_symbol};
use crate::text::{closest, printable};
use hashbrown::HashSet;
use regex_lite::Regex;
use std::borrow::Cow;
use std::collections::BTreeSet;
use sto_core::model::Frame;

/// What begins a regular expression.
const REGEX: &str = "re:";
/// What stands for any text in a name: so names are shown that were cut to fit.
const ANY_TEXT: char = '…';

/// Functions, as a user names them.
///
/// `re:` begins a regular expression, which fits a part of a symbol or of its key. All else is compared
/// with symbols by these rules, and the first by which any function fits is the one that holds:
///
/// 1. it is the symbol, or its [key](key_symbol);
/// 2. its own key is the same;
/// 3. it is the key without template arguments;
/// 4. it is the last part of one of these, as `Parser::next` is of `demo::Parser::next`;
/// 5. it is any part of one of these, and then in upper or lower case;
/// 6. it has `…`, which stands for any text.
#[derive(Clone, Debug)]
pub(crate) struct FunctionChoice {
    text: String,
    regex: Option<Regex>,
}

/// Why a name means no function, or too many.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// What follows `re:` is no regular expression.
    #[error("`{}` is no regular expression: {source}", printable(.text))]
    Regex {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        source: regex_lite::Error,
    },
    /// No function fits.
    #[error(
        "{among}: no function has `{}` in its name{}",
        printable(.text),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NotFound {
        /// Where there is none: builds as `EXE@BUILD`, or a history.
        among: String,
        /// What was asked for.
        text: String,
        /// The function whose name is closest, if any is close.
        closest: Option<String>,
    },
    /// Several functions fit where one is meant.
    #[error("`{}` fits {} functions", printable(.text), .names.len())]
    Several {
        /// What was asked for.
        text: String,
        /// The keys of those that fit, in order.
        names: Vec<String>,
    },
}

/// A function's symbol, and what is left of it between builds.
#[derive(Clone, Debug)]
pub(crate) struct Named<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) key: Cow<'a, str>,
}

impl<'a> Named<'a> {
    /// The function of a frame.
    pub(crate) fn of_frame(frame: Frame<'a>) -> Self {
        Named {
            symbol: frame.symbol,
            key: key_of(frame, KeyOptions::default()),
        }
    }

    /// A function of which only the key is known.
    pub(crate) fn of_key(key: &'a str) -> Self {
        Named {
            symbol: key,
            key: Cow::Borrowed(key),
        }
    }

    fn without_arguments(&self) -> Cow<'_, str> {
        match &*self.key {
            UNRESOLVED => Cow::Borrowed(UNRESOLVED),
            key => key_symbol(key, WITHOUT_ARGUMENTS),
        }
    }
}

const WITHOUT_ARGUMENTS: KeyOptions = KeyOptions {
    exact_symbols: false,
    ignore_template_arguments: true,
};

impl FunctionChoice {
    /// Reads what a user wrote.
    ///
    /// # Errors
    /// Where it begins with `re:`, and is no regular expression.
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

    /// Whether several functions are meant, if several fit.
    pub(crate) fn is_regex(&self) -> bool {
        self.regex.is_some()
    }

    /// Those of these functions that are meant: their indices, in order. None where none fits.
    pub(crate) fn among(&self, functions: &[Named<'_>]) -> Vec<usize> {
        let those = |fits: &dyn Fn(&Named) -> bool| -> Vec<usize> {
            let all = functions.iter().enumerate();
            all.filter(|(_, function)| fits(function))
                .map(|(ix, _)| ix)
                .collect()
        };
        let text = &*self.text;
        if let Some(regex) = &self.regex {
            return those(&|f| regex.is_match(f.symbol) || regex.is_match(&f.key));
        }
        let own_key = key_symbol(text, KeyOptions::default());
        let any_case = text.to_lowercase();
        let has = |name: &str| name.to_lowercase().contains(&any_case);
        let rules: [&dyn Fn(&Named) -> bool; 7] = [
            &|f| f.symbol == text || f.key == text || printable(f.symbol) == text,
            &|f| f.key == own_key,
            &|f| f.without_arguments() == text,
            &|f| is_last_part(text, &f.key) || is_last_part(text, &f.without_arguments()),
            &|f| {
                f.symbol.contains(text)
                    || f.key.contains(text)
                    || f.without_arguments().contains(text)
            },
            &|f| has(f.symbol) || has(&f.key) || has(&f.without_arguments()),
            &|f| fits_cut(text, f.symbol) || fits_cut(text, &f.key),
        ];
        let mut chosen = rules.iter().map(|fits| those(fits));
        chosen.find(|chosen| !chosen.is_empty()).unwrap_or_default()
    }

    /// No function of `among` is meant.
    pub(crate) fn not_found(&self, among: String, functions: &[Named<'_>]) -> FunctionError {
        let names = functions.iter().map(|function| &*function.key);
        FunctionError::NotFound {
            among,
            text: self.text.clone(),
            closest: closest(&self.text, names).map(str::to_owned),
        }
    }

    /// The keys of chosen functions, each once and in order.
    ///
    /// # Errors
    /// Where there are several, though one is meant.
    pub(crate) fn names_of(
        &self,
        chosen: &[usize],
        functions: &[Named<'_>],
    ) -> Result<Vec<String>, FunctionError> {
        let names: BTreeSet<&str> = chosen.iter().map(|&ix| &*functions[ix].key).collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        match names.len() > 1 && !self.is_regex() {
            true => Err(FunctionError::Several {
                text: self.text.clone(),
                names,
            }),
            false => Ok(names),
        }
    }
}

/// Whether a name ends with this, and it begins where a part of the name does.
fn is_last_part(text: &str, name: &str) -> bool {
    let outer = name.strip_suffix(text).filter(|_| !text.is_empty());
    outer.is_some_and(|outer| outer.ends_with("::") || outer.ends_with(['.', '/', ' ', '$']))
}

/// Whether the parts between `…` stand in the name in their order, the first at its beginning and the last
/// at its end.
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

/// The symbols of the functions that a choice means, among those of some frames.
pub(crate) fn symbols_of<'a>(
    choice: &FunctionChoice,
    frames: impl Iterator<Item = Frame<'a>>,
    among: impl FnOnce() -> String,
) -> Result<(HashSet<String>, Vec<String>), FunctionError> {
    let functions: Vec<Named> = frames.map(Named::of_frame).collect();
    let chosen = choice.among(&functions);
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
        let named = |symbol| Named {
            symbol,
            key: key_symbol(symbol, KeyOptions::default()),
        };
        let functions = FUNCTIONS.map(named);
        let choice = FunctionChoice::parse(text).expect("the expression is one");
        choice
            .among(&functions)
            .into_iter()
            .map(|ix| FUNCTIONS[ix])
            .collect()
    }

    #[test]
    fn the_most_exact_rule_by_which_any_function_fits_holds() {
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
    fn a_name_that_was_cut_is_found_again() {
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
        // What is cut must have stood between the two ends.
        assert!(!fits_cut("log…g", "log"));
        assert!(fits_cut("lo…g", "log"));
    }

    #[test]
    fn what_is_no_regular_expression_is_said_to_be_none() {
        let error = FunctionChoice::parse("re:(").expect_err("it is not closed");
        assert!(
            error
                .to_string()
                .starts_with("`re:(` is no regular expression"),
            "{error}"
        );
    }
}
