//! Output of gprof, compared with its two tables.

use super::{error, recording, text};
use std::collections::BTreeMap;
use sto_core::formats::Format;

/// Self and total nanoseconds of each function.
fn functions(file: &str) -> BTreeMap<String, (u64, u64)> {
    let recording = recording(file, Format::Gprof);
    let mut costs: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for sample in &recording.samples {
        let mut names = super::places(&recording, sample.stack);
        costs.entry(names[0].clone()).or_default().0 += sample.cost.value;
        names.sort_unstable();
        names.dedup();
        for name in names {
            costs.entry(name).or_default().1 += sample.cost.value;
        }
    }
    costs
}

#[test]
fn self_costs_equal_the_flat_profile() {
    let costs = functions("calls.gprof");
    let text = text("calls.gprof");
    let rows = text.lines().skip(5).take_while(|line| !line.is_empty());
    let mut all = 0;
    for row in rows {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let centiseconds: f64 = columns[2].parse::<f64>().unwrap() * 100.0;
        let expected = centiseconds.round() as u64 * 10_000_000;
        let own = costs
            .get(columns[columns.len() - 1])
            .map_or(0, |&(own, _)| own);
        assert!(own.abs_diff(expected) <= 20_000_000, "{row}: {own}");
        all += own;
    }
    assert_eq!(all, 2_320_000_000);
}

/// gprof gives the members of a cycle a common cost.
#[test]
fn callers_equal_the_call_graph() {
    let costs = functions("calls.gprof");
    for (name, centiseconds) in [("main", 232), ("parse", 70), ("render", 47), ("even", 116)] {
        let (_, total) = costs[name];
        let expected = centiseconds * 10_000_000;
        assert!(total.abs_diff(expected) <= 30_000_000, "{name}: {total}");
    }
    // It is only called within the cycle.
    let (_, total) = costs["odd"];
    assert!(total > 0, "{total}");
}

#[test]
fn rejects_gmon_out_by_name() {
    let message = error(b"gmon\x01\0\0\0\0\0\0\0");
    assert!(
        message.contains("(gprof's own file: use the output of `gprof PROGRAM gmon.out`)"),
        "{message}"
    );
}

#[test]
fn reads_a_flat_profile_without_call_graph() {
    let flat = "Flat profile:\n\nEach sample counts as 0.01 seconds.\n  %   cumulative   self              self     total           \n \
         time   seconds   seconds    calls  us/call  us/call  name    \n 60.00      0.06     0.06       10     6.00     6.00  \
         std::max<int>(int const&, int const&)\n 40.00      0.10     0.04                             frame_dummy\n\n";
    let read = sto_core::formats::read_bytes("x".as_ref(), flat.as_bytes(), &Default::default());
    let recording = read.unwrap();
    let costs = recording.samples.iter();
    let costs = costs.map(|sample| (super::places(&recording, sample.stack), sample.cost));
    let costs: Vec<_> = costs
        .map(|(places, cost)| (places.join(" "), cost.samples, cost.value))
        .collect();
    let first = "std::max<int>(int const&, int const&)".to_owned();
    assert_eq!(
        costs,
        [
            (first, 6, 60_000_000),
            ("frame_dummy".to_owned(), 4, 40_000_000)
        ]
    );
}

#[test]
fn reports_lines_outside_of_the_tables() {
    let text = text("calls.gprof").replace("450000/1503000     mix [1]", "450000/1503000     mix");
    let message = error(text.as_bytes());
    assert!(
        message.contains("expected times, a number of calls, and a name"),
        "{message}"
    );
}
