//! Function keys: the part of a function's symbol that does not change between builds.
//!
//! Compilers add text to symbols that changes from build to build although the function does not:
//! crate hashes, and numbers of clones and closures. A key is the symbol without it.
//!
//! ```text
//! symbol      _ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.42
//!    |  mangled         demangles the name
//!    |  runtime_names   removes what OCaml and PHP write around a name
//!    |  rust_paths      spells Rust paths as one of the manglings does
//!    |  templates       removes template arguments, if they are ignored
//!    |  numbers         removes numbers of closures and the like, anywhere
//!    v  suffixes        removes suffixes of clones and the like, at the end
//! key         app::run::{closure}
//! ```
//!
//! Each step reads the symbol once, and each rule reports what it removed, as shown by
//! [`explain_match`](crate::functions::explain_match).

mod method;
mod numbers;
mod rule;
mod runtime_names;
mod rust_paths;
mod suffixes;
mod templates;

pub(crate) use method::Method;
pub use rule::Rule;
pub(crate) use runtime_names::without_stamp;
pub(crate) use rust_paths::is_rust;
pub(crate) use templates::before_cut;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use sto_core::demangled;

/// Version of the rules of [`key_symbol`]. It changes whenever the key of any symbol does.
pub const RULES_VERSION: u32 = 1;

/// Returns the key of the function that contains a closure of Rust or Go, from the closure's key;
/// `None` for other functions.
pub(crate) fn outside_of_closures(key: &str) -> Option<&str> {
    fn outer<'a>(key: &&'a str) -> Option<&'a str> {
        let path = key.strip_suffix("{closure}")?;
        path.strip_suffix("::").or_else(|| path.strip_suffix('.'))
    }
    std::iter::successors(Some(key), outer).skip(1).last()
}

/// User options for keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyOptions {
    /// Whether symbols are compared literally, without any rule. Default false.
    pub exact_symbols: bool,
    /// Whether instantiations of one template, generic function or type are one function. Default
    /// false, as `parse<Json>` may be slower while `parse<Xml>` is not.
    pub ignore_template_arguments: bool,
}

/// The rules by which functions were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Matching {
    /// The [`RULES_VERSION`].
    pub rules_version: u32,
    /// The user's options.
    #[serde(flatten)]
    pub options: KeyOptions,
}

impl KeyOptions {
    /// Options for keys without template arguments.
    pub(crate) const WITHOUT_ARGUMENTS: KeyOptions = KeyOptions {
        exact_symbols: false,
        ignore_template_arguments: true,
    };
}

impl From<KeyOptions> for Matching {
    fn from(options: KeyOptions) -> Self {
        Matching {
            rules_version: RULES_VERSION,
            options,
        }
    }
}

/// Returns the key of a symbol: the symbol without the parts that compilers change from build to
/// build.
///
/// If nothing would be left, returns the whole symbol.
///
/// ```
/// use sto_query::questions::{KeyOptions, key_symbol};
/// let key = |symbol| key_symbol(symbol, KeyOptions::default());
/// assert_eq!(key("parse.constprop.0.isra.1"), "parse");
/// assert_eq!(key("app::run::{{closure}}::h0123456789abcdef"), "app::run::{closure}");
/// ```
pub fn key_symbol(symbol: &str, options: KeyOptions) -> Cow<'_, str> {
    take_out(symbol, options, &mut |_, _, _| {})
}

/// Returns the key. `note` is called with each rule, the text that it removed, and the replacement.
pub(crate) fn take_out<'a>(
    symbol: &'a str,
    options: KeyOptions,
    note: &mut impl FnMut(Rule, &str, &str),
) -> Cow<'a, str> {
    let mut name = Cow::Borrowed(symbol);
    if options.exact_symbols {
        return name;
    }
    if let Some(demangled) = demangled(symbol) {
        note(Rule::Mangled, symbol, &demangled);
        name = Cow::Owned(demangled);
    }
    if let Some(source) = runtime_names::source_name(&name, note) {
        name = Cow::Owned(source);
    }
    if let Some(path) = rust_paths::respelled(&name, note) {
        name = Cow::Owned(path);
    }
    if options.ignore_template_arguments
        && let Some(shorter) = templates::without_arguments(&name, note)
    {
        name = Cow::Owned(shorter);
    }
    if let Some(shorter) = numbers::without_numbers(&name, note) {
        name = Cow::Owned(shorter);
    }
    let key = suffixes::without_suffixes(name, note);
    if key.is_empty() {
        return Cow::Borrowed(symbol);
    }
    key
}

/// Returns a key without arguments of templates, generic functions and types; `None` if it has
/// none.
pub(crate) fn without_arguments(key: &str) -> Option<String> {
    templates::without_arguments(key, &mut |_, _, _| {})
}

/// Whether a byte may be part of a name in any language, including all non-ASCII bytes.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
