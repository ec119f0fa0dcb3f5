//! Expected outputs in files.

use std::fs;
use std::path::Path;

/// Compares a text with a golden file, or writes the file if `STO_UPDATE_GOLDENS` is set.
///
/// Style sheets and scripts in HTML, and their hashes, are abbreviated on both sides, so that an edit of a style sheet
/// changes no golden file.
///
/// # Panics
///
/// Panics if the text differs from the file.
#[track_caller]
pub fn assert_golden(golden: &Path, found: &str) {
    let abbreviated;
    let found = if golden.extension().is_some_and(|ending| ending == "html") {
        abbreviated = without_assets(found);
        &abbreviated
    } else {
        found
    };
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

/// Abbreviates each style sheet and script to its first line, and removes their hashes.
fn without_assets(html: &str) -> String {
    let html = shorten(html, "<style>", "</style>", first_line);
    let html = shorten(&html, "<script>", "</script>", first_line);
    shorten(&html, "'sha256-", "'", |_| "")
}

fn first_line(asset: &str) -> &str {
    asset.trim_start().lines().next().unwrap_or_default()
}

/// Replaces the text between each pair of `start` and `end` by its summary and an ellipsis.
fn shorten(text: &str, start: &str, end: &str, summary: fn(&str) -> &str) -> String {
    let mut parts = text.split(start);
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (content, rest) = part.split_once(end).unwrap_or((part, ""));
        short += start;
        short += summary(content);
        short += "…";
        short += end;
        short += rest;
    }
    short
}
