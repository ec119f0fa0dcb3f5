//! Call trees copied from Apple's Instruments: *Edit > Deep Copy*, in versions 7 to 16.
//!
//! The format is not documented. A line has a function's total cost, its self cost (or number of
//! calls), and its name, indented by one more space than its caller.

use crate::names::{NamedFrame, without_rust_mangling};
use crate::recording::{Built, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report::{CallPath, Report, cost_per_unit, time};
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, scaled};
use sto_model::units::{Cost, Unit};

pub(super) fn matches(head: &Head<'_>) -> bool {
    head.first_line()
        .is_some_and(|line| Columns::from_first_line(line).is_some())
}

/// The columns, from the first line.
#[derive(Clone, Copy)]
struct Columns {
    /// Whether the second column is the self cost.
    has_own: bool,
    /// Whether the self cost is in milliseconds without a unit.
    is_own_in_ms: bool,
}

impl Columns {
    fn from_first_line(line: &[u8]) -> Option<Columns> {
        let mut names = line.trim_ascii_end().split(|&byte| byte == b'\t');
        let (total, second, last) = (names.next()?, names.next()?, names.next_back()?);
        let is_tree = matches!(last, b"Symbol Name" | b"Symbol Names");
        let is_known = matches!(total, b"Weight" | b"Running Time" | b"Bytes Used");
        (is_tree && is_known).then_some(Columns {
            has_own: second.starts_with(b"Self"),
            is_own_in_ms: second.ends_with(b"(ms)"),
        })
    }
}

#[derive(Default)]
pub(super) struct Instruments {
    columns: Option<Columns>,
    /// Indentation of the outermost names.
    indent: Option<usize>,
    /// The process of the calls that follow, which precedes them.
    thread: Option<ThreadIx>,
    unit: Option<Unit>,
    path: CallPath,
}

impl Report for Instruments {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let Some(columns) = self.columns else {
            self.columns = Columns::from_first_line(line);
            return Ok(());
        };
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let mut fields = line.split(|&byte| byte == b'\t');
        let (Some(total), Some(second), Some(name)) =
            (fields.next(), fields.next(), fields.next_back())
        else {
            return Err(format!(
                "expected a cost, a second one and a name, found {}",
                excerpt(line)
            ));
        };
        let symbol = name.trim_ascii_start();
        let indent = name.len() - symbol.len();
        let depth = indent.checked_sub(*self.indent.get_or_insert(indent));
        let depth = depth.ok_or_else(|| {
            format!(
                "expected a name that is indented as the first or more, found {}",
                excerpt(name)
            )
        })?;
        let (unit, total) = amount(total)?;
        if *self.unit.get_or_insert(unit) != unit {
            return Err(format!(
                "expected the unit of the first line, found {}",
                excerpt(line)
            ));
        }
        let own = if columns.has_own {
            Some(match (second, columns.is_own_in_ms) {
                (b"-" | b"0", _) => 0,
                (digits, true) => amount(&[digits, b" ms"].concat())?.1,
                (amount, false) => self::amount(amount)?.1,
            })
        } else {
            None
        };
        if depth == 0 {
            self.leave(0, builder)?;
            self.thread = process(symbol, builder);
            if self.thread.is_some() {
                return Ok(());
            }
        }
        let depth = depth - usize::from(self.thread.is_some() && depth > 0);
        let frame = NamedFrame {
            symbol: &without_rust_mangling(symbol.trim_ascii_end()),
            ..NamedFrame::default()
        };
        let location = frame.add(builder)?;
        let add = self.adder();
        let stack = self.path.enter(depth, location, total, builder, add)?;
        if let Some(own) = own {
            self.path.set_self_known();
            self.adder()(builder, stack, own)?;
        }
        Ok(())
    }

    fn finish(mut self, builder: &mut RecordingBuilder) -> Result<(), String> {
        self.leave(0, builder)?;
        match self.unit {
            Some(Unit::Bytes) => builder.sample_type("alloc_space", Unit::Bytes),
            Some(Unit::Events) => builder.sample_type("cycles", Unit::Events),
            _ => builder.sample_type("time", Unit::Nanoseconds),
        };
        Ok(())
    }
}

impl Instruments {
    fn leave(&mut self, depth: usize, builder: &mut RecordingBuilder) -> Built<()> {
        let add = self.adder();
        self.path.leave(depth, builder, add)
    }

    /// Returns a function that adds the self cost of a stack.
    fn adder(&self) -> impl Fn(&mut RecordingBuilder, StackIx, u64) -> Built<()> + use<> {
        let (thread, unit) = (self.thread.unwrap_or(ThreadIx(0)), self.unit);
        move |builder, stack, value| {
            let cost: Cost = match unit {
                Some(Unit::Bytes) => cost_per_unit(1024, value),
                Some(Unit::Events) => cost_per_unit(1_000_000, value),
                _ => time(value),
            };
            builder.add_cost(thread, SampleTypeIx(0), stack, cost)
        }
    }
}

/// `app (40414)`, an outermost line that is a process and not a function.
fn process(name: &[u8], builder: &mut RecordingBuilder) -> Option<ThreadIx> {
    let open = memchr::memmem::rfind(name, b" (")?;
    let pid = decimal(name[open + 2..].strip_suffix(b")")?)?;
    let program = builder.text(&name[..open]).into_owned();
    let process = builder.process(u32::try_from(pid).ok()?, &program);
    Some(builder.thread_unchecked(process, 0, ""))
}

/// `4.93 s  100.0%`, `4273.0ms   99.9%`, `404.75 Mc`, ` 429.93 MB     100.0%`: an amount in
/// nanoseconds, cycles or bytes.
fn amount(text: &[u8]) -> Result<(Unit, u64), String> {
    let text = text.trim_ascii_start();
    let end = text
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let unit = text[end..].trim_ascii_start();
    let unit = unit
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    let (of, factor) = match unit {
        b"ns" => (Unit::Nanoseconds, 1),
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => (Unit::Nanoseconds, 1_000),
        b"ms" => (Unit::Nanoseconds, 1_000_000),
        b"s" => (Unit::Nanoseconds, 1_000_000_000),
        b"min" => (Unit::Nanoseconds, 60_000_000_000),
        b"c" | b"cycles" => (Unit::Events, 1),
        b"Kc" => (Unit::Events, 1_000),
        b"Mc" => (Unit::Events, 1_000_000),
        b"Gc" => (Unit::Events, 1_000_000_000),
        b"B" | b"Bytes" => (Unit::Bytes, 1),
        b"KB" => (Unit::Bytes, 1 << 10),
        b"MB" => (Unit::Bytes, 1 << 20),
        b"GB" => (Unit::Bytes, 1 << 30),
        _ => {
            return Err(format!(
                "expected a time, cycles or bytes, as in `4.93 s`, `96.08 Gc` or `429.93 MB`, found {}",
                excerpt(text)
            ));
        }
    };
    let hundredths = u128::from(scaled(&text[..end], 2)?) * factor;
    let amount = u64::try_from((hundredths + 50) / 100);
    let amount = amount.map_err(|_| format!("{} is more than 2^64 - 1", excerpt(text)))?;
    Ok((of, amount))
}
