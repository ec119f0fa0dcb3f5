//! The runs of a program over time: series, and scores of the newest build.

use crate::views::{assert_fits, assert_golden};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::tree::NodeIx;
use sto_core::units::UnixSeconds;
use sto_query::error::{FunctionError, HistoryError};
use sto_query::internal::average::average;
use sto_query::internal::history::{History, JudgedWindow, occurrences};
use sto_query::internal::series::{SeriesOptions, regressions_over_time, series};
use sto_query::questions::{
    HistoryQuery, KeyOptions, Listing, Observation, Observed, ScoreOptions,
};
use sto_query::render;
use sto_query::results::{FunctionScore, Scores, Status, View};
use sto_query::select::select;

/// A series by run.
const BY_RUN: SeriesOptions = SeriesOptions {
    by: Observation::Run,
    observed: Observed::Share,
    window: 10,
};

/// Adds a run of `program` at `build`, recorded that many days after some day.
pub(crate) fn add(
    store: &Store,
    program: &str,
    build: &str,
    benchmark: &str,
    day: u64,
    folded: &str,
) {
    add_of_event(store, program, (build, "samples"), benchmark, day, folded);
}

/// Like `add`, for a given event.
fn add_of_event(
    store: &Store,
    program: &str,
    (build, event): (&str, &str),
    benchmark: &str,
    day: u64,
    folded: &str,
) {
    let options = IngestOptions {
        executable: Some(program.to_owned()),
        version: Some(build.to_owned()),
        benchmark: Some(benchmark.to_owned()),
        ..IngestOptions::default()
    };
    let path = Path::new("run.folded");
    let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
    let recording = recording
        .edit(|recording| {
            recording.sample_types[0].event = event.to_owned();
            recording.origin.recorded = Some(UnixSeconds(1_767_000_000 + day * 86_400));
        })
        .unwrap();
    ingest(store, (path, recording), &options, &mut |_| {}).unwrap();
}

/// Returns a store with runs of one program on successive days, four per build except for the
/// first, with these samples of functions.
fn history(parse: &[u64]) -> Store {
    history_of(parse, 4)
}

/// Like [`history`], with this many runs per build.
fn history_of(parse: &[u64], runs: u64) -> Store {
    let store = Store::in_memory().unwrap();
    for (day, parse) in (0u64..).zip(parse) {
        let mut folded = format!("main;work {}\nmain;io 40\nmain;log {day}\n", 200 + day % 5);
        if *parse > 0 {
            let inner = parse / 2;
            let _ = writeln!(
                folded,
                "main;parse {}\nmain;parse;parse {inner}",
                parse - inner
            );
        }
        add(
            &store,
            "app",
            &format!("v{}", day.div_ceil(runs)),
            "startup",
            day,
            &folded,
        );
    }
    store
}

fn load(store: &Store) -> History {
    History::load(&store.snapshot().unwrap(), &HistoryQuery::default()).unwrap()
}

fn judge(store: &Store) -> Scores {
    let history = load(store);
    let judged = history
        .choose_judged(None, JudgedWindow::Builds(10))
        .unwrap();
    regressions_over_time(&history, &judged, ScoreOptions::default(), None, None)
}

fn function<'a>(report: &'a Scores, name: &str) -> &'a FunctionScore {
    let mut functions = report.functions.iter();
    functions.find(|f| f.function.function == name).unwrap()
}

#[test]
fn series_follows_function_over_runs_and_builds() {
    let store = history(&[60, 62, 61, 63, 60, 61, 62, 60, 61, 150, 152, 151, 150]);
    let history = load(&store);
    let functions = history.find("parse").unwrap();
    let by_run = series(&history, Some(&functions), BY_RUN);
    assert_fits("series", |style| render::series::text(&by_run, style));
    assert_golden("series.json", &sto_query::results::json(&by_run).unwrap());
    assert_golden("series.svg", &render::series_svg::svg(&by_run));
    let options = SeriesOptions {
        by: Observation::Build,
        ..BY_RUN
    };
    let by_build = series(&history, Some(&functions), options);
    let samples: Vec<u64> = by_build.points.iter().map(|point| point.samples).collect();
    assert_eq!(samples, [60, 246, 244, 603]);
}

#[test]
fn series_of_a_whole_program_has_the_cost_of_its_runs() {
    let store = history(&[60, 62, 61, 63, 60, 61, 62, 60, 61, 650, 652, 651, 650]);
    let options = SeriesOptions {
        observed: Observed::Cost,
        ..BY_RUN
    };
    let program = series(&load(&store), None, options);
    assert!(program.functions.is_empty());
    let costs: Vec<f64> = program.points.iter().map(|point| point.cost).collect();
    let [change] = &program.changes[..] else {
        panic!("{:?}", program.changes);
    };
    let mean = |costs: &[f64]| costs.iter().sum::<f64>() / costs.len() as f64;
    assert_eq!(change.at, 9);
    assert_eq!(
        (change.before, change.after),
        (mean(&costs[..9]), mean(&costs[9..]))
    );
    let [.., last] = &program.points[..] else {
        panic!("no points");
    };
    assert_eq!((last.share, last.value as f64), (1.0, last.cost));
    assert!(last.high < Some(last.cost));
    let text = render::series::text(&program, crate::words::plain());
    assert!(
        text.starts_with("all functions: cost of a run in "),
        "{text}"
    );
    assert!(render::series_svg::svg(&program).contains("all functions"));
}

/// The mean of the eight runs before is 160, and the sum of squares about it is 20,800.
#[test]
fn window_of_runs_includes_those_before_a_level_shift() {
    let store = history_of(&[990, 100, 120, 100, 120, 200, 220, 200, 220, 300], 1);
    let history = load(&store);
    let judge = |window| {
        let judged = history.choose_judged(None, window).unwrap();
        let found = regressions_over_time(&history, &judged, ScoreOptions::default(), None, None);
        (found.window, function(&found, "parse").score)
    };
    let (window, score) = judge(JudgedWindow::Runs(8));
    assert_eq!(window, 8);
    assert!(
        (score - 140.0 / (20_800.0_f64 / 7.0).sqrt()).abs() < 1e-9,
        "{score}"
    );
    let (_, since_shift) = judge(JudgedWindow::Builds(8));
    assert!(since_shift > 2.0 * score, "{since_shift}");
}

#[test]
fn matches_functions_unless_symbols_must_be_equal() {
    let store = Store::in_memory().unwrap();
    for day in 0..4 {
        let folded = format!("main;run::{{{{closure}}}}.llvm.{day} 10\nmain 5\n");
        add(&store, "app", &format!("v{day}"), "startup", day, &folded);
    }
    let matched = load(&store);
    assert_eq!(matched.find("run::{{closure}}.llvm.77").unwrap().len(), 1);
    let query = with!(HistoryQuery {
        matching: with!(KeyOptions {
            exact_symbols: true,
            ..KeyOptions::default()
        }),
    });
    let exact = History::load(&store.snapshot().unwrap(), &query).unwrap();
    assert_eq!((matched.functions.len(), exact.functions.len()), (2, 5));
    let functions = exact.find("run::{{closure}}.llvm.2").unwrap();
    let samples = exact.samples_of(&functions);
    assert_eq!(samples, [[0.0], [0.0], [10.0], [0.0]]);
}

#[test]
fn scores_newest_run_against_window() {
    let store = history(&[60, 62, 61, 63, 60, 61, 62, 60, 61, 150]);
    let report = judge(&store);
    assert_fits("scores", |style| render::scores::text(&report, style));
    assert_golden("scores.json", &sto_query::results::json(&report).unwrap());
    let parse = &report.functions[0];
    assert_eq!(parse.function.function, "parse");
    // Mean and deviation of the nine runs before, computed by hand.
    let mean = 550.0 / 9.0;
    let squares: f64 = [60.0, 62.0, 61.0, 63.0, 60.0, 61.0, 62.0, 60.0, 61.0]
        .map(|x: f64| (x - mean).powi(2))
        .iter()
        .sum();
    let deviation = (squares / 8.0).sqrt();
    assert!((parse.score - (150.0 - mean) / deviation).abs() < 1e-9);
}

#[test]
fn judges_all_runs_of_build_by_builds_before() {
    let past = [1000, 1010, 990, 1020, 1000, 980, 1010, 1000, 990];
    let store = history(&[&past[..], &[1150, 1170, 1160, 1140]].concat());
    let report = judge(&store);
    assert_eq!(
        (report.judged, report.window, report.window_builds),
        (4, 9, 3)
    );
    let parse = function(&report, "parse");
    assert_eq!((parse.expected, parse.actual), (1000.0, 1155.0));
    assert!(parse.q.unwrap() < 0.01, "{parse:?}");
    // The change is where the build begins, and rests on all of its runs.
    assert_eq!((parse.changes[0].at, parse.changes[0].runs), (9, 4));
    // `log` grows with each run, and so with each build.
    assert!(report.far >= 1 && report.far < report.tested);
    // A build like those before it is not far from expected.
    let store = history(&[&past[..], &[1010, 990, 1000, 1020]].concat());
    let parse = function(&judge(&store), "parse").clone();
    assert!(
        parse.q.unwrap() > 0.05 && parse.changes.is_empty(),
        "{parse:?}"
    );
}

#[test]
fn expectation_begins_at_last_change() {
    let (old, new) = ([1000, 1010, 990, 1005, 1000], [2000, 2010, 1990, 2005]);
    let store = history(&[&old[..], &old[1..], &new, &new, &[2010, 1990, 2000, 2005]].concat());
    let parse = function(&judge(&store), "parse").clone();
    assert_eq!(parse.expected, 2001.25);
    assert!(
        parse.score.abs() < 1.0 && parse.q.unwrap() > 0.05,
        "{parse:?}"
    );
    assert!(parse.deviation < 10.0);
}

#[test]
fn equivalent_events_are_merged_in_histories_and_sums() {
    let store = Store::in_memory().unwrap();
    let runs = [
        ("v1", "cpu-clock"),
        ("v1", "cpu-clock:ppp"),
        ("v2", "cpu-clock:pppH"),
    ];
    for (day, build) in (0..).zip(runs) {
        add_of_event(
            &store,
            "app",
            build,
            "startup",
            day,
            &format!("main;parse {}\n", 90 + day),
        );
    }
    add_of_event(
        &store,
        "app",
        ("v2", "cpu-clock:u"),
        "startup",
        5,
        "main;parse 7\n",
    );
    let history = load(&store);
    let samples: Vec<u64> = history.runs.iter().map(|run| run.whole.samples).collect();
    assert_eq!(samples, [90, 91, 92], "other events are left out");
    let of_event = with!(HistoryQuery {
        event: Some("cpu-clock:P".to_owned()),
    });
    assert_eq!(
        History::load(&store.snapshot().unwrap(), &of_event)
            .unwrap()
            .runs
            .len(),
        3
    );
    let v1 = select(&store.snapshot().unwrap(), &"v1".parse().unwrap()).unwrap();
    for view in [
        View::load(&store.snapshot().unwrap(), v1.clone()),
        View::load_sum(&store.snapshot().unwrap(), v1.clone()),
    ] {
        let view = view.unwrap();
        assert_eq!(view.sample_types.len(), 1);
        let samples: u64 = view.self_costs(0).iter().map(|cost| cost.samples).sum();
        assert_eq!(samples, 90 + 91);
    }
    let mean = average(
        &store.snapshot().unwrap(),
        &[v1],
        "mean",
        KeyOptions::default(),
    )
    .unwrap();
    assert_eq!(mean.profile.sample_types.len(), 1);
}

#[test]
fn order_of_builds_is_the_same_everywhere() {
    let store = Store::in_memory().unwrap();
    let runs = [("old", 1), ("new", 2), ("old", 9)];
    for (build, day) in runs {
        add(
            &store,
            "app",
            build,
            "startup",
            day,
            &format!("main;parse {}\n", 90 + day),
        );
    }
    let history = load(&store);
    let builds: Vec<&str> = history.runs.iter().map(|run| &*run.build.version).collect();
    assert_eq!(builds, ["old", "old", "new"]);
    let newest = select(&store.snapshot().unwrap(), &"@newest".parse().unwrap()).unwrap();
    assert_eq!(newest.build.version, "new");
    let listed = Listing::default()
        .builds(store.snapshot().unwrap().builds().unwrap(), None)
        .unwrap();
    assert_eq!(listed.builds[0].build.version, "new");
}

#[test]
fn runs_of_same_build_are_never_its_past() {
    let store = Store::in_memory().unwrap();
    // Recorded alternately, as when two programs are compared.
    for day in 0..12 {
        let (build, parse) = match day % 2 {
            0 => ("old", 1000 + day),
            _ => ("new", 1300 + day),
        };
        add(
            &store,
            "app",
            build,
            "startup",
            day,
            &format!("main;parse {parse}\nmain 500\n"),
        );
    }
    // Recording it again does not make it the newest build.
    add(
        &store,
        "app",
        "old",
        "startup",
        20,
        "main;parse 1001\nmain 500\n",
    );
    let report = judge(&store);
    assert_eq!(report.run.build, "new");
    assert_eq!((report.judged, report.window), (6, 7));
    assert!(function(&report, "parse").q.unwrap() < 0.001);
}

#[test]
fn change_of_a_single_run_is_marked() {
    let parse: Vec<u64> = (0..20).map(|day| 100 + day % 3).chain([300]).collect();
    let report = judge(&history_of(&parse, 1));
    assert_eq!(function(&report, "parse").changes[0].runs, 1);
    let text = render::scores::text(&report, crate::words::plain());
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(", rests on one run"), "{text}");
}

/// Among a hundred functions that only vary by chance, two standard deviations would report five.
#[test]
fn chance_over_many_functions_is_not_far() {
    let store = Store::in_memory().unwrap();
    let mut state = 7u64;
    for day in 0..20 {
        let mut folded = String::new();
        for function in 0..100 {
            // Twelve uniform numbers are nearly normal; 100 ± 10 samples.
            let sum: u64 = (0..12)
                .map(|_| {
                    state = state
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    (state >> 33) % 1000
                })
                .sum();
            let _ = writeln!(folded, "main;f{function} {}", 40 + sum / 100);
        }
        add(
            &store,
            "app",
            &format!("v{}", day / 5),
            "startup",
            day,
            &folded,
        );
    }
    let report = judge(&store);
    assert_eq!((report.far, report.tested), (0, 101));
    assert!(report.functions.iter().any(|f| f.score.abs() > 0.5));
}

#[test]
fn histories_exclude_averages() {
    let store = history(&[60, 62, 61, 63, 60]);
    let of = select(&store.snapshot().unwrap(), &"v1".parse().unwrap()).unwrap();
    let mean = average(
        &store.snapshot().unwrap(),
        &[of],
        "v1",
        KeyOptions::default(),
    )
    .unwrap();
    store
        .writer()
        .add(&mean.build, &mean.profile, &mean.interned)
        .unwrap();
    assert_eq!(load(&store).runs.len(), 5);
    let listed = Listing::default()
        .runs(store.snapshot().unwrap().builds().unwrap())
        .unwrap();
    assert_eq!(listed.runs.len(), 5);
    // The average is not a run of the build that it was stored as.
    let of = select(&store.snapshot().unwrap(), &"v1".parse().unwrap()).unwrap();
    assert_eq!(of.profiles.len(), 4);
    let mean = average(
        &store.snapshot().unwrap(),
        &[of],
        "mean",
        KeyOptions::default(),
    )
    .unwrap();
    store
        .writer()
        .add(&mean.build, &mean.profile, &mean.interned)
        .unwrap();
    let alone = select(&store.snapshot().unwrap(), &"mean".parse().unwrap()).unwrap();
    assert_eq!(alone.profiles.len(), 1);
}

#[test]
fn bands_of_shares_are_within_0_and_1() {
    let store = history_of(&[4000, 0, 4000, 0, 4000, 0], 1);
    let history = load(&store);
    let functions = history.find("parse").unwrap();
    let report = series(&history, Some(&functions), BY_RUN);
    let bands: Vec<_> = report
        .points
        .iter()
        .filter_map(|p| p.low.zip(p.high))
        .collect();
    assert_eq!(bands.len(), 4);
    assert!(
        bands.iter().all(|&(low, high)| low >= 0.0 && high <= 1.0),
        "{bands:?}"
    );
}

/// The thesis, appendix A.1: a run without the function counts as zero samples.
#[test]
fn runs_without_a_function_count_as_zero() {
    let report = judge(&history_of(&[0, 0, 30, 0, 40], 1));
    let parse = function(&report, "parse");
    assert_eq!(
        (parse.expected, parse.deviation, parse.actual),
        (7.5, 15.0, 40.0)
    );
    assert_eq!(parse.status, Status::Known);
}

#[test]
fn reports_new_and_gone_functions() {
    let status = |parse: &[u64]| {
        let report = judge(&history_of(parse, 1));
        let parse = function(&report, "parse");
        (parse.status, parse.score)
    };
    // In a window that does not vary, the deviation is one sample.
    assert_eq!(status(&[0, 0, 0, 80]), (Status::New, 80.0));
    let (gone, score) = status(&[80, 82, 81, 0]);
    assert_eq!(gone, Status::Gone);
    assert_eq!(score, -81.0);
}

/// Returns the scores of a build of three runs after one of three runs, with these stacks.
fn judge_against(before: &str, now: &str) -> Scores {
    let store = Store::in_memory().unwrap();
    for (day, (build, folded)) in (0..).zip([("v1", before); 3].into_iter().chain([("v2", now); 3]))
    {
        add(
            &store,
            "app",
            build,
            "startup",
            day,
            &format!("{folded}main;log {day}\n"),
        );
    }
    judge(&store)
}

#[test]
fn cause_comes_before_new_functions_and_callers_with_higher_scores() {
    let before =
        "main;run 2000\nmain;io 500\nmain;draw 700\nmain;old::parse 400\nmain;old::parse;lex 20\n";
    let now =
        "main;run 2000\nmain;io 500\nmain;draw 700\nmain;new::parse 400\nmain;new::parse;lex 320\n";
    let report = judge_against(before, now);
    let names: Vec<&str> = (report.functions.iter())
        .map(|score| &*score.function.function)
        .collect();
    assert_eq!(names[0], "lex", "{names:?}");
    assert!(report.functions[0].is_cause);
    // The renamed function is one, and costs as much more as what it calls.
    assert!(!names.contains(&"old::parse"), "{names:?}");
    let parse = function(&report, "new::parse");
    assert_eq!((parse.expected, parse.actual), (420.0, 720.0));
    assert_eq!(parse.status, Status::Known);
    let was = parse.moved_from.as_ref().unwrap();
    assert_eq!(was.function, "old::parse");
}

#[test]
fn finds_runs_in_which_function_takes_much() {
    let store = history(&[60, 61, 150]);
    add(
        &store,
        "tool",
        "v9",
        "other",
        7,
        "main;parse 1\nmain;work 99\n",
    );
    add(
        &store,
        "tool",
        "v9",
        "other",
        8,
        "main;parse 90\nmain;work 10\n",
    );
    let all = History::load_all(&store.snapshot().unwrap(), &HistoryQuery::default()).unwrap();
    let report = occurrences(&all, "parse", 0.3).unwrap();
    let runs: Vec<(&str, u64)> = report
        .runs
        .iter()
        .map(|run| (run.executable.as_str(), run.samples))
        .collect();
    assert_eq!(runs, [("tool", 90), ("app", 150)]);
    assert_eq!(report.looked_at, 5);
    assert_fits("where", |style| render::occurrences::text(&report, style));
}

#[test]
fn unknown_function_is_error_with_closest_name() {
    let all = History::load_all(
        &history(&[60]).snapshot().unwrap(),
        &HistoryQuery::default(),
    )
    .unwrap();
    let error = occurrences(&all, "parze", 0.3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "runs of app: no function has `parze` in its name; did you mean `parse`?"
    );
}

#[test]
fn part_of_name_matches_one_function_and_regex_several() {
    let store = history(&[60, 61]);
    let all = History::load_all(&store.snapshot().unwrap(), &HistoryQuery::default()).unwrap();
    let named = |name: &str| occurrences(&all, name, 0.0).unwrap().functions;
    assert_eq!(named("ars"), ["parse"]);
    assert_eq!(named("re:^(parse|log)$"), ["log", "parse"]);
    let Err(HistoryError::Function(FunctionError::Several { names, .. })) =
        occurrences(&all, "o", 0.0)
    else {
        panic!("it is in several names")
    };
    assert_eq!(names, ["io", "log", "work"]);
    let history = History::load(&store.snapshot().unwrap(), &HistoryQuery::default()).unwrap();
    assert!(history.find("re:o").is_ok_and(|found| found.len() == 3));
    assert!(history.find_one("re:o").is_err());
    assert!(
        history
            .find_one("re:^l")
            .is_ok_and(|found| found.len() == 1)
    );
}

#[test]
fn lists_runs_newest_first() {
    let store = history(&[60, 61]);
    add(&store, "tool", "v9", "other", 1, "main;parse 1\n");
    let runs = |listing: Listing| listing.runs(store.snapshot().unwrap().builds().unwrap());
    let listed = |listing: Listing| -> Vec<String> {
        let runs = runs(listing).unwrap().runs;
        runs.into_iter().map(|run| run.executable).collect()
    };
    let of_other = with!(Listing {
        benchmarks: vec!["oth*".to_owned()],
    });
    assert_eq!(listed(of_other), ["tool"]);
    let newest = with!(Listing { limit: Some(1) });
    let all = runs(Listing::default()).unwrap();
    assert_eq!(all.runs.len(), 3);
    assert!(
        all.runs
            .is_sorted_by_key(|run| std::cmp::Reverse(run.profile.recorded.clone()))
    );
    let report = runs(newest).unwrap();
    assert_eq!((report.runs.len(), report.more), (1, 2));
    assert_eq!(report.runs[0].profile.id, all.runs[0].profile.id);

    let of_program = |name: &str| {
        with!(Listing {
            executable: Some(name.to_owned()),
        })
    };
    assert_eq!(
        runs(of_program("nosuch")).unwrap_err().to_string(),
        "the store has no run of `nosuch`; there are runs of app, tool"
    );
    let report = runs(of_program("app")).unwrap();
    assert_fits("runs", |style| render::runs::text(&report, style));
}

#[test]
fn missing_run_is_error_that_lists_existing() {
    let store = history(&[60, 61]);
    add(&store, "tool", "v9", "other", 7, "main 1\n");
    let error = |query: HistoryQuery| {
        History::load(&store.snapshot().unwrap(), &query)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(HistoryQuery::default()),
        "several programs have such runs: app, tool"
    );
    let benchmark = "none".to_owned();
    assert_eq!(
        error(with!(HistoryQuery {
            benchmarks: vec![benchmark]
        })),
        "no run in the store is of benchmark `none`; there are runs of app (startup), tool (other)"
    );
    let history = History::load(
        &store.snapshot().unwrap(),
        &with!(HistoryQuery {
            executable: Some("app".to_owned()),
        }),
    );
    let history = history.unwrap();
    let missing = history.find("parze").unwrap_err();
    assert!(matches!(
        missing,
        HistoryError::Function(FunctionError::NotFound { .. })
    ));
    assert_eq!(
        missing.to_string(),
        "runs of app: no function has `parze` in its name; did you mean `parse`?"
    );
    assert_eq!(
        history
            .choose_judged(Some("zz"), JudgedWindow::Builds(10))
            .unwrap_err()
            .to_string(),
        "no runs of the history have an id that begins with `zz`"
    );
}

#[test]
fn drawing_escapes_markup_in_names() {
    let store = Store::in_memory().unwrap();
    for day in 0..3 {
        let folded = "main;<script>alert(1)</script> 5\nmain 5\n";
        add(&store, "<b>", "v1&2", "\"x\"", day, folded);
    }
    let history = load(&store);
    let functions = history.find("<script>alert(1)</script>").unwrap();
    let svg = render::series_svg::svg(&series(&history, Some(&functions), BY_RUN));
    assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
    assert!(
        svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{svg}"
    );
    let mut reader = quick_xml::Reader::from_str(&svg);
    while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// One function followed by itself, all of them in one pass, some of them, and nodes one by one.
    #[test]
    fn totals_of_one_function_agree_with_totals_of_all(
        runs in prop::collection::vec(prop::collection::vec(("[abc](;[abc]){0,5}", 1..9u32), 1..8), 1..4),
    ) {
        let store = Store::in_memory().unwrap();
        for (day, stacks) in (0..).zip(&runs) {
            let folded: String = stacks.iter().map(|(stack, n)| format!("{stack} {n}\n")).collect();
            add(&store, "app", &format!("v{day}"), "b", day, &folded);
        }
        let history = load(&store);
        for (ix, function) in history.functions.iter().enumerate() {
            let found = history.find(&function.function).unwrap();
            let by_run = history.totals_of(&found);
            let samples = history.samples_of(&found);
            let nodes: Vec<NodeIx> = history.outermost(found[0]).collect();
            for (run, total) in by_run.iter().enumerate() {
                prop_assert_eq!(history.totals(run)[ix], *total);
                prop_assert_eq!(samples[run][0], total.samples as f64);
                let below: u64 = history.samples_below(run, &nodes).iter().sum();
                prop_assert_eq!(below, total.samples);
            }
        }
    }
}
