//! `sto align`, and `sto correlate --align`.

use crate::support::{Run, Sandbox};
use std::fmt::Write;
use sto_query::questions::AlignRequest;
use sto_query::questions::ask;
use sto_query::results;
use sto_query::sources::{BuildRef, Context, Sources};

/// Returns a series of constant parts, given as numbers of points and their value.
fn levels(levels: &[(usize, u64)]) -> Vec<u64> {
    let points = levels.iter();
    let points = points.flat_map(|&(points, level)| vec![level; points]);
    points.collect()
}

/// Stores a run of `build` with these costs in equal time slices.
fn store(sandbox: &Sandbox, build: &str, costs: &[u64]) {
    let mut text = String::new();
    for (step, cost) in costs.iter().enumerate() {
        // A run has samples in its first slice and its last one.
        let cost = 1 + cost * 1_000_000;
        let _ = write!(
            text,
            "work 7/7 0.{step:02}0000: {cost} cpu-clock:\n\t1 work (work)\n\n"
        );
    }
    let name = format!("{build}.txt");
    sandbox.write(&name, text);
    let slices = costs.len().to_string();
    let ingest = [
        "ingest", &name, "--exe", "work", "--build", build, "--slices", &slices,
    ];
    sandbox.sto(&ingest).succeeds();
}

fn aligned(a: &[u64], b: &[u64]) -> Run {
    let sandbox = Sandbox::new();
    store(&sandbox, "a", a);
    store(&sandbox, "b", b);
    sandbox.sto(&["align", "a", "b"]).succeeds()
}

/// Returns the output without its line breaks.
fn flowing(run: &Run) -> String {
    run.stdout.replace('\n', " ")
}

/// Figure 4 of the paper: one point of each high stretch is off, and the path matches these points.
#[test]
fn warns_about_noise_in_a_nearly_constant_stretch() {
    let low = (8, 0);
    let a = levels(&[low, (2, 100), (1, 85), (9, 100), low, (12, 100), low]);
    let b = levels(&[low, (9, 100), (1, 80), (2, 100), low, (12, 100), low]);
    let run = aligned(&a, &b);
    assert!(
        run.stdout
            .starts_with("work@b is aligned with work@a by event:cpu-clock"),
        "{run:?}"
    );
    let warning = "event:cpu-clock is nearly constant from 78.3 ms to 196 ms of the first run and from 78.3 ms to \
        196 ms of the second: the alignment there is arbitrary.";
    assert!(flowing(&run).contains(warning), "{run:?}");
    // "If the values were constant in the two sequences, there would be no local errors."
    let clean = levels(&[low, (12, 100), low, (12, 100), low]);
    let run = aligned(&a, &clean);
    assert!(!run.stdout.contains("constant"), "{run:?}");
}

/// Figure 5: a point between the periods of one run is matched with the second period of the other.
#[test]
fn warns_about_a_path_between_different_periods() {
    let (low, high) = ((8, 0), (8, 100));
    let a = levels(&[low, high, (4, 0), (1, 90), (3, 0), high, low, low, low]);
    let b = levels(&[low, high, low, high, low, high, low]);
    let run = aligned(&a, &b);
    let warning = "repeats itself every 157 ms in the first run";
    assert!(flowing(&run).contains(warning), "{run:?}");
    assert!(
        flowing(&run).contains("it may confuse repetitions."),
        "{run:?}"
    );
    let run = aligned(&b, &b);
    assert!(!run.stdout.contains("repeats"), "{run:?}");
    assert!(
        run.stdout
            .contains("a mean difference of 0.00% of its range"),
        "{run:?}"
    );
}

#[test]
fn warnings_name_the_aligned_metrics() {
    let sandbox = Sandbox::new();
    let (low, high) = ((8, 0), (8, 100));
    store(
        &sandbox,
        "a",
        &levels(&[low, high, (4, 0), (1, 90), (3, 0), high, low, low, low]),
    );
    store(
        &sandbox,
        "b",
        &levels(&[low, high, low, high, low, high, low]),
    );
    let correlate = ["correlate", "a", "b", "--target", "event:cpu-clock"];
    let align = [
        "--align",
        "event:cpu-clock",
        "--metric",
        "half = \"self:work\" / 2",
    ];
    let run = sandbox.sto(&[&correlate[..], &align].concat()).succeeds();
    assert!(
        flowing(&run).contains("repeats itself every 157 ms"),
        "{run:?}"
    );
    assert!(
        flowing(&run).contains("Run 2 is work@b, by event:cpu-clock,"),
        "{run:?}"
    );
    let found = sandbox.json(&[&correlate[..], &align].concat());
    assert_eq!(found["runs"][1]["fit"]["warnings"][0]["kind"], "repetitive");
    assert_eq!(found["runs"][0].get("fit"), None);
    let halves = found["metrics"].as_array().unwrap();
    assert!(
        halves
            .iter()
            .any(|metric| metric["name"] == "half" && metric["run"] == 1),
        "{found}"
    );
}

#[test]
fn command_matches_the_library_call() {
    let sandbox = Sandbox::new();
    store(&sandbox, "a", &levels(&[(4, 1), (8, 3), (8, 2)]));
    store(&sandbox, "b", &levels(&[(8, 1), (8, 3), (4, 2)]));
    let mut request = AlignRequest::default();
    request.named = [BuildRef::from("a"), BuildRef::from("b")];
    request.metric = Some("x = 2 * self:work".to_owned());
    request.slices = Some(10);
    let args = [
        "align",
        "a",
        "b",
        "--metric",
        "x = 2 * self:work",
        "--slices",
        "10",
    ];
    let run = sandbox
        .sto(&[&args[..], &["--format", "json"]].concat())
        .succeeds();
    let sources = Sources::from_folder(&sandbox.path("store"));
    assert_eq!(
        run.stdout,
        results::json(&ask(&sources, &request, &Context::default()).unwrap()).unwrap()
    );
}

#[test]
fn reports_why_runs_cannot_be_aligned() {
    let sandbox = Sandbox::new();
    store(&sandbox, "a", &levels(&[(4, 1), (8, 3)]));
    sandbox.write("b.txt", "work 7/7 0.1: 1 cpu-clock:\n\t1 work (work)\n\n");
    sandbox
        .sto(&["ingest", "b.txt", "--exe", "work", "--build", "b"])
        .succeeds();
    sandbox
        .sto(&["align", "a", "b"])
        .fails_with(&["without slices of its time", "sto ingest --slices 1000"]);
    sandbox
        .sto(&["align", "a", "a", "--metric", "event:cpu-cloc"])
        .fails_with(&["did you mean `event:cpu-clock`?"]);
    let one = sandbox.sto(&["align", "a"]);
    assert!(
        one.status == Some(2) && one.stderr.contains("<OTHER>"),
        "{one:?}"
    );
}
