//! `sto correlate`: ranks metrics over time by how well they explain another.

use crate::support::{Run, Sandbox, repository};
use serde_json::{Value, json};
use sto_query::questions::{CorrelateTableRequest, correlate_columns};
use sto_query::results;

const TABLE: &str = "time,progress,faults,idle,host\n\
    0,9,1,5,a\n1,8,2,5,a\n2,3,8,5,a\n3,2,9,5,a\n4,3,7,5,a\n5,8,2,5,a\n6,9,1,5,a\n7,9,0,5,a\n";

fn sto(sandbox: &Sandbox, args: &[&str]) -> Run {
    sandbox.sto(&[&["correlate", "--series", "stat.csv"], args].concat())
}

#[test]
fn ranks_metrics_and_prints_the_answer_first() {
    let sandbox = Sandbox::new();
    sandbox.write("stat.csv", TABLE);
    let run = sto(&sandbox, &["--target", "progress"]).succeeds();
    assert_eq!(run.stderr, "");
    let first = run.stdout.lines().next().unwrap();
    assert!(first.contains("the first is faults"), "{run:?}");
    assert!(
        run.stdout
            .contains("Left out, as they have no numbers: host."),
        "{run:?}"
    );
    let rows: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.ends_with("idle"))
        .collect();
    assert!(rows[0].trim_start().starts_with('0'), "{run:?}");
    let one = sto(&sandbox, &["--target", "progress", "-n", "1"]).succeeds();
    assert!(one.stdout.contains("1 more metric not shown"), "{one:?}");
    assert!(
        std::fs::read_dir(sandbox.path("store")).is_err(),
        "no store is made"
    );
}

#[test]
fn page_lists_all_metrics_unless_limited() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..40).map(|ix| format!("m{ix}")).collect();
    let mut table = format!("target,{}\n", names.join(","));
    for row in 0..8_u32 {
        let values = (1..41).map(|ix| format!(",{}", row.pow(2) * ix % 43));
        table += &format!("{}{}\n", row % 5, values.collect::<String>());
    }
    sandbox.write("stat.csv", table);
    let page =
        |args: &[&str]| sto(&sandbox, &[&["--target", "target", "-o"], args].concat()).succeeds();
    let run = page(&["all.html"]);
    assert_eq!(run.stdout, "wrote all.html\n");
    let plots = |page: &str| page.matches("<use ").count();
    let all = std::fs::read_to_string(sandbox.path("all.html")).unwrap();
    assert_eq!(plots(&all), 40);
    let run = page(&["-", "-n", "3"]);
    assert_eq!(plots(&run.stdout), 3);
    assert!(run.stdout.contains("37 more metrics not shown"), "{run:?}");
}

#[test]
fn command_matches_the_library_call() {
    let sandbox = Sandbox::new();
    let text =
        std::fs::read_to_string(repository().join("testdata/correlation/metrics.csv")).unwrap();
    sandbox.write("stat.csv", &text);
    let request = json!({"table": text, "limit": 2, "options": {"target": "target", "by": "linear-pattern",
        "splits": 3, "pattern": [[0.0, 1.0], [60.0, -1.5]], "windows": [[10.0, 40.0], [60.0, null]]}});
    let request: CorrelateTableRequest = serde_json::from_value(request).unwrap();
    let args = "--target target --by linear-pattern --splits 3 --pattern 0:1,60:-1.5 --window 10..40,60.. -n 2";
    let args: Vec<&str> = args.split(' ').chain(["--format", "json"]).collect();
    let run = sto(&sandbox, &args).succeeds();
    assert_eq!(
        run.stdout,
        results::json(&correlate_columns(&request).unwrap()).unwrap()
    );
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["omitted"], 3);
    assert_eq!(found["metrics"][0]["scores"].as_object().unwrap().len(), 8);
}

#[test]
fn reports_errors_and_exits_with_3_for_too_few_rows() {
    let sandbox = Sandbox::new();
    sandbox.write("stat.csv", TABLE);
    sto(&sandbox, &["--target", "progres"])
        .fails_with(&["stat.csv: no column is called `progres`; the closest is `progress`"]);
    sto(&sandbox, &["--target", "idle"]).fails_with(&["is constant"]);
    sto(&sandbox, &["--target", "host"]).fails_with(&["are not numbers"]);
    sto(
        &sandbox,
        &["--target", "progress", "--by", "linear-pattern"],
    )
    .fails_with(&["none is given"]);
    let few = sto(&sandbox, &["--target", "progress", "--window", "2..4"]);
    assert_eq!((few.status, &*few.stderr), (Some(3), ""), "{few:?}");
    assert!(few.stdout.starts_with("3 rows"), "{few:?}");
    sandbox.write("stat.csv", "");
    sto(&sandbox, &["--target", "x"]).fails_with(&["it is empty"]);
    let none = sandbox.sto(&["correlate", "--target", "x"]);
    assert!(
        none.status == Some(2) && none.stderr.contains("<SELECTOR>"),
        "{none:?}"
    );
    sandbox
        .sto(&["correlate", "--series", "missing.csv", "--target", "x"])
        .fails_with(&["missing.csv"]);
}

fn recording() -> String {
    let path = repository().join("testdata/perf-script/system-wide.txt");
    path.to_str().unwrap().to_owned()
}

#[test]
fn ranks_metrics_of_files_and_of_stored_runs_alike() {
    let sandbox = Sandbox::new();
    let file = recording();
    let ingest = [
        "ingest", &file, "--exe", "work", "--build", "v1", "--slices", "1000",
    ];
    sandbox.sto(&ingest).succeeds();
    let args = [
        "--target",
        "event:cpu-clock",
        "-n",
        "0",
        "--event",
        "cpu-clock",
    ];
    let of_file = sandbox.json(&[&["correlate", &file][..], &args].concat());
    let stored = sandbox.json(&[&["correlate", "v1"][..], &args].concat());
    assert_eq!(of_file["metrics"], stored["metrics"]);
    assert!(stored["metrics"].as_array().unwrap().len() == 4, "{stored}");
    assert_eq!(
        (&stored["rows"], stored["from"].as_f64().unwrap() > 0.0),
        (&json!(200), true)
    );
    let text = sandbox
        .sto(&["correlate", "v1", "--target", "thread:work", "-n", "5"])
        .succeeds();
    assert!(text.stdout.contains("200 slices of work@v1"), "{text:?}");
}

#[test]
fn windows_are_in_seconds_or_have_units() {
    let sandbox = Sandbox::new();
    let file = recording();
    let args = ["correlate", &file, "--target", "thread:work", "--window"];
    let whole = sandbox.json(&args[..4]);
    let end = whole["runs"][0]["seconds"].as_f64().unwrap();
    let half = format!("..{}", end / 2.0);
    let found = sandbox.json(&[&args[..], &[&half]].concat());
    assert_eq!(found["rows"], 100);
    let with_unit = format!("0ms..{}ms", end / 2.0 * 1e3);
    assert_eq!(sandbox.json(&[&args[..], &[&with_unit]].concat()), found);
    let late = sandbox.sto(&[&args[..], &["1h.."]].concat());
    assert_eq!(late.status, Some(2), "{late:?}");
    let late = sandbox.sto(&[&args[..], &["1000.."]].concat());
    assert_eq!(late.status, Some(3), "{late:?}");
    assert!(
        late.stdout.starts_with("0 slices of thread:work"),
        "{late:?}"
    );
}

#[test]
fn reports_why_a_run_cannot_be_used() {
    let sandbox = Sandbox::new();
    let file = recording();
    sandbox
        .sto(&["ingest", &file, "--exe", "work", "--build", "v1"])
        .succeeds();
    sandbox
        .sto(&["correlate", "v1", "--target", "event:cpu-clock"])
        .fails_with(&["without slices of its time", "sto ingest --slices 1000"]);
    sandbox
        .sto(&["correlate", &file, "--target", "event:cpu-cloc"])
        .fails_with(&["did you mean `event:cpu-clock`?"]);
    sandbox
        .sto(&["correlate", &file, "--target", "one = 1"])
        .fails_with(&["the target `one` is constant"]);
    let both = ["correlate", &file, "--series", "a.csv", "--target", "x"];
    assert_eq!(sandbox.sto(&both).status, Some(2));
    let aligned = [
        "correlate",
        "--series",
        "a.csv",
        "--target",
        "x",
        "--align",
        "x",
    ];
    assert_eq!(sandbox.sto(&aligned).status, Some(2));
}
