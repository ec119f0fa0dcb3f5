//! Time windows of runs.

use crate::ask;
use crate::export::written;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{Cost, Nanoseconds};
use sto_query::QueryError;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::error::WindowError;
use sto_query::questions::{
    ExportFormat, ExportRequest, FlameRequest, RootsBy, TopRequest, Window,
};
use sto_query::render::{self, Detail};
use sto_query::results::{Comparison, Subject, Verdict, View};
use sto_query::sources::{BuildRef, EVENT, Filter, Sources};

/// A recording of two threads, and a longer recording.
const FILES: [&str; 2] = ["perf-data/threads.perf.data", "demo/v1.perf.data"];

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(file)
}

/// Stores both recordings as runs of one build, in `slices` slices.
fn stored(slices: Option<u32>) -> Sources {
    let store = Store::in_memory().unwrap();
    for (run, file) in FILES.iter().enumerate() {
        let options = with!(IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some("v1".to_owned()),
            slices: slices.and_then(SliceCount::new),
            labels: BTreeMap::from([("run".to_owned(), run.to_string())]),
        });
        ingest(&store, &testdata(file), &options, &mut |_| ()).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

static STORED: LazyLock<Sources> = LazyLock::new(|| stored(Some(97)));

fn between(from: u64, to: Option<u64>) -> Filter {
    let to = to.map(Nanoseconds);
    let from = Nanoseconds(from);
    with!(Filter {
        window: Some(Window::Time { from, to })
    })
}

/// Returns the self cost of each stack over all runs.
fn costs(view: &View) -> Vec<Cost> {
    view.self_costs(0)
}

fn refused(sources: &Sources, filter: &Filter) -> WindowError {
    match sources.view(&"v1".into(), filter).unwrap_err() {
        QueryError::Window(error) => error,
        error => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn windows_that_tile_a_run_add_up_to_the_whole(mut cuts in prop::collection::vec(0..4_000_000_000_u64, 0..6)) {
        let file = BuildRef::File(testdata(FILES[1]));
        for (named, sources) in [(&file, &*STORED), (&"v1".into(), &stored_longer())] {
            let whole = sources.view(named, &Filter::default()).unwrap();
            cuts.sort_unstable();
            let mut sum = vec![Cost::ZERO; whole.tree.len()];
            let borders: Vec<u64> = [0].into_iter().chain(cuts.iter().copied()).collect();
            for (ix, &from) in borders.iter().enumerate() {
                let to = borders.get(ix + 1).copied();
                let view = match sources.view(named, &between(from, to)) {
                    Ok(view) => view,
                    // A window shorter than a slice is empty; the slice belongs to a later window.
                    Err(QueryError::Window(WindowError::TooFine { .. } | WindowError::Empty { .. } | WindowError::Outside { .. })) => continue,
                    Err(error) => panic!("{error}"),
                };
                for (sum, cost) in sum.iter_mut().zip(costs(&view)) {
                    *sum += cost;
                }
            }
            prop_assert_eq!(sum, costs(&whole));
        }
    }
}

/// Stores only the longer recording, in few slices.
fn stored_longer() -> Sources {
    static ALONE: LazyLock<Store> = LazyLock::new(|| {
        let store = Store::in_memory().unwrap();
        let options = with!(IngestOptions {
            executable: Some("demo".to_owned()),
            version: Some("v1".to_owned()),
            slices: SliceCount::new(13),
        });
        ingest(&store, &testdata(FILES[1]), &options, &mut |_| ()).unwrap();
        store
    });
    Sources::from_snapshot(ALONE.snapshot().unwrap())
}

#[test]
fn windows_begin_at_the_first_sample_of_each_run() {
    let filter = between(100_000_000, Some(300_000_000));
    let request = with!(TopRequest {
        named: "v1".into(),
        filter: filter.clone(),
    });
    let answer = ask(&STORED, &request).unwrap();
    assert_eq!(answer.subject.windows.len(), 2);
    let durations: Vec<u64> = answer
        .subject
        .windows
        .iter()
        .map(|w| w.duration.0)
        .collect();
    assert_eq!(
        durations,
        [3_833_231_442, 518_127_131],
        "to a nanosecond after the last sample"
    );
    for window in &answer.subject.windows {
        let slice = window.duration.0 / 97;
        assert!(
            window.from.0.abs_diff(100_000_000) <= slice / 2 + 1,
            "{window:?}"
        );
        assert!(
            window.to.0.abs_diff(300_000_000) <= slice / 2 + 1,
            "{window:?}"
        );
    }
    let mut threads = FlameRequest::default();
    threads.named = "v1".into();
    threads.filter = filter.clone();
    threads.stacks.by = Some(RootsBy::Thread);
    let samples = |request: &FlameRequest| {
        let stacks = ask(&STORED, request).unwrap();
        Subject::new(&stacks.view, EVENT).samples
    };
    assert_eq!(samples(&threads), answer.subject.samples);
    let by_run = RootsBy::Label("run".to_owned());
    threads.stacks.by = Some(by_run);
    assert_eq!(samples(&threads), answer.subject.samples);
    let folded = with!(ExportRequest {
        named: "v1".into(),
        filter: filter.clone(),
        format: ExportFormat::Folded
    });
    let bytes = written(&ask(&STORED, &folded).unwrap());
    let text = String::from_utf8(bytes).unwrap();
    let sum = text
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
    assert_eq!(sum.sum::<u64>(), answer.subject.value);
    let pprof = with!(ExportRequest {
        named: "v1".into(),
        filter,
        format: ExportFormat::Pprof
    });
    assert_eq!(
        ask(&STORED, &pprof).unwrap().subjects[0].samples,
        answer.subject.samples
    );
    let text = render::top::text(&answer, crate::words::plain());
    assert!(
        text.lines()
            .nth(1)
            .unwrap()
            .ends_with("of 3.833 s, and a part of 1 more profile"),
        "{text}"
    );
}

#[test]
fn invalid_window_is_an_error_with_its_reason() {
    let at = |filter: &Filter| refused(&STORED, filter);
    assert!(matches!(
        at(&between(5, Some(5))),
        WindowError::Empty { .. }
    ));
    assert!(matches!(
        at(&between(600_000_000, None)),
        WindowError::Outside { .. }
    ));
    assert!(matches!(
        at(&between(1, Some(2))),
        WindowError::TooFine { .. }
    ));
    for slices in [None, Some(1)] {
        let error = refused(&stored(slices), &between(0, Some(100_000_000)));
        assert!(matches!(error, WindowError::NoSlices { .. }), "{error}");
        assert!(error.hint().is_some());
    }
    let folded = BuildRef::File(testdata("folded/async-profiler.folded"));
    let error = STORED.view(&folded, &between(0, Some(1))).unwrap_err();
    assert!(
        matches!(error, QueryError::Window(WindowError::NoTime { .. })),
        "{error}"
    );
}

#[test]
fn rest_of_a_window_is_its_complement() {
    let whole: Vec<Cost> = costs(&STORED.view(&"v1".into(), &Filter::default()).unwrap());
    let time = |window| {
        with!(Filter {
            window: Some(window)
        })
    };
    let (from, to) = (Nanoseconds(100_000_000), Some(Nanoseconds(300_000_000)));
    let window = STORED
        .view(&"v1".into(), &time(Window::Time { from, to }))
        .unwrap();
    let rest = STORED
        .view(&"v1".into(), &time(Window::Rest { from, to }))
        .unwrap();
    let sum: Vec<Cost> = costs(&window)
        .into_iter()
        .zip(costs(&rest))
        .map(|(a, b)| [a, b].into_iter().sum())
        .collect();
    assert_eq!(sum, whole);
    let all = time(Window::Rest {
        from: Nanoseconds(0),
        to: None,
    });
    assert!(matches!(refused(&STORED, &all), WindowError::NoRest { .. }));
}

/// Compares two windows of the same run.
fn parts_of(file: &str, window: [u64; 2], against: Option<[u64; 2]>) -> Comparison {
    let time = |[from, to]: [u64; 2]| Window::Time {
        from: Nanoseconds(from * 1_000_000),
        to: Some(Nanoseconds(to * 1_000_000)),
    };
    let rest = Window::Rest {
        from: Nanoseconds(window[0] * 1_000_000),
        to: Some(Nanoseconds(window[1] * 1_000_000)),
    };
    let mut request = CheckRequest::default();
    request.candidate = "v1".into();
    request.baseline = Some(Baseline::Any(request.candidate.clone()));
    request.window = Some(time(window));
    request.against = Some(against.map_or(rest, time));
    let mut check = ask(&crate::phases::stored(file), &request).unwrap();
    check.comparisons.remove(0)
}

#[test]
fn windows_of_a_steady_run_are_clean() {
    const STEADY: &str = "phases/steady.perf.data.gz";
    for (window, against) in [
        ([1000, 2000], Some([0, 1000])),
        ([0, 700], Some([700, 2000])),
        ([1200, 1600], None),
        ([0, 1000], None),
    ] {
        let found = parts_of(STEADY, window, against);
        assert_eq!(
            found.verdict,
            Verdict::Clean,
            "{window:?}: {}",
            found.reason
        );
        assert!(found.within_runs && !found.weak);
        assert_eq!((found.baseline.runs, found.candidate.runs), (1, 1));
        assert!(found.candidate.profiles.len() >= 2);
        let text = render::findings_text(&found, crate::words::plain(), Detail::Full);
        assert!(!text.contains("same profile"), "{text}");
        assert!(text.contains("1 run, "), "{text}");
        let size = found.statistics.unwrap().normalisation.candidate_size;
        assert!(
            (0.8..1.25).contains(&size),
            "a second is as long as any: {size}"
        );
    }
}

#[test]
fn finds_function_that_a_window_has_more_of() {
    let found = parts_of(
        "phases/phases.perf.data.gz",
        [1500, 2000],
        Some([500, 1300]),
    );
    assert_eq!(found.verdict, Verdict::Regression, "{}", found.reason);
    let first = &found.findings[0];
    assert!(first.total.candidate_share > 0.9 && first.total.baseline_share < 0.01);
    let samples: u64 = found
        .candidate
        .profiles
        .iter()
        .map(|part| part.samples)
        .sum();
    assert_eq!(samples, found.candidate.samples);
    let windows: Vec<_> = found
        .candidate
        .profiles
        .iter()
        .map(|part| part.window.clone().unwrap())
        .collect();
    assert!(windows.iter().all(|window| window.from == windows[0].from));
}

#[test]
fn windows_of_two_builds_are_compared_like_builds() {
    let mut request = CheckRequest::default();
    request.baseline = Some(Baseline::Any("v1".into()));
    request.candidate = "v2".into();
    request.window = Some(Window::Time {
        from: Nanoseconds(500_000_000),
        to: Some(Nanoseconds(3_000_000_000)),
    });
    let sources =
        crate::phases::builds(&[("v1", "demo/v1.perf.data"), ("v2", "demo/v2.perf.data")]);
    let found = ask(&sources, &request).unwrap().comparisons.remove(0);
    assert_eq!(found.verdict, Verdict::Regression);
    assert!(!found.within_runs && found.weak);
    assert!(found.baseline.samples < 2716 && found.baseline.profiles[0].window.is_some());
    assert!(
        found.findings[0].function.contains("doLogging"),
        "{}",
        found.reason
    );
}
