//! Output of `explain-match`.

use crate::views::assert_golden;
use crate::words::WORDS;
use sto_query::questions::{KeyOptions, explain_match};
use sto_query::render::explain_match::text;
use sto_query::results::{SymbolMatch, json};
use sto_query::text::{Colors, Style};

const TERMINAL: Style = Style {
    width: Some(80),
    colors: None,
    full_names: false,
    words: WORDS,
};

fn of_arguments() -> SymbolMatch {
    explain_match(
        "_ZN4shop4sortISt4pairIiSsENS_4LessIiSaIiEEEEEvPT_S6_T0_.constprop.0.isra.1",
        "void shop::sort<std::pair<int, std::string>, shop::Greater<int> >(std::pair<int, std::string>*) [clone .cold]",
        with!(KeyOptions {
            exact_symbols: false,
            ignore_template_arguments: true,
        }),
    )
}

#[test]
fn shows_match_as_text_and_json() {
    let report = explain_match(
        "_ZN3app3run28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.42",
        "app[846817f741e54dfd]::run::{closure#3}.cold",
        KeyOptions::default(),
    );
    assert!(report.matches);
    assert_golden("explain-match-width80.txt", &text(&report, TERMINAL));
    let narrow = Style {
        width: Some(40),
        ..TERMINAL
    };
    let narrow = text(&report, narrow);
    assert!(narrow.lines().all(|line| line.chars().count() <= 40));
    assert_golden("explain-match-width40.txt", &narrow);
    assert_golden(
        "explain-match.json",
        &json(&report).expect("the report can be written"),
    );
}

#[test]
fn wraps_long_lines() {
    let report = of_arguments();
    assert!(!report.matches, "one of them has parameters");
    let narrow = text(&report, TERMINAL);
    assert!(narrow.lines().all(|line| line.chars().count() <= 80));
    assert_golden("explain-match-arguments-width80.txt", &narrow);
    let without_spaces = |text: &str| text.replace([' ', '\n'], "");
    for symbol in &report.symbols {
        assert!(without_spaces(&narrow).contains(&without_spaces(&symbol.symbol)));
    }
}

#[test]
fn escapes_hostile_symbols() {
    let hostile = "\x1b[2J<script>alert(1)</script>\n\u{202e}::{closure#1}.cold";
    let report = explain_match(hostile, &hostile.repeat(500), KeyOptions::default());
    for colors in [None, Some(Colors::USUAL)] {
        let shown = text(&report, Style { colors, ..TERMINAL });
        let hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        let shown = shown
            .replace("\x1b[1m", "")
            .replace("\x1b[1;31m", "")
            .replace("\x1b[0m", "");
        assert_eq!(shown.chars().find(|c| hidden(*c)), None);
    }
}
