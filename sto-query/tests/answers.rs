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
    Evolution, Expansion, ExportedStore, FunctionSeries, FunctionSource, HotSpots, InStore,
    IngestSummary, Merges, ModelChanges, ModelOfTwo, Occurrences, Outliers, Phases, Potentials,
    Pruned, Pulled, Pushed, RankedMetrics, RunList, Savings, Scores, SearchResults, ShownBuild,
    StoredAverage, SymbolMatch, SymbolizedProfiles, TagList, Timeline, Top, Waits, schema,
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
    fn schema_file<A: Answer>() -> (String, String) {
        let schema = serde_json::to_string_pretty(&schema::<A>()).unwrap() + "\n";
        (file(A::SCHEMA), schema)
    }
    let all = [
        schema_file::<Alignment>(),
        schema_file::<AnnotatedRuns>(),
        schema_file::<Bottlenecks>(),
        schema_file::<BuildList>(),
        schema_file::<Calibration>(),
        schema_file::<CurveCalibration>(),
        schema_file::<CallTimeline>(),
        schema_file::<CallTree>(),
        schema_file::<Check>(),
        schema_file::<Bisection>(),
        schema_file::<Blame>(),
        schema_file::<CommitLog>(),
        schema_file::<Comparison>(),
        schema_file::<CostModel>(),
        schema_file::<CostModels>(),
        schema_file::<DrawnFile>(),
        schema_file::<Evolution>(),
        schema_file::<Expansion>(),
        schema_file::<ExportedStore>(),
        schema_file::<FunctionSeries>(),
        schema_file::<HotSpots>(),
        schema_file::<InStore<IngestSummary>>(),
        schema_file::<InStore<Merges>>(),
        schema_file::<InStore<Pulled>>(),
        schema_file::<InStore<Verification>>(),
        schema_file::<SymbolMatch>(),
        schema_file::<ModelChanges>(),
        schema_file::<ModelOfTwo>(),
        schema_file::<Occurrences>(),
        schema_file::<Outliers>(),
        schema_file::<Waits>(),
        schema_file::<Phases>(),
        schema_file::<Potentials>(),
        schema_file::<Pruned>(),
        schema_file::<Pushed>(),
        schema_file::<RankedMetrics>(),
        schema_file::<Rewritten>(),
        schema_file::<RunList>(),
        schema_file::<Savings>(),
        schema_file::<Scores>(),
        schema_file::<SearchResults>(),
        schema_file::<ShownBuild>(),
        schema_file::<FunctionSource>(),
        schema_file::<StoreStats>(),
        schema_file::<StoredAverage>(),
        schema_file::<InStore<SymbolizedProfiles>>(),
        schema_file::<TagList>(),
        schema_file::<Timeline>(),
        schema_file::<Top>(),
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
    let printed = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&printed)
    );
}
