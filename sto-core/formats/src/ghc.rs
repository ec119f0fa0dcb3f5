//! GHC's time and allocation profile, `PROGRAM.prof`.
//!
//! Source: chapter *Profiling* of the GHC User's Guide; `rts/ProfilerReport.c` of its sources.

use crate::names::NamedFrame;
use crate::recording::{RecordingBuilder, SampleTypeIx};
use crate::report;
use crate::report::{CallPath, Report, add_to_only_thread};
use crate::source::Head;
use crate::wire::text::{base_name, excerpt, scaled, words};
use sto_model::FrameKind;
use sto_model::units::{Cost, Unit};

const TITLE: &[u8] = b"Time and Allocation Profiling Report";

/// Returns `true` if a profile begins with the title.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let first = head.first_line();
    first.is_some_and(|line| memchr::memmem::find(line, TITLE).is_some())
}

#[derive(Default)]
pub(super) struct Ghc {
    program: String,
    ticks: u64,
    /// Nanoseconds per tick.
    tick: u64,
    bytes: u64,
    section: Section,
    /// Whether rows end with numbers of ticks and bytes.
    has_numbers: bool,
    rows: usize,
    path: CallPath,
}

#[derive(Default, PartialEq)]
enum Section {
    #[default]
    Title,
    /// Before the line with the program's name.
    Program,
    Header,
    Rows,
    AfterRows,
}

impl Report for Ghc {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let words: Vec<&[u8]> = words(line).collect();
        match (&self.section, &words[..]) {
            (Section::Title, _) if memchr::memmem::find(line, TITLE).is_some() => {
                self.section = Section::Program;
            }
            (Section::Program, [program, ..]) => {
                self.program = builder.text(base_name(program)).into_owned();
                self.section = Section::Header;
            }
            (Section::Header, [b"total", b"time", b"=", _, b"secs", ticks @ ..]) => {
                self.ticks(ticks)?;
            }
            (Section::Header, [b"total", b"alloc", b"=", bytes, ..]) => {
                let digits: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b',').collect();
                self.bytes = scaled(&digits, 0)?;
            }
            // The first table has no calls, and therefore no column of entries.
            (Section::Header, [b"COST", b"CENTRE", columns @ ..])
                if columns.contains(&&b"entries"[..]) =>
            {
                self.has_numbers = columns.ends_with(&[b"ticks", b"bytes"]);
                self.section = Section::Rows;
            }
            (Section::Rows, []) if self.path.is_empty() => {}
            (Section::Rows, []) => self.section = Section::AfterRows,
            (Section::Rows, words) => self.row(line, words, builder)?,
            _ => {}
        }
        Ok(())
    }

    fn cut(&self) -> Option<&'static str> {
        match self.section {
            Section::Rows | Section::AfterRows => None,
            _ => Some("what stands before its table"),
        }
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        let time = self.ticks.saturating_mul(self.tick);
        // Percentages are rounded to one decimal.
        let rounding = |total: u64, unit| {
            if self.has_numbers {
                (0, 0)
            } else {
                (self.rows, total / 2000 + unit)
            }
        };
        let totals = [
            (SampleTypeIx(0), time, rounding(time, self.tick)),
            (SampleTypeIx(1), self.bytes, rounding(self.bytes, 1)),
        ];
        let off = totals.map(|(kind, total, rounding)| builder.check_total(kind, total, rounding));
        builder.warnings.extend(off.into_iter().flatten());
        builder.sample_type("time", Unit::Nanoseconds);
        builder.sample_type("alloc", Unit::Bytes);
        let process = builder.process(0, &self.program);
        builder.new_thread(process, 0, "");
        Ok(())
    }
}

impl Ghc {
    /// `(1234 ticks @ 1000 us, 1 processor)`
    fn ticks(&mut self, words: &[&[u8]]) -> Result<(), String> {
        if let [ticks, b"ticks", b"@", tick, b"us,", ..] = words {
            self.ticks = scaled(ticks.strip_prefix(b"(").unwrap_or(ticks), 0)?;
            self.tick = scaled(tick, 3)?;
        }
        Ok(())
    }

    /// `  work  Main  src/Main.hs:(3,1)-(5,20)  241  10  12.5  3.0  20.0  4.0  [5  1200]`
    fn row(
        &mut self,
        line: &[u8],
        words: &[&[u8]],
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        let numbers = if self.has_numbers { 8 } else { 6 };
        let named_by = words.len().checked_sub(numbers).filter(|&count| count >= 2);
        let (name, numbers) = words.split_at(named_by.ok_or_else(|| {
            format!(
                "expected a cost centre with {numbers} numbers, found {}",
                excerpt(line)
            )
        })?);
        let (ticks, bytes) = match numbers {
            &[.., ticks, bytes] if self.has_numbers => (scaled(ticks, 0)?, scaled(bytes, 0)?),
            _ => (part(numbers[2], self.ticks)?, part(numbers[3], self.bytes)?),
        };
        let file = name.get(2).map_or(&b""[..], |source| {
            source.split(|&byte| byte == b':').next().unwrap_or(source)
        });
        let file = if file.starts_with(b"<") { b"" } else { file };
        let symbol = [name[1], b".", name[0]].concat();
        let frame = NamedFrame {
            symbol: &symbol,
            file,
            kind: Some(FrameKind::User),
            ..NamedFrame::default()
        };
        let location = frame.add(builder)?;
        self.rows += 1;
        let depth = line.iter().take_while(|&&byte| byte == b' ').count();
        let stack = self.path.call(depth, location, builder)?;
        let nanoseconds = ticks.checked_mul(self.tick);
        let time = Cost {
            samples: ticks,
            value: nanoseconds.ok_or("its ticks are longer than 2^64 ns")?,
        };
        add_to_only_thread(builder, 0, stack, time)?;
        add_to_only_thread(builder, 1, stack, report::cost_per_unit(1024, bytes))?;
        Ok(())
    }
}

/// The part of `whole` for a percentage with one decimal.
fn part(percentage: &[u8], whole: u64) -> Result<u64, String> {
    let thousandths = scaled(percentage, 1)?;
    let product = u128::from(thousandths) * u128::from(whole) + 500;
    u64::try_from(product / 1000)
        .map_err(|_| format!("expected a percentage, found {}", excerpt(percentage)))
}
