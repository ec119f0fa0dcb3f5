//! Cases of blame in `cases/*.txt`: stacks of both sides, and the expected findings.
//!
//! A section `[baseline]` or `[candidate]` is a run. `[same]` names modules with the same build id
//! on both sides, `[differs]` modules with different ones; with either section, the main program's
//! build ids differ. A line of `[expected]` is a finding: its kind and function, the function that
//! its cost moved `from` or `to`, that it replaced (`for`) or was replaced `by`, and after each
//! `<-` an affected caller, innermost first.

use super::support::{compared, set_build_ids, summary, view};
use crate::views::assert_golden;
use std::fmt::Write;
use std::path::Path;
use sto_query::results::{Comparison, Verdict};

#[derive(Default)]
struct Case {
    baseline: Vec<String>,
    candidate: Vec<String>,
    same: Option<String>,
    differs: Option<String>,
    expected: String,
}

fn read(text: &str) -> Case {
    let mut case = Case::default();
    let mut section = None;
    for line in text.lines().map(str::trim) {
        match line {
            "[baseline]" => section = Some(grow(&mut case.baseline)),
            "[candidate]" => section = Some(grow(&mut case.candidate)),
            "[same]" => section = Some(case.same.insert(String::new())),
            "[differs]" => section = Some(case.differs.insert(String::new())),
            "[expected]" => section = Some(&mut case.expected),
            comment if comment.is_empty() || comment.starts_with('#') => {}
            line => {
                let section = section.as_mut().expect("a line belongs to a section");
                **section += &format!("{line}\n");
            }
        }
    }
    case
}

#[test]
fn blames_function_that_explains_change() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare/cases");
    let mut failures = String::new();
    let mut sentences = String::new();
    let entries = std::fs::read_dir(folder).expect("the cases are there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    assert!(paths.len() >= 20, "only {} cases were found", paths.len());
    for path in paths {
        let case = read(&std::fs::read_to_string(&path).expect("a case is a text"));
        let texts = |runs: &[String]| -> Vec<String> { runs.to_vec() };
        let side = |version, runs: &[String], main| {
            let runs = texts(runs);
            let mut view = view(
                version,
                &runs.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            if case.same.is_some() || case.differs.is_some() {
                let same = case.same.iter().flat_map(|same| same.lines());
                let differs = case.differs.iter().flat_map(|differs| differs.lines());
                let ids = same.map(|module| (module, 7));
                let ids = ids.chain(differs.chain(["app"]).map(|module| (module, main)));
                set_build_ids(&mut view, &ids.collect::<Vec<_>>());
            }
            view
        };
        let comparison = compared(
            &side("v1", &case.baseline, 1),
            &side("v2", &case.candidate, 2),
        );
        let found = summary(&comparison);
        if found != case.expected {
            let name = path.display();
            failures += &format!("{name}\nexpected:\n{}found:\n{found}\n", case.expected);
        }
        let name = path.file_stem().expect("a file has a name");
        let _ = writeln!(sentences, "{}", name.display());
        write_sentences(&mut sentences, &comparison);
    }
    assert!(failures.is_empty(), "{failures}");
    // The sentences of all cases. Every kind of sentence must occur in some case.
    let occurs = |part: &&&str| sentences.contains(**part);
    let missing: Vec<_> = SENTENCES.iter().filter(|part| !occurs(part)).collect();
    assert!(missing.is_empty(), "no case has: {missing:?}");
    assert_golden("sentences.txt", &sentences);
}

/// Returns the reasons of a comparison's verdict and findings.
fn write_sentences(text: &mut String, comparison: &Comparison) {
    let verdict = match comparison.verdict {
        Verdict::Regression => "REGRESSION",
        Verdict::Clean => "CLEAN",
        Verdict::Insufficient => "TOO LITTLE DATA",
    };
    let _ = writeln!(text, "  {verdict}: {}", comparison.reason);
    for (number, finding) in (1..).zip(&comparison.findings) {
        let _ = writeln!(text, "  {number}. {}", finding.reason);
    }
}

/// Parts of all sentences of findings and their verdicts.
const SENTENCES: [&str; 25] = [
    " instances together)",
    " before, and is not more than it was",
    " now, and is not less than it was",
    "; it is a part of ",
    "; it was a part of ",
    ", which it replaced, cost as much, and what calls it costs no more",
    ", which it replaced, cost as much, but ",
    ", which replaced it, costs as much",
    " of all, as most functions are; what calls it costs no more",
    " is new, and costs ",
    " is gone; it cost ",
    " replaced it",
    " (was ",
    " times as much: ",
    "% less: ",
    "; its code is the same, but these stacks do not show what called it",
    ", and no single function below it explains that",
    "; it calls ",
    ", mostly in what it calls: ",
    "; and 1 more function got worse",
    " more functions got worse",
    "most functions were replaced: of those that cost most, ",
    "; of what both have, ",
    "; the other changes are no worse",
    "no function got slower by 10% or more that holds 0.5% of all",
];

fn grow(runs: &mut Vec<String>) -> &mut String {
    runs.push(String::new());
    runs.last_mut().expect("one was pushed")
}
