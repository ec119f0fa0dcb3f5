//! Cases of blame in `cases/*.txt`: stacks of both sides, and the findings to expect of them.
//!
//! A section `[baseline]` or `[candidate]` is a run. `[same]` names the modules that have the same
//! build id on both sides, `[differs]` those that have not; with either, the main program's differ. A
//! line of `[expected]` is a finding: its kind and function, where its cost moved `from` or `to`, what it
//! stands in `for` or was replaced `by`, and after each `<-` an affected caller, innermost first.

use super::support::{compared, set_build_ids, summary, view};
use std::path::Path;

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
fn each_change_is_laid_at_the_function_that_explains_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare/cases");
    let mut failures = String::new();
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).expect("the cases are there") {
        let path = entry.expect("the folder can be read").path();
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
        cases += 1;
    }
    assert!(cases >= 20, "only {cases} cases were found");
    assert!(failures.is_empty(), "{failures}");
}

fn grow(runs: &mut Vec<String>) -> &mut String {
    runs.push(String::new());
    runs.last_mut().expect("one was pushed")
}
