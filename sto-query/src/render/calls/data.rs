//! What the page's script works on: the records of a run as lists of numbers.

use super::command::PartCommand;
use super::records::Numbers;
use super::zoom::{Zoom, Zooms, zoomed};
use crate::calls::{CalledRun, CallsError, ProminentFunction, nested};
use crate::render::html::short_name;
use crate::text::printable;
use serde::Serialize;
use sto_core::trace::{LongCall, Record};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Most records of the page, of some 10 bytes each. What takes least time goes first.
const MAX_RECORDS: usize = 90_000;

/// Most bytes of all that the script works on, beside the names of functions.
const MAX_BYTES: usize = 2_400_000;

/// What the script works on. All times are nanoseconds since the run's first call.
#[derive(Serialize)]
pub(super) struct Data {
    /// From when to when the run is shown.
    from: u64,
    to: u64,
    /// The functions, the most prominent first.
    functions: Vec<String>,
    /// Of each stack its caller's, or -1, and its function.
    parents: Vec<i64>,
    of: Vec<usize>,
    threads: Vec<ThreadData>,
    /// What expressions are made of.
    zooms: Vec<Zoom>,
    /// Of each outlier: thread, stack, begin, length, the typical length, number of calls; and of each thing that
    /// other threads did meanwhile thread, stack or -1, and time.
    outliers: Vec<(Vec<u64>, Vec<i64>)>,
    /// Of each wait: thread, stack, begin, length; and of the call that ended it the same, if any.
    waits: Vec<Vec<u64>>,
    /// The command that opens a part of the time: what stands before the time from which, between that and the time to
    /// which, and after that; nothing where none does.
    command: Vec<String>,
    /// What is said of an expression whose calls nobody has.
    without: String,
}

#[derive(Serialize)]
struct ThreadData {
    name: String,
    begin: u64,
    end: u64,
    calls: u64,
    /// The shortest gap.
    gap: u64,
    /// The records, as [`Packed`](super::records::Packed) has them.
    records: String,
    /// Functions that only records have that were left out.
    also: Vec<usize>,
    /// Those of the expressions that there is more of.
    zooms: Zooms,
}

/// What the page has of the run's calls.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    /// Number of records that were left out.
    pub(super) left_out: u64,
    /// All of these were shorter.
    pub(super) below: Nanoseconds,
    /// Number of expressions that there is more of.
    pub(super) zooms: usize,
    /// Number of calls of expressions that are there by themselves, and of all that could be.
    pub(super) calls: u64,
    pub(super) all: u64,
}

impl Data {
    /// That of a run with these functions; `without` is said of an expression whose calls nobody has.
    pub(super) fn of(
        run: &CalledRun,
        functions: &[ProminentFunction],
        (command, without): (&PartCommand, &str),
    ) -> Result<(Data, Share), CallsError> {
        let (first, last) = run.time();
        let (from, to) = run.part().unwrap_or((first, last));
        let since = |time: Nanoseconds| time.0.saturating_sub(first.0);
        let mut share = Share {
            below: least_duration(run),
            ..Share::default()
        };
        let mut numbers = Numbers::new(run, functions);
        let mut index: Vec<Vec<Option<usize>>> = Vec::new();
        let threads = run.calls.threads.iter().zip(run.thread_names());
        let threads = threads.map(|(of, name)| {
            let gap = run.calls.thresholds.call_gap;
            let nested = nested(&of.records, &run.view.tree);
            let mut packed = numbers.records(&nested, first, share.below);
            share.left_out += packed.left_out;
            index.push(std::mem::take(&mut packed.index));
            ThreadData {
                // What is hidden in it would be no JSON where the page shows it.
                name: printable(&name).into_owned(),
                begin: since(of.begin),
                end: since(of.end),
                calls: of.calls,
                gap: gap.of(Nanoseconds(of.end.0.saturating_sub(of.begin.0))).0,
                records: packed.text(),
                also: packed.also,
                zooms: Vec::new(),
            }
        });
        let threads: Vec<ThreadData> = threads.collect();
        let mut call = |thread: u32, call: &LongCall<NodeIx>| {
            let stack = numbers.stack(call.stack);
            let length = call.end.0.saturating_sub(call.begin.0);
            [u64::from(thread), stack, since(call.begin), length]
        };
        let waits = run.calls.waits.iter().map(|wait| {
            let by = wait.ended_by.as_ref();
            let by = by.map(|(thread, by)| call(*thread, by));
            let by = by.into_iter().flatten().collect::<Vec<u64>>();
            [&call(wait.thread, &wait.call)[..], &by].concat()
        });
        let waits = waits.collect();
        let outliers = run.calls.outliers.iter().map(|outlier| {
            let mut of = call(outlier.thread, &outlier.call).to_vec();
            of.extend([outlier.typical.0, outlier.calls]);
            (of, Vec::new())
        });
        let mut outliers: Vec<(Vec<u64>, Vec<i64>)> = outliers.collect();
        for ((_, meanwhile), outlier) in outliers.iter_mut().zip(&run.calls.outliers) {
            for of in &outlier.meanwhile {
                let stack = of.stack.map_or(-1, |stack| numbers.stack(stack) as i64);
                meanwhile.extend([i64::from(of.thread), stack, of.time.0 as i64]);
            }
        }
        let mut data = Data {
            from: since(from),
            to: since(to),
            functions: Vec::new(),
            parents: Vec::new(),
            of: Vec::new(),
            threads,
            zooms: Vec::new(),
            outliers,
            waits,
            command: command.lines(),
            without: without.to_owned(),
        };
        // Numbers of stacks and functions take some six digits each.
        let taken = serde_json::to_string(&data).map_or(MAX_BYTES, |text| text.len());
        let taken = taken + numbers.of.len() * 12;
        let zoomed = zoomed(run, &mut numbers, &index, MAX_BYTES.saturating_sub(taken))?;
        share.zooms = zoomed.zooms.len();
        (share.calls, share.all) = (zoomed.calls, zoomed.all);
        data.zooms = zoomed.zooms;
        for (thread, zooms) in data.threads.iter_mut().zip(zoomed.of_threads) {
            thread.zooms = zooms;
        }
        data.functions = numbers.functions().into_iter().map(short_name).collect();
        (data.parents, data.of) = (numbers.parents, numbers.of);
        Ok((data, share))
    }
}

/// The shortest duration of records that may stay.
fn least_duration(run: &CalledRun) -> Nanoseconds {
    let records = run.calls.threads.iter().flat_map(|thread| &thread.records);
    let mut durations: Vec<u64> = Vec::new();
    for record in records {
        match record {
            Record::Call(call) => durations.push(call.end.0.saturating_sub(call.begin.0)),
            Record::Expression(of) => durations.extend(of.stacks.iter().map(|of| of.duration.0)),
        }
    }
    if durations.len() <= MAX_RECORDS {
        return Nanoseconds(0);
    }
    let at = durations.len() - MAX_RECORDS;
    let (_, longest, _) = durations.select_nth_unstable(at - 1);
    Nanoseconds(*longest + 1)
}
