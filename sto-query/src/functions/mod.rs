//! Functions: which frames of two builds, or of many, are of one.
//!
//! ```text
//! frame       symbol, module, kind, file, line
//!    |  keys     the symbol without what compilers change from build to build
//!    v  matched  what has no symbol, and the program itself, whatever its file is called
//! function    key, module
//! ```
//!
//! Everything that looks at more than one build matches by these keys: comparisons, histories,
//! averages, differences that are drawn or exported.
//!
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
pub(crate) use choice::{Named, symbols_of};
pub(crate) use keys::outside_of_closures;
pub use keys::{KeyOptions, RULES_VERSION, Rule, SymbolMatch, explain_match, key_symbol};
pub(crate) use keys::{Matching, SymbolKey};
pub(crate) use matched::{FunctionKey, ModuleKey, UNRESOLVED, function_key, key_of};
#[cfg(any(feature = "lake", feature = "sql"))]
pub(crate) use numbered::Functions;
