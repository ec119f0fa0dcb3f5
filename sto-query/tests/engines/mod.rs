//! The shipped SQL queries give the same results in other engines as in sto.

mod counts;

use crate::ask;
use crate::tables::{history, rows};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use sto_core::store::Store;
use sto_core::{IngestOptions, ingest};
use sto_query::lake::QUESTIONS;
use sto_query::places::Machine;
use sto_query::questions::{LakeRequest, OccurrencesRequest, SeriesRequest, add_to_lake};
use sto_query::sources::Sources;
use sto_query::tables::Database;
use sto_test_support::{is_there, missing, skip};
use tempfile::TempDir;

/// Values that replace the example values of shipped queries.
struct Asked {
    sources: fn() -> Sources,
    program: &'static str,
    builds: [&'static str; 2],
    function: &'static str,
}

/// Runs of two programs with a recursive function.
fn demo() -> Sources {
    let folder = TempDir::new().unwrap();
    let store = Store::in_memory().unwrap();
    for (run, version) in ["v1", "v1", "v2", "v2", "v3"].iter().enumerate() {
        for program in ["demo", "other"] {
            let file = folder.path().join("a.folded");
            let stacks = format!(
                "main;parse;list;parse {}\nmain;parse;list {}\nmain;render 20\n",
                run + 1,
                2 * run
            );
            fs::write(&file, stacks).unwrap();
            set_recorded(&file, run as u64);
            let options = with!(IngestOptions {
                executable: Some(program.to_owned()),
                version: Some((*version).to_owned()),
            });
            ingest(&store, &file, &options, &mut |_| {}).unwrap();
        }
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

impl Asked {
    /// The example values of the shipped queries.
    fn demo() -> Asked {
        Asked {
            sources: demo,
            program: "demo",
            builds: ["v1", "v2"],
            function: "parse",
        }
    }

    fn history() -> Asked {
        Asked {
            sources: history,
            program: "pulldown-cmark",
            builds: ["0.9.6", "0.10.0"],
            function: "pulldown_cmark::firstpass::FirstPass::parse_footnote",
        }
    }

    fn sql(&self, name: &str) -> String {
        let question = QUESTIONS.iter().find(|question| question.name == name);
        let [baseline, candidate] = self.builds;
        let sql = question.unwrap().sql;
        sql.replace("'demo'", &format!("'{}'", self.program))
            .replace("'v1', 'v2'", &format!("'{baseline}', '{candidate}'"))
            .replace("'parse'", &format!("'{}'", self.function))
    }

    /// Returns sto's rows for the query with this name.
    fn expected(&self, name: &str) -> Vec<Value> {
        let [baseline, candidate] = self.builds;
        let builds = format!(
            "e.name = '{}' AND e.version IN ('{baseline}', '{candidate}')",
            self.program
        );
        let sql = |sql: String| {
            let rows = rows(&mut Database::open((self.sources)()).unwrap(), &sql);
            rows.into_iter().map(|row| json!(row)).collect()
        };
        match name {
            "lake/counts" => sql(format!(
                "SELECT p.id, s.event, d.symbol, d.module, min(d.file), d.kind, sum(s.self), sum(s.samples),
                    coalesce(sum(s.total) FILTER (WHERE s.outermost), 0),
                    coalesce(sum(s.total_samples) FILTER (WHERE s.outermost), 0)
                FROM executable e JOIN profile p ON p.executable_id = e.id
                JOIN sample s ON s.profile = p.id
                JOIN stack_node_data d ON d.id = s.stack_node_data_id
                WHERE {builds} GROUP BY p.id, s.event, d.symbol, d.module, d.kind"
            )),
            "lake/top" => sql(format!(
                "SELECT f.event, f.function, f.module, sum(f.self) AS own, sum(f.total) AS total,
                    sum(f.samples), sum(sum(f.samples)) OVER (PARTITION BY f.event)
                FROM executable e JOIN function_cost f ON f.build = e.id WHERE {builds}
                GROUP BY f.event, f.function, f.module
                ORDER BY f.event, own DESC, total DESC, f.function, f.module LIMIT 30"
            )),
            "lake/where_any" => sql(format!(
                "SELECT e.name, e.version, p.id, c.event, c.function, c.total_samples, c.all_samples
                FROM (
                    SELECT s.profile, s.event, d.function,
                        sum(s.total_samples) FILTER (WHERE s.outermost) AS total_samples,
                        sum(sum(s.samples)) OVER (PARTITION BY s.profile, s.event) AS all_samples
                    FROM sample s JOIN stack_node_data d ON d.id = s.stack_node_data_id
                    GROUP BY s.profile, s.event, d.function
                ) c JOIN profile p ON p.id = c.profile JOIN executable e ON e.id = p.executable_id
                WHERE e.name = '{}' AND c.total_samples > 0.15 * c.all_samples
                ORDER BY 1.0 * c.total_samples / c.all_samples DESC, e.version, p.id, c.event, c.function",
                self.program
            )),
            "lake/series" => {
                let mut request = with!(SeriesRequest {
                    function: self.function.to_owned(),
                });
                request.history.executable = Some(self.program.to_owned());
                let found = ask(&(self.sources)(), &request).unwrap();
                let event = found.history.sample_type.event;
                let mut runs = Vec::new();
                for point in found.points {
                    let run = point.run;
                    runs.push(json!([run.build, run.profile, event, point.value, point.share]));
                }
                runs
            }
            "lake/where_over" => {
                let request = with!(OccurrencesRequest {
                    function: self.function.to_owned(),
                    over: 0.15,
                });
                let found = ask(&(self.sources)(), &request).unwrap();
                let mut runs = Vec::new();
                for found in found.runs {
                    if found.executable != self.program {
                        continue;
                    }
                    let run = found.run;
                    runs.push(json!([self.program, run.build, run.profile, found.event, found.share]));
                }
                runs
            }
            other => panic!("no answer to {other}"),
        }
    }
}

/// Sets a file's modification time to `run` seconds after the epoch.
fn set_recorded(file: &Path, run: u64) {
    let recorded = SystemTime::UNIX_EPOCH + Duration::from_secs(run);
    let file = File::options().write(true).open(file).unwrap();
    file.set_modified(recorded).unwrap();
}

/// Replaces the last two cells, samples of a part and of the whole, with their ratio.
fn divide(row: &mut Value) {
    let cells = row.as_array_mut().unwrap();
    let mut number = || cells.pop().unwrap().as_str().unwrap().parse::<f64>();
    let all = number().unwrap();
    let share = number().unwrap() / all;
    cells.push(json!(json!(share).to_string()));
}

/// Removes the columns at these indices from the rows, and converts cells to strings if `as_texts`.
fn comparable(mut rows: Vec<Value>, without: &[usize], as_texts: bool) -> Vec<Value> {
    for row in &mut rows {
        let cells = row.as_array_mut().unwrap();
        for &place in without.iter().rev() {
            cells.remove(place);
        }
        for cell in cells.iter_mut().filter(|_| as_texts) {
            let text = match &*cell {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            *cell = json!(text);
        }
    }
    rows
}

fn export(sources: &Sources, folder: &Path) {
    let request = with!(LakeRequest {
        place: folder.to_owned(),
    });
    add_to_lake(sources, &request, &Machine::default()).unwrap();
}

/// Runs queries in an engine. Returns the rows of each query of each dataset.
fn answers(engine: &str, asked: &Value) -> Vec<Vec<Vec<Value>>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/engines.py");
    let mut python = Command::new("python3")
        .arg(script)
        .arg(engine)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    input.write_all(asked.to_string().as_bytes()).unwrap();
    drop(input);
    let output = python.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns `true` and counts the test as skipped if one of these programs is not installed. `.ci/run` does not install
/// programs of clusters.
fn lacks(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| !is_there(tool));
    if let Some(tool) = missing {
        skip(&format!("no {tool}"));
    }
    missing.is_some()
}

fn assert_answers_agree(engine: &str) {
    let all = [Asked::demo(), Asked::history()];
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let mut datasets = Vec::new();
    for (asked, folder) in all.iter().zip(&folders) {
        export(&(asked.sources)(), folder.path());
        let questions = QUESTIONS.iter().map(|question| asked.sql(question.name));
        datasets.push(json!({"folder": folder.path(), "questions": questions.collect::<Vec<_>>()}));
    }
    let answers = answers(engine, &json!(datasets));
    for (asked, answers) in all.iter().zip(answers) {
        for (question, mut found) in QUESTIONS.iter().zip(answers) {
            let mut expected = asked.expected(question.name);
            assert!(!expected.is_empty());
            (found, expected) = match question.name {
                "lake/counts" => {
                    // The other rows are metadata of runs.
                    found.retain(|row| row[1].is_null());
                    let mut found = comparable(found, &[1], true);
                    let mut expected = comparable(expected, &[], true);
                    found.sort_by_key(Value::to_string);
                    expected.sort_by_key(Value::to_string);
                    (found, expected)
                }
                "lake/top" => {
                    expected.iter_mut().for_each(divide);
                    (comparable(found, &[], true), expected)
                }
                "lake/where_any" => {
                    expected.iter_mut().for_each(divide);
                    (comparable(found, &[3], true), expected)
                }
                "lake/series" => (comparable(found, &[0], false), expected),
                _ => (comparable(found, &[3], false), expected),
            };
            let (name, rows) = (question.name, found.len());
            assert_eq!(rows, expected.len(), "{name} in {engine}");
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "{name} in {engine}");
            }
        }
    }
}

#[test]
fn duckdb_agrees_on_shipped_queries() {
    if !missing(&["python3 duckdb"]) {
        assert_answers_agree("duckdb");
    }
}

#[test]
fn datafusion_agrees_on_shipped_queries() {
    if !missing(&["python3 datafusion"]) {
        assert_answers_agree("datafusion");
    }
}

#[test]
fn spark_on_two_workers_agrees_on_shipped_queries() {
    if !lacks(&["java", "python3 pyspark"]) {
        assert_answers_agree("spark");
    }
}

#[test]
fn ballista_on_two_executors_agrees_on_shipped_queries() {
    if !lacks(&["ballista-scheduler", "ballista-executor", "ballista-cli"]) {
        assert_answers_agree("ballista");
    }
}

#[test]
fn incomplete_run_is_in_no_result_by_run() {
    if missing(&["python3 duckdb"]) {
        return;
    }
    let asked = Asked::demo();
    let folder = TempDir::new().unwrap();
    export(&(asked.sources)(), folder.path());
    let of_build = folder.path().join("profile/executable=demo/build=v2");
    let gone = fs::read_dir(of_build).unwrap().next().unwrap().unwrap();
    fs::remove_file(gone.path()).unwrap();
    let names = ["lake/series", "lake/where_over"];
    let questions = names.map(|name| asked.sql(name));
    let datasets = json!([{"folder": folder.path(), "questions": questions}]);
    let id = gone.path().file_stem().unwrap().to_owned();
    for (name, rows) in names.iter().zip(&answers("duckdb", &datasets)[0]) {
        assert!(!rows.is_empty());
        let text = json!(rows).to_string();
        assert!(!text.contains(id.to_str().unwrap()), "{name}");
    }
}
