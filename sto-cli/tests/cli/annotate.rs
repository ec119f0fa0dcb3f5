//! `sto annotate`: adds metrics to many runs at once.

use crate::support::{Run, Sandbox};
use serde_json::Value;

/// Three runs of a benchmark, distinguished by a label, the last of another build.
fn three_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    for (run, build) in [("1", "v1"), ("2", "v1"), ("3", "v2")] {
        let file = format!("{run}.folded");
        sandbox.write(&file, format!("main;work {run}00\n"));
        let label = format!("ci={run}");
        let about = ["--benchmark", "serve", "--label", &label];
        let ingest = [
            &["ingest", &file, "--exe", "demo", "--build", build],
            &about[..],
        ];
        sandbox.sto(&ingest.concat()).succeeds();
    }
    sandbox
}

/// Returns the metrics of each run, sorted by label.
fn metrics(sandbox: &Sandbox) -> Vec<String> {
    let json = sandbox.json(&["runs"]);
    let mut runs: Vec<&Value> = json["runs"].as_array().unwrap().iter().collect();
    runs.sort_by_key(|run| run["labels"]["ci"].as_str());
    runs.iter().map(|run| run["metrics"].to_string()).collect()
}

/// Returns the id of the run with this label.
fn id_of(sandbox: &Sandbox, ci: &str) -> String {
    let json = sandbox.json(&["runs"]);
    let mut runs = json["runs"].as_array().unwrap().iter();
    let run = runs.find(|run| run["labels"]["ci"] == ci).unwrap();
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn csv_rows_add_metrics_to_matching_runs() {
    let sandbox = three_runs();
    sandbox.write(
        "metrics.csv",
        "benchmark, label.ci, seconds, requests\nserve, 1, 2.5, 100\nserve, 2, 2.25,\n",
    );
    let run = sandbox.sto(&["annotate", "metrics.csv"]).succeeds();
    assert_eq!(run.stdout, "3 metrics of 2 runs: 3 new\n");
    let expected = [
        r#"{"requests":100.0,"seconds":2.5}"#,
        r#"{"seconds":2.25}"#,
        "{}",
    ];
    assert_eq!(metrics(&sandbox), expected);

    let by_id = format!("profile,seconds\n{},2\n", &id_of(&sandbox, "2")[..12]);
    sandbox.write("again.csv", by_id);
    let refused = sandbox.sto(&["annotate", "again.csv"]);
    let refused = refused.fails_with(&["has seconds = 2.25, not 2"]);
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(metrics(&sandbox), expected);
    let json = sandbox.json(&["annotate", "--force", "again.csv"]);
    assert_eq!(
        (&json["schema"], &json["replaced"]),
        (&"sto.annotate/1".into(), &1.into())
    );
    assert_eq!(metrics(&sandbox)[1], r#"{"seconds":2.0}"#);
}

#[test]
fn json_lines_from_standard_input_add_metrics() {
    let sandbox = three_runs();
    let lines = "{\"build\": \"demo@v2\", \"seconds\": 1e-3, \"note\": null}\n\n\
                 {\"profile\": \"v1\", \"label.ci\": \"1\", \"seconds\": 3}\n";
    let file = std::fs::File::open(sandbox.write("lines", lines)).unwrap();
    let run = Run::new(sandbox.command(&["annotate", "-"]).stdin(file));
    assert_eq!(run.succeeds().stdout, "2 metrics of 2 runs: 2 new\n");
    let expected = [r#"{"seconds":3.0}"#, "{}", r#"{"seconds":0.001}"#];
    assert_eq!(metrics(&sandbox), expected);
}

#[test]
fn rejects_the_whole_table_and_names_the_bad_line() {
    let sandbox = three_runs();
    for (table, complaint) in [
        (
            "build,seconds\nv2,1\nv1,2\n",
            "line 3: 2 runs have build `v1`",
        ),
        (
            "build,seconds\nv2,1\nv9,2\n",
            "line 3: no build or profile is called `v9`",
        ),
        (
            "label.ci,seconds\n3,1\n4,2\n",
            "line 3: no run has label.ci `4`",
        ),
        (
            "label.ci,seconds\n3,1\n3,2\n",
            "line 3: the metric `seconds` of the run",
        ),
        (
            "label.ci,seconds\n3,fast\n",
            "line 2: expected a finite number for the metric `seconds`, found `fast`",
        ),
        (
            "label.ci,seconds\n3,inf\n",
            "line 2: expected a finite number",
        ),
        (
            "label.ci,seconds\n3,1,2\n",
            "line 2: expected 2 columns as in the first line, found 3",
        ),
        (
            "seconds,seconds\n1,2\n",
            "line 1: two columns have the name `seconds`",
        ),
        ("seconds\n1\n", "line 2: nothing identifies the run"),
        (
            "label.ci,seconds\n3,\n",
            "line 2: there is no metric besides label.ci `3`",
        ),
        (
            "{\"label.ci\": \"3\", \"seconds\": 1}\n{\"label.ci\": \"3\",\n",
            "line 2: expected a JSON object in one line",
        ),
        (
            "{\"label.ci\": 3, \"seconds\": 1}\n",
            "line 1: expected text for `label.ci`, found 3",
        ),
        (
            "{\"label.ci\": \"3\", \"seconds\": [1]}\n",
            "line 1: expected a finite number for the metric `seconds`, found `[1]`",
        ),
    ] {
        sandbox.write("table", table);
        sandbox
            .sto(&["annotate", "table"])
            .fails_with(&["table, ", complaint]);
        assert_eq!(metrics(&sandbox), ["{}"; 3], "{table}");
    }
    sandbox.write("table", b"label.ci,seconds\n\xff,1\n");
    sandbox
        .sto(&["annotate", "table"])
        .fails_with(&["cannot read table", "UTF-8"]);
    sandbox
        .sto(&["annotate", "missing"])
        .fails_with(&["cannot read missing"]);
}
