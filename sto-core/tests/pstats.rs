//! Statistics of Python's cProfile, compared with Python's `pstats`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, ReadOptions, read, read_bytes};
use sto_core::recording::{Location, Recording};

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/pstats")).join(file)
}

/// Self and total nanoseconds of each function.
fn functions(recording: &Recording) -> BTreeMap<(String, u32), (u64, u64)> {
    let mut costs: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for sample in &recording.samples {
        let stack = recording.stacks.get(sample.stack);
        let mut names: Vec<_> = stack
            .iter()
            .map(|location| match recording.locations[location.0 as usize] {
                Location::Named(frame) => {
                    let frame = recording.named.frame(frame);
                    (frame.symbol.to_owned(), frame.line)
                }
                _ => panic!("functions have names"),
            })
            .collect();
        let value = sample.cost.value;
        costs.entry(names[names.len() - 1].clone()).or_default().0 += value;
        names.sort_unstable();
        names.dedup();
        for name in names {
            costs.entry(name).or_default().1 += value;
        }
    }
    costs
}

/// `expected.py` writes the results of `pstats`: name, line, self and total nanoseconds.
#[test]
fn costs_equal_those_of_pstats() {
    for file in ["work", "python2", "profile", "sampled"] {
        let recording = read(&testdata(&format!("{file}.pstats")), &Default::default()).unwrap();
        assert_eq!(recording.format, Format::Pstats);
        let mut expected: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        let lines = std::fs::read_to_string(testdata(&format!("{file}.tsv"))).unwrap();
        for line in lines.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |ix: usize| fields[ix].parse::<u64>().unwrap();
            let function = (fields[0].to_owned(), fields[1].parse().unwrap());
            let costs = expected.entry(function).or_default();
            *costs = (costs.0 + number(2), costs.1 + number(3));
        }
        expected.retain(|_, (own, _)| *own > 0);
        let mut found = functions(&recording);
        found.retain(|_, (own, _)| *own > 0);
        if file == "work" {
            // Costs divided among callers are rounded, and `pstats` counts recursion twice.
            for (function, (_, total)) in &mut found {
                let expected = expected[function].1;
                assert!(
                    total.abs_diff(expected) <= 3,
                    "{function:?}: {total}, {expected}"
                );
                *total = expected;
            }
        } else {
            let without_totals = |costs: &mut BTreeMap<_, (u64, u64)>| {
                costs.values_mut().for_each(|costs| costs.1 = 0)
            };
            without_totals(&mut found);
            without_totals(&mut expected);
        }
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn rejects_truncated_files() {
    for file in ["work.pstats", "python2.pstats"] {
        let bytes = std::fs::read(testdata(file)).unwrap();
        let options = ReadOptions {
            format: Some(Format::Pstats),
            ..ReadOptions::default()
        };
        for end in 1..bytes.len() {
            let error = read_bytes(Path::new("x"), &bytes[..end], &options).unwrap_err();
            assert!(
                error.to_string().starts_with("x: truncated: "),
                "{end}: {error}"
            );
        }
    }
}
