//! Traces of calls of native programs: LLVM XRay, uftrace and ftrace.

mod converted;
mod ftrace;
mod uftrace;
mod xray;

use crate::common;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::{Recording, StackIx};
use sto_core::stages::symbolize;
use sto_core::trace::CallRecord;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(name)
}

/// For each function and argument, the values in ascending order, and the time of all these calls.
fn arguments(recording: &Recording, options: &SymbolOptions) -> BTreeMap<String, (Vec<f64>, u64)> {
    let symbols = symbolize(recording, options);
    let mut all: BTreeMap<String, (Vec<f64>, u64)> = BTreeMap::new();
    for with in &recording.calls.as_ref().unwrap().arguments {
        let leaf = recording.stacks.leaf(with.stack).unwrap();
        let line = symbols.code_lines(leaf)[0];
        let frame = symbols.frames.frame(symbols.lines[line.0 as usize].frame);
        let (values, took) = all
            .entry(format!("{} {}", frame.symbol, with.argument))
            .or_default();
        for call in &with.calls {
            assert_eq!(call.calls, 1);
            values.push(call.value);
            *took += call.duration.0;
        }
        values.sort_by(f64::total_cmp);
    }
    all
}

/// The number of calls of functions, and their total time in nanoseconds.
type Called = BTreeMap<String, (u64, u64)>;

/// The calls of functions in every representation that a recording has.
fn called(recording: &Recording, options: &SymbolOptions) -> Called {
    let symbols = symbolize(recording, options);
    let name = |stack: StackIx| {
        let stack = recording.stacks.get(stack);
        let [frame] = symbols.code_lines(*stack.last().unwrap()) else {
            panic!("a function is one frame, also where another is inlined at its begin");
        };
        let frame = symbols.frames.frame(symbols.lines[frame.0 as usize].frame);
        frame.symbol.to_owned()
    };
    let mut called = Called::new();
    let mut add = |stack, calls, time| {
        let sum = called.entry(name(stack)).or_default();
        *sum = (sum.0 + calls, sum.1 + time);
    };
    for thread in &recording.calls.as_ref().unwrap().threads {
        for record in &thread.records {
            match record {
                CallRecord::Call(call) => add(call.stack, 1, call.end.0 - call.begin.0),
                CallRecord::Expression(expression) => {
                    for of in &expression.stacks {
                        add(of.stack, of.calls, of.duration.0);
                    }
                }
            }
        }
    }
    called
}
