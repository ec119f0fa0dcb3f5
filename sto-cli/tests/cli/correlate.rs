//! `sto correlate`: which metrics over time explain another.

use crate::support::{Run, Sandbox, repository};
use serde_json::{Value, json};
use sto_query::answer;
use sto_query::questions::{CorrelateTableRequest, correlate_columns};

const TABLE: &str = "time,progress,faults,idle,host\n\
    0,9,1,5,a\n1,8,2,5,a\n2,3,8,5,a\n3,2,9,5,a\n4,3,7,5,a\n5,8,2,5,a\n6,9,1,5,a\n7,9,0,5,a\n";

fn sto(sandbox: &Sandbox, args: &[&str]) -> Run {
    sandbox.sto(&[&["correlate", "--series", "stat.csv"], args].concat())
}

#[test]
fn metrics_are_ranked_with_the_answer_first() {
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
fn the_command_is_one_call_of_the_library() {
    let sandbox = Sandbox::new();
    let text =
        std::fs::read_to_string(repository().join("testdata/correlation/metrics.csv")).unwrap();
    sandbox.write("stat.csv", &text);
    let request = json!({"table": text, "limit": 2, "options": {"target": "target", "by": "linear-pattern",
        "splits": 3, "pattern": [[0.0, 1.0], [60.0, -1.5]], "from": 10.0, "to": 90.0}});
    let request: CorrelateTableRequest = serde_json::from_value(request).unwrap();
    let args =
        "--target target --by linear-pattern --splits 3 --pattern 0:1,60:-1.5 --window 10..90 -n 2";
    let args: Vec<&str> = args.split(' ').chain(["--format", "json"]).collect();
    let run = sto(&sandbox, &args).succeeds();
    assert_eq!(
        run.stdout,
        answer::json(&correlate_columns(&request).unwrap()).unwrap()
    );
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["omitted"], 3);
    assert_eq!(found["metrics"][0]["scores"].as_object().unwrap().len(), 8);
}

#[test]
fn what_is_wrong_is_said_and_too_few_rows_are_3() {
    let sandbox = Sandbox::new();
    sandbox.write("stat.csv", TABLE);
    sto(&sandbox, &["--target", "progres"])
        .fails_with(&["stat.csv: no column is called `progres`; the closest is `progress`"]);
    sto(&sandbox, &["--target", "idle"]).fails_with(&["never varies"]);
    sto(&sandbox, &["--target", "host"]).fails_with(&["are no numbers"]);
    sto(
        &sandbox,
        &["--target", "progress", "--by", "linear-pattern"],
    )
    .fails_with(&["there is none"]);
    let few = sto(&sandbox, &["--target", "progress", "--window", "2..4"]);
    assert_eq!((few.status, &*few.stderr), (Some(3), ""), "{few:?}");
    assert!(few.stdout.starts_with("3 rows"), "{few:?}");
    sandbox.write("stat.csv", "");
    sto(&sandbox, &["--target", "x"]).fails_with(&["it is empty"]);
    let none = sandbox.sto(&["correlate", "--target", "x"]);
    assert!(
        none.status == Some(2) && none.stderr.contains("--series <FILE.csv>"),
        "{none:?}"
    );
    sandbox
        .sto(&["correlate", "--series", "missing.csv", "--target", "x"])
        .fails_with(&["missing.csv"]);
}
