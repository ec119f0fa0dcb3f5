//! The costs of lines and functions in a few words, for editors.

use super::header::full_name;
use super::source::{expand_tabs, shorten_to_fit};
use crate::hot::{DoubtfulFile, HotCosts, HotSpot, HotSpots};
use crate::text::{Style, display_width, format_count, list_names, printable, short_name};
use std::borrow::Cow;

/// Maximum number of files to name in a note.
const MAX_NAMED: usize = 3;

/// Returns one line per hot spot in the format that editors parse to jump to a line: `demo.c:127:
/// 2.5 % self, 12.4 % total: return 0;`.
///
/// The text of a source line is cut at the width of the terminal. Nothing is coloured, as some of
/// the editors run in a terminal.
pub fn spots(report: &HotSpots, style: Style) -> String {
    report.spots.iter().map(|spot| line(spot, style)).collect()
}

fn line(spot: &HotSpot, style: Style) -> String {
    let place = format!("{}:{}:", printable(&spot.path), spot.line);
    let HotCosts { self_cost, total } = spot.costs;
    let costs = format!(
        " {} self, {} total",
        percent(self_cost.share),
        percent(total.share)
    );
    let what = match &spot.function {
        Some(function) => format!(" of {}", short_name(&printable(function))),
        None => format!(": {}", printable(&expand_tabs(&spot.source))),
    };
    let column = display_width(&place) + display_width(&costs);
    let what = shorten_to_fit(&what, column, style);
    format!("{place}{costs}{what}\n")
}

/// Returns sentences that explain the list of hot spots.
pub fn spots_notes(report: &HotSpots) -> Vec<String> {
    let runs = format_count(report.subject.profiles.len() as u64, "profile");
    let build = full_name(&report.subject);
    let mut notes = Vec::new();
    if report.spots.is_empty() {
        notes.push(format!(
            "{build} has no costs here. Source files are known if the program was built with line tables \
             (`-g`), and found by the ends of their paths"
        ));
    } else {
        let more = match report.omitted {
            0 => String::new(),
            omitted => format!("; {} not shown", format_count(omitted as u64, "more line")),
        };
        notes.push(format!("costs of {build} in {runs}{more}"));
    }
    if !report.edited.is_empty() {
        notes.push(format!(
            "{}: the content at build time is unknown, so functions are listed instead of lines",
            list_names(&report.edited, MAX_NAMED)
        ));
    }
    notes
}

/// Explains why a file has no costs, and the remedy.
pub fn ambiguous_file_note(file: &DoubtfulFile) -> String {
    format!(
        "{} may be {}: specify which one, or its folder",
        file.file,
        list_names(&file.candidates, MAX_NAMED)
    )
}

/// Formats costs: `12.4 % self · 31 % total · ×1.8 since v1.2`.
///
/// A change is the ratio of the totals and the build since which the function changed.
pub fn format_costs(costs: &HotCosts, change: Option<(f64, &str)>) -> String {
    let mut words = vec![
        format!("{} self", percent(costs.self_cost.share)),
        format!("{} total", percent(costs.total.share)),
    ];
    words.extend(change.map(|(ratio, since)| change_words(ratio, since)));
    words.join(" · ")
}

/// Formats `×1.8 since v1.2`.
fn change_words(ratio: f64, since: &str) -> String {
    let since: Cow<'_, str> = printable(since);
    format!("{} since {since}", times(ratio))
}

/// Formats `×1.8`.
pub(super) fn times(change: f64) -> String {
    format!("×{}", ratio(change))
}

/// Formats a ratio: `12`, `1.8`, `0.04`.
pub fn ratio(ratio: f64) -> String {
    let decimals = match ratio {
        ..0.095 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    format!("{ratio:.decimals$}")
}

/// Formats a share: `31 %`, `12.4 %`, `0.04 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent < 0.095 { 2 } else { 1 };
    let number = format!("{percent:.decimals$}");
    let number = number.strip_suffix(".0").unwrap_or(&number);
    format!("{} %", if number == "0.00" { "0" } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_readable_digits() {
        let shares = [0.0, 0.000_01, 0.000_4, 0.000_96, 0.005, 0.124, 0.31, 1.0];
        let words = shares.map(percent);
        let expected = [
            "0 %", "0 %", "0.04 %", "0.1 %", "0.5 %", "12.4 %", "31 %", "100 %",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn change_escapes_the_build_name() {
        assert_eq!(change_words(1.84, "v1.2"), "×1.8 since v1.2");
        assert_eq!(change_words(12.3, "v1"), "×12 since v1");
        assert_eq!(change_words(0.04, "v1"), "×0.04 since v1");
        assert!(!change_words(2.0, "\u{1b}[31m").contains('\u{1b}'));
    }
}
