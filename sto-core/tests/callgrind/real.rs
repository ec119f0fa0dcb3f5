//! Files of Valgrind, compared with goldens and the output of `callgrind_annotate`.

use super::{folded, functions};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::formats::read;
use sto_core::recording::Recording;
use sto_test_support::assert_golden;

fn testdata(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata/callgrind")
        .join(file)
}

fn recording(name: &str) -> Recording {
    read(&testdata(&format!("{name}.callgrind")), &Default::default()).unwrap()
}

#[track_caller]
fn check_golden(name: &str) {
    let recording = recording(name);
    let mut found = String::new();
    for (ix, sample_type) in recording.sample_types.iter().enumerate() {
        let of_type = recording.samples.iter();
        let of_type = of_type.filter(|sample| sample.sample_type.0 == ix as u32);
        let sum: u64 = of_type.map(|sample| sample.cost.value).sum();
        writeln!(
            found,
            "{} {sum} {}",
            sample_type.event,
            sample_type.unit.name()
        )
        .unwrap();
    }
    let process = &recording.processes[0];
    let threads: Vec<u32> = recording.threads.iter().map(|thread| thread.tid).collect();
    writeln!(found, "process {:?}, threads {threads:?}", process.program).unwrap();
    for warning in &recording.warnings {
        writeln!(found, "warning: {warning}").unwrap();
    }
    for stack in folded(&recording) {
        writeln!(found, "{stack}").unwrap();
    }
    let golden = testdata(&format!("{name}.expected"));
    assert_golden(&golden, &found);
}

#[test]
fn reads_valgrind_files() {
    for name in ["work", "contexts", "parts", "threads"] {
        check_golden(name);
    }
}

/// `pprof -call_tree -callgrind` names one function `line2000 [1/2]` and `line2000 [2/2]`. The expected totals are from
/// `pprof -top -cum`.
#[test]
fn reads_the_totals_of_a_pprof_call_tree() {
    let functions = functions(&recording("call-tree"));
    let costs = [
        "line1000", "line2000", "line2001", "line3000", "line3001", "line3002",
    ]
    .map(|name| functions.get(name).copied());
    let expected = [
        (1100, 1100),
        (0, 1010),
        (10, 1010),
        (0, 1120),
        (0, 1110),
        (10, 1020),
    ];
    assert_eq!(costs, expected.map(Some));
}

/// Costs of functions in the two tables of `callgrind_annotate`, without recursion depths.
fn annotated() -> [BTreeMap<String, u64>; 2] {
    let text = std::fs::read_to_string(testdata("work.annotate")).unwrap();
    let tables = text.split("file:function").skip(1);
    let tables: Vec<BTreeMap<String, u64>> = tables
        .map(|table| {
            let mut costs = BTreeMap::new();
            for row in table
                .lines()
                .filter(|row| row.contains("%)  ") && row.contains(':'))
            {
                let (cost, source) = row.split_once('(').unwrap();
                let source = source.split_once(")  ").unwrap().1;
                let function = source
                    .split_once(':')
                    .unwrap()
                    .1
                    .split(" [")
                    .next()
                    .unwrap();
                let cost: u64 = cost.trim().replace(',', "").parse().unwrap();
                *costs.entry(function.to_owned()).or_default() += cost;
            }
            costs
        })
        .collect();
    tables.try_into().unwrap()
}

#[test]
fn costs_equal_those_of_callgrind_annotate() {
    let [own, totals] = annotated();
    let found = functions(&recording("work"));
    for (function, &cost) in &own {
        // There, each recursion depth is a separate function.
        let plain = function.split('\'').next().unwrap();
        let parts = own
            .iter()
            .filter(|(other, _)| other.split('\'').next() == Some(plain));
        let sum: u64 = parts.map(|(_, cost)| cost).sum();
        assert!(cost <= sum);
        assert_eq!(found[plain].0, sum, "{function}");
    }
    let plain = |function: &str| totals[function];
    for function in ["main", "step", "dear", "cheap", "fib"] {
        assert_eq!(found[function].1, plain(function), "{function}");
    }
}

#[test]
fn estimated_stacks_have_exact_totals() {
    let (estimate, exact) = (
        functions(&recording("work")),
        functions(&recording("contexts")),
    );
    assert_eq!(estimate, exact);
    assert_eq!(recording("contexts").warnings, [""; 0]);
    assert_eq!(recording("work").warnings.len(), 1);
}
