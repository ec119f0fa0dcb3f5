//! Expected outputs in files.

use std::fs;
use std::path::Path;

/// Compares a text with a golden file, or writes the file if `STO_UPDATE_GOLDENS` is set.
///
/// # Panics
///
/// Panics if the text differs from the file.
#[track_caller]
pub fn assert_golden(golden: &Path, found: &str) {
    if std::env::var_os("STO_UPDATE_GOLDENS").is_some() {
        fs::write(golden, found).unwrap();
    }
    let expected = fs::read_to_string(golden).unwrap_or_default();
    if found == expected {
        return;
    }
    let same = found
        .lines()
        .zip(expected.lines())
        .take_while(|(found, expected)| found == expected)
        .count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    panic!(
        "{}, line {}, differs; STO_UPDATE_GOLDENS=1 writes it anew\nexpected: {}\n   found: {}\n\nall that was found:\n{found}",
        golden.display(),
        same + 1,
        line(&expected),
        line(found),
    );
}
