//! Golden files of each format.

use super::fixtures::{clean, hostile, insufficient, many, weak, worse};
use crate::words::{github, junit, markdown};
use std::path::Path;
use sto_query::render::sarif;
use sto_query::results::Comparison;

/// A format's file extension and its writer.
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

/// Named lists of comparisons to write.
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
fn formats_match_golden_files() {
    for (name, comparisons) in cases() {
        for (ending, write) in FORMATS {
            assert_golden(&format!("{name}.{ending}"), &write(&comparisons));
        }
    }
}

#[test]
fn counts_findings_beyond_limits_of_github() {
    let many = [many()];
    assert_eq!(many[0].findings.len(), 70);
    for (ending, write) in &FORMATS[..2] {
        assert_golden(&format!("many.{ending}"), &write(&many));
    }
}

/// Names may contain any character; each is shown as text.
#[test]
fn hostile_names_have_no_hidden_characters_and_no_markup() {
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
fn formats_are_deterministic() {
    for (_, write) in FORMATS {
        assert_eq!(write(&[worse(), hostile()]), write(&[worse(), hostile()]));
    }
}
