//! Savings over all programs of a store. `sto-query/stats/tests/ratio.rs` tells where the expected intervals come from.

use crate::ask;
use std::path::Path;
use sto_core::ingest::{IngestOptions, Input, ingest};
use sto_core::store::Store;
use sto_query::QueryError;
use sto_query::error::ErrorClass;
use sto_query::questions::{Order, SavingsOf, SavingsRequest};
use sto_query::results::{Cores, Saving, Savings};
use sto_query::sources::Sources;

/// A run of `app` or `tool` on a host, for some seconds, in which `parse` of a library and `main` take some
/// seconds of processor time.
struct Run {
    program: &'static str,
    host: &'static str,
    seconds: u64,
    parse: f64,
    main: f64,
}

const fn run(
    program: &'static str,
    host: &'static str,
    seconds: u64,
    parse: f64,
    main: f64,
) -> Run {
    Run {
        program,
        host,
        seconds,
        parse,
        main,
    }
}

const APP: [Run; 4] = [
    run("app", "a", 10, 12.0, 5.0),
    run("app", "a", 14, 20.0, 6.0),
    run("app", "a", 9, 9.0, 4.0),
    run("app", "a", 20, 31.0, 7.0),
];
const TOOL: [Run; 2] = [run("tool", "a", 2, 3.0, 1.0), run("tool", "a", 3, 5.5, 1.0)];

fn add(store: &Store, program: &str, version: &str, script: &str) {
    let options = IngestOptions {
        executable: Some(program.to_owned()),
        version: Some(version.to_owned()),
        ..IngestOptions::default()
    };
    let input = Input::Bytes {
        name: Path::new("run.script"),
        bytes: script.as_bytes(),
    };
    ingest(store, input, &options, &mut |_| {}).unwrap();
}

/// Stores runs, two for each build.
fn stored(runs: &[&Run]) -> Store {
    let store = Store::in_memory().unwrap();
    for (ix, run) in runs.iter().enumerate() {
        let Run {
            program,
            host,
            seconds,
            ..
        } = run;
        let [parse, main] = [run.parse, run.main].map(|seconds| (seconds * 1e9) as u64);
        let end = 100 + seconds;
        let script = format!(
            "# hostname : {host}\n\
             {program} 7/7 100.000000: {parse} cpu-clock:\n\t1 parse (lib.so)\n\t1 main ({program})\n\n\
             {program} 7/7 {end}.000000: {main} cpu-clock:\n\t1 main ({program})\n\n"
        );
        add(&store, program, &format!("v{}", ix / 2), &script);
    }
    store
}

fn find(store: &Store, request: &SavingsRequest) -> Result<Savings, QueryError> {
    ask(&Sources::from_snapshot(store.snapshot().unwrap()), request)
}

#[track_caller]
fn assert_cores(found: Cores, value: f64, interval: Option<(f64, f64)>) {
    let is_close = |a: f64, b: f64| (a - b).abs() < 1e-7;
    let ends = found.low.zip(found.high);
    let are_close = match (ends, interval) {
        (Some((low, high)), Some(expected)) => {
            is_close(low, expected.0) && is_close(high, expected.1)
        }
        (found, expected) => found.is_none() && expected.is_none(),
    };
    assert!(is_close(found.value, value) && are_close, "{found:?}");
}

fn names(savings: &Savings) -> Vec<(&str, Option<&str>)> {
    let list = savings.savings.iter();
    list.map(|saving| (&*saving.module, saving.function.as_deref()))
        .collect()
}

fn scaled((low, high): (f64, f64), factor: f64) -> Option<(f64, f64)> {
    Some((low * factor, high * factor))
}

#[test]
fn cores_are_processor_time_by_wall_time_with_an_interval_over_runs() {
    let store = stored(&APP.iter().collect::<Vec<_>>());
    let savings = find(&store, &SavingsRequest::default()).unwrap();
    assert_cores(savings.cores, 94.0 / 53.0, Some((1.487059214, 2.060110597)));
    let [program] = &savings.programs[..] else {
        panic!("{:?}", savings.programs);
    };
    assert_eq!((program.runs, program.hosts), (4, None));
    assert!((program.wall_seconds - 53.0).abs() < 1e-9);
    assert!((program.cpu_seconds - 94.0).abs() < 1e-9);

    assert_eq!(
        names(&savings),
        [("lib.so", Some("parse")), ("app", Some("main"))]
    );
    let parse: &Saving = &savings.savings[0];
    let interval = (0.987986507, 1.728994625);
    assert_cores(parse.self_cores, 72.0 / 53.0, Some(interval));
    assert_cores(parse.saved, 7.2 / 53.0, scaled(interval, 0.1));
    assert!((parse.share - 72.0 / 94.0).abs() < 1e-12);
    let total = savings.savings[1].total;
    assert_cores(total, 94.0 / 53.0, Some((1.487059214, 2.060110597)));
}

#[test]
fn libraries_are_summed_over_programs() {
    let store = stored(&APP.iter().chain(&TOOL).collect::<Vec<_>>());
    let mut request = SavingsRequest::default();
    request.options.of = SavingsOf::Modules;
    request.options.less = 0.5;
    let savings = find(&store, &request).unwrap();
    assert_eq!(
        names(&savings),
        [("lib.so", None), ("app", None), ("tool", None)]
    );
    let library = &savings.savings[0];
    let interval = (2.258095640873197, 3.8588854912022734);
    assert_cores(
        library.saved,
        3.0584905660377353 / 2.0,
        scaled(interval, 0.5),
    );
    let parts = library.programs.iter().map(|part| &*part.executable);
    assert_eq!(parts.collect::<Vec<_>>(), ["tool", "app"]);
    assert!((library.programs[0].cores - 1.7).abs() < 1e-9);

    request.runs.executable = Some("tool".to_owned());
    request.options.order = Order::Total;
    request.options.limit = Some(1);
    let savings = find(&store, &request).unwrap();
    assert_eq!(names(&savings), [("tool", None)]);
    assert_eq!(savings.omitted, 1);
}

#[test]
fn hosts_are_compared_instead_of_their_runs() {
    let [first, second, third, fourth] = &APP;
    let third = Run {
        host: "b",
        ..*third
    };
    let fourth = Run {
        host: "c",
        ..*fourth
    };
    let savings = find(
        &stored(&[first, second, &third, &fourth]),
        &SavingsRequest::default(),
    );
    let savings = savings.unwrap();
    assert_eq!(savings.programs[0].hosts, Some(3));
    let interval = (0.856952119, 1.860029013);
    assert_cores(savings.savings[0].self_cores, 72.0 / 53.0, Some(interval));
}

#[test]
fn single_run_has_no_interval() {
    let savings = find(&stored(&[&TOOL[0]]), &SavingsRequest::default()).unwrap();
    assert_cores(savings.savings[0].self_cores, 1.5, None);
}

#[test]
fn runs_without_processor_time_or_duration_are_counted_but_left_out() {
    let store = stored(&[&TOOL[0], &TOOL[1]]);
    add(&store, "tool", "v1", "main;parse 7\n");
    add(
        &store,
        "tool",
        "v1",
        "tool 7/7 5.000000: 9000 cpu-clock:\n\t1 main (tool)\n\n",
    );
    let savings = find(&store, &SavingsRequest::default()).unwrap();
    assert_eq!(savings.programs[0].runs, 2);
    let left_out = savings.left_out;
    assert_eq!(
        (left_out.without_cpu_time, left_out.without_duration),
        (1, 1)
    );
}

#[test]
fn saved_part_must_be_a_share() {
    let store = stored(&[&TOOL[0]]);
    for less in [0.0, -0.1, 1.5, f64::NAN] {
        let mut request = SavingsRequest::default();
        request.options.less = less;
        let error = find(&store, &request).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Invalid);
        assert!(error.to_string().contains(&less.to_string()), "{error}");
    }
}
