//! Formats with a schema are valid against it.

use super::fixtures::{clean, many, worse};
use super::goldens::{cases, testdata};
use crate::words::junit;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use sto_query::render::sarif;
use sto_test_support::missing;

/// Runs a validator with a document as its input. Returns its output if it fails.
fn complaint(program: &str, args: &[&str], document: &str) -> Option<String> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} (.ci/run installs it): {error}"));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(document.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (!output.status.success()).then(|| String::from_utf8_lossy(&text).into_owned())
}

fn xml_complaint(xml: &str) -> Option<String> {
    let schema = testdata().join("junit-10.xsd");
    let args = [
        "--noout",
        "--nonet",
        "--schema",
        schema.to_str().unwrap(),
        "-",
    ];
    complaint("xmllint", &args, xml)
}

const VALIDATE: &str = "
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
errors = list(jsonschema.Draft7Validator(schema).iter_errors(json.load(sys.stdin)))
for error in errors:
    print(list(error.path), error.message[:500])
sys.exit(len(errors) > 0)
";

fn json_complaint(schema: &Path, json: &str) -> Option<String> {
    complaint("python3", &["-c", VALIDATE, schema.to_str().unwrap()], json)
}

fn sarif_complaint(json: &str) -> Option<String> {
    json_complaint(&testdata().join("sarif-schema-2.1.0.json"), json)
}

#[test]
fn junit_is_valid_against_schema_of_jenkins() {
    if missing(&["xmllint"]) {
        return;
    }
    for (name, comparisons) in cases() {
        assert_eq!(xml_complaint(&junit(&comparisons)), None, "{name}");
    }
    let broken = junit(&[clean()]).replace("<testcase name=", "<testcase nam=");
    assert!(xml_complaint(&broken).is_some(), "the schema is looked at");
}

#[test]
fn junit_counts_its_cases() {
    let all: Vec<_> = cases()
        .into_iter()
        .flat_map(|(_, comparisons)| comparisons)
        .collect();
    let xml = junit(&all);
    for (element, attribute) in [("<testcase", "tests"), ("<failure", "failures")] {
        let count = xml.matches(element).count();
        assert!(count > 0);
        let root = xml.lines().nth(1).unwrap();
        assert!(root.contains(&format!("{attribute}=\"{count}\"")), "{root}");
    }
}

#[test]
fn sarif_is_valid_against_schema_of_oasis() {
    if missing(&["python3 jsonschema"]) {
        return;
    }
    for (name, comparisons) in cases() {
        assert_eq!(sarif_complaint(&sarif(&comparisons)), None, "{name}");
    }
    let broken = sarif(&[worse()]).replace("\"ruleId\"", "\"rule\"");
    assert!(
        sarif_complaint(&broken).is_some(),
        "the schema is looked at"
    );
}

#[test]
fn speedscope_is_valid_against_its_schema() {
    if missing(&["python3 jsonschema"]) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = root.join("../testdata/speedscope/file-format-schema.json");
    let exported = root.join("tests/golden/export-v1.speedscope.json");
    let exported = std::fs::read_to_string(exported).unwrap();
    assert_eq!(json_complaint(&schema, &exported), None);
    let broken = exported.replacen("\"at\"", "\"time\"", 1);
    assert!(
        json_complaint(&schema, &broken).is_some(),
        "the schema is looked at"
    );
}

#[test]
fn fingerprint_of_a_finding_does_not_depend_on_builds() {
    let fingerprints = |comparison| -> Vec<String> {
        let log: Value = serde_json::from_str(&sarif(&[comparison])).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        let hash = |result: &Value| result["partialFingerprints"]["stoFunction/v1"].to_string();
        results.map(hash).collect()
    };
    let (first, mut other) = (worse(), worse());
    other.candidate.build = "v3".to_owned();
    other.findings[0].line = Some(8);
    other.findings[0].reason = "other words".to_owned();
    assert_eq!(fingerprints(first.clone()), fingerprints(other.clone()));
    other.benchmark = Some("another".to_owned());
    let mut all = fingerprints(first);
    let count = all.len();
    assert!(count > other.findings.len(), "metrics have one too");
    all.extend(fingerprints(other));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 2 * count, "fingerprints are unique");
}

#[test]
fn sarif_has_at_most_5000_results_and_counts_the_rest() {
    let comparisons = vec![many(); 72];
    // The findings of each, and the change of a run's cost.
    let results: usize = comparisons.iter().map(|c| c.findings.len() + 1).sum();
    let log: Value = serde_json::from_str(&sarif(&comparisons)).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 5_000);
    let text = run["invocations"][0]["toolExecutionNotifications"].to_string();
    let left_out = format!("{} more results are left out", results - 5_000);
    assert!(text.contains(&left_out), "{text}");
}
