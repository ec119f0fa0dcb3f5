//! The average of several profiles.

use proptest::prelude::*;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_query::error::AverageError;
use sto_query::internal::average::average;
use sto_query::internal::tree::totals;
use sto_query::questions::KeyOptions;
use sto_query::results::View;
use sto_query::select::{Selection, select};

fn add(store: &Store, program: &str, build: &str, seconds: f64, folded: &str) {
    let options = IngestOptions {
        executable: Some(program.to_owned()),
        version: Some(build.to_owned()),
        benchmark: Some("startup".to_owned()),
        labels: [
            ("cpu".to_owned(), "x".to_owned()),
            ("build".to_owned(), build.to_owned()),
        ]
        .into(),
        metrics: [("seconds".to_owned(), seconds)].into(),
        ..IngestOptions::default()
    };
    let path = Path::new("run.folded");
    let folded = format!("# {seconds}\n{folded}");
    let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
    ingest(store, (path, recording), &options, &mut |_| {}).unwrap();
}

fn selection(store: &Store, name: &str) -> Selection {
    select(&store.snapshot().unwrap(), &name.parse().unwrap()).unwrap()
}

#[test]
fn average_is_stored_as_a_build() {
    let store = Store::in_memory().unwrap();
    add(&store, "app", "v1", 1.0, "main;parse 10\nmain;io 3\n");
    add(&store, "app", "v1", 2.0, "main;parse 20\nmain;io 5\n");
    add(&store, "app", "v2", 6.0, "main;parse 30\n");
    let of = [
        selection(&store, "v1"),
        selection(&store, "v2"),
        selection(&store, "v1"),
    ];
    let history = average(
        &store.snapshot().unwrap(),
        &of,
        "history",
        KeyOptions::default(),
    )
    .unwrap();
    assert_eq!(history.of, 3, "each profile counts once");
    assert_eq!(history.samples, 68.0 / 3.0);
    let added = store
        .writer()
        .add(&history.build, &history.profile, &history.interned)
        .unwrap();
    assert!(added.is_new());
    let again = average(
        &store.snapshot().unwrap(),
        &of[..2],
        "history",
        KeyOptions::default(),
    )
    .unwrap();
    let added = store
        .writer()
        .add(&again.build, &again.profile, &again.interned)
        .unwrap();
    assert!(!added.is_new());

    let view = View::load(&store.snapshot().unwrap(), selection(&store, "history")).unwrap();
    let samples: Vec<u64> = view.self_costs(0).iter().map(|cost| cost.samples).collect();
    // main, io: 8/3, parse: 60/3.
    assert_eq!(samples, [0, 3, 20]);
    let profile = &view.selection.profiles[0].profile;
    assert_eq!(profile.metrics["seconds"], 3.0);
    assert_eq!(profile.benchmark.as_deref(), Some("startup"));
    assert_eq!(profile.labels.len(), 1, "labels that differ are left out");
    assert_eq!(profile.format, "average");
}

#[test]
fn average_matches_functions_of_different_builds() {
    let store = Store::in_memory().unwrap();
    let stacks = |number| {
        format!("main;run::{{{{closure}}}}.llvm.{number};parse 10\nmain;run.cold;parse 2\n")
    };
    add(&store, "app", "v1", 1.0, &stacks(1));
    add(&store, "app", "v2", 1.0, &stacks(2));
    let of = [selection(&store, "v1"), selection(&store, "v2")];
    let names = |matching| {
        let mean = average(&store.snapshot().unwrap(), &of, "mean", matching).unwrap();
        store
            .writer()
            .add(&mean.build, &mean.profile, &mean.interned)
            .unwrap();
        let mean = mean.interned;
        let costs: Vec<u64> = mean.costs[0].iter().map(|(_, cost)| cost.samples).collect();
        let symbols = mean.tree.nodes().map(|node| {
            let frame = mean.frames.frame(mean.tree.frame(node));
            frame.symbol.to_owned()
        });
        (symbols.collect::<Vec<_>>().join(" "), costs)
    };
    let (symbols, costs) = names(KeyOptions::default());
    assert_eq!(symbols, "main run parse run::{closure} parse");
    assert_eq!(costs, [2, 10]);
    let (symbols, costs) = names(with!(KeyOptions {
        exact_symbols: true,
    }));
    assert_eq!(
        symbols,
        "main run.cold parse run::{{closure}}.llvm.1 parse run::{{closure}}.llvm.2 parse"
    );
    assert_eq!(costs, [2, 5, 5]);
}

#[test]
fn rejects_average_of_different_programs() {
    let store = Store::in_memory().unwrap();
    add(&store, "app", "v1", 1.0, "main 1\n");
    add(&store, "tool", "v9", 1.0, "main 1\n");
    let of = [selection(&store, "v1"), selection(&store, "v9")];
    let error = average(
        &store.snapshot().unwrap(),
        &of,
        "history",
        KeyOptions::default(),
    )
    .unwrap_err();
    assert!(matches!(error, AverageError::SeveralPrograms { .. }));
    assert_eq!(
        error.to_string(),
        "an average needs profiles of one program, but these are of `app` and `tool`"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn totals_of_an_average_are_off_by_less_than_one(
        runs in prop::collection::vec(prop::collection::vec(("[abc](;[abc]){0,5}", 1..9u32), 1..12), 1..6),
    ) {
        let store = Store::in_memory().unwrap();
        for (run, stacks) in (0..).zip(&runs) {
            let folded: String = stacks.iter().map(|(stack, n)| format!("{stack} {n}\n")).collect();
            add(&store, "app", "v1", f64::from(run), &folded);
        }
        let of = selection(&store, "v1");
        let sums = View::load(&store.snapshot().unwrap(), of.clone()).unwrap();
        let sums = totals(&sums.tree, &sums.self_costs(0));
        let mean = average(&store.snapshot().unwrap(), &[of], "mean", KeyOptions::default()).unwrap().interned;
        let mut self_costs = vec![sto_core::units::Cost::ZERO; mean.tree.len()];
        for &(node, cost) in &mean.costs[0] {
            self_costs[node.get()] = cost;
        }
        let means = totals(&mean.tree, &self_costs);
        prop_assert_eq!(means.len(), sums.len());
        for (mean, sum) in means.iter().zip(&sums) {
            let exact = sum.samples as f64 / runs.len() as f64;
            prop_assert!((mean.samples as f64 - exact).abs() < 1.0, "{mean:?} of {exact}");
            prop_assert_eq!(mean.samples, mean.value);
        }
    }
}
