//! Folder names of a build, in Hive's partition syntax.

use std::fmt::Write;
use sto_model::Build;

/// Hive's name for an empty value.
const EMPTY: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the folders of a build, such as `executable=demo/build=v1`.
pub(super) fn partition(build: &Build) -> String {
    let folder = |name: &str, value: &str| format!("{name}={}", encoded(value));
    let (executable, build) = (&build.executable, &build.version);
    format!(
        "{}/{}",
        folder("executable", executable),
        folder("build", build)
    )
}

/// Escapes a value for a path: characters that Hive writes as `%` and two hex digits, and those that engines would
/// take for a pattern.
fn encoded(value: &str) -> String {
    if value.is_empty() {
        return EMPTY.to_owned();
    }
    let mut path = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\0'..='\x1f'
            | '\x7f'
            | '"'
            | '#'
            | '%'
            | '\''
            | '*'
            | '/'
            | ':'
            | '='
            | '?'
            | '\\'
            | '{'
            | '}'
            | '['
            | ']'
            | '^'
            | '<'
            | '>'
            | '|'
            | '+' => {
                // Writing to a string cannot fail.
                let _ = write!(path, "%{:02X}", u32::from(letter));
            }
            other => path.push(other),
        }
    }
    path
}
