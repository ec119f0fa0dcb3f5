//! Results of PHP's XHProf and its successors (`xhprof_disable()`, `tideways_xhprof_disable()`), in
//! JSON or serialized by PHP.
//!
//! They are calls, `main()==>work`, each with its number (`ct`), time in microseconds (`wt`, `cpu`)
//! and growth of memory in bytes (`mu`). Stacks are estimated as for Callgrind. Recursive calls
//! have their level after the name, `fib@2`, which is removed, so stacks of direct recursion are
//! exact.
//!
//! Source: `extension/xhprof.c` of XHProf, `tracing.c` of tideways_xhprof; PHP's manual on
//! `serialize`.

mod php;

use crate::callgrind::{FunctionIx, Graph, Writer, add_graph};
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{LocationIx, RecordingBuilder};
use crate::report::{add_to_only_thread, time};
use crate::source::Head;
use crate::wire::json::{Text, parse};
use crate::wire::text::decimal;
use hashbrown::HashMap;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use sto_model::units::Unit;

const XHPROF: Writer = Writer {
    name: "XHProf",
    instead: "Record with a sampling profiler such as phpspy or Excimer",
};

/// Returns `true` if a file begins with a call, in either form.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let is_call = |key: &[u8]| key == MAIN || memchr::memmem::find(key, ARROW).is_some();
    let first = head.keys();
    let is_json = first.first().is_some_and(|key| is_call(key))
        && memchr::memmem::find(head.bytes, b"\"ct\"").is_some();
    is_json || php::first_key(head.bytes).is_some_and(is_call)
}

const MAIN: &[u8] = b"main()";
const ARROW: &[u8] = b"==>";

/// The total cost of a function by caller.
#[derive(Clone, Copy, Default, Deserialize)]
struct Costs {
    ct: u64,
    #[serde(default)]
    wt: u64,
    #[serde(default)]
    cpu: u64,
    /// Negative if memory was freed.
    #[serde(default)]
    mu: i64,
}

type Calls<'b> = BTreeMap<Cow<'b, [u8]>, Costs>;

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let calls: Calls<'_> = match php::first_key(bytes) {
        Some(_) => php::read(bytes)?,
        None => {
            let calls: BTreeMap<Text<'_>, Costs> = parse(bytes)?;
            calls
                .into_iter()
                .map(|(name, costs)| (name.0, costs))
                .collect()
        }
    };
    let mut builder = RecordingBuilder::default();
    let mut functions = Functions::default();
    let mut edges = Vec::new();
    for (name, costs) in &calls {
        let (caller, callee) = match memchr::memmem::find(name, ARROW) {
            Some(at) => (Some(&name[..at]), &name[at + ARROW.len()..]),
            None => (None, &**name),
        };
        let caller = caller
            .map(|caller| functions.find_or_add(caller, &mut builder))
            .transpose()?;
        edges.push((caller, functions.find_or_add(callee, &mut builder)?, costs));
    }
    let microseconds = |time: u64| time.checked_mul(1000);
    let measures: [(&str, Unit, Measure<'_>); 3] = [
        ("wall", Unit::Nanoseconds, &|costs| microseconds(costs.wt)),
        ("cpu", Unit::Nanoseconds, &|costs| microseconds(costs.cpu)),
        ("memory", Unit::Bytes, &|costs| {
            Some(u64::try_from(costs.mu).unwrap_or(0))
        }),
    ];
    for (event, unit, measure) in measures {
        let graph = graph(&edges, functions.frames.len(), measure)?;
        if graph.own.is_empty() {
            continue;
        }
        let sample_type = builder.sample_type(event, unit);
        let add = |builder: &mut RecordingBuilder, stack, cost| {
            add_to_only_thread(builder, sample_type.0, stack, time(cost))
        };
        let warnings = add_graph(&graph, &functions.frames, &XHPROF, &mut builder, add);
        let warnings = warnings.map_err(DecodeError::at("its calls"))?;
        // The number of calls is only added once, to the first sample type.
        if sample_type.0 == 0 {
            builder.warnings.extend(warnings);
        }
    }
    Ok(builder)
}

type Edge<'c> = (Option<FunctionIx>, FunctionIx, &'c Costs);
type Measure<'c> = &'c dyn Fn(&Costs) -> Option<u64>;

/// The self cost of a function is the cost of all calls of it minus the cost of the calls that it
/// makes.
fn graph(edges: &[Edge<'_>], functions: usize, measure: Measure<'_>) -> Decoded<Graph> {
    let mut graph = Graph::default();
    let mut own = vec![0i128; functions];
    for &(caller, callee, costs) in edges {
        let cost = measure(costs);
        let cost = cost.ok_or_else(|| DecodeError::new("wt", "a time of more than 584 years"))?;
        own[callee.get()] += i128::from(cost);
        if let Some(caller) = caller {
            own[caller.get()] -= i128::from(cost);
            graph.calls.push((caller, callee, cost));
        }
    }
    let mut all: u64 = 0;
    for (function, cost) in (0..).map(FunctionIx).zip(own) {
        // Because of rounding, calls may cost more than their caller.
        let cost = u64::try_from(cost.max(0)).ok();
        let sum = cost.and_then(|cost| all.checked_add(cost));
        let (Some(cost), Some(sum)) = (cost, sum) else {
            let problem = "costs of more than 2^64 - 1; was the file edited?";
            return Err(DecodeError::new("its calls", problem));
        };
        all = sum;
        if cost > 0 {
            graph.own.push((function, 0, cost));
        }
    }
    graph.calls.sort_unstable();
    Ok(graph)
}

#[derive(Default)]
struct Functions<'b> {
    known: HashMap<&'b [u8], FunctionIx>,
    frames: Vec<LocationIx>,
}

impl<'b> Functions<'b> {
    fn find_or_add(
        &mut self,
        name: &'b [u8],
        builder: &mut RecordingBuilder,
    ) -> Decoded<FunctionIx> {
        if let Some(&known) = self.known.get(name) {
            return Ok(known);
        }
        let level = memchr::memrchr(b'@', name).filter(|&at| decimal(&name[at + 1..]).is_some());
        let frame = NamedFrame {
            symbol: &name[..level.unwrap_or(name.len())],
            ..NamedFrame::default()
        };
        let frame = frame
            .add(builder)
            .map_err(DecodeError::at("its functions"))?;
        let function = FunctionIx(self.frames.len() as u32);
        self.frames.push(frame);
        self.known.insert(name, function);
        Ok(function)
    }
}
