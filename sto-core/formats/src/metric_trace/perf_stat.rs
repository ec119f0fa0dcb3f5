//! Output of `perf stat -I MS -x SEPARATOR`: for each interval, one line per event, or several if
//! it is counted by processor, socket, core, node or thread.
//!
//! The layout follows `print_counter_aggr` and related functions in the kernel's
//! `tools/perf/util/stat-display.c`: the time with nine decimals; if counts are separate, the
//! processor (or similar) and the number of processors; the count; its unit; the event; the control
//! group, if given; the nanoseconds that the event was counted; the share of time in percent; and a
//! derived number with its unit.

use super::points::Points;
use super::{Reader, TraceSeries, time_in};
use crate::wire::text::{excerpt, excerpts};
use std::collections::BTreeSet;
use sto_model::MetricKind;

/// The counts so far.
#[derive(Default)]
pub(super) struct PerfStat {
    separator: u8,
    /// The time of the previous line, and the time before that.
    time: i64,
    before: i64,
    points: Points,
    /// Events not counted in the last interval because others used the counter.
    uncounted: BTreeSet<String>,
    /// Events that the machine cannot count.
    unsupported: BTreeSet<String>,
}

/// Decimals of a time.
const DIGITS: usize = 9;

impl PerfStat {
    /// The reader of an output with this first line; `None` if it is something else.
    pub(super) fn from_first_line(line: &[u8]) -> Result<Option<PerfStat>, String> {
        const WITHOUT_INTERVAL: &str =
            "expected values over time, found totals of `perf stat`; add the option `-I 10`";
        const FOR_PEOPLE: &str = "expected fields with separators, found `perf stat` output for people; add the option `-x,`";
        let reader = |separator| PerfStat {
            separator,
            ..PerfStat::default()
        };
        if let Some(rest) = after_time(line) {
            return match rest.first() {
                Some(b' ') if rest.trim_ascii_start().len() + 1 < rest.len() => {
                    Err(FOR_PEOPLE.to_owned())
                }
                Some(&separator) => Ok(Row::parse(line, separator).map(|_| reader(separator))),
                None => Ok(None),
            };
        }
        let in_front = b",;\t|".iter().any(|&separator| {
            let with_time = [b"0.000000000", &[separator][..], line].concat();
            Row::parse(&with_time, separator).is_some()
        });
        if in_front {
            Err(WITHOUT_INTERVAL.to_owned())
        } else {
            Ok(None)
        }
    }
}

/// The text after the time.
fn after_time(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start();
    let point = memchr::memchr(b'.', line)?;
    let (time, rest) = line.split_at_checked(point + 1 + DIGITS)?;
    let is_digit = |(at, byte): (usize, &u8)| at == point || byte.is_ascii_digit();
    (point > 0 && time.iter().enumerate().all(is_digit)).then_some(rest)
}

/// A line.
struct Row<'l> {
    time: &'l [u8],
    /// The processor, socket or similar, if counts are separate.
    of: Option<&'l [u8]>,
    count: &'l [u8],
    /// The event and its control group.
    event: &'l [u8],
    /// The nanoseconds that it was counted, and the share of time.
    counted: [&'l [u8]; 2],
}

impl<'l> Row<'l> {
    fn parse(line: &'l [u8], separator: u8) -> Option<Row<'l>> {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == separator).collect();
        // Parse from the end, because names of events may contain commas.
        let counted = fields
            .windows(2)
            .rposition(|pair| is_whole(pair[0]) && is_percent(pair[1]))?;
        let (count, of) = match fields.get(1..4)? {
            [count, ..] if is_count(count) => (1, None),
            [of, processors, count] if is_whole(processors) && is_count(count) => (3, Some(*of)),
            [of, count, _] if is_count(count) => (2, Some(*of)),
            _ => return None,
        };
        if count + 2 >= counted {
            return None;
        }
        let start = fields[..count + 2]
            .iter()
            .map(|field| field.len() + 1)
            .sum();
        let end = fields[..counted]
            .iter()
            .map(|field| field.len() + 1)
            .sum::<usize>()
            - 1;
        Some(Row {
            time: fields[0],
            of,
            count: fields[count],
            event: line[start..end].trim_ascii(),
            counted: [fields[counted], fields[counted + 1]],
        })
    }
}

fn is_whole(field: &[u8]) -> bool {
    !field.is_empty() && field.iter().all(u8::is_ascii_digit)
}

fn is_percent(field: &[u8]) -> bool {
    let point = field.len().saturating_sub(3);
    field
        .get(point)
        .is_some_and(|&byte| byte == b'.' || byte == b',')
        && is_whole(&field[..point])
        && is_whole(&field[point + 1..])
}

fn is_count(field: &[u8]) -> bool {
    field.first() == Some(&b'<') || value(field).is_some()
}

/// Parses a count, which has a decimal comma in some locales.
fn value(field: &[u8]) -> Option<f64> {
    let text = str::from_utf8(field).ok()?.replace(',', ".");
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

impl Reader for PerfStat {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        // Output of `--summary` and `--interval-clear`.
        if line.trim_ascii_start().starts_with(b"summary") || line.starts_with(b"\x1b") {
            return Ok(());
        }
        let expected = || {
            format!(
                "expected a line of `perf stat -I -x`: time, count, unit, event, time counted, percent; found {}",
                excerpt(line)
            )
        };
        let Some(row) = Row::parse(line, self.separator) else {
            let fields = line.split(|&byte| byte == self.separator);
            // A derived number on a separate line.
            let is_of_counts =
                after_time(line).is_some() && fields.filter(|field| field.is_empty()).count() > 3;
            return is_of_counts.then_some(()).ok_or_else(expected);
        };
        after_time(line).ok_or_else(expected)?;
        let time = time_in(row.time, 1_000_000_000)?;
        if time != self.time {
            (self.before, self.time) = (self.time, time);
        }
        let event = String::from_utf8_lossy(row.event).into_owned();
        let name = match row.of {
            Some(of) => format!("{event} {}", String::from_utf8_lossy(of)),
            None => event,
        };
        let count = match (row.count, row.counted) {
            (b"<not supported>", _) => {
                self.unsupported.insert(name);
                return Ok(());
            }
            // It did not run, so nothing happened.
            (b"<not counted>", [b"0", b"100.00" | b"100,00"]) => 0.0,
            // The next count includes this interval.
            (b"<not counted>", _) => {
                self.uncounted.insert(name);
                return Ok(());
            }
            (count, _) => value(count).ok_or_else(expected)?,
        };
        // A thread that did not run in an interval has no line.
        let was_counted = !self.uncounted.remove(&name);
        let last = self.points.last_time(&name);
        if last.is_none_or(|last| last < self.before && was_counted) {
            self.points
                .push(&name, MetricKind::Count, self.before, 0.0)?;
        }
        self.points.push(&name, MetricKind::Count, time, count)
    }

    fn finish(self: Box<Self>) -> Result<(Vec<TraceSeries>, Vec<String>), String> {
        let names = self
            .unsupported
            .iter()
            .map(|name| name.as_bytes())
            .collect();
        let names = excerpts(&names);
        let warnings = names
            .map(|names| format!("events that the machine cannot count were left out: {names}."));
        Ok((self.points.finish(), warnings.into_iter().collect()))
    }
}
