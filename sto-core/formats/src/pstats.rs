//! Statistics of Python's `cProfile` and `profile`: `python -m cProfile -o FILE`,
//! `Profile.dump_stats`.
//!
//! They are a dictionary of functions with number of calls, self time, total time, and the same for
//! each caller. There are calls but no stacks, so stacks are estimated as for Callgrind.
//!
//! Source: `Lib/cProfile.py` and `Lib/pstats.py` of CPython.

use crate::callgrind::{FunctionIx, Graph, Writer, add_graph};
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{LocationIx, RecordingBuilder};
use crate::report::{add_to_only_thread, time};
use crate::source::Head;
use crate::wire::marshal::{Marshalled, Value, ValueIx};
use hashbrown::HashMap;
use sto_model::units::Unit;

const PSTATS: Writer = Writer {
    name: "cProfile",
    instead: "Record with a sampling profiler such as py-spy or pyinstrument",
};

/// Returns `true` if a file is a dictionary whose first key is a tuple of three values.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let kind = |at: usize| head.bytes.get(at).map(|kind| kind & 0x7f);
    let key = head.bytes.get(2..).unwrap_or_default();
    kind(0) == Some(b'{')
        && match kind(1) {
            Some(b')') => key.starts_with(&[3]),
            Some(b'(') => key.starts_with(&[3, 0, 0, 0]),
            _ => false,
        }
}

/// File, line and name.
type Name<'b> = (&'b [u8], i64, &'b [u8]);

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let file = Marshalled::read(bytes)?;
    let mut builder = RecordingBuilder::default();
    let mut functions = Functions::default();
    let mut graph = Graph::default();
    let mut all: u64 = 0;
    for &(key, value) in dictionary(&file, file.root)? {
        // `("__sampled__",)` of Python 3.15, next to the samples.
        if tuple(&file, key)?.len() == 1 {
            continue;
        }
        let function = functions.find_or_add(name(&file, key)?, &mut builder)?;
        let &[_, calls, own, total, callers] = tuple(&file, value)? else {
            return Err(unexpected("numbers of calls, two times and callers"));
        };
        let (calls, own, total) = (
            seconds(&file, calls)?,
            nanoseconds(&file, own)?,
            seconds(&file, total)?,
        );
        let line = functions.lines[function.get()];
        graph.own.push((function, line, own));
        all = all
            .checked_add(own)
            .ok_or_else(|| unexpected("times of less than 584 years"))?;
        for &(key, value) in dictionary(&file, callers)? {
            let caller = functions.find_or_add(name(&file, key)?, &mut builder)?;
            let cost = match file.get(value) {
                Value::Tuple(numbers) => match numbers[..] {
                    [_, _, _, total] => nanoseconds(&file, total)?,
                    _ => return Err(unexpected("four numbers of a caller")),
                },
                // `profile`, written in Python, only has numbers of calls by caller.
                _ => to_nanoseconds(total * seconds(&file, value)? / calls.max(1.0))?,
            };
            graph.calls.push((caller, function, cost));
        }
    }
    graph.own.sort_unstable();
    graph.calls.sort_unstable();
    if graph.own.windows(2).any(|two| two[0].0 == two[1].0) {
        return Err(unexpected("each function once"));
    }
    builder.sample_type("wall", Unit::Nanoseconds);
    let add = |builder: &mut RecordingBuilder, stack, cost| {
        add_to_only_thread(builder, 0, stack, time(cost))
    };
    let warnings = add_graph(&graph, &functions.frames, &PSTATS, &mut builder, add);
    let warnings = warnings.map_err(DecodeError::at("its calls"))?;
    builder.warnings.extend(warnings);
    Ok(builder)
}

#[derive(Default)]
struct Functions<'b> {
    known: HashMap<Name<'b>, FunctionIx>,
    frames: Vec<LocationIx>,
    /// The first lines of the functions.
    lines: Vec<u32>,
}

impl<'b> Functions<'b> {
    fn find_or_add(
        &mut self,
        name: Name<'b>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<FunctionIx> {
        if let Some(&known) = self.known.get(&name) {
            return Ok(known);
        }
        let (file, line, symbol) = name;
        let line = u32::try_from(line).unwrap_or(0);
        let frame = NamedFrame {
            symbol,
            // Built-in functions have no file.
            file: if file == b"~" { b"" } else { file },
            line,
            ..NamedFrame::default()
        };
        let frame = frame
            .add(builder)
            .map_err(DecodeError::at("its functions"))?;
        let function = FunctionIx(self.frames.len() as u32);
        self.frames.push(frame);
        self.lines.push(line);
        self.known.insert(name, function);
        Ok(function)
    }
}

fn unexpected(expected: &str) -> DecodeError {
    DecodeError::unsupported(format!(
        "statistics of cProfile with another structure: expected {expected}; write them by `python -m cProfile -o FILE`"
    ))
}

fn dictionary<'f>(file: &'f Marshalled<'_>, value: ValueIx) -> Decoded<&'f [(ValueIx, ValueIx)]> {
    match file.get(value) {
        Value::Dictionary(entries) => Ok(entries),
        _ => Err(unexpected("a dictionary")),
    }
}

fn tuple<'f>(file: &'f Marshalled<'_>, value: ValueIx) -> Decoded<&'f [ValueIx]> {
    match file.get(value) {
        Value::Tuple(values) => Ok(values),
        _ => Err(unexpected("a tuple")),
    }
}

fn name<'b>(file: &Marshalled<'b>, value: ValueIx) -> Decoded<Name<'b>> {
    if let [path, line, symbol] = *tuple(file, value)?
        && let (Value::Text(path), Value::Whole(line), Value::Text(symbol)) =
            (file.get(path), file.get(line), file.get(symbol))
    {
        return Ok((path, *line, symbol));
    }
    Err(unexpected("a file, a line and a name"))
}

fn seconds(file: &Marshalled<'_>, value: ValueIx) -> Decoded<f64> {
    match *file.get(value) {
        Value::Whole(number) => Ok(number as f64),
        Value::Fraction(number) => Ok(number),
        _ => Err(unexpected("a number")),
    }
}

fn nanoseconds(file: &Marshalled<'_>, value: ValueIx) -> Decoded<u64> {
    to_nanoseconds(seconds(file, value)?)
}

/// Converts seconds to nanoseconds. Differences of clocks may be slightly negative.
fn to_nanoseconds(seconds: f64) -> Decoded<u64> {
    let nanoseconds = (seconds * 1e9).round().max(0.0);
    if nanoseconds < u64::MAX as f64 {
        return Ok(nanoseconds as u64);
    }
    Err(unexpected("times of less than 584 years"))
}
