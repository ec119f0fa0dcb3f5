//! The JSON schemas of answers match the Rust types, and the golden files are valid against them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_core::store::{Rewritten, StoreStats, Verification};
use sto_query::check::Check;
use sto_query::render::drawing::DrawnFile;
use sto_query::results::{
    Alignment, AnnotatedRuns, Answer, Bisection, Blame, Bottlenecks, BuildList, Calibration,
    CallTimeline, CallTree, CommitLog, Comparison, CostModel, CostModels, CurveCalibration,
    Expansion, ExportedStore, FunctionSeries, FunctionSource, HotSpots, InStore, IngestSummary,
    Merges, ModelChanges, ModelOfTwo, Occurrences, Outliers, Phases, Potentials, Pruned, Pulled,
    Pushed, RankedMetrics, RunList, Scores, ShownBuild, StoredAverage, SymbolMatch,
    SymbolizedProfiles, TagList, Timeline, Top, Waits, schema,
};
use sto_test_support::{assert_golden, missing};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

/// Returns the file name of a schema, such as `top-1.json` for `sto.top/1`.
fn file(name: &str) -> String {
    let name = name.strip_prefix("sto.").unwrap().replace('/', "-");
    format!("{name}.json")
}

/// Returns the schema of each answer by file name.
fn schemas() -> BTreeMap<String, String> {
    fn of<A: Answer>() -> (String, String) {
        let schema = serde_json::to_string_pretty(&schema::<A>()).unwrap() + "\n";
        (file(A::SCHEMA), schema)
    }
    let all = [
        of::<Alignment>(),
        of::<AnnotatedRuns>(),
        of::<Bottlenecks>(),
        of::<BuildList>(),
        of::<Calibration>(),
        of::<CurveCalibration>(),
        of::<CallTimeline>(),
        of::<CallTree>(),
        of::<Check>(),
        of::<Bisection>(),
        of::<Blame>(),
        of::<CommitLog>(),
        of::<Comparison>(),
        of::<CostModel>(),
        of::<CostModels>(),
        of::<DrawnFile>(),
        of::<Expansion>(),
        of::<ExportedStore>(),
        of::<FunctionSeries>(),
        of::<HotSpots>(),
        of::<InStore<IngestSummary>>(),
        of::<InStore<Merges>>(),
        of::<InStore<Pulled>>(),
        of::<InStore<Verification>>(),
        of::<SymbolMatch>(),
        of::<ModelChanges>(),
        of::<ModelOfTwo>(),
        of::<Occurrences>(),
        of::<Outliers>(),
        of::<Waits>(),
        of::<Phases>(),
        of::<Potentials>(),
        of::<Pruned>(),
        of::<Pushed>(),
        of::<RankedMetrics>(),
        of::<Rewritten>(),
        of::<RunList>(),
        of::<Scores>(),
        of::<ShownBuild>(),
        of::<FunctionSource>(),
        of::<StoreStats>(),
        of::<StoredAverage>(),
        of::<InStore<SymbolizedProfiles>>(),
        of::<TagList>(),
        of::<Timeline>(),
        of::<Top>(),
    ];
    all.into()
}

#[test]
fn schema_files_match_types() {
    let schemas = schemas();
    for (file, schema) in &schemas {
        assert_golden(&folder().join(file), schema);
    }
    let names = fs::read_dir(folder()).unwrap();
    let names: BTreeSet<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().eq(schemas.keys()), "{names:?}");
}

const VALIDATE: &str = "
import json, sys, jsonschema
failed = False
for schema, document in zip(sys.argv[1::2], sys.argv[2::2]):
    schema = json.load(open(schema))
    jsonschema.Draft202012Validator.check_schema(schema)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(document))):
        print(document, list(error.path), error.message[:300])
        failed = True
sys.exit(failed)
";

/// Returns the golden files that are answers, each with the file name of its schema.
fn golden_answers() -> Vec<(PathBuf, String)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/stores");
    let files = [tests, stores].map(|folder| fs::read_dir(folder).unwrap());
    let files = files
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    let answers = files.filter_map(|path| {
        let text = (path.extension()? == "json").then(|| fs::read_to_string(&path).unwrap())?;
        let json: Value = serde_json::from_str(&text).unwrap();
        let schema = file(json["schema"].as_str()?);
        Some((path, schema))
    });
    let answers: Vec<_> = answers.collect();
    assert!(answers.len() > 15, "{answers:?}");
    answers
}

#[test]
fn answers_are_valid_against_their_schemas() {
    if missing(&["python3"]) {
        return;
    }
    let answers = golden_answers().into_iter();
    let arguments = answers.flat_map(|(path, schema)| [folder().join(schema), path]);
    let mut python = Command::new("python3");
    let output = python.args(["-c", VALIDATE]).args(arguments).output();
    let output = output.unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&said)
    );
}
