//! The folders of a build, as Hive names partitions.

use std::fmt::Write;
use sto_model::Build;

/// What stands for an empty value.
const EMPTY: &str = "__HIVE_DEFAULT_PARTITION__";

/// `executable=demo/build=v1`.
pub(super) fn partition(build: &Build) -> String {
    let folder = |name: &str, value: &str| format!("{name}={}", encoded(value));
    let (executable, build) = (&build.executable, &build.version);
    format!(
        "{}/{}",
        folder("executable", executable),
        folder("build", build)
    )
}

/// A value in a path: what Hive writes as `%` and two digits, and what engines would look for as a pattern.
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
                // Writing to a text cannot fail.
                let _ = write!(path, "%{:02X}", u32::from(letter));
            }
            other => path.push(other),
        }
    }
    path
}
