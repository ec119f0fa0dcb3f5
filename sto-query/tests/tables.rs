//! The store as SQL tables.

use crate::ask;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;
use sto_core::store::Store;
use sto_core::{CancelToken, IngestOptions, ingest};
use sto_query::questions::{
    BottlenecksRequest, Degree, Order, PotentialRequest, RegressionsRequest, TopRequest,
};
use sto_query::sources::Sources;
use sto_query::tables::{
    Database, EXAMPLES, SqlCell, SqlError, SqlFormat, SqlOptions, SqlRows, SqlValue, SqlWriter,
};
use sto_query::text::Style;
use sto_test_support::Random;

/// The rows of a result, with cells as text.
#[derive(Default)]
struct Rows(Vec<Vec<String>>);

impl SqlRows for Rows {
    fn columns(&mut self, _: &[&str]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()> {
        let text = |cell: &SqlCell<'_>| match cell {
            SqlCell::Null => "null".to_owned(),
            SqlCell::Integer(number) => number.to_string(),
            SqlCell::Real(number) => format!("{number:.6}"),
            SqlCell::Text(text) => (*text).to_owned(),
            SqlCell::Blob(bytes) => format!("{bytes:?}"),
        };
        self.0.push(cells.iter().map(text).collect());
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn tried(
    database: &mut Database,
    sql: &str,
    parameters: &[(&str, &str)],
) -> Result<Vec<Vec<String>>, SqlError> {
    let mut options = SqlOptions::default();
    let pairs = parameters.iter();
    options.parameters = pairs
        .map(|&(name, value)| (name.to_owned(), SqlValue::from(value)))
        .collect();
    let mut rows = Rows::default();
    database.query(sql, &options, &mut rows)?;
    Ok(rows.0)
}

#[track_caller]
pub(crate) fn rows(database: &mut Database, sql: &str) -> Vec<Vec<String>> {
    tried(database, sql, &[]).unwrap_or_else(|error| panic!("{error} in {sql}"))
}

#[track_caller]
fn example(database: &mut Database, name: &str, parameters: &[(&str, &str)]) -> Vec<Vec<String>> {
    let example = EXAMPLES.iter().find(|example| example.name == name);
    tried(database, example.unwrap().sql, parameters).unwrap()
}

/// Stores builds of `demo`, given as versions and folded stacks, with one run each.
fn sources(builds: &[(&str, &str)]) -> Sources {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_memory().unwrap();
    for (run, (version, stacks)) in builds.iter().enumerate() {
        let file = folder.path().join(format!("{run}.folded"));
        std::fs::write(&file, stacks).unwrap();
        let options = IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some((*version).to_owned()),
            ..IngestOptions::default()
        };
        ingest(&store, &file, &options, &mut |_| {}).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn database(builds: &[(&str, &str)]) -> Database {
    Database::open(sources(builds)).unwrap()
}

const ONE: &str = "main;doLogging 10\nmain;work;parse 50\nmain;work 5\n";
const TWO: &str = "main;doLogging 100\nmain;work;parse 50\nmain;work 5\nmain;a;b;a 3\n";

fn demo() -> Database {
    Database::open(demo_sources()).unwrap()
}

pub(crate) fn demo_sources() -> Sources {
    sources(&[("1", ONE), ("2", TWO)])
}

/// Returns a real history; `testdata/README.md` describes its origin.
pub(crate) fn history() -> Sources {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Sources::from_folder(&repository.join("testdata/history/history.sto"))
}

/// The example of sto's design document: a query of three tables shows that `doLogging` is ten times as expensive in
/// version two.
#[test]
fn query_of_the_design_document_finds_its_example() {
    let sql = "SELECT d.symbol, a.sample_count, b.sample_count
        FROM stack_node a
        JOIN executable ea ON ea.id = a.executable_id AND ea.version = 1
        JOIN stack_node b ON b.stack_node_data_id = a.stack_node_data_id
        JOIN executable eb ON eb.id = b.executable_id AND eb.version = 2
        JOIN stack_node_data d ON d.id = a.stack_node_data_id
        WHERE b.sample_count > 2 * a.sample_count AND a.sample_count > 0";
    assert_eq!(rows(&mut demo(), sql), [["doLogging", "10", "100"]]);
    let found = example(
        &mut demo(),
        "find_regressions",
        &[("baseline", "1"), ("candidate", "2")],
    );
    // 100 of 158 samples are more than 10 of 65, and so are 3 of 158 than none.
    let growth: Vec<_> = found.iter().map(|row| (&*row[0], &*row[3])).collect();
    let expected = [
        ("doLogging", "0.479065"),
        ("a", "0.018987"),
        ("b", "0.018987"),
    ];
    assert_eq!(growth, expected);
    let tested = "SELECT function, kind FROM find_regressions('1', '2')";
    assert_eq!(rows(&mut demo(), tested), [["doLogging", "regression"]]);
}

#[test]
fn rows_of_executable_are_builds() {
    let sql = "SELECT name, version, samples, event, runs FROM executable";
    assert_eq!(
        rows(&mut demo(), sql),
        [
            ["demo", "1", "65", "samples", "1"],
            ["demo", "2", "158", "samples", "1"]
        ]
    );
}

#[test]
fn finds_stacks_by_id_and_callees_by_caller() {
    let mut database = demo();
    let callees = "SELECT d.symbol, n.sample_count, n.total, stack(n.id) FROM executable e
        JOIN stack_node root ON root.executable_id = e.id AND root.parent_id IS NULL
        JOIN stack_node n ON n.parent_id = root.id
        JOIN stack_node_data d ON d.id = n.stack_node_data_id
        WHERE e.version = '2' ORDER BY d.symbol";
    assert_eq!(
        rows(&mut database, callees),
        [
            ["a", "0", "3", "main;a"],
            ["doLogging", "100", "100", "main;doLogging"],
            ["work", "5", "55", "main;work"]
        ]
    );
    let same = "SELECT count(*), count(DISTINCT n.id), count(DISTINCT n.node) FROM stack_node n
        JOIN stack_node m ON m.id = n.id";
    assert_eq!(rows(&mut database, same), [["11", "11", "7"]]);
    let nothing = "SELECT count(*) FROM stack_node WHERE id IN ('', 'x', '00', NULL, 5)
        OR parent_id = 'é' OR executable_id = 'ffffffffffffffffffffffffffffffff'";
    assert_eq!(rows(&mut database, nothing), [["0"]]);
    assert_eq!(
        rows(&mut database, "SELECT stack('no node'), subtree(NULL)"),
        [["null", "null"]]
    );
}

#[test]
fn subtrees_are_json_for_d3_flame_graph() {
    let sql = "SELECT subtree(n.id) FROM executable e JOIN stack_node n ON n.executable_id = e.id
        WHERE e.version = '1' AND n.parent_id IS NULL";
    let json: serde_json::Value = serde_json::from_str(&rows(&mut demo(), sql)[0][0]).unwrap();
    assert_eq!(json["name"], "main");
    assert_eq!(json["value"], 65);
    let names: Vec<_> = json["children"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(json["children"][1]["children"][0]["name"], "parse");
}

#[test]
fn shipped_queries_agree_with_the_library() {
    for version in ["0.9.6", "0.10.0"] {
        let sources = history();
        let mut request = TopRequest::default();
        request.named = version.into();
        request.inlined = true;
        request.order = Order::SelfCost;
        request.limit = Some(10);
        let listed = ask(&sources, &request).unwrap();
        let expected: Vec<[String; 3]> = listed
            .functions
            .iter()
            .map(|of| {
                let [own, total] = [&of.self_cost, &of.total].map(|cost| cost.value.to_string());
                [own, total, of.frame.function.clone()]
            })
            .collect();
        let mut database = Database::open(history()).unwrap();
        let found = example(&mut database, "top", &[("version", version)]);
        // Functions of equal cost may be in different orders.
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found[..2], expected[..2], "{found:?} {expected:?}");
        }

        let mut request = PotentialRequest::default();
        request.named = vec![version.into()];
        request.inlined = true;
        request.degree = Degree(0);
        request.limit = Some(10);
        let listed = ask(&sources, &request).unwrap();
        let found = example(
            &mut database,
            "code_path_potential",
            &[("version", version)],
        );
        let shares = listed
            .functions
            .iter()
            .map(|of| format!("{:.6}", of.potential));
        let found = found.into_iter().map(|mut row| row.remove(2));
        assert!(found.take(10).eq(shares), "{version}");

        request.degree = Degree::default();
        request.limit = None;
        let listed = ask(&sources, &request).unwrap();
        let sql = format!("SELECT function, potential FROM potential('{version}')");
        let found = rows(&mut database, &sql);
        assert_eq!(found.len(), listed.functions.len());
        for (found, of) in found.iter().zip(&listed.functions) {
            assert_eq!(found[0], of.frame.function);
            assert_eq!(found[1], of.cost.value.to_string());
        }
    }
}

#[test]
fn shipped_queries_agree_with_manual_results() {
    let mut database = demo();
    let mut ask = |name: &str, parameters: &[(&str, &str)]| {
        let rows = example(&mut database, name, parameters);
        rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(
        ask("callers", &[("version", "2"), ("function", "a")]),
        ["main 3 3"]
    );
    assert_eq!(
        ask("callers", &[("version", "2"), ("function", "main")]),
        ["null 158 158"]
    );
    assert_eq!(
        ask("code_path_potential", &[("version", "1")]),
        [
            "parse 50 0.769231",
            "doLogging 10 0.153846",
            "work 5 0.076923"
        ]
    );
    assert_eq!(
        ask("call_graph", &[("version", "1"), ("share", "0.5")]),
        ["65 main", "55   work", "50     parse"]
    );
    assert_eq!(
        ask("flamegraph", &[("version", "1")]),
        ["main;doLogging 10", "main;work 5", "main;work;parse 50"]
    );
    assert_eq!(
        ask("where_over", &[("function", "doLogging"), ("share", "0.2")]),
        ["demo 2 0.632911"]
    );
    let series = ask("series", &[("function", "a")]);
    assert!(series[0].ends_with("null"), "{series:?}");
    assert!(series[1].ends_with("0.018987"), "{series:?}");
    let top = ask("top", &[("version", "2")]);
    assert_eq!(top[0], "100 100 0.632911 doLogging null");
}

/// Runs of 100 samples each: `format` is called by `log`, which grows, and `noise` varies as much as it grows.
#[test]
fn find_regressions_query_names_the_caller_and_ignores_noise() {
    let run = |log: u32, noise: u32| {
        let [above, below] = [log / 4, log - log / 4];
        let rest = 100 - log - noise;
        format!("main;log {above}\nmain;log;format;log {below}\nmain;noise {noise}\nmain {rest}\n")
    };
    let runs = [
        ("1", 8, 5),
        ("1", 12, 25),
        ("1", 10, 15),
        ("2", 36, 10),
        ("2", 44, 35),
        ("2", 40, 21),
    ];
    let runs = runs.map(|(version, log, noise)| (version, run(log, noise)));
    let mut database = database(&runs.each_ref().map(|(version, run)| (*version, &**run)));
    let parameters = [("baseline", "1"), ("candidate", "2")];
    let found = example(&mut database, "find_regressions", &parameters);
    // The standard error is that of numpy: sqrt(var([.08, .12, .10]) / 3 + var([.36, .44, .40]) / 3).
    assert_eq!(
        found[0],
        ["log", "0.100000", "0.400000", "0.300000", "0.025820"]
    );
    let names: Vec<&String> = found.iter().map(|row| &row[0]).collect();
    assert_eq!(names, ["log", "format"]);
}

/// The numbers are those of numpy.
#[test]
fn queries_have_mathematical_functions_and_statistics() {
    let mut database = demo();
    let functions = "SELECT sqrt(2), pow(2, 10), exp(1), ln(10), log2(8), log10(1000), floor(-1.5), ceil(1.2), trunc(-1.5)";
    assert_eq!(
        rows(&mut database, functions)[0].join(" "),
        "1.414214 1024.000000 2.718282 2.302585 3.000000 3.000000 -2.000000 2.000000 -1.000000"
    );
    let undefined = "SELECT sqrt(-1), ln(0), exp(1000), sqrt('x'), pow(NULL, 1)";
    assert_eq!(rows(&mut database, undefined)[0], ["null"; 5]);
    let statistics = "SELECT stddev(x), median(x), percentile(x, 90), corr(x, y)
        FROM (SELECT column1 AS x, column2 AS y FROM (VALUES (9, 7), (1, 2), (4, 5), (2, 4), (NULL, 5), ('x', 9)))";
    assert_eq!(
        rows(&mut database, statistics)[0].join(" "),
        "3.559026 3.000000 7.500000 0.944835"
    );
    let undefined = "SELECT stddev(1), median(NULL), percentile(1, 101), corr(1, x)
        FROM (SELECT column1 AS x FROM (VALUES (1), (2))) WHERE x < 2";
    assert_eq!(rows(&mut database, undefined)[0], ["null"; 4]);
}

/// The names and numbers in the first two columns of a result.
fn numbers(rows: &[Vec<String>], column: usize) -> BTreeMap<&str, f64> {
    let number = |row: &Vec<String>| row[column].parse().unwrap();
    rows.iter().map(|row| (&*row[0], number(row))).collect()
}

#[test]
fn regressions_query_agrees_with_the_command() {
    let mut request = RegressionsRequest::default();
    request.judged.window_runs = Some(20);
    request.min_share = Some(0.0);
    let scores = ask(&history(), &request).unwrap();
    let mut database = Database::open(history()).unwrap();
    let parameters = [
        ("executable", &*scores.history.executable),
        (
            "benchmark",
            scores.history.benchmark.as_deref().unwrap_or_default(),
        ),
        ("window", "20"),
    ];
    let found = example(&mut database, "regressions_over_time", &parameters);
    let found = numbers(&found, 4);
    let scores = scores.functions.iter();
    let same = scores.filter(|score| {
        let found = found.get(&*score.function.function);
        found.is_some_and(|found| (found - score.score).abs() < 1e-5)
    });
    assert!(found.len() == 30 && same.count() >= 28, "{found:?}");
}

#[test]
fn bottlenecks_query_agrees_with_the_command() {
    let mut request = BottlenecksRequest::default();
    request.options.metric = "seconds".to_owned();
    request.options.omit_absent = true;
    let listed = ask(&history(), &request).unwrap();
    let mut database = Database::open(history()).unwrap();
    let parameters = [("metric", "seconds"), ("runs", "5")];
    let found = example(&mut database, "bottlenecks", &parameters);
    let found = numbers(&found, 1);
    // The command finds spellings that are one function in several builds; the others have the same names.
    let listed = listed.functions.iter();
    let same = listed.filter(|of| {
        let found = found.get(&*of.function.function);
        found.is_some_and(|found| (found - of.coefficient).abs() < 1e-5)
    });
    assert!(found.len() == 30 && same.count() >= 28, "{found:?}");
}

#[test]
fn recursion_names_the_innermost_caller_with_the_same_function() {
    let mut database = database(&[("1", "main;a;b;a;a;b 3\nmain;c;a 1\n")]);
    let sql = "SELECT stack(n.id), stack(a.id), r.distance FROM recursion r
        JOIN stack_node n ON n.executable_id = r.executable_id AND n.node = r.node
        JOIN stack_node a ON a.executable_id = r.executable_id AND a.node = r.ancestor ORDER BY 1";
    assert_eq!(
        rows(&mut database, sql),
        [
            ["main;a;b;a", "main;a", "2"],
            ["main;a;b;a;a", "main;a;b;a", "1"],
            ["main;a;b;a;a;b", "main;a;b", "3"]
        ]
    );
    let inner =
        "SELECT count(*), (SELECT count(*) FROM recursion) FROM stack_node WHERE NOT outermost";
    let found = rows(&mut Database::open(history()).unwrap(), inner);
    assert_eq!(found[0][0], found[0][1]);
}

#[test]
fn shipped_queries_document_result_and_parameters() {
    for example in EXAMPLES {
        assert!(example.about().ends_with('.'), "{}", example.name);
        let mut used: Vec<&str> = Vec::new();
        let code = example.sql.lines().filter(|line| !line.starts_with("--"));
        for word in code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == ':'))) {
            used.extend(word.strip_prefix(':'));
        }
        used.sort_unstable();
        used.dedup();
        let mut documented: Vec<&str> = example.parameters().collect();
        documented.sort_unstable();
        assert_eq!(documented, used, "{}", example.name);
    }
    assert!(EXAMPLES.is_sorted_by_key(|example| example.name));
}

/// The counts of a real history agree with each other and with those of the library.
#[test]
fn tables_of_a_real_store_agree_with_each_other() {
    let mut database = Database::open(history()).unwrap();
    let other = "SELECT e.version FROM executable e JOIN stack_node n ON n.executable_id = e.id
        GROUP BY e.id HAVING sum(n.sample_count) <> e.samples OR max(n.total_sample_count) > e.samples";
    assert!(rows(&mut database, other).is_empty());
    let runs = "SELECT e.version FROM executable e JOIN sample s ON s.executable_id = e.id AND s.event = e.event
        GROUP BY e.id HAVING sum(s.samples) <> e.samples OR count(DISTINCT s.profile) <> e.runs";
    assert!(rows(&mut database, runs).is_empty());
    let functions = "SELECT count(*), sum(total), sum(by_stacks) FROM (
        SELECT f.total, (SELECT sum(n.total) FROM stack_node n
            JOIN stack_node_data d ON d.id = n.stack_node_data_id
            WHERE n.executable_id = f.build AND n.outermost AND d.function = f.function AND d.module IS f.module) AS by_stacks
        FROM executable e JOIN function_cost f ON f.build = e.id AND f.event = e.event
        WHERE e.version = '0.10.0' ORDER BY f.total DESC LIMIT 20)";
    let found = rows(&mut database, functions);
    assert_eq!(found[0][0], "20");
    assert_eq!(found[0][1], found[0][2]);
    let by_function = "SELECT profile, function, module, event, executable_id, sum(self), sum(samples), sum(total) FILTER (WHERE outermost),
            sum(total_samples) FILTER (WHERE outermost)
        FROM sample s JOIN stack_node_data d ON d.id = s.stack_node_data_id GROUP BY 1, 2, 3, 4, 5";
    let made = "SELECT profile, function, module, event, executable_id, self, samples, total, total_samples
        FROM function_sample ORDER BY 1, 2, 3, 4, 5";
    let found = rows(&mut database, made);
    assert!(!found.is_empty());
    assert_eq!(found, rows(&mut database, by_function));
    let unknown =
        "SELECT count(*) FROM sample s LEFT JOIN stack_node_data d ON d.id = s.stack_node_data_id
        WHERE d.id IS NULL";
    assert_eq!(rows(&mut database, unknown), [["0"]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Queries that use an index agree with queries that read all rows.
    #[test]
    fn indexed_queries_agree_with_full_scans(
        stacks in prop::collection::vec((prop::collection::vec(0..4u8, 1..6), 1..9u32), 1..20),
        other in prop::collection::vec((prop::collection::vec(0..4u8, 1..6), 1..9u32), 1..20),
    ) {
        let text = |stacks: &[(Vec<u8>, u32)]| {
            let mut sums: BTreeMap<String, u32> = BTreeMap::new();
            for (stack, count) in stacks {
                let names: Vec<String> = stack.iter().map(|frame| format!("f{frame}")).collect();
                *sums.entry(names.join(";")).or_default() += count;
            }
            sums.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect::<String>()
        };
        let mut database = database(&[("1", &text(&stacks)), ("2", &text(&other)), ("2", &text(&stacks))]);
        for (table, column) in [
            ("executable", "id"), ("executable", "version"), ("executable", "name"),
            ("stack_node", "id"), ("stack_node", "parent_id"), ("stack_node", "executable_id"), ("stack_node", "node"),
            ("stack_node", "stack_node_data_id"), ("stack_node_data", "function"),
            ("stack_node_data", "id"), ("profile", "id"), ("profile", "executable_id"), ("profile", "recorded"),
            ("sample", "profile"), ("sample", "node"), ("sample", "event"), ("sample", "executable_id"),
            ("recursion", "executable_id"),
            ("function", "function"), ("function_cost", "build"), ("function_cost", "function"),
            ("function_sample", "profile"), ("function_sample", "function"), ("function_sample", "executable_id"),
        ] {
            let names = rows(&mut database, &format!("SELECT DISTINCT {column} FROM {table} LIMIT 5"));
            for name in names {
                let [found, looked] = [column.to_owned(), format!("+{column}")].map(|by| {
                    let value = match column {
                        "recorded" => name[0].clone(),
                        _ => format!("'{}'", name[0]),
                    };
                    let sql = format!("SELECT * FROM {table} WHERE {by} = {value} ORDER BY 1, 2, 3");
                    rows(&mut database, &sql)
                });
                prop_assert_eq!(found, looked, "{} {}", table, column);
            }
        }
        // With and without the order of an indexed column.
        for of in ["", "WHERE executable_id = (SELECT id FROM executable WHERE version = '2')"] {
            let [by_column, sorted] = ["stack_node_data_id", "+stack_node_data_id"].map(|by| {
                let grouped = format!("SELECT stack_node_data_id, count(*), sum(total) FROM stack_node {of} GROUP BY {by} ORDER BY {by}");
                rows(&mut database, &grouped)
            });
            prop_assert_eq!(by_column, sorted);
        }
        let sums = "SELECT sum(self) - (SELECT sum(sample_count) FROM stack_node) FROM sample";
        prop_assert_eq!(&rows(&mut database, sums)[0][0], "0");
        // A function's total is the sum of its outermost stacks, and at most the total cost.
        let totals = "SELECT count(*) FROM function_cost f JOIN executable e ON e.id = f.build WHERE f.total <>
            (SELECT sum(n.total) FROM stack_node n JOIN stack_node_data d ON d.id = n.stack_node_data_id
             WHERE n.executable_id = e.id AND n.outermost AND d.function = f.function) OR f.total > e.samples";
        prop_assert_eq!(&rows(&mut database, totals)[0][0], "0");
    }
}

#[test]
fn runs_have_labels_metrics_slices_and_calls() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        labels: [("branch", "main")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into(),
        metrics: [("rps".to_owned(), 12.5)].into(),
        slices: sto_core::tree::SliceCount::new(50),
        ..IngestOptions::default()
    };
    let trace = repository.join("testdata/uftrace/calls.data");
    ingest(&store, &trace, &options, &mut |_| {}).unwrap();
    let mut database = Database::open(Sources::from_snapshot(store.snapshot().unwrap())).unwrap();
    let sql = "SELECT l.name, l.value, m.name, m.value FROM profile p
        JOIN label l ON l.profile = p.id JOIN metric m ON m.profile = p.id AND m.name = 'rps'";
    assert_eq!(
        rows(&mut database, sql),
        [["branch", "main", "rps", "12.500000"]]
    );
    let calls =
        "SELECT sum(c.calls) = (SELECT sum(n.samples) FROM sample n WHERE n.event = 'calls'),
        min(c.start), count(DISTINCT c.tid) > 1, min(c.duration) >= 0 FROM call c";
    assert_eq!(rows(&mut database, calls), [["1", "0", "1", "1"]]);
    let middle = "SELECT count(*) > 0, min(start) >= 1000000, max(\"end\") <= 5000000 FROM call
        WHERE start >= 1000000 AND \"end\" <= 5000000";
    assert_eq!(rows(&mut database, middle), [["1", "1", "1"]]);
}

#[test]
fn slices_add_up_to_the_cost_of_a_run() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        slices: sto_core::tree::SliceCount::new(50),
        ..IngestOptions::default()
    };
    let script = repository.join("testdata/perf-script/system-wide.txt");
    ingest(&store, &script, &options, &mut |_| {}).unwrap();
    let mut database = Database::open(Sources::from_snapshot(store.snapshot().unwrap())).unwrap();
    let sql = "SELECT sum(samples) = (SELECT sum(samples) FROM sample), count(DISTINCT start) > 1,
        min(\"end\" > start), (SELECT count(*) FROM slice WHERE start > 0) < count(*) FROM slice";
    assert_eq!(rows(&mut database, sql), [["1", "1", "1", "1"]]);
}

#[test]
fn full_text_search_finds_symbols_and_files() {
    let mut database = Database::open(history()).unwrap();
    let found = rows(
        &mut database,
        "SELECT DISTINCT symbol FROM search('parse_footnote')",
    );
    assert!(
        found.iter().any(|row| row[0].contains("::parse_footnote")),
        "{found:?}"
    );
    let joined = "SELECT count(*) = count(d.id) AND count(*) > 0 FROM search('symbol:firstpass::FirstPass*') s
        LEFT JOIN stack_node_data d ON d.id = s.id AND d.symbol = s.symbol";
    assert_eq!(rows(&mut database, joined), [["1"]]);
    for nothing in [
        "",
        "\"",
        "symbol:",
        "NEAR(",
        "zzzzqqq",
        "* - ^",
        "a\" OR \"b",
    ] {
        let sql = format!("SELECT count(*) FROM search('{nothing}')");
        assert_eq!(rows(&mut database, &sql), [["0"]], "{nothing}");
    }
}

#[test]
fn tables_are_read_only() {
    let mut database = demo();
    for sql in [
        "DELETE FROM executable",
        "INSERT INTO label VALUES ('a', 'b', 'c')",
        "UPDATE stack_node SET sample_count = 0",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "DROP TABLE executable",
        "ATTACH '/tmp/a' AS a",
        "PRAGMA query_only = 0",
        "VACUUM INTO '/tmp/a'",
        "BEGIN",
        "ANALYZE",
    ] {
        let refused = tried(&mut database, sql, &[]);
        assert!(
            matches!(refused, Err(SqlError::ReadOnly)),
            "{sql}: {refused:?}"
        );
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the store is read-only here"
        );
    }
    let files = "SELECT load_extension('a')";
    assert!(tried(&mut database, files, &[]).is_err());
}

#[test]
fn errors_show_their_position() {
    let place = |sql: &str| match tried(&mut demo(), sql, &[]) {
        Err(SqlError::Syntax { message, place }) => [message, place.join("\n")],
        other => panic!("{other:?}"),
    };
    assert_eq!(
        place("SELECT versio FROM executable"),
        [
            "no such column: versio",
            "SELECT versio FROM executable\n       ^"
        ]
    );
    assert_eq!(
        place("SELECT 1;\n\tSELECT 'é\u{1b}', nope FROM executable\nWHERE 1")[1],
        "\\u{9}SELECT 'é\\u{1b}', nope FROM executable\n                       ^"
    );
    let long = format!("SELECT {} nope FROM executable", "1, ".repeat(200));
    let shown = place(&long)[1].clone();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].len() < 80 && lines[0][lines[1].len() - 1..].starts_with("nope"),
        "{shown}"
    );
    assert_eq!(
        place("SELECT \"v1\"")[0],
        "no such column: \"v1\" - should this be a string literal in single-quotes?"
    );
    let missing = tried(&mut demo(), "SELECT * FROM find_regressions('1')", &[]);
    assert_eq!(
        missing.unwrap_err().to_string(),
        "find_regressions needs the argument `candidate`: find_regressions(baseline, candidate)"
    );
    let unknown = tried(&mut demo(), "SELECT * FROM find_regressions('1', 'x')", &[]);
    assert!(matches!(unknown, Err(SqlError::Question(_))), "{unknown:?}");
}

#[test]
fn parameters_are_never_parsed_as_sql() {
    let mut database = demo();
    let hostile = "1'; DROP TABLE executable; --";
    let sql = "SELECT count(*) FROM executable WHERE version = :v OR name = $v OR name = @v";
    assert_eq!(
        tried(&mut database, sql, &[("v", hostile)]).unwrap(),
        [["0"]]
    );
    assert_eq!(tried(&mut database, sql, &[("v", "2")]).unwrap(), [["1"]]);
    assert!(
        matches!(tried(&mut database, sql, &[]), Err(SqlError::MissingParameter(name)) if name == ":v")
    );
    let unknown = tried(&mut database, "SELECT 1", &[("v", "2")]);
    assert!(matches!(unknown, Err(SqlError::UnknownParameter(name)) if name == "v"));
}

#[test]
fn endless_query_ends_at_timeout_or_cancellation() {
    let endless =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    let mut database = demo();
    let mut options = SqlOptions::default();
    options.timeout = Some(Duration::from_millis(20));
    let ended = database.query(endless, &options, &mut Rows::default());
    assert_eq!(
        ended.unwrap_err().to_string(),
        "the query exceeded its time limit of 0.02 s"
    );
    let mut options = SqlOptions::default();
    options.cancel = CancelToken::default();
    options.cancel.cancel();
    let ended = database.query(endless, &options, &mut Rows::default());
    assert!(matches!(ended, Err(SqlError::Cancelled(_))));
    // The next query works.
    assert_eq!(
        rows(&mut database, "SELECT count(*) FROM executable"),
        [["2"]]
    );
}

fn written(database: &mut Database, sql: &str, format: SqlFormat, width: Option<usize>) -> String {
    let style = Style {
        width,
        ..Style::default()
    };
    let mut writer = SqlWriter::new(format, style, Vec::new());
    database
        .query(sql, &SqlOptions::default(), &mut writer)
        .unwrap();
    String::from_utf8(writer.into_inner()).unwrap()
}

/// Values and expressions at the limits of what a table can be asked for.
const VALUES: [&str; 16] = [
    "NULL",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "-1e-308",
    "9e999",
    "''",
    "'v1'",
    "'1'",
    "'*'",
    "x'00ff'",
    "(SELECT 1 WHERE 0)",
    "char(0, 1114111)",
    "printf('%9999d', 1)",
];

/// A query of one or two tables with conditions on their columns and arguments.
fn random_query(random: &mut Random) -> String {
    fn one_of<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
        from[random.below(from.len())]
    }
    let names = Database::names();
    let (functions, tables): (Vec<_>, Vec<_>) =
        names.iter().partition(|name| name.columns.is_empty());
    let table = tables[random.below(tables.len())];
    let value = |random: &mut Random| match random.below(4) {
        0 => {
            let function = functions[random.below(functions.len())];
            let count = random.below(4);
            let values: Vec<_> = (0..count).map(|_| one_of(random, &VALUES)).collect();
            format!("{}({})", function.name, values.join(", "))
        }
        _ => one_of(random, &VALUES).to_owned(),
    };
    let mut from = format!("{} t", table.name);
    if table.arguments.is_some() && random.below(4) > 0 {
        let values: Vec<_> = (0..random.below(5)).map(|_| value(random)).collect();
        from = format!("{}({}) t", table.name, values.join(", "));
    }
    let column =
        |random: &mut Random| format!("t.{}", table.columns[random.below(table.columns.len())].0);
    let mut query = format!("SELECT *, {} FROM {from}", column(random));
    for number in 0..random.below(4) {
        let operators = [
            "=",
            "<",
            ">=",
            "<>",
            "IS",
            "IS NOT",
            "LIKE",
            "GLOB",
            "MATCH",
            "IN",
            "BETWEEN 1 AND",
        ];
        let word = if number == 0 {
            "WHERE"
        } else {
            one_of(random, &["AND", "OR"])
        };
        let operator = one_of(random, &operators);
        let value = match operator {
            "IN" => format!("({}, {})", value(random), value(random)),
            _ => value(random),
        };
        query += &format!(" {word} {} {operator} {value}", column(random));
    }
    if random.below(3) == 0 {
        query += &format!(" ORDER BY {} DESC", column(random));
    }
    query + &format!(" LIMIT {}", random.below(5))
}

#[test]
fn random_queries_have_rows_or_an_error() {
    let mut database = demo();
    let (mut answered, mut rejected) = (0, 0);
    for seed in 0..3000 {
        let query = random_query(&mut Random::new(seed));
        match tried(&mut database, &query, &[]) {
            Ok(_) => answered += 1,
            Err(SqlError::Syntax { message, .. }) if message.contains("syntax error") => {
                panic!("{query}: {message}")
            }
            Err(_) => rejected += 1,
        }
    }
    assert!(answered > 500 && rejected > 100, "{answered} {rejected}");
}

#[test]
fn results_are_written_in_every_format() {
    let mut database = demo();
    let sql = "SELECT version, samples / 3.0 AS third, NULL AS none FROM executable";
    let mut write = |format| written(&mut database, sql, format, None);
    assert_eq!(
        write(SqlFormat::Table),
        "version    third  none\n1        21.6667\n2        52.6667\n"
    );
    assert_eq!(
        write(SqlFormat::Csv),
        "version,third,none\n1,21.666666666666668,\n2,52.666666666666664,\n"
    );
    assert_eq!(
        write(SqlFormat::Json),
        "[\n{\"version\":\"1\",\"third\":21.666666666666668,\"none\":null},\n\
         {\"version\":\"2\",\"third\":52.666666666666664,\"none\":null}\n]\n"
    );
    assert_eq!(
        write(SqlFormat::Ndjson),
        "{\"version\":\"1\",\"third\":21.666666666666668,\"none\":null}\n\
         {\"version\":\"2\",\"third\":52.666666666666664,\"none\":null}\n"
    );
    assert_eq!(
        write(SqlFormat::Md),
        "| version | third | none |\n| --- | ---: | ---: |\n| 1 | 21.6667 |  |\n| 2 | 52.6667 |  |\n"
    );
    assert_eq!(
        write(SqlFormat::Raw),
        "1\t21.666666666666668\t\n2\t52.666666666666664\t\n"
    );
    let quoted = "SELECT 'a,b' AS \"x,y\", 'say \"hi\"' AS z, 'two\nlines'";
    assert_eq!(
        written(&mut database, quoted, SqlFormat::Csv, None),
        "\"x,y\",z,'two\nlines'\n\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\n"
            .replace("z,'two\nlines'", "z,\"'two\nlines'\"")
    );
    let none = "SELECT 1 AS a WHERE 0";
    assert_eq!(
        written(&mut database, none, SqlFormat::Table, None),
        "no rows\n"
    );
    assert_eq!(written(&mut database, none, SqlFormat::Json, None), "[]\n");
    assert_eq!(written(&mut database, none, SqlFormat::Csv, None), "a\n");
}

#[test]
fn tables_fit_the_terminal_or_have_one_line_per_cell() {
    let mut database = Database::open(history()).unwrap();
    let sql = "SELECT id, symbol, file, line FROM stack_node_data LIMIT 20";
    let table = written(&mut database, sql, SqlFormat::Table, Some(80));
    assert_eq!(table.lines().count(), 21, "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let records = written(
        &mut database,
        "SELECT * FROM profile LIMIT 2",
        SqlFormat::Table,
        Some(80),
    );
    assert!(records.starts_with("id  "), "{records}");
    assert!(
        records.lines().all(|line| line.chars().count() <= 80),
        "{records}"
    );
}

#[test]
fn hostile_names_are_escaped_in_tables() {
    let stacks = "main;\u{1b}[31mred|<b> 3\n";
    let mut database = database(&[("v\u{7}1", stacks)]);
    let sql = "SELECT symbol, (SELECT version FROM executable) AS version FROM stack_node_data ORDER BY 1";
    for format in [SqlFormat::Table, SqlFormat::Md, SqlFormat::Raw] {
        let text = written(&mut database, sql, format, Some(80));
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
    let markdown = written(&mut database, sql, SqlFormat::Md, None);
    assert!(markdown.contains("red\\|&lt;b>"), "{markdown}");
    let raw = written(&mut database, sql, SqlFormat::Raw, None);
    assert!(raw.contains("\u{1b}[31mred|<b>"), "{raw}");
}
