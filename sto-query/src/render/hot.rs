//! What lines and functions cost, in a few words beside them.

use crate::hot::HotCosts;
use crate::text::printable;
use std::borrow::Cow;

/// `12.4 % self · 31 % total · ×1.8 since v1.2`: a change is a ratio, and the build since which it is.
pub fn words(costs: &HotCosts, change: Option<(f64, &str)>) -> String {
    let mut words = vec![
        format!("{} self", percent(costs.self_cost.share)),
        format!("{} total", percent(costs.total.share)),
    ];
    words.extend(change.map(|(ratio, since)| change_words(ratio, since)));
    words.join(" · ")
}

/// `×1.8 since v1.2`
fn change_words(ratio: f64, since: &str) -> String {
    let decimals = match ratio {
        ..0.095 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    let since: Cow<'_, str> = printable(since);
    format!("×{ratio:.decimals$} since {since}")
}

/// A share as a person says it: `31 %`, `12.4 %`, `0.04 %`.
fn percent(share: f64) -> String {
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
    fn shares_have_the_digits_that_are_read() {
        let shares = [0.0, 0.000_01, 0.000_4, 0.000_96, 0.005, 0.124, 0.31, 1.0];
        let words = shares.map(percent);
        let expected = [
            "0 %", "0 %", "0.04 %", "0.1 %", "0.5 %", "12.4 %", "31 %", "100 %",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn changes_name_a_build_that_cannot_write_to_a_terminal() {
        assert_eq!(change_words(1.84, "v1.2"), "×1.8 since v1.2");
        assert_eq!(change_words(12.3, "v1"), "×12 since v1");
        assert_eq!(change_words(0.04, "v1"), "×0.04 since v1");
        assert!(!change_words(2.0, "\u{1b}[31m").contains('\u{1b}'));
    }
}
