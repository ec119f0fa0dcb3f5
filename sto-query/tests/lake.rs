//! Profiles as a dataset of Parquet files.

use crate::places::machine;
use crate::tables::{demo_sources, history, rows};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_core::id::ProfileId;
use sto_core::model::Commit;
use sto_core::store::{Merged, Store, StoredBuild};
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, UnixSeconds};
use sto_core::{IngestOptions, ingest};
use sto_query::lake::LakeError;
use sto_query::places::{Machine, Place};
use sto_query::questions::{ImportLakeRequest, LakeRequest, add_to_lake, import_lake};
use sto_query::results::AddedToLake;
use sto_query::sources::Sources;
use sto_query::tables::Database;
use sto_query::{QueryError, render};
use sto_test_support::missing;
use sto_test_support::servers::Moto;
use tempfile::TempDir;

#[track_caller]
fn added(sources: &Sources, folder: &Path, named: Option<&str>) -> AddedToLake {
    tried(sources, folder, named).unwrap_or_else(|error| panic!("{error}"))
}

fn tried(sources: &Sources, folder: &Path, named: Option<&str>) -> Result<AddedToLake, QueryError> {
    let mut request = LakeRequest::default();
    request.named = named.map(Into::into);
    request.place = folder.to_owned();
    add_to_lake(sources, &request, &Machine::default())
}

/// Returns all files in a folder, recursively, by relative path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Returns the rows of all files of a table: cells as text, by column.
fn read(folder: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    let paths = files(&folder.join(table)).into_keys();
    let rows = paths.flat_map(|path| {
        let file = File::open(folder.join(table).join(path)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let cells = rows.map(|row| {
            let row = row.unwrap();
            let cells = row.get_column_iter();
            cells
                .map(|(name, field)| (name.clone(), cell(field)))
                .collect()
        });
        cells.collect::<Vec<_>>()
    });
    rows.collect()
}

fn cell(field: &Field) -> String {
    match field {
        Field::Null => "null".to_owned(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Bytes(_) => "bytes".to_owned(),
        Field::Bool(flag) => u8::from(*flag).to_string(),
        other => panic!("{other:?}"),
    }
}

/// Returns these columns of the rows, sorted.
fn columns(rows: &[BTreeMap<String, String>], names: &str) -> Vec<Vec<String>> {
    let row = |row: &BTreeMap<String, String>| {
        let names = names.split(", ");
        names.map(|name| row[name].clone()).collect()
    };
    let mut rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

fn sorted(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    rows.sort();
    rows
}

/// Two builds with different benchmarks; their names are invalid file names.
fn hostile() -> Sources {
    let folder = TempDir::new().unwrap();
    let store = Store::in_memory().unwrap();
    let builds = [
        ("../a=b%2F\n*.[x]?", "..", "one"),
        ("../a=b%2F\n*.[x]?", "/v:'1'\"{#}\\ ü", "two/../.."),
    ];
    for (run, (executable, version, benchmark)) in builds.iter().enumerate() {
        let file = folder.path().join(format!("{run}.folded"));
        fs::write(&file, format!("main;'\";-- \\ parse {}\n", run + 1)).unwrap();
        let options = IngestOptions {
            executable: Some((*executable).to_owned()),
            version: Some((*version).to_owned()),
            benchmark: Some((*benchmark).to_owned()),
            ..IngestOptions::default()
        };
        ingest(&store, &file, &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

#[test]
fn samples_agree_with_sql_table() {
    for sources in [demo_sources(), history(), hostile()] {
        let folder = TempDir::new().unwrap();
        added(&sources, folder.path(), None);
        let found = read(folder.path(), "sample");
        let of_run =
            "profile, executable_id, event, self, total, samples, total_samples, outermost";
        let of_frame = "function, other_symbol, module, file, line, kind";
        let sql = format!(
            "SELECT {of_run}, function, nullif(symbol, function) AS other_symbol, module, file, line, kind FROM sample JOIN stack_node_data d ON d.id = stack_node_data_id"
        );
        let expected = rows(&mut Database::open(sources).unwrap(), &sql);
        assert!(!expected.is_empty());
        let names = format!("{of_run}, {of_frame}");
        assert_eq!(columns(&found, &names), sorted(expected));
    }
}

#[test]
fn profiles_agree_with_sql_table() {
    for sources in [history(), hostile()] {
        let folder = TempDir::new().unwrap();
        added(&sources, folder.path(), None);
        let found = read(folder.path(), "profile");
        let names = "id, executable_id, recorded, duration, benchmark, host, kernel, arch, cpu, command, format, \
            event, unit, git_commit, revision, samples, unresolved, truncated, without_stack, lost, source_bytes";
        let mut database = Database::open(sources).unwrap();
        let expected = rows(&mut database, &format!("SELECT {names} FROM profile"));
        assert!(!expected.is_empty());
        assert_eq!(columns(&found, names), sorted(expected));
        for (table, json) in [("label", "labels"), ("metric", "metrics")] {
            let sql = format!(
                "SELECT id, (SELECT json_group_object(name, value) FROM {table} WHERE profile = id) FROM profile"
            );
            let parsed = |rows: Vec<Vec<String>>| -> BTreeMap<String, serde_json::Value> {
                let rows = rows.into_iter().map(|row| (row[0].clone(), row[1].clone()));
                rows.map(|(id, text)| (id, serde_json::from_str(&text).unwrap()))
                    .collect()
            };
            let found = parsed(columns(&found, &format!("id, {json}")));
            assert_eq!(found, parsed(rows(&mut database, &sql)), "{table}");
        }
    }
}

/// Readers depend on this order to rebuild stacks and their ids by SPEC.md.
#[test]
fn callers_precede_callees_in_the_same_profile_and_event() {
    let folder = TempDir::new().unwrap();
    added(&history(), folder.path(), None);
    let mut seen: BTreeMap<[String; 3], u64> = BTreeMap::new();
    let mut last = None;
    for row in read(folder.path(), "sample") {
        let key = |column: &str| ["profile", "event", column].map(|name| row[name].clone());
        let own: u64 = row["self"].parse().unwrap();
        let total: u64 = row["total"].parse().unwrap();
        match &*row["caller"] {
            "null" => {}
            _ => {
                let rest = seen.get_mut(&key("caller")).expect("a row before");
                *rest -= total;
            }
        }
        let of = (row["profile"].clone(), row["event"].clone());
        let stack: u64 = row["stack"].parse().unwrap();
        if let Some((before, number)) = last.replace((of.clone(), stack)) {
            assert!(before != of || number < stack, "{stack} after {number}");
        }
        assert!(seen.insert(key("stack"), total - own).is_none());
    }
    let unexplained = seen.values().filter(|&&rest| rest != 0).count();
    assert_eq!(
        unexplained, 0,
        "a total is the own cost and the callees' totals"
    );
}

#[test]
fn writing_twice_changes_no_byte() {
    let sources = demo_sources();
    let [one, two] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let first = added(&sources, one.path(), None);
    assert_eq!((first.added.len(), first.kept), (2, 0));
    let written = files(one.path());
    assert_eq!(written.len(), 5, "{:?}", written.keys());
    let again = added(&sources, one.path(), None);
    assert_eq!((again.added.len(), again.kept), (0, 2));
    assert!(files(one.path()) == written);
    let text = render::lake::text(&again);
    let there = one.path().display();
    assert_eq!(text, format!("wrote 0 profiles to {there}; 2 were there\n"));

    // On another machine, one build after the other.
    for (build, kept) in [("1", 0), ("2", 0), ("2", 1)] {
        let added = added(&sources, two.path(), Some(build));
        assert_eq!((added.added.len(), added.kept), (1 - kept, kept));
    }
    assert!(files(two.path()) == written);
}

#[test]
fn existing_file_is_not_overwritten() {
    let folder = TempDir::new().unwrap();
    added(&demo_sources(), folder.path(), None);
    let written = files(folder.path());
    let sample = written.keys().find(|path| path.starts_with("sample"));
    let sample = folder.path().join(sample.unwrap());
    fs::write(&sample, "another's").unwrap();
    added(&demo_sources(), folder.path(), None);
    assert_eq!(fs::read(sample).unwrap(), b"another's");
}

#[test]
fn incomplete_files_of_other_writers_are_ignored() {
    let sources = demo_sources();
    let folder = TempDir::new().unwrap();
    added(&sources, folder.path(), None);
    let written = files(folder.path());
    let half: Vec<PathBuf> = written
        .keys()
        .map(|path| path.with_file_name(".sto-0123456789abcdef"))
        .collect();
    for (path, half) in written.keys().zip(&half) {
        fs::remove_file(folder.path().join(path)).unwrap();
        fs::write(folder.path().join(half), "PAR1").unwrap();
    }
    assert_eq!(added(&sources, folder.path(), None).added.len(), 2);
    let mut found = files(folder.path());
    found.retain(|path, _| !half.contains(path));
    assert!(found.keys().eq(written.keys()), "{:?}", found.keys());
    assert!(found == written);
}

#[test]
fn names_of_builds_cannot_leave_the_folder() {
    let folder = TempDir::new().unwrap();
    added(&hostile(), &folder.path().join("lake"), None);
    let tables = ["profile", "sample"];
    for path in files(folder.path()).keys() {
        let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
        match *parts {
            ["lake", "manifest.json"] => {}
            ["lake", table, executable, build, file] => {
                assert!(tables.contains(&table), "{path:?}");
                assert_eq!(executable, "executable=..%2Fa%3Db%252F%0A%2A.%5Bx%5D%3F");
                let builds = ["build=..", "build=%2Fv%3A%271%27%22%7B%23%7D%5C ü"];
                assert!(builds.contains(&build), "{path:?}");
                assert_eq!(file.len(), "0123456789abcdef0123456789abcdef.parquet".len());
            }
            _ => panic!("{path:?}"),
        }
    }
}

#[test]
fn rejects_dataset_of_another_version() {
    let folder = TempDir::new().unwrap();
    let manifest = folder.path().join("manifest.json");
    for (text, message) in [
        (
            r#"{"layout":"sto-lake","version":2}"#,
            "is `sto-lake 2`, and this sto knows `sto-lake 1`",
        ),
        (
            r#"{"layout":"other\u001b","version":1}"#,
            r"is `other\u{1b} 1`",
        ),
        ("[]", "not the manifest of a dataset"),
    ] {
        fs::write(&manifest, text).unwrap();
        let error = tried(&demo_sources(), folder.path(), None).unwrap_err();
        assert!(matches!(error, QueryError::Lake(_)), "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(files(folder.path()).len(), 1);
    }
    fs::write(&manifest, vec![b' '; 1 << 20]).unwrap();
    let error = tried(&demo_sources(), folder.path(), None).unwrap_err();
    assert!(
        matches!(error, QueryError::Lake(LakeError::Place(_))),
        "{error:?}"
    );
}

/// Computes costs of functions with DuckDB, in the columns of `function_cost`.
const DUCKDB: &str = "
import duckdb, sys
rows = duckdb.sql('''
    SELECT executable, build, function, module, event, sum(self), sum(total) FILTER (WHERE outermost), sum(samples),
        sum(total_samples) FILTER (WHERE outermost)
    FROM read_parquet('%s/sample/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)
    GROUP BY ALL
''' % sys.argv[1]).fetchall()
import json
print(json.dumps([['null' if cell is None else str(cell) for cell in row] for row in rows]))
";

#[test]
fn duckdb_agrees_with_sql_on_costs_of_functions() {
    if missing(&["python3 duckdb"]) {
        return;
    }
    for sources in [demo_sources(), history(), hostile()] {
        let folder = TempDir::new().unwrap();
        added(&sources, folder.path(), None);
        let mut python = Command::new("python3");
        let output = python.args(["-c", DUCKDB]).arg(folder.path()).output();
        let output = output.unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{message}");
        let found: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
        let sql = "SELECT e.name, e.version, f.function, f.module, f.event, f.self, f.total, f.samples, f.total_samples
            FROM function_cost f JOIN executable e ON e.id = f.build";
        let expected = rows(&mut Database::open(sources).unwrap(), sql);
        assert!(!expected.is_empty());
        assert_eq!(sorted(found), sorted(expected));
    }
}

/// A store of all small recordings in `testdata`, with every kind of data that a profile can have.
fn everything() -> Store {
    let store = Store::in_memory().unwrap();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("testdata");
    let commit = Commit {
        hash: "0123456789abcdef0123456789abcdef01234567".parse().unwrap(),
        parents: vec!["fedcba9876543210fedcba9876543210fedcba98".parse().unwrap()],
        author_time: UnixSeconds(1_700_000_000),
        subject: "Parse \"quoted\" — it's ü".to_owned(),
        dirty: false,
    };
    let mut profiles = 0;
    for path in files(&testdata).into_keys() {
        let path = testdata.join(path);
        if fs::metadata(&path).unwrap().len() > 150_000 {
            continue;
        }
        for slices in [SliceCount::new(7), SliceCount::new(1)] {
            let options = IngestOptions {
                version: Some(format!("v{}", profiles % 3)),
                benchmark: (profiles % 2 == 0).then(|| "b".to_owned()),
                labels: BTreeMap::from([("cpu".to_owned(), "7950x \"\u{1b}".to_owned())]),
                metrics: BTreeMap::from([("seconds".to_owned(), 0.1 + f64::from(profiles))]),
                revision: Some("v1.2-3-g0123456789abcdef0123456789abcdef01234567".to_owned()),
                commit: Some(commit.clone()),
                slices,
                keep_calls: true,
                ..IngestOptions::default()
            };
            if ingest(&store, &path, &options, &mut |_| {}).is_ok() {
                profiles += 1;
                break;
            }
        }
    }
    assert!(profiles > 100, "{profiles}");
    store
}

fn imported(store: &Store, folder: &Path, selectors: &[&str]) -> Result<Merged, QueryError> {
    let mut request = ImportLakeRequest::default();
    request.place = folder.to_owned();
    request.selectors = selectors
        .iter()
        .map(|&selector| selector.to_owned())
        .collect();
    let imported = import_lake(store, &(), &request, &Machine::default(), &mut |_| {})?;
    Ok(imported.sources.into_iter().next().unwrap().merged)
}

/// Exports all profiles to a new store and returns its bytes, which only depend on the profiles.
fn exported(store: &Store) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("all.sto");
    let snapshot = store.snapshot().unwrap();
    let builds = snapshot.builds().unwrap();
    let profiles = builds.iter().flat_map(|build| &build.profiles);
    let profiles = profiles.map(|profile| profile.id).collect();
    snapshot.export(&profiles, &file).unwrap();
    fs::read(file).unwrap()
}

#[test]
fn imported_dataset_round_trips() {
    let store = everything();
    let folder = TempDir::new().unwrap();
    let sources = Sources::from_snapshot(store.snapshot().unwrap());
    let all = added(&sources, folder.path(), None).added.len();
    let back = Store::in_memory().unwrap();
    let merged = imported(&back, folder.path(), &[]).unwrap();
    assert_eq!(merged.left_out, []);
    assert_eq!((merged.profiles, merged.added.len()), (all, all));
    // Datasets lack addresses without symbols, so compare the datasets of both stores.
    let same = TempDir::new().unwrap();
    let of_back = Sources::from_snapshot(back.snapshot().unwrap());
    added(&of_back, same.path(), None);
    assert!(files(same.path()) == files(folder.path()));
    let twice = Store::in_memory().unwrap();
    imported(&twice, same.path(), &[]).unwrap();
    assert!(exported(&twice) == exported(&back));

    let again = imported(&back, folder.path(), &[]).unwrap();
    assert_eq!((again.already_stored, again.added.len()), (all, 0));
}

/// Returns the builds of the history with their runs.
fn history_runs() -> Vec<(String, Vec<ProfileId>)> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../testdata/history/history.sto"
    );
    let store = Store::open(Path::new(file)).unwrap();
    let builds = store.snapshot().unwrap().builds().unwrap().into_iter();
    let named = builds.map(
        |StoredBuild {
             build, profiles, ..
         }| {
            let name = format!("{}@{}", build.executable, build.version);
            (name, profiles.iter().map(|run| run.id).collect())
        },
    );
    named.collect()
}

#[test]
fn part_of_a_dataset_can_be_imported() {
    let folder = TempDir::new().unwrap();
    added(&history(), folder.path(), None);
    let [(first, runs), (_, others), ..] = &history_runs()[..] else {
        panic!("it has builds")
    };
    let back = Store::in_memory().unwrap();
    let merged = imported(&back, folder.path(), &[first]).unwrap();
    assert_eq!(merged.added.len(), runs.len());

    // Copy only the files of one build.
    let part = TempDir::new().unwrap();
    for (path, bytes) in files(folder.path()) {
        let id = path.file_stem().unwrap().to_str().unwrap().parse();
        if id.is_ok_and(|id| !others.contains(&id)) {
            continue;
        }
        let path = part.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let merged = imported(&back, part.path(), &[]).unwrap();
    assert_eq!(merged.added.len(), others.len());
    let error = imported(&back, part.path(), &[first]).unwrap_err();
    assert!(matches!(error, QueryError::Select(_)), "{error:?}");
}

#[test]
fn import_names_damaged_files_and_reads_all_others() {
    let whole = TempDir::new().unwrap();
    for run in history_runs()[0].1.iter().take(2) {
        added(&history(), whole.path(), Some(&run.to_string()));
    }
    let written = files(whole.path());
    let of = |table: &str| {
        let mut paths = written.keys().filter(|path| path.starts_with(table));
        [paths.next().unwrap().clone(), paths.next().unwrap().clone()]
    };
    let ([sample, other_sample], [profile, other_profile]) = (of("sample"), of("profile"));
    let foreign = fs::read(whole.path().join(&profile)).unwrap();
    let bytes = |path: &PathBuf| written[path].clone();
    let cut = |path: &PathBuf| written[path][..written[path].len() / 2].to_vec();
    let changed = |path: &PathBuf, at: usize| {
        let mut bytes = written[path].clone();
        bytes[at] ^= 0x55;
        bytes
    };
    let mut wrong = vec![
        (&sample, cut(&sample), "damaged or was not written by sto"),
        (&profile, cut(&profile), "damaged or was not written by sto"),
        (&sample, Vec::new(), "damaged or was not written by sto"),
        (&sample, foreign, "it has no column stack"),
        (&profile, bytes(&sample), "it has no column record"),
        (
            &sample,
            bytes(&other_sample),
            "damaged or was not written by sto",
        ),
        (
            &profile,
            bytes(&other_profile),
            "differs from the file's name",
        ),
    ];
    for at in (8..written[&sample].len()).step_by(211) {
        wrong.push((&sample, changed(&sample, at), ""));
    }
    for (path, bytes, message) in wrong {
        let at = whole.path().join(path);
        fs::write(&at, &bytes).unwrap();
        let store = Store::in_memory().unwrap();
        let merged = imported(&store, whole.path(), &[]).unwrap();
        // Some bytes are unused or belong to columns that import does not read, such as totals.
        if !message.is_empty() || merged.added.len() < merged.profiles {
            let [left_out] = &merged.left_out[..] else {
                panic!("{merged:?}")
            };
            assert_eq!(left_out.profiles.len(), 1);
            assert!(left_out.why.contains(message), "{}", left_out.why);
            assert_eq!(merged.added.len() + 1, merged.profiles);
        }
        fs::write(&at, &written[path]).unwrap();
    }
}

#[test]
fn missing_dataset_is_an_error_and_is_not_created() {
    let folder = TempDir::new().unwrap();
    let store = Store::in_memory().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("none")] {
        let error = imported(&store, &path, &[]).unwrap_err();
        assert!(error.to_string().contains("no manifest.json"), "{error}");
    }
    assert_eq!(files(folder.path()).len(), 0);
}

#[test]
fn dataset_in_a_bucket_equals_dataset_in_a_folder() {
    let Some(moto) = Moto::start() else { return };
    let machine = machine(&moto);
    let mut request = LakeRequest::default();
    request.place = "s3://bucket/a lake".into();
    for kept in [0, 50] {
        let added = add_to_lake(&history(), &request, &machine).unwrap();
        assert_eq!((added.added.len(), added.kept), (50 - kept, kept));
    }
    let back = Store::in_memory().unwrap();
    let mut request = ImportLakeRequest::default();
    request.place = "s3://bucket/a lake".into();
    import_lake(&back, &(), &request, &machine, &mut |_| {}).unwrap();

    let folder = TempDir::new().unwrap();
    added(&history(), folder.path(), None);
    let other = Store::in_memory().unwrap();
    imported(&other, folder.path(), &[]).unwrap();
    assert!(exported(&back) == exported(&other));
    let bucket = Place::parse("s3://bucket/a lake".as_ref(), &machine).unwrap();
    for (name, bytes) in files(folder.path()) {
        let there = bucket.read(name.to_str().unwrap(), Bytes(1 << 20)).unwrap();
        assert!(there.unwrap() == bytes, "{name:?}");
    }
    request.place = "s3://gone/lake".into();
    let error = import_lake(&back, &(), &request, &machine, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("s3://gone/lake"), "{error}");
}
