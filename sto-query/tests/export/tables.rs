//! CSV and Callgrind.

use super::{CALLGRIND, CSV, text};
use crate::views::{assert_golden, demo, hostile_names, view};
use std::process::Command;
use sto_core::model::{Frame, FrameKind};
use sto_core::units::Cost;
use sto_query::results::View;
use sto_test_support::{is_there, skip};

/// Returns the records of a CSV file by RFC 4180.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let record = records.last_mut().unwrap();
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                record.last_mut().unwrap().push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\r' if !quoted => assert_eq!(characters.peek(), Some(&'\n')),
            '\n' if !quoted => records.push(vec![String::new()]),
            _ => record.last_mut().unwrap().push(character),
        }
    }
    assert_eq!(
        records.pop(),
        Some(vec![String::new()]),
        "the last line ends"
    );
    records
}

fn of_names(names: &[&'static str]) -> View {
    let once = Cost {
        samples: 1,
        value: 2,
    };
    let frames = names.iter().map(|&name| Frame {
        module: name,
        symbol: name,
        kind: FrameKind::User,
        file: name,
        line: 0,
    });
    view("v1", &frames.map(|frame| (vec![frame], once)).collect())
}

#[test]
fn csv_has_every_node_once_and_adds_up() {
    let (view, _) = demo();
    assert_golden("export-v1.csv", &text(&view, CSV));
    let records = records(&text(&view, CSV));
    assert!(
        records
            .iter()
            .all(|record| record.len() == records[0].len())
    );
    assert_eq!(records.len() - 1, view.tree.len());
    let number = |cell: &String| cell.parse::<u64>().unwrap();
    let own: u64 = records[1..].iter().map(|record| number(&record[11])).sum();
    let roots = records[1..].iter().filter(|record| record[3].is_empty());
    let total: u64 = roots.map(|record| number(&record[13])).sum();
    assert_eq!((own, total), (724_000_000, 724_000_000));
}

#[test]
fn csv_has_no_formulas_and_no_broken_rows() {
    let names = [
        "=1+1",
        "+f",
        "-[NSObject init]",
        "@sum",
        "\tx",
        "a,b",
        "say \"x\"",
        "line\nfeed",
    ];
    let all: Vec<_> = names.into_iter().chain(hostile_names()).collect();
    let records = records(&text(&of_names(&all), CSV));
    assert_eq!(records.len() - 1, all.len());
    let mut symbols: Vec<_> = records[1..]
        .iter()
        .map(|record| record[5].as_str())
        .collect();
    for symbol in &mut symbols {
        assert!(
            !symbol.starts_with(['=', '+', '-', '@', '\t', '\n', '\r']),
            "{symbol:?}"
        );
        *symbol = symbol.strip_prefix('\'').unwrap_or(symbol);
    }
    symbols.sort_unstable();
    let mut all = all;
    all.sort_unstable();
    assert_eq!(symbols, all);
}

#[test]
fn callgrind_matches_golden_file() {
    assert_golden("export-v1.callgrind", &text(&demo().0, CALLGRIND));
}

#[test]
fn hostile_names_do_not_break_callgrind_lines() {
    let text = text(&of_names(&hostile_names()), CALLGRIND);
    let functions = text.lines().filter(|line| line.starts_with("fn="));
    assert_eq!(functions.count(), hostile_names().len());
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
}

/// Needs Valgrind (Debian: `valgrind`).
#[test]
fn callgrind_annotate_reads_self_and_inclusive_costs() {
    if !is_there("callgrind_annotate") {
        skip("no callgrind_annotate");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("callgrind.out.1");
    std::fs::write(&file, text(&demo().0, CALLGRIND)).unwrap();
    let annotate = |inclusive: &str| {
        let mut command = Command::new("callgrind_annotate");
        command
            .args(["--auto=no", "--threshold=100", inclusive])
            .arg(&file);
        let output = command.output().ok()?;
        assert!(output.status.success(), "{output:?}");
        Some(String::from_utf8(output.stdout).unwrap())
    };
    let (Some(own), Some(total)) = (annotate("--inclusive=no"), annotate("--inclusive=yes")) else {
        return;
    };
    let has = |text: &str, number: &str, name: &str| {
        let line = text
            .lines()
            .find(|line| line.contains(&format!(":{name} ")));
        let line = line.unwrap_or_else(|| panic!("{name} is missing in {text}"));
        assert!(line.trim_start().starts_with(number), "{line}");
    };
    assert!(own.contains("724,000,000 (100.0%)"), "{own}");
    has(&own, "300,000,000 ", "doWork");
    has(&total, "550,000,000 ", "doWork");
    has(&total, "591,000,000 ", "run");
}
