//! Matches functions between builds.
//!
//! ```text
//! frame       symbol, module, kind, file, line
//!    |  keys       removes the parts of symbols that compilers change from build to build
//!    |  matched    frames without symbols, and the main program under any file name
//!    v  spellings  names that leave out arguments in one build and have them in the other
//! function    key, module
//! ```
//!
//! All features that involve several builds match functions by these keys: comparisons, histories,
//! averages, and differences that are drawn or exported.
//!
//! See [the manual](crate::manual::functions).

mod attribution;
mod choice;
mod explain;
mod library;
mod matched;
#[cfg(any(feature = "lake", feature = "sql"))]
mod numbered;
mod spellings;

pub use explain::{Step, SymbolKey};

pub use attribution::FunctionPatterns;

pub use crate::keys::{KeyOptions, RULES_VERSION, Rule, key_symbol};
pub(crate) use crate::keys::{Matching, outside_of_closures, without_arguments};
pub use attribution::{Attribution, LibraryCode};
pub(crate) use attribution::{is_library, is_repository_file, origin, split_version};
pub(crate) use choice::FunctionChoice;
pub use choice::FunctionError;
pub(crate) use choice::{SymbolAndKey, symbols_of};
pub use explain::{SymbolMatch, explain_match};
pub(crate) use matched::{FunctionKey, ModuleKey, UNRESOLVED, function_key, key_of, module_key};
#[cfg(any(feature = "lake", feature = "sql"))]
pub(crate) use numbered::Functions;
pub(crate) use spellings::{BuildFunctions, Spellings, other_spellings};
