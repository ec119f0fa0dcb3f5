//! Numbers for people.

use sto_core::units::{Nanoseconds, Unit};

/// Formats an integer with a comma after every third digit.
pub(crate) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (ix, digit) in digits.chars().enumerate() {
        if ix > 0 && (digits.len() - ix).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count: `1 profile`, `2 profiles`.
pub(crate) fn format_count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", group_digits(number))
}

/// Returns the line `3 more functions not shown`; empty for zero.
pub(crate) fn omitted_line(more: usize, noun: &str) -> String {
    match more {
        0 => String::new(),
        more => format!(
            "{} not shown\n",
            format_count(more as u64, &format!("more {noun}"))
        ),
    }
}

/// Lists at most `most` names: `a, b and 3 more`.
pub(crate) fn list_names<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let named = names.iter().take(most).map(T::as_ref);
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.collect::<Vec<_>>().join(", ") + &more
}

/// Formats a share from 0 to 1 in percent: `12.34%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// Formats a number of any size with three digits: `1.23`, `456`, `7.89e8`.
pub(crate) fn short(number: f64) -> String {
    let decimals = match number.abs() {
        0.0 => return "0".to_owned(),
        ..0.001 | 1e7.. => return format!("{number:.2e}"),
        ..0.009_995 => 5,
        ..0.099_95 => 4,
        ..0.999_5 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}

/// Formats a probability: `0.042`, or its power of ten if it is below 0.001.
pub(crate) fn probability(p: f64) -> String {
    match p {
        ..0.001 => format!("{p:.0e}"),
        _ => format!("{p:.3}"),
    }
}

/// Formats bytes in decimal units: `36.1 MB`.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        _ => scaled(bytes, &[" kB", " MB", " GB", " TB"]),
    }
}

/// Formats a value in its unit: `1.23 s`, `36.1 MB`; `None` for samples.
pub(crate) fn quantity(value: u64, unit: Unit) -> Option<String> {
    match (unit, value) {
        (Unit::Bytes, _) => Some(bytes(value)),
        (Unit::Nanoseconds, 0..1_000) => Some(format!("{value} ns")),
        (Unit::Nanoseconds, _) => Some(scaled(value, &[" µs", " ms", " s"])),
        (Unit::Events, 0..1_000) => Some(format!("{value} events")),
        (Unit::Events, _) => Some(scaled(
            value,
            &[
                " thousand events",
                " million events",
                " billion events",
                " trillion events",
            ],
        )),
        _ => None,
    }
}

/// Formats the mean cost of a run: `1.23 s`, `36.1 MB`, `198 samples`, `0`.
pub(crate) fn cost(cost: f64, unit: Unit) -> String {
    let value = cost.round() as u64;
    if value == 0 {
        return "0".to_owned();
    }
    quantity(value, unit).unwrap_or_else(|| format_count(value, "sample"))
}

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws one bar per value. Values above zero have at least the lowest visible bar.
pub(crate) fn sparkline(values: &[f64], largest: f64) -> String {
    let highest = BARS.len() - 1;
    let height = |value: &f64| match value / largest * highest as f64 {
        height if height > 0.0 => (height.round() as usize).clamp(1, highest),
        _ => 0,
    };
    values.iter().map(|value| BARS[height(value)]).collect()
}

/// Formats a time within a run: `2.500 s`, `12.3 ms`.
pub(crate) fn seconds(time: Nanoseconds) -> String {
    match time.0 {
        0 => "0 s".to_owned(),
        ns @ 1..1_000 => format!("{ns} ns"),
        ns @ 1_000..999_500_000 => scaled(ns, &[" µs", " ms", " s"]),
        ns => format!("{:.3} s", ns as f64 / 1e9),
    }
}

/// Formats a point in time in the unit that suits `end`, with enough digits to distinguish times
/// that are a thousandth of `length` apart: `2.46813 s`.
pub(crate) fn format_time(time: Nanoseconds, end: Nanoseconds, length: Nanoseconds) -> String {
    let (unit, most, name) = match end.0 {
        0..1_000_000 => (1e3, 3, "µs"),
        1_000_000..1_000_000_000 => (1e6, 6, "ms"),
        _ => (1e9, 9, "s"),
    };
    let step = length.0.max(1) as f64 / 1_000.0;
    let digits = (unit / step).log10().ceil().clamp(0.0, f64::from(most));
    format!("{:.*} {name}", digits as usize, time.0 as f64 / unit)
}

/// Formats a compression ratio: `412x`.
pub(crate) fn compression_ratio(saving: f64) -> String {
    if saving >= 10.0 {
        format!("{saving:.0}x")
    } else {
        format!("{saving:.1}x")
    }
}

/// Formats a number of at least 1,000 with three significant digits, in the largest unit in which
/// it is at least 1.
fn scaled(number: u64, units: &[&str]) -> String {
    let mut scaled = number as f64 / 1_000.0;
    let mut unit = 0;
    // 999.5 would be rounded to 1000.
    while scaled >= 999.5 && unit + 1 < units.len() {
        scaled /= 1_000.0;
        unit += 1;
    }
    let decimals = match scaled {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.decimals$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_shares() {
        assert_eq!(sparkline(&[0.0, 0.001, 0.5, 1.0], 1.0), " ▁▄█");
        assert_eq!(sparkline(&[0.0, 0.0], 0.0), "  ");
    }

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(group_digits(0), "0");
        assert_eq!(group_digits(999), "999");
        assert_eq!(
            [0.001_964, 0.5, 1.0, 456.4].map(short),
            ["0.00196", "0.500", "1.00", "456"]
        );
        assert_eq!(group_digits(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(36_120_000), "36.1 MB");
        assert_eq!(bytes(999_999), "1.00 MB");
        assert_eq!(bytes(u64::MAX), "18446744 TB");
        assert_eq!(
            quantity(7_350_000_000_000, Unit::Nanoseconds).unwrap(),
            "7350 s"
        );
        assert_eq!(quantity(1_234, Unit::Nanoseconds).unwrap(), "1.23 µs");
        assert_eq!(
            quantity(1_234_567, Unit::Events).unwrap(),
            "1.23 million events"
        );
        assert_eq!(quantity(5, Unit::Samples), None);
        assert_eq!(compression_ratio(412.3), "412x");
        assert_eq!(compression_ratio(0.44), "0.4x");
    }
}
