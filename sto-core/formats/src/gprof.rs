//! Output of `gprof PROGRAM gmon.out`: a flat profile and a call graph.
//!
//! The output has calls but no stacks, so stacks are estimated as for Callgrind. Times are rounded to 10 ms.
//!
//! Source: chapter *Interpreting gprof's Output* of its manual; `cg_print.c` and `hist.c` of binutils.

use crate::callgrind::{FunctionIx, Graph, Writer, add_graph};
use crate::names::NamedFrame;
use crate::recording::{LocationIx, RecordingBuilder};
use crate::report::{Report, add_to_only_thread, cost_per_unit};
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines, scaled, words};
use hashbrown::HashMap;
use sto_model::units::Unit;

const GPROF: Writer = Writer {
    name: "gprof",
    instead: "Record with `perf record -g`",
};

/// Beginnings of the lines with the sampling interval, in the flat profile and the call graph.
const SAMPLE: &[u8] = b"Each sample counts as ";
const GRANULARITY: &[u8] = b"granularity: each sample hit covers ";

/// Returns `true` if a profile begins with the title of a table and has the sampling interval.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let first = head.first_line().map(<[u8]>::trim_ascii);
    first.is_some_and(|line| line == b"Flat profile:" || line.starts_with(b"Call graph"))
        && lines(head.bytes)
            .any(|(_, line)| line.starts_with(SAMPLE) || line.starts_with(GRANULARITY))
}

#[derive(Default)]
pub(super) struct Gprof {
    section: Section,
    /// Sampling interval in nanoseconds; 0 if unknown.
    interval: u64,
    /// Functions by their number in the call graph.
    functions: HashMap<u64, FunctionIx>,
    frames: Vec<LocationIx>,
    graph: Graph,
    /// Total time in nanoseconds and number of calls of each function.
    totals: HashMap<FunctionIx, (u64, u64)>,
    /// Calls within a cycle: caller, callee, number.
    in_cycle: Vec<(FunctionIx, FunctionIx, u64)>,
    /// The function of the current entry, after its own line was read.
    entry: Option<FunctionIx>,
    is_cycle: bool,
    /// Self costs in the flat profile, which the call graph repeats.
    flat: Vec<(LocationIx, u64)>,
}

#[derive(Default, PartialEq)]
enum Section {
    #[default]
    Text,
    Flat,
    Calls,
}

impl Report for Gprof {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        if let Some(seconds) = line.strip_prefix(SAMPLE) {
            self.interval = scaled(words(seconds).next().unwrap_or_default(), 9)?;
            return Ok(());
        }
        let columns: Vec<&[u8]> = words(line).collect();
        match (&self.section, &columns[..]) {
            (_, [b"time", b"seconds", ..]) => self.section = Section::Flat,
            (_, [b"index", b"%", b"time", ..]) => self.section = Section::Calls,
            (Section::Flat, []) => self.section = Section::Text,
            (Section::Flat, columns) => self.flat(line, columns, builder)?,
            // An explanation follows the table.
            (Section::Calls, []) if self.entry.is_none() && !self.is_cycle => {
                self.section = Section::Text;
            }
            (Section::Calls, [dashes]) if dashes.starts_with(b"---") => {
                self.entry = None;
                self.is_cycle = false;
            }
            (Section::Calls, [_, ..]) => self.call(line, &columns, builder)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        builder.sample_type("cpu", Unit::Nanoseconds);
        let interval = self.interval.max(1);
        let cost = |value| match self.interval {
            0 => super::report::time(value),
            _ => cost_per_unit(interval, value),
        };
        let own = self.graph.own.iter().map(|&(_, _, own)| own);
        let all = own.chain(self.flat.iter().map(|&(_, own)| own));
        let all = all.into_iter().try_fold(0_u64, u64::checked_add);
        all.ok_or("its times are longer than 2^64 ns together")?;
        if self.graph.own.is_empty() {
            for (location, own) in self.flat {
                let stack = builder.stack(&[location])?;
                add_to_only_thread(builder, 0, stack, cost(own))?;
            }
            return Ok(());
        }
        for (caller, called, calls) in self.in_cycle {
            // These calls have no times: the cost is divided by number of calls.
            if let Some(&(total, all)) = self.totals.get(&called) {
                let part = calls.min(all) as f64 / all.max(1) as f64 * total as f64;
                self.graph.calls.push((caller, called, part as u64));
            }
        }
        self.graph.own.sort_unstable();
        self.graph.calls.sort_unstable();
        let add = |builder: &mut RecordingBuilder, stack, own| {
            add_to_only_thread(builder, 0, stack, cost(own))
        };
        let warnings = add_graph(&self.graph, &self.frames, &GPROF, builder, add)?;
        builder.warnings.extend(warnings);
        Ok(())
    }
}

impl Gprof {
    /// ` 33.34      0.02     0.02     7208     0.00     0.00  open`, without the three last numbers where calls
    /// were not counted.
    fn flat(
        &mut self,
        line: &[u8],
        columns: &[&[u8]],
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let unexpected = || format!("expected three times and a name, found {}", excerpt(line));
        let (numbers, others) = columns.split_at_checked(3).ok_or_else(unexpected)?;
        let own = scaled(numbers[2], 9)?;
        let has_calls = others.len() > 3 && others[..3].iter().all(|column| is_number(column));
        let name = if has_calls { &others[3..] } else { others };
        let name = from_word(line, name).ok_or_else(unexpected)?;
        let location = function(name, builder)?;
        if own > 0 {
            self.flat.push((location, own));
        }
        Ok(())
    }

    /// The line of an entry, `[3]  50.0  0.00  1.16  1500+750  main [3]`, or a line above for a caller or
    /// below for a callee: `0.70  0.00  4500/15030  mix <cycle 1> [1]`.
    fn call(
        &mut self,
        line: &[u8],
        columns: &[&[u8]],
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let unexpected = || {
            format!(
                "expected times, a number of calls, and a name with its number in brackets, found {}",
                excerpt(line)
            )
        };
        if columns == [&b"<spontaneous>"[..]] {
            return Ok(());
        }
        let (is_entry, mut columns) = match columns {
            // The number of the function, and its share.
            [first, _, others @ ..] if first.starts_with(b"[") => (true, others),
            columns => (false, columns),
        };
        let mut time = None;
        if let [own, called, others @ ..] = columns
            && own.contains(&b'.')
            && is_number(own)
        {
            time = Some((scaled(own, 9)?, scaled(called, 9)?));
            columns = others;
        }
        let mut calls = 0;
        if let [count, others @ ..] = columns
            && count.iter().all(|byte| b"0123456789+/".contains(byte))
        {
            let count = count.split(|byte| b"+/".contains(byte)).next();
            calls = count.and_then(decimal).ok_or_else(unexpected)?;
            columns = others;
        }
        let [name @ .., number] = columns else {
            return Err(unexpected());
        };
        let number = number
            .strip_prefix(b"[")
            .and_then(|number| decimal(number.strip_suffix(b"]")?));
        let number = number.ok_or_else(unexpected)?;
        if is_entry && name.ends_with(&[b"as", b"a", b"whole>"]) {
            self.is_cycle = true;
            return Ok(());
        }
        if self.is_cycle || (!is_entry && self.entry.is_none()) {
            // The call is repeated below its caller.
            return Ok(());
        }
        let name = match name {
            [name @ .., b"<cycle", _] => name,
            name => name,
        };
        let name = match (name, from_word(line, name)) {
            ([.., last], Some(rest)) => {
                let end = last.as_ptr() as usize + last.len() - rest.as_ptr() as usize;
                &rest[..end]
            }
            _ => return Err(unexpected()),
        };
        let known = self.functions.get(&number).copied();
        let of = match known {
            Some(known) => known,
            None => {
                let of = FunctionIx(self.frames.len() as u32);
                self.frames.push(function(name, builder)?);
                self.functions.insert(number, of);
                of
            }
        };
        let total = time.map(|(own, called)| own.saturating_add(called));
        match (self.entry, time) {
            (None, Some((own, called))) => {
                if self
                    .totals
                    .insert(of, (own.saturating_add(called), calls))
                    .is_some()
                {
                    return Err(format!(
                        "a second entry for the function [{number}]; use the output of a single run of gprof"
                    ));
                }
                self.entry = Some(of);
                self.graph.own.push((of, 0, own));
            }
            (None, None) => return Err(unexpected()),
            (Some(caller), _) => match total {
                Some(total) => self.graph.calls.push((caller, of, total)),
                None if caller != of => self.in_cycle.push((caller, of, calls)),
                None => {}
            },
        }
        Ok(())
    }
}

fn is_number(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// The line from the first of these words on; names may contain spaces.
fn from_word<'b>(line: &'b [u8], of: &[&'b [u8]]) -> Option<&'b [u8]> {
    let start = of.first()?.as_ptr() as usize - line.as_ptr() as usize;
    line.get(start..).map(<[u8]>::trim_ascii_end)
}

fn function(name: &[u8], builder: &mut RecordingBuilder) -> Result<LocationIx, String> {
    let frame = NamedFrame {
        symbol: name,
        ..NamedFrame::default()
    };
    Ok(frame.add(builder)?)
}
