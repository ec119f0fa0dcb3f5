//! What each format looks like.

use super::fixtures::{clean, hostile, insufficient, many, weak, worse};
use crate::words::{github, junit, markdown};
use std::path::Path;
use sto_query::render::sarif;
use sto_query::results::Comparison;

/// A format's ending, and what writes it.
pub(crate) type Format = (&'static str, fn(&[Comparison]) -> String);

pub(crate) const FORMATS: [Format; 4] = [
    ("md", markdown),
    ("github.txt", github),
    ("junit.xml", junit),
    ("sarif.json", sarif),
];

pub(crate) fn testdata() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/findings")
}

/// What is written for several benchmarks, by name.
pub(crate) fn cases() -> Vec<(&'static str, Vec<Comparison>)> {
    vec![
        ("worse", vec![worse()]),
        ("weak", vec![weak()]),
        ("clean", vec![clean()]),
        ("insufficient", vec![insufficient()]),
        ("hostile", vec![hostile()]),
        ("several", vec![clean(), worse(), insufficient()]),
    ]
}

fn assert_golden(name: &str, actual: &str) {
    sto_test_support::assert_golden(&testdata().join(name), actual);
}

#[test]
fn every_format_of_every_verdict() {
    for (name, comparisons) in cases() {
        for (ending, write) in FORMATS {
            assert_golden(&format!("{name}.{ending}"), &write(&comparisons));
        }
    }
}

#[test]
fn what_github_would_cut_is_counted() {
    let many = [many()];
    assert_eq!(many[0].findings.len(), 70);
    for (ending, write) in &FORMATS[..2] {
        assert_golden(&format!("many.{ending}"), &write(&many));
    }
}

/// A name may be anything: it is shown character by character, and is never more than a name.
#[test]
fn hostile_names_show_no_hidden_character_and_no_markup() {
    let hostile = [hostile()];
    for (ending, write) in FORMATS {
        let text = write(&hostile);
        let is_plain = |c: char| c == '\n' || !(c.is_control() || "\u{202e}\u{2066}".contains(c));
        assert!(text.chars().all(is_plain), "{ending}: {text}");
    }
    let unread = ["<script>", "]]>end"];
    let xml = junit(&hostile);
    assert!(unread.iter().all(|markup| !xml.contains(markup)), "{xml}");
}

#[test]
fn the_same_comparisons_make_the_same_bytes() {
    for (_, write) in FORMATS {
        assert_eq!(write(&[worse(), hostile()]), write(&[worse(), hostile()]));
    }
}
