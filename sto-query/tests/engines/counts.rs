//! Comparisons of builds by counts per function and run that an SQL engine summed.

use super::{Asked, answers, export, set_recorded};
use crate::ask;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::types::Type;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_core::store::Store;
use sto_core::{IngestOptions, ingest};
use sto_query::QueryError;
use sto_query::check::{Baseline, Check, CheckRequest};
use sto_query::questions::NormalisationMethod;
use sto_query::results::{Basis, Change, Comparison, Verdict};
use sto_query::sources::Sources;
use sto_test_support::{Random, damage, missing};
use tempfile::TempDir;

const TEXTS: [&str; 7] = [
    "profile", "record", "event", "symbol", "module", "file", "kind",
];
const NUMBERS: [&str; 4] = ["self", "samples", "total", "total_samples"];

type Rows = Vec<Vec<Option<String>>>;

/// Computes the answer of an engine to `lake/counts` from sto's own tables.
fn counts(asked: &Asked, lake: &Path) -> Rows {
    let mut rows: Rows = Vec::new();
    for build in asked.builds {
        let folder = format!("profile/executable={}/build={build}", asked.program);
        for entry in fs::read_dir(lake.join(folder)).unwrap() {
            let file = File::open(entry.unwrap().path()).unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
            let names: Vec<&String> = row.get_column_iter().map(|(name, _)| name).collect();
            let cell = |name: &str| {
                let place = names.iter().position(|known| *known == name).unwrap();
                Some(row.get_string(place).unwrap().clone())
            };
            let mut cells = vec![cell("id"), cell("record")];
            cells.resize(TEXTS.len() + NUMBERS.len(), None);
            rows.push(cells);
        }
    }
    for row in asked.expected("lake/counts") {
        let cells = row.as_array().unwrap().iter();
        let cell = |cell: &serde_json::Value| match cell.as_str().unwrap() {
            "null" => None,
            text => Some(text.to_owned()),
        };
        let mut cells: Vec<Option<String>> = cells.map(cell).collect();
        cells.insert(1, None);
        rows.push(cells);
    }
    rows
}

/// Writes rows as Parquet, without the column that is `left_out`.
fn write(path: &Path, rows: &Rows, left_out: &str) {
    let (mut fields, mut places) = (Vec::new(), Vec::new());
    for (place, name) in TEXTS.iter().chain(&NUMBERS).enumerate() {
        if *name == left_out {
            continue;
        }
        let (physical, logical) = if place < TEXTS.len() {
            (Physical::BYTE_ARRAY, Some(LogicalType::String))
        } else {
            (Physical::INT64, None)
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL);
        fields.push(Arc::new(field.build().unwrap()));
        places.push(place);
    }
    let schema = Type::group_type_builder("row").with_fields(fields).build();
    let file = File::create(path).unwrap();
    let schema = Arc::new(schema.unwrap());
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for place in places {
        let cells = rows.iter().map(|row| row[place].as_deref());
        let levels: Vec<i16> = cells
            .clone()
            .map(|cell| i16::from(cell.is_some()))
            .collect();
        let cells = cells.flatten();
        let mut column = group.next_column().unwrap().unwrap();
        if place < TEXTS.len() {
            let cells: Vec<ByteArray> = cells.map(|cell| cell.as_bytes().to_vec().into()).collect();
            let writer = column.typed::<ByteArrayType>();
            writer.write_batch(&cells, Some(&levels), None).unwrap();
        } else {
            let cells: Vec<i64> = cells.map(|cell| cell.parse().unwrap()).collect();
            let writer = column.typed::<Int64Type>();
            writer.write_batch(&cells, Some(&levels), None).unwrap();
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// Writes a dataset to a folder, with its counts in a file. Returns the folder, the file and the counts.
fn written(asked: &Asked) -> (TempDir, PathBuf, Rows) {
    let folder = TempDir::new().unwrap();
    export(&(asked.sources)(), folder.path());
    let rows = counts(asked, folder.path());
    let path = folder.path().join("counts.parquet");
    write(&path, &rows, "");
    (folder, path, rows)
}

fn check_counts(path: &Path, request: &CheckRequest) -> Result<Check, QueryError> {
    let request = with!(CheckRequest {
        counts: Some(path.to_owned()),
        ..request.clone()
    });
    let no_store = Sources::from_folder(Path::new("/nowhere"));
    ask(&no_store, &request)
}

fn request(asked: &Asked) -> CheckRequest {
    let [baseline, candidate] = asked.builds;
    with!(CheckRequest {
        baseline: Some(Baseline::Any(baseline.into())),
        candidate: candidate.into(),
        all: true,
    })
}

fn only(check: Check) -> Comparison {
    let [comparison] = <[Comparison; 1]>::try_from(check.comparisons).unwrap();
    comparison
}

/// Five runs of each of two builds. `parse`, which calls `list`, has a higher self cost in the second build.
fn runs() -> Sources {
    let folder = TempDir::new().unwrap();
    let store = Store::in_memory().unwrap();
    for run in 0..10_u64 {
        let parse = if run < 5 { 200 } else { 300 };
        let noise = |of: u64| (run * 7 + of * 13) % 11;
        let mut stacks = format!(
            "main;run;parse {}\nmain;run;parse;list {}\nmain;run;parse;list;parse {}\n",
            parse + noise(1),
            150 + noise(2),
            40 + noise(3)
        );
        for of in 0..12 {
            stacks += &format!("main;run;step{of} {}\n", 60 + 10 * of + noise(of));
        }
        let file = folder.path().join("a.folded");
        fs::write(&file, stacks).unwrap();
        set_recorded(&file, run);
        let options = with!(IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some(if run < 5 { "v1" } else { "v2" }.to_owned()),
        });
        ingest(&store, &file, &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn five_runs() -> Asked {
    Asked {
        sources: runs,
        ..Asked::demo()
    }
}

#[test]
fn counts_give_same_result_as_the_store() {
    let asked = five_runs();
    let (_folder, path, _) = written(&asked);
    let request = request(&asked);
    let of_counts = check_counts(&path, &request).unwrap();
    let of_store = ask(&(asked.sources)(), &request).unwrap();
    assert_eq!(of_counts.verdict, Verdict::Regression);
    assert_eq!(of_counts.verdict, of_store.verdict);
    assert_eq!(of_counts.reason, of_store.reason);
    let (mut counts, mut store) = (only(of_counts), only(of_store));
    assert!(counts.functions.as_ref().unwrap().len() > 10);
    assert_eq!(counts.functions, store.functions);
    assert_eq!(counts.statistics, store.statistics);
    assert_eq!(counts.metrics, store.metrics);
    assert_eq!(counts.warnings.len(), store.warnings.len() + 1);
    assert!(!store.findings[0].call_paths.is_empty());
    for comparison in [&mut counts, &mut store] {
        comparison.warnings.clear();
        for finding in &mut comparison.findings {
            // These fields need stacks.
            finding.call_paths.clear();
            finding.more_call_paths = 0;
            finding.affected_callers.clear();
            finding.line = None;
        }
    }
    let [counts, store] = [counts, store].map(|found| serde_json::to_value(found).unwrap());
    assert_eq!(counts, store);
}

/// These builds renamed no function, and normalisation per run does not depend on attribution to callers.
#[test]
fn totals_of_a_real_program_agree_with_the_store() {
    let asked = Asked {
        builds: ["0.12.2", "0.13.0"],
        ..Asked::history()
    };
    let (_folder, path, _) = written(&asked);
    let mut request = request(&asked);
    request.thresholds.normalisation = Some(NormalisationMethod::PerRun);
    let counts = only(check_counts(&path, &request).unwrap());
    let store = only(ask(&(asked.sources)(), &request).unwrap());
    assert_eq!(counts.verdict, store.verdict);
    assert_eq!(counts.metrics, store.metrics);
    let totals = |comparison: Comparison| -> BTreeMap<_, _> {
        let functions = comparison.functions.unwrap().into_iter();
        let tested = functions.map(|tested| {
            // The number of tests differs.
            let total = with!(Change {
                q: None,
                ..tested.total
            });
            (
                (tested.function, tested.module),
                (
                    total,
                    tested.self_.baseline_samples,
                    tested.self_.candidate_samples,
                ),
            )
        });
        tested.collect()
    };
    let counts = totals(counts);
    assert!(counts.len() > 50);
    assert_eq!(counts, totals(store));
}

#[test]
fn caller_is_not_blamed_for_its_callees() {
    let asked = five_runs();
    let (_folder, path, _) = written(&asked);
    let found = only(check_counts(&path, &request(&asked)).unwrap()).findings;
    let found: Vec<_> = found.iter().map(|f| (&*f.function, f.basis)).collect();
    assert_eq!(found, [("parse", Basis::AttributedSelf)]);
}

#[test]
fn order_of_rows_and_files_does_not_matter() {
    let asked = five_runs();
    let (folder, path, mut rows) = written(&asked);
    let expected = check_counts(&path, &request(&asked)).unwrap();
    rows.reverse();
    let parts = folder.path().join("parts");
    fs::create_dir(&parts).unwrap();
    let (first, second) = rows.split_at(rows.len() / 3);
    write(&parts.join("part-0.snappy.parquet"), &first.to_vec(), "");
    write(&parts.join("part-1.parquet"), &second.to_vec(), "");
    fs::write(parts.join("_SUCCESS"), "").unwrap();
    assert_eq!(check_counts(&parts, &request(&asked)).unwrap(), expected);
    // An incomplete run only has counts.
    let more = rows.iter().find(|row| row[1].is_none()).unwrap();
    let mut more = more.clone();
    more[0] = Some("0".repeat(32));
    write(&parts.join("part-2.parquet"), &vec![more], "");
    assert_eq!(check_counts(&parts, &request(&asked)).unwrap(), expected);
}

#[test]
fn damaged_counts_are_compared_or_rejected_with_their_name() {
    let asked = five_runs();
    let (_folder, path, _) = written(&asked);
    let whole = fs::read(&path).unwrap();
    for seed in 0..200 {
        let mut bytes = whole.clone();
        damage(&mut bytes, &mut Random::new(seed));
        fs::write(&path, &bytes).unwrap();
        if let Err(error) = check_counts(&path, &request(&asked)) {
            assert!(!error.to_string().contains('\n'), "{seed}: {error}");
        }
    }
}

#[test]
fn rejects_invalid_counts() {
    let asked = five_runs();
    let (folder, path, rows) = written(&asked);
    let refused = |message: &str| {
        let error = check_counts(&path, &request(&asked))
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{message}: {error}");
    };
    for column in TEXTS.iter().chain(&NUMBERS) {
        write(&path, &rows, column);
        refused(&format!("it has no column {column}"));
    }
    let with = |row: usize, place: usize, cell: Option<&str>| {
        let mut rows = rows.clone();
        rows[row][place] = cell.map(str::to_owned);
        write(&path, &rows, "");
    };
    let last = rows.len() - 1;
    with(0, 0, Some("x"));
    refused("column profile");
    with(0, 1, Some("{}"));
    refused("column record");
    with(last, 6, Some("x"));
    refused("`x` is not a kind");
    with(last, 7, Some("-1"));
    refused("below 0 in column self");
    with(last, 8, None);
    refused("no counts");
    let of_functions: Rows = rows
        .iter()
        .filter(|row| row[1].is_none())
        .cloned()
        .collect();
    write(&path, &of_functions, "");
    refused("no row has a `record`");
    write(&path, &rows, "");
    let whole = fs::read(&path).unwrap();
    for length in [0, 4, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        refused("damaged or was not written by sto");
    }
    fs::remove_file(&path).unwrap();
    refused("counts.parquet: ");
    fs::create_dir_all(path.join("_temporary")).unwrap();
    refused("an engine is still writing");
    let sample = folder.path().join("sample/executable=demo/build=v1");
    let error = check_counts(&sample, &request(&asked)).unwrap_err();
    assert!(
        error.to_string().contains("it has no column record"),
        "{error}"
    );
}

#[test]
fn names_build_without_counts() {
    let asked = five_runs();
    let (_folder, path, _) = written(&asked);
    let mut request = request(&asked);
    request.candidate = "v3".into();
    let error = check_counts(&path, &request).unwrap_err().to_string();
    assert!(error.contains("v3"), "{error}");
}

/// Checks that counts which an engine wrote to a Parquet file give the same result.
fn assert_reads_counts_of_engine(engine: &str) {
    for asked in [five_runs(), Asked::history()] {
        let (folder, path, _) = written(&asked);
        let expected = check_counts(&path, &request(&asked)).unwrap();
        let to = folder.path().join("of_engine.parquet");
        let write = [json!(asked.sql("lake/counts")), json!(to)];
        answers(
            engine,
            &json!([{"folder": folder.path(), "questions": [], "write": write}]),
        );
        assert_eq!(
            check_counts(&to, &request(&asked)).unwrap(),
            expected,
            "{engine}"
        );
    }
}

#[test]
fn reads_counts_of_duckdb() {
    if !missing(&["python3 duckdb"]) {
        assert_reads_counts_of_engine("duckdb");
    }
}

#[test]
fn reads_counts_of_datafusion() {
    if !missing(&["python3 datafusion"]) {
        assert_reads_counts_of_engine("datafusion");
    }
}
