//! The data for the page's script: the records of a run as lists of numbers.
//!
//! A record is a long call, or an [expression](sto_core::trace::Expression) of consecutive short
//! calls.

use super::command::PartCommand;
use super::records::Numbers;
use super::zoom::{Zoom, Zooms, zoomed};
use crate::calls::{CallTrace, CallsError, ProminentFunction, nest_records};
use crate::render::html::short_name;
use crate::text::printable;
use serde::Serialize;
use sto_core::trace::{CallRecord, LongCall};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;

/// Maximum number of records on the page, of about 10 bytes each. The shortest are left out first.
const MAX_RECORDS: usize = 90_000;

/// Maximum size in bytes of the data, without the names of functions.
const MAX_BYTES: usize = 2_400_000;

/// The data for the page's script. All times are nanoseconds since the run's first call.
#[derive(Serialize)]
pub(super) struct Data {
    /// Time range that is shown.
    from: u64,
    to: u64,
    /// Names of functions, most prominent first.
    functions: Vec<String>,
    /// Index of the caller of each stack, or -1, and the function of each stack.
    parents: Vec<i64>,
    of: Vec<usize>,
    threads: Vec<ThreadData>,
    /// The content of expressions that can be zoomed into.
    zooms: Vec<Zoom>,
    /// For each outlier: thread, stack, begin, duration, typical duration and number of calls.
    /// Then, for each activity of other threads during it: thread, stack or -1, and time.
    outliers: Vec<(Vec<u64>, Vec<i64>)>,
    /// For each wait: thread, stack, begin and duration, then the same of the call that ended it,
    /// if known.
    waits: Vec<Vec<u64>>,
    /// The three parts of the [command](PartCommand) that shows a part of the time; empty if there
    /// is none.
    command: Vec<String>,
    /// Message for an expression whose calls were not kept.
    without: String,
}

#[derive(Serialize)]
struct ThreadData {
    name: String,
    begin: u64,
    end: u64,
    calls: u64,
    /// Shortest gap that ends an expression.
    gap: u64,
    /// Records in the format of [`Packed`](super::records::Packed).
    records: String,
    /// Functions that occur only in records that were left out.
    also: Vec<usize>,
    /// Expressions of this thread that can be zoomed into.
    zooms: Zooms,
}

/// The part of a run's calls that the page has.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    /// Number of records that were left out.
    pub(super) left_out: u64,
    /// Duration below which records were left out.
    pub(super) below: Nanoseconds,
    /// Number of expressions that can be zoomed into.
    pub(super) zooms: usize,
    /// Number of calls in expressions that are on the page one by one, and number of all calls in
    /// expressions.
    pub(super) calls: u64,
    pub(super) all: u64,
}

impl Data {
    /// Collects the data of a run. `without` is the message for expressions whose calls were not
    /// kept.
    pub(super) fn from_run(
        run: &CallTrace,
        functions: &[ProminentFunction],
        (command, without): (&PartCommand, &str),
    ) -> Result<(Data, Share), CallsError> {
        let (first, last) = run.time();
        let (from, to) = run.window().unwrap_or((first, last));
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
            let nested = nest_records(&of.records, &run.view.tree);
            let mut packed = numbers.records(&nested, first, share.below);
            share.left_out += packed.left_out;
            index.push(std::mem::take(&mut packed.index));
            ThreadData {
                // Hidden characters would make the JSON invalid once the page makes them visible.
                name: printable(&name).into_owned(),
                begin: since(of.begin),
                end: since(of.end),
                calls: of.calls,
                gap: gap
                    .resolve(Nanoseconds(of.end.0.saturating_sub(of.begin.0)))
                    .0,
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
            for of in &outlier.activities {
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
        // Stacks and functions have about six digits each.
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

/// Returns the duration below which records are left out so that the others fit on the page; 0 if
/// all fit.
fn least_duration(run: &CallTrace) -> Nanoseconds {
    let records = run.calls.threads.iter().flat_map(|thread| &thread.records);
    let mut durations: Vec<u64> = Vec::new();
    for record in records {
        match record {
            CallRecord::Call(call) => durations.push(call.end.0.saturating_sub(call.begin.0)),
            CallRecord::Expression(of) => {
                durations.extend(of.stacks.iter().map(|of| of.duration.0))
            }
        }
    }
    if durations.len() <= MAX_RECORDS {
        return Nanoseconds(0);
    }
    let at = durations.len() - MAX_RECORDS;
    let (_, longest, _) = durations.select_nth_unstable(at - 1);
    Nanoseconds(*longest + 1)
}
