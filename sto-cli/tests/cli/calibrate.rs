//! `sto calibrate`, on runs of a synthetic program.

use crate::support::Sandbox;

/// A sandbox whose store has the build `demo@v1` with this many slightly different runs.
fn with_runs(runs: u64) -> Sandbox {
    let sandbox = Sandbox::new();
    let files: Vec<String> = (0..runs).map(|run| format!("{run}.folded")).collect();
    for (run, file) in (0..runs).zip(&files) {
        let noise = |seed: u64| (run * seed) % 37;
        let stacks: String = (1..=12)
            .map(|f| format!("main;step{f} {}\n", 6000 / f + noise(f * 5 + 3)))
            .collect();
        sandbox.write(file, stacks);
    }
    let mut ingest = vec!["ingest", "--build", "v1", "--exe", "demo"];
    ingest.extend(files.iter().map(String::as_str));
    sandbox.sto(&ingest).succeeds();
    sandbox
}

/// Returns the text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn reports_false_positives_and_the_smallest_detectable_change() {
    let sandbox = with_runs(8);
    let run = sandbox.sto(&["calibrate", "v1", "--splits", "20"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(run.stderr, "");
    let text = "Compared with itself, 4 runs a side, it reports a function in 0 of 20 comparisons \
                (0.00%, 95% interval 0.00% to 16.11%) It reports total-cost in 0 of 20 \
                (0.00%, 95% interval 0.00% to 16.11%)";
    assert!(words(&run.stdout).contains(text), "{run:?}");
    assert!(run.stdout.contains("\n31.99%  "), "{run:?}");
    assert!(run.stdout.contains("  step1\n"), "{run:?}");

    let json = sandbox.sto(&["calibrate", "v1", "--runs", "3", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(json["schema"], "sto.calibrate/1");
    assert_eq!(json["build"], "v1");
    assert_eq!(json["runs"], 8);
    assert_eq!(json["runs_a_side"], 3);
    assert_eq!(json["false_reports"]["comparisons"], 200);
    assert_eq!(json["visible"][0]["function"], "step1");
    let change = json["visible"][0]["change"].as_f64().expect("it is found");
    assert!((1.1..1.3).contains(&change), "{change}");
}

#[test]
fn findings_are_at_least_the_minimum_effect() {
    let sandbox = with_runs(8);
    let change = |least: &str| {
        let args = ["calibrate", "v1", "--min-effect", least, "--format", "json"];
        let json: serde_json::Value =
            serde_json::from_str(&sandbox.sto(&args).stdout).expect("it is JSON");
        json["visible"][0]["change"].as_f64().expect("it is found")
    };
    assert!(change("1") < 1.1 && change("50") > 1.5);
}

#[test]
fn too_few_runs_exit_with_3_and_zero_runs_per_side_with_2() {
    let sandbox = with_runs(3);
    let run = sandbox.sto(&["calibrate", "v1"]);
    assert_eq!(run.status, Some(3), "{run:?}");
    let text =
        "TOO LITTLE DATA: 3 runs with samples, and it takes 4 to compare the build with itself.";
    assert!(words(&run.stdout).contains(text), "{run:?}");
    let run = sandbox.sto(&["calibrate", "v1", "--runs", "0"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(
        run.stderr
            .contains("runs is 0; give a whole number above 0"),
        "{run:?}"
    );
}
