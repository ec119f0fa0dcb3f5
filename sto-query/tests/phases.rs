//! The phases of runs.

use crate::ask;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::Nanoseconds;
use sto_query::error::WindowError;
use sto_query::questions::{PhasesRequest, TopRequest, Window};
use sto_query::results::{PhaseChange, Phases};
use sto_query::sources::{BuildRef, Filter, Sources};
use sto_query::statistics::{change_points, period};
use sto_query::text::Style;
use sto_query::{QueryError, render};

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(file)
}

fn nowhere() -> Sources {
    Sources::from_folder(Path::new("/nowhere"))
}

/// Stores a recording as build `v1`, with the symbols of its program.
pub(crate) fn stored(file: &str) -> Sources {
    builds(&[("v1", file)])
}

/// Stores recordings as builds, in a thousand slices and with the symbols of their programs.
pub(crate) fn builds(files: &[(&str, &str)]) -> Sources {
    let store = Store::in_memory().unwrap();
    for (version, file) in files {
        let mut options = with!(IngestOptions {
            executable: Some("program".to_owned()),
            version: Some((*version).to_owned()),
            slices: SliceCount::new(1000),
        });
        options.symbols.symbol_dirs = vec![testdata(file).parent().unwrap().to_owned()];
        ingest(&store, &testdata(file), &options, &mut |_| ()).unwrap();
    }
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn find_phases(file: &str) -> Phases {
    let request = with!(PhasesRequest { named: "v1".into() });
    ask(&stored(file), &request).unwrap()
}

fn names(changes: &[PhaseChange], more: bool) -> Vec<&str> {
    let changes = changes
        .iter()
        .filter(|change| (change.after > change.before) == more);
    changes.map(|change| &*change.frame.function).collect()
}

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    /// Draws `count` samples from categories with these weights and returns the count of each.
    fn counts(&mut self, count: usize, weights: &[usize]) -> Vec<f64> {
        let mut row = vec![0.0; weights.len()];
        for _ in 0..count {
            let mut drawn = self.below(weights.iter().sum());
            let category = weights
                .iter()
                .position(|&weight| match drawn.checked_sub(weight) {
                    Some(left) => {
                        drawn = left;
                        false
                    }
                    None => true,
                });
            row[category.unwrap()] += 1.0;
        }
        row
    }

    fn shuffled<T: Clone>(&mut self, items: &[T]) -> Vec<T> {
        let mut items = items.to_vec();
        for ix in 0..items.len() {
            let other = ix + self.below(items.len() - ix);
            items.swap(ix, other);
        }
        items
    }
}

/// Returns a recording's self samples by function in `stretches` equal parts of its time.
fn rows(file: &str, stretches: usize) -> Vec<Vec<f64>> {
    const FUNCTIONS: usize = 12;
    let named = BuildRef::File(testdata(file));
    let (run, sample_type) = nowhere().run_over_time(&named, &Filter::default()).unwrap();
    let mut by_frame: BTreeMap<_, u64> = BTreeMap::new();
    for cost in run.costs(sample_type) {
        *by_frame.entry(run.view.tree.frame(cost.node)).or_default() += cost.cost.samples;
    }
    let mut frames: Vec<_> = by_frame.into_iter().collect();
    frames.sort_by_key(|&(_, samples)| std::cmp::Reverse(samples));
    let count = run.slices().count().get() as usize;
    let mut rows = vec![vec![0.0; FUNCTIONS + 1]; stretches];
    for cost in run.costs(sample_type) {
        let frame = run.view.tree.frame(cost.node);
        let function = frames.iter().position(|(known, _)| *known == frame);
        let row = &mut rows[cost.slice.0 as usize * stretches / count];
        row[function.unwrap().min(FUNCTIONS)] += cost.cost.samples as f64;
    }
    rows
}

#[test]
fn finds_phases_of_the_program() {
    let found = find_phases("phases/phases.perf.data.gz");
    let times: Vec<u64> = found
        .phases
        .iter()
        .map(|phase| phase.from.0 / 1_000_000)
        .collect();
    assert_eq!(times.len(), 3, "{times:?}");
    assert!(
        times[1].abs_diff(400) <= 20 && times[2].abs_diff(1400) <= 20,
        "{times:?}"
    );
    assert_eq!(found.phases[2].to, found.duration);
    assert!(found.cycle.is_none());
    let [_, second, third] = &found.phases[..] else {
        panic!()
    };
    assert_eq!(names(&second.changes, true), ["sort_down"]);
    assert_eq!(names(&second.changes, false)[0], "format");
    assert_eq!(names(&third.changes, true), ["hash"]);
    let sum: u64 = found.phases.iter().map(|phase| phase.cost.samples).sum();
    assert_eq!(sum, found.subject.samples);
    let on_terminal = Style {
        width: Some(80),
        ..crate::words::plain()
    };
    let text = render::phases::text(&found, on_terminal);
    assert!(
        text.lines().count() < 24 && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn costs_of_a_phase_are_those_of_its_window() {
    let found = find_phases("phases/phases.perf.data.gz");
    let mut request = TopRequest::default();
    let sources = stored("phases/phases.perf.data.gz");
    request.named = "v1".into();
    for phase in &found.phases {
        request.filter.window = Some(Window::Phase(phase.number));
        let answer = ask(&sources, &request).unwrap();
        assert_eq!(answer.subject.samples, phase.cost.samples);
        assert_eq!(
            (answer.subject.windows[0].from, answer.subject.windows[0].to),
            (phase.from, phase.to)
        );
        assert_eq!(answer.functions[0].frame, phase.functions[0].frame);
    }
    for wrong in [0, 4] {
        request.filter.window = Some(Window::Phase(wrong));
        let error = ask(&sources, &request).unwrap_err();
        assert!(
            matches!(
                error,
                QueryError::Window(WindowError::NoPhase { phases: 3, .. })
            ),
            "{error}"
        );
    }
}

#[test]
fn repeating_recording_has_a_period_instead_of_many_phases() {
    let found = find_phases("phases/cycle.perf.data.gz");
    let cycle = found.cycle.as_ref().unwrap();
    assert!(cycle.period.0.abs_diff(50_000_000) < 500_000, "{cycle:?}");
    assert_eq!(cycle.cycles.round(), 50.0);
    let both: Vec<&str> = cycle
        .changes
        .iter()
        .map(|change| &*change.frame.function)
        .collect();
    assert!(
        both.contains(&"sort_down") && both.contains(&"hash"),
        "{both:?}"
    );
    assert_eq!(found.phases.len(), 1);
    let text = render::phases::text(&found, crate::words::plain());
    assert!(
        text.contains("repeats itself about every 50.0 ms, 50 times"),
        "{text}"
    );
}

#[test]
fn steady_recording_has_one_phase_and_no_period() {
    let found = find_phases("phases/steady.perf.data.gz");
    assert_eq!(found.phases.len(), 1);
    assert_eq!(
        (found.phases[0].from, found.phases[0].to),
        (Nanoseconds(0), found.duration)
    );
    assert!(found.cycle.is_none());
    assert!(found.phases[0].changes.is_empty());
}

#[test]
fn shuffled_slices_of_real_recordings_rarely_change_or_repeat() {
    const SHUFFLES: usize = 25;
    let files = [
        "phases/phases.perf.data.gz",
        "phases/cycle.perf.data.gz",
        "phases/steady.perf.data.gz",
        "demo/v1.perf.data",
        "demo/v2.perf.data",
    ];
    let mut random = Random(12_345);
    let (mut changed, mut repeated) = (0, 0);
    for file in files {
        let rows = rows(file, 64);
        for _ in 0..SHUFFLES {
            let shuffled = random.shuffled(&rows);
            changed += usize::from(!change_points(&shuffled).is_empty());
            repeated += usize::from(period(&shuffled).is_some());
        }
    }
    let all = SHUFFLES * files.len();
    assert!(changed * 20 <= all, "{changed} of {all} changed");
    assert!(repeated * 20 <= all, "{repeated} of {all} repeated");
}

#[test]
fn finds_position_of_changes() {
    let mut random = Random(1);
    let parts: [(usize, [usize; 4]); 4] = [
        (40, [5, 3, 1, 1]),
        (25, [1, 3, 5, 1]),
        (6, [1, 1, 1, 7]),
        (50, [1, 3, 5, 1]),
    ];
    let rows: Vec<Vec<f64>> = parts
        .iter()
        .flat_map(|(len, weights)| vec![*weights; *len])
        .map(|weights| random.counts(20, &weights))
        .collect();
    let found = change_points(&rows);
    assert_eq!(found.len(), 3, "{found:?}");
    for (found, expected) in found.iter().zip([40_usize, 65, 71]) {
        assert!(found.abs_diff(expected) <= 1, "{found} is not {expected}");
    }
    // No counts, or constant counts.
    assert!(change_points(&vec![vec![0.0; 3]; 50]).is_empty());
    assert!(change_points(&vec![vec![5.0, 1.0]; 50]).is_empty());
    assert!(change_points(&[]).is_empty());
}

#[test]
fn period_may_be_fractional_and_irregular_turns_have_none() {
    let mut random = Random(7);
    let turns = |random: &mut Random, is_first: &dyn Fn(usize) -> bool| -> Vec<Vec<f64>> {
        (0..400)
            .map(|row| {
                random.counts(
                    10,
                    if is_first(row) {
                        &[7, 1, 2]
                    } else {
                        &[1, 7, 2]
                    },
                )
            })
            .collect()
    };
    let rows = turns(&mut random, &|row| (row as f64 / 10.7).fract() < 0.4);
    let found = period(&rows).unwrap();
    assert!((found.rows - 10.7).abs() < 0.1, "{found:?}");
    // Turns of random lengths.
    let mut irregular = vec![false; 400];
    let mut now = false;
    for turn in &mut irregular {
        now ^= random.below(10) == 0;
        *turn = now;
    }
    assert_eq!(period(&turns(&mut random, &|row| irregular[row])), None);
    assert_eq!(
        period(&turns(&mut random, &|row| row < 200)),
        None,
        "once is no period"
    );
    assert_eq!(period(&turns(&mut random, &|_| true)), None);
    assert_eq!(period(&vec![vec![0.0; 3]; 50]), None);
}
