//! Matches functions between builds.
//!
//! ```text
//! frame       symbol, module, kind, file, line
//!    |  keys     removes the parts of symbols that compilers change from build to build
//!    v  matched  frames without symbols, and the main program under any file name
//! function    key, module
//! ```
//!
//! All features that involve several builds match functions by these keys: comparisons, histories,
//! averages, and differences that are drawn or exported.
#![doc = include_str!("functions.md")]

mod attribution;
mod choice;
mod keys;
mod library;
mod matched;
#[cfg(any(feature = "lake", feature = "sql"))]
mod numbered;

pub(crate) use attribution::FunctionPatterns;
pub use attribution::{Attribution, LibraryCode};
pub(crate) use attribution::{is_library, origin};
pub(crate) use choice::FunctionChoice;
pub use choice::FunctionError;
pub(crate) use choice::{SymbolAndKey, symbols_of};
pub(crate) use keys::outside_of_closures;
pub use keys::{KeyOptions, RULES_VERSION, Rule, SymbolMatch, explain_match, key_symbol};
pub(crate) use keys::{Matching, SymbolKey};
pub(crate) use matched::{FunctionKey, ModuleKey, UNRESOLVED, function_key, key_of, module_key};
#[cfg(any(feature = "lake", feature = "sql"))]
pub(crate) use numbered::Functions;
