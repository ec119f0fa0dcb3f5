//! The JSON schemas of answers: files that are made from their types, by which what is written is valid.

use crate::missing::missing;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_core::store::{Rewritten, StoreStats, Verification};
use sto_query::annotate::AnnotatedRuns;
use sto_query::answer::{Answer, InStore, schema};
use sto_query::average::StoredAverage;
use sto_query::check::Check;
use sto_query::compare::{Calibration, Comparison};
use sto_query::correlate::Bottlenecks;
use sto_query::expand::Expansion;
use sto_query::functions::MatchReport;
use sto_query::history::Occurrences;
use sto_query::listing::{BuildList, RunList};
use sto_query::maintain::{ExportedStore, IngestSummary, Merges, TagList};
use sto_query::potential::Potentials;
use sto_query::prune::PruneReport;
use sto_query::render::drawing::DrawnFile;
use sto_query::series::{FunctionSeries, Scores};
use sto_query::show::ShownBuild;
use sto_query::source::SourceReport;
use sto_query::tree::{CallTree, Top};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

/// `sto.top/1` is in `top-1.json`.
fn file(name: &str) -> String {
    let name = name.strip_prefix("sto.").unwrap().replace('/', "-");
    format!("{name}.json")
}

fn schemas() -> BTreeMap<String, String> {
    fn of<A: Answer>() -> (String, String) {
        let text = serde_json::to_string_pretty(&schema::<A>()).unwrap() + "\n";
        (file(A::SCHEMA), text)
    }
    let all = [
        of::<AnnotatedRuns>(),
        of::<Bottlenecks>(),
        of::<BuildList>(),
        of::<Calibration>(),
        of::<CallTree>(),
        of::<Check>(),
        of::<Comparison>(),
        of::<DrawnFile>(),
        of::<Expansion>(),
        of::<ExportedStore>(),
        of::<FunctionSeries>(),
        of::<InStore<IngestSummary>>(),
        of::<InStore<Merges>>(),
        of::<InStore<Verification>>(),
        of::<MatchReport>(),
        of::<Occurrences>(),
        of::<Potentials>(),
        of::<PruneReport>(),
        of::<Rewritten>(),
        of::<RunList>(),
        of::<Scores>(),
        of::<ShownBuild>(),
        of::<SourceReport>(),
        of::<StoreStats>(),
        of::<StoredAverage>(),
        of::<TagList>(),
        of::<Top>(),
    ];
    all.into()
}

#[test]
fn the_files_are_the_schemas_of_the_types() {
    let schemas = schemas();
    if std::env::var_os("STO_UPDATE_GOLDENS").is_some() {
        fs::create_dir_all(folder()).unwrap();
        for (file, text) in &schemas {
            fs::write(folder().join(file), text).unwrap();
        }
    }
    let names = fs::read_dir(folder()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeMap<String, String> = names
        .map(|name| {
            (
                name.clone(),
                fs::read_to_string(folder().join(name)).unwrap(),
            )
        })
        .collect();
    assert!(files.keys().eq(schemas.keys()), "{:?}", files.keys());
    for (file, text) in &schemas {
        assert!(
            files[file] == *text,
            "{file}: STO_UPDATE_GOLDENS=1 writes it"
        );
    }
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

#[test]
fn what_is_written_is_valid_by_its_schema() {
    if missing(&["python3"]) {
        return;
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/stores");
    let mut arguments = Vec::new();
    for entry in [tests, stores]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
    {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let json: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if let Some(name) = json["schema"].as_str() {
            arguments.extend([folder().join(file(name)), path]);
        }
    }
    assert!(arguments.len() > 30, "{arguments:?}");
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
