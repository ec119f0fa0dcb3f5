//! Reports as text and JSON.

use super::support::{compare, compared, set_build_ids, view};
use crate::views::assert_golden;
use crate::words::WORDS;
use sto_core::model::Quality;
use sto_query::questions::CompareOptions;
use sto_query::render::{Detail, findings_text};
use sto_query::results::{Change, Comparison, FindingKind, Verdict, json};
use sto_query::text::{Colors, Style};

/// One finding of each kind.
fn one_of_each() -> Comparison {
    let baseline = "
        main;parse 1600
        main;compute 2900
        main;log 9
        main;log;libc.so.6!fprintf;libc.so.6!vfprintf 181
        main;log;libc.so.6!fprintf;libc.so.6!write;[kernel]!ksys_write 308
        main;hash_v1 700
        main;render;blur 900
        main;render 100
        main;check 600
    ";
    let candidate = "
        main;parse 1630
        main;compute 2870
        main;log 104
        main;log;libc.so.6!fprintf;libc.so.6!vfprintf 1790
        main;log;libc.so.6!fprintf;libc.so.6!write;[kernel]!ksys_write 3105
        main;hash_v2 705
        main;render 110
        main;parse;app::Map<std::string, std::vector<Token>>::find(std::string const&) const 1450
        main;check 200
    ";
    let (mut baseline, mut candidate) = (view("v1", &[baseline]), view("v2", &[candidate]));
    set_build_ids(
        &mut baseline,
        &[("app", 1), ("libc.so.6", 7), ("[kernel]", 8)],
    );
    set_build_ids(
        &mut candidate,
        &[("app", 2), ("libc.so.6", 7), ("[kernel]", 8)],
    );
    candidate.selection.build.revision = Some("v2-3-g1234567".to_owned());
    let profile = &mut candidate.selection.profiles[0].profile;
    profile.origin.host = Some("bench2".to_owned());
    profile.quality = Quality {
        samples: 13_000,
        lost: 300,
        ..profile.quality
    };
    compared(&baseline, &candidate)
}

fn clean_with_runs() -> Comparison {
    let steady = "main;parse 400\n main;compute 2500\n main;write 300\n main;read 200";
    let again = "main;parse 412\n main;compute 2490\n main;write 296\n main;read 203";
    compared(&view("v1", &[steady, again]), &view("v2", &[again, steady]))
}

fn text(comparison: &Comparison, width: usize, detail: Detail) -> String {
    let style = Style {
        width: Some(width),
        colors: None,
        full_names: false,
        words: WORDS,
    };
    findings_text(comparison, style, detail)
}

#[test]
fn shows_regression_as_text_and_json() {
    let comparison = one_of_each();
    for width in [40, 80, 200] {
        assert_golden(
            &format!("find-regressions-width{width}.txt"),
            &text(&comparison, width, Detail::Short),
        );
    }
    assert_golden(
        "find-regressions-verbose-width80.txt",
        &text(&comparison, 80, Detail::Full),
    );
    assert_golden(
        "find-regressions-color.txt",
        &findings_text(&comparison, COLORED, Detail::Short),
    );
    assert_golden(
        "find-regressions.json",
        &json(&comparison).expect("no keys but strings"),
    );
}

const COLORED: Style = Style {
    width: Some(80),
    colors: Some(Colors::USUAL),
    full_names: false,
    words: WORDS,
};

#[test]
fn shows_clean_comparison_as_text_and_json() {
    let comparison = clean_with_runs();
    assert_golden(
        "find-regressions-clean.txt",
        &findings_text(&comparison, crate::words::plain(), Detail::Short),
    );
    assert_golden(
        "find-regressions-clean.json",
        &json(&comparison).expect("no keys but strings"),
    );
}

#[test]
fn fits_two_screens_however_much_changed() {
    let stacks = |cost: &dyn Fn(usize) -> usize| -> String {
        let function = |f: usize| format!("main;run{};step{f};work_{f} {}\n", f % 7, cost(f));
        (0..400).map(function).collect()
    };
    let noise = |f: usize| 900 + f * 37 % 100;
    let before = stacks(&|f| noise(f));
    let now = stacks(&|f| match f % 4 {
        0 => 3 * noise(f),
        1 => noise(f) / 3,
        _ => noise(f),
    });
    let options = with!(CompareOptions { min_share: 0.0 });
    let (baseline, candidate) = (view("v1", &[&before]), view("v2", &[&now]));
    let comparison = compare(&baseline, &candidate, &options).expect("the options are in range");
    assert!(
        comparison.findings.len() > 150,
        "{}",
        comparison.findings.len()
    );
    for width in [80, 200] {
        let short = text(&comparison, width, Detail::Short);
        assert!(short.lines().count() <= 80, "{short}");
        let (worse, better) =
            (comparison.findings.iter()).fold((0, 0), |(worse, better), finding| {
                match finding.kind {
                    FindingKind::Regression => (worse + 1, better),
                    _ => (worse, better + 1),
                }
            });
        let not_shown = format!(
            "Not shown: {} more that got worse, {} more that got better,",
            worse - 8,
            better - 4
        );
        assert!(short.contains(&not_shown), "{not_shown}\n{short}");
        let full = text(&comparison, width, Detail::Full);
        for finding in &comparison.findings {
            assert!(
                full.contains(&format!("  {}\n", finding.function)),
                "{full}"
            );
        }
        assert!(!full.contains("Not shown"), "{full}");
    }
}

#[test]
fn shows_all_tested_functions_as_text_and_json() {
    let steady = "main;parse 400\n main;compute 2500\n main;write 300\n main;rare 1";
    let slower = "main;parse 412\n main;compute 2490\n main;write 900\n main;rare 2";
    let options = with!(CompareOptions { all: true });
    let (baseline, candidate) = (view("v1", &[steady]), view("v2", &[slower]));
    let comparison = compare(&baseline, &candidate, &options).expect("the options are in range");
    let functions = comparison
        .functions
        .as_deref()
        .expect("functions were requested");
    let names: Vec<&str> = functions.iter().map(|f| f.function.as_str()).collect();
    assert_eq!(names, ["main", "compute", "write", "parse"]);
    for function in functions {
        let Change {
            change,
            change_low,
            change_high,
            p,
            q,
            ..
        } = function.total;
        let (low, high) = (change_low.expect("a bound"), change_high.expect("a bound"));
        let change = change.expect("both sides have samples");
        assert!(low < change && change < high, "{function:?}");
        assert!(p.is_some() && p <= q, "{function:?}");
    }
    assert_golden(
        "find-regressions-all.txt",
        &findings_text(&comparison, crate::words::plain(), Detail::Full),
    );
    let json = json(&comparison).expect("no keys but strings");
    let report: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
    assert_eq!(report["functions"][2]["function"], "write");
    assert!(report["functions"][2]["self"]["change_low"].is_number());
    assert!(report["thresholds"].get("all").is_none());
}

#[test]
fn lists_functions_only_on_request() {
    let comparison = one_of_each();
    assert_eq!(comparison.functions, None);
    let json = json(&comparison).expect("no keys but strings");
    assert!(!json.contains("\"functions\": ["), "{json}");
}

#[test]
fn too_little_data_as_text() {
    let comparison = compared(&view("v1", &["main 12"]), &view("v2", &["main 20"]));
    assert_golden(
        "find-regressions-insufficient.txt",
        &findings_text(&comparison, crate::words::plain(), Detail::Short),
    );
}

#[test]
fn json_has_documented_names() {
    let json = json(&one_of_each()).expect("no keys but strings");
    let report: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
    assert_eq!(report["schema"], "sto.find-regressions/1");
    assert_eq!(report["verdict"], "regression");
    assert_eq!(report["baseline"]["build"], "v1");
    assert_eq!(report["candidate"]["build"], "v2");
    let finding = &report["findings"][0];
    assert_eq!(finding["function"], "log");
    assert_eq!(finding["module"], "app");
    assert_eq!(finding["kind"], "regression");
    for count in ["self", "total"] {
        for number in [
            "baseline_share",
            "candidate_share",
            "baseline_samples",
            "candidate_samples",
            "change",
            "p",
            "q",
        ] {
            assert!(!finding[count][number].is_array(), "{count} {number}");
            assert!(finding[count].get(number).is_some(), "{count} {number}");
        }
    }
    let caller = &finding["affected_callers"][0];
    assert_eq!(caller["function"], "main");
    assert!(caller["baseline_share"].is_number() && caller["candidate_share"].is_number());
    let kinds: Vec<_> = (0..)
        .map_while(|ix| report["findings"][ix]["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["regression", "new", "moved", "gone", "improvement"]);
}

#[test]
fn text_fits_terminal_and_is_coloured_only_on_request() {
    let comparison = one_of_each();
    for detail in [Detail::Short, Detail::Full] {
        for width in [40, 60, 80, 120, 200] {
            let plain = text(&comparison, width, detail);
            for line in plain.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert_eq!(line, line.trim_end());
            }
            assert!(!plain.contains('\x1b'));
        }
        let plain = text(&comparison, 80, detail);
        let colored = findings_text(&comparison, COLORED, detail);
        assert!(colored.starts_with("\x1b[1;31mREGRESSION\x1b[0m"));
        assert!(colored.contains("\x1b[1;34mgone\x1b[0m"));
        let bare = ["0", "1", "2", "1;31", "1;34"]
            .iter()
            .fold(colored, |text, code| {
                text.replace(&format!("\x1b[{code}m"), "")
            });
        assert_eq!(bare, plain, "colour changes nothing else");
    }
}

#[test]
fn full_names_are_shown_only_on_request() {
    let name = "app::Map<std::string, std::vector<Token>>::find(std::string const&) const";
    for full_names in [false, true] {
        let style = Style {
            full_names,
            ..crate::words::plain()
        };
        let shown = if full_names { name } else { "app::Map::find" };
        let piped = findings_text(&one_of_each(), style, Detail::Short);
        let row = piped.lines().find(|line| line.ends_with(shown));
        assert!(row.is_some_and(|row| row.contains("new")), "{piped}");
    }
}

#[test]
fn hostile_names_stay_text() {
    let hostile = [
        "<script>alert(1)</script>",
        "\x1b[2Jgone\rREGRESSION\u{202e}txt",
        "x".repeat(5000).leak(),
        "one\u{2028}two three\tfour",
    ];
    for name in hostile {
        let slow =
            |samples| format!("{name};other 2000\n{name};{name} {samples}\n{name};parse 900");
        let mut baseline = view(&format!("{name}1"), &[&slow(300)]);
        let mut candidate = view(&format!("{name}2"), &[&slow(3000)]);
        for side in [&mut baseline, &mut candidate] {
            side.selection.build.executable = name.to_owned();
            side.selection.build.revision = Some(name.to_owned());
            side.selection.profiles[0].profile.origin.host =
                Some(format!("{name}{}", side.tree.len()));
        }
        let comparison = compared(&baseline, &candidate);
        assert_eq!(comparison.verdict, Verdict::Regression);
        let text = text(&comparison, 80, Detail::Full);
        let is_plain = |c: char| c == '\n' || !(c.is_control() || "\u{202e}\u{2028}".contains(c));
        assert!(text.chars().all(is_plain), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        let json = json(&comparison).expect("no keys but strings");
        let report: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
        assert_eq!(
            report["findings"][0]["function"], name,
            "JSON has the whole name"
        );
    }
}
