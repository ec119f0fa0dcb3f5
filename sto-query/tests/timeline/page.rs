//! The page of a timeline in a browser.

use super::{FLAT, four_seconds, sources};
use crate::ask;
use crate::browser::{self, Seen};
use crate::views::{assert_golden, lines};
use crate::words::WORDS;
use serde_json::{Value, json};
use sto_query::questions::{TimelineRequest, TimelinesRequest};
use sto_query::render;
use sto_query::sources::BuildRef;
use sto_query::text::Command;

fn page(script: &str) -> String {
    page_of(script, &[])
}

fn page_of(script: &str, metrics: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.txt");
    std::fs::write(&path, script).unwrap();
    let mut request = TimelineRequest::default();
    request.named = BuildRef::File(path);
    request.metrics = metrics.iter().map(|&name| name.to_owned()).collect();
    let ranking = Command {
        words: ["sto", "correlate", "v1"].map(str::to_owned).to_vec(),
    };
    render::timeline::html(
        &ask(&sources(), &TimelinesRequest(request)).unwrap(),
        WORDS,
        &ranking,
    )
}

fn open(script: &str, width: u32) -> Value {
    let Seen { facts, console } = browser::open(&page(script), include_str!("facts.js"), width);
    assert_eq!(facts["error"], Value::Null, "{facts:#}");
    // The browser must refuse scripts in names.
    assert_eq!(facts["smuggled"], "did not run");
    let refused = |line: &&String| !line.contains("Content Security Policy");
    let messages: Vec<&String> = console.iter().filter(refused).collect();
    assert!(messages.is_empty(), "{messages:?}");
    facts
}

fn heading(state: &Value) -> &str {
    state["heading"].as_str().unwrap()
}

#[test]
fn page_matches_golden_file() {
    assert_golden("timeline.html", &lines(&page(&four_seconds())));
}

/// The heat map has 50 slices, as the run has few samples, but lines have the 200 that `sto correlate` uses.
#[test]
fn metrics_are_lines_with_the_resolution_of_correlate() {
    let page = page_of(&four_seconds(), &[FLAT, "event:cpu-clock"]);
    let lines = page.split("viewBox=\"0 0 200 ").skip(1);
    let lines: Vec<&str> = lines
        .map(|line| line.split_once(" d=\"").unwrap().1)
        .collect();
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line.split('"').next().unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines.iter().all(|line| line.matches("h1").count() == 200),
        "{lines:?}"
    );
    assert!(
        !lines[0].contains('V') && lines[1].contains('V'),
        "{lines:?}"
    );
}

#[test]
fn names_of_metrics_are_not_shortened() {
    const SYMBOL: &str = "void Orders.main(java.lang.String[], java.util.concurrent.Executor)";
    let metric = format!("self:{SYMBOL}");
    let page = page_of(&four_seconds().replace("compute", SYMBOL), &[&metric]);
    assert!(page.contains(&format!(">{metric}</")), "{page}");
    assert!(page.contains(">Orders.main</"), "{page}");
}

#[test]
fn window_shows_functions_in_it_and_in_the_rest() {
    if browser::is_missing() {
        return;
    }
    for width in [1280, 390] {
        let facts = open(&four_seconds(), width);
        assert_eq!(facts["title"], "demo@demo.txt over time");
        assert_eq!(facts["metrics"], json!(["event:cpu-clock"]));
        let choices = [
            "functions, self",
            "functions, total",
            "modules, self",
            "threads",
        ];
        let found = facts["choices"].as_array().unwrap().iter();
        let found: Vec<&str> = found.map(|label| label.as_str().unwrap().trim()).collect();
        assert_eq!(found, choices);
        assert_eq!(facts["times"][0], "0 s");

        let all = &facts["all"];
        assert_eq!(heading(all), "What was done in all of the time");
        let names = [
            "compute",
            "demo::Matrix::multiply",
            "parse_document",
            "write_all",
        ];
        for (found, expected) in all["names"].as_array().unwrap().iter().zip(names) {
            assert_eq!(found, expected);
        }
        assert_eq!(all["top"][0][1], "33.3%");
        assert!(
            all["cells"].as_array().unwrap().contains(&json!("h8")),
            "{all:#}"
        );
        let pointed = facts["pointed"].as_str().unwrap();
        assert!(pointed.starts_with("compute [demo] at 2.0"), "{pointed}");
        assert!(pointed.contains("90% or more of 1."), "{pointed}");

        // The program reads in the first second, and nowhere else.
        let dragged = &facts["dragged"];
        assert!(
            heading(dragged).starts_with("What was done from 0."),
            "{dragged:#}"
        );
        let top = dragged["top"].as_array().unwrap();
        assert_eq!(top.len(), 1);
        assert_eq!(
            (&top[0][0], &top[0][1]),
            (&json!("parse_document"), &json!("100.0%"))
        );
        let change = top[0][3].as_str().unwrap().strip_suffix('x').unwrap();
        assert!(change.parse::<f64>().unwrap() > 5.0, "{top:?}");
        let frames = dragged["frames"].as_array().unwrap();
        let labels = frames.iter().map(|frame| frame["label"].as_str().unwrap());
        let labels: Vec<&str> = labels
            .map(|label| label.split(" (").next().unwrap())
            .collect();
        assert_eq!(labels, ["all", "main", "read_all", "parse_document"]);
        assert_eq!(frames[3]["color"], "w5");
        assert!((frames[3]["share"].as_f64().unwrap() - 1.0).abs() < 1e-3);
        let status = dragged["status"].as_str().unwrap();
        assert!(status.contains("% of all that was done, in "), "{status}");

        // The window can be dragged as a whole, up to the end of the run.
        let moved = &facts["moved"];
        assert_eq!(moved["edges"][1], facts["all"]["edges"][1]);
        assert_eq!(moved["top"][0][0], "write_all");
        let [before, after] = [moved, &facts["narrowed"]].map(|state| state["edges"][0].as_str());
        assert!(after > before, "{before:?} {after:?}");
        assert_eq!(facts["widened"]["edges"], facts["all"]["edges"]);
        assert_eq!(heading(&facts["escaped"]), heading(all));

        // Nothing was done here.
        assert_eq!(facts["idle"]["top"], json!([]));
        assert_eq!(
            facts["idle"]["frames"][0]["label"],
            "all (nothing was done in the window)"
        );
        assert_eq!(heading(&facts["clicked"]), heading(all));
        assert_eq!(facts["phases"], 9);
        assert_eq!(facts["phase"]["top"][0][0], "write_all");
        assert_eq!(facts["phase"]["top"].as_array().unwrap().len(), 1);
        assert_eq!(
            facts["threads"]["names"],
            json!(["demo (10)", "worker (11)"])
        );

        let drawn = "sto correlate v1 --target 'event:cpu-clock' --by linear-pattern --pattern=";
        assert_eq!(
            facts["drawn"],
            json!([
                format!("{drawn}'1.00:0,3.99:1003000000'"),
                "M250.6,40.0h0M1000.0,20.0h0"
            ])
        );
        assert_eq!(
            facts["refused"],
            json!([
                "Expected TIME:VALUE,TIME:VALUE,... with times that grow",
                facts["drawn"][0]
            ])
        );
        assert_eq!(
            facts["written"],
            json!(["", format!("{drawn}'0.50:3,1.00:2'")])
        );
        assert_eq!(facts["enlarged"], json!([0, [40, 40], [80, 80]]));
        for state in ["all", "dragged", "threads"] {
            assert_eq!(facts[state]["overflow"], 0, "{state} at {width}");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let hostile = [
        "</script><script>document.documentElement.dataset.smuggled='by_a_name'</script>",
        "\"],\"parents\":[]}//",
        "<img/src=x/onerror=alert(1)>&lt;",
        "a\u{202e}b\u{2028}c\\u003c",
    ];
    let mut script = String::new();
    for (at, name) in hostile.iter().cycle().take(200).enumerate() {
        script += &format!(
            "demo 1/1 5.{:06}: 1000 cpu-clock:\n\t1000 {name}+0x0 (/bin/{name})\n\n",
            at * 1000
        );
    }
    let page = page(&script);
    assert_eq!(
        page.matches("</script>").count(),
        4,
        "as many as there are scripts, and their data"
    );
    assert!(!page.contains("<img"), "{page}");
    assert!(!page.contains('\u{202e}') && !page.contains('\u{2028}'));
    if browser::is_missing() {
        return;
    }
    let facts = open(&script, 1280);
    let top = facts["all"]["top"].as_array().unwrap().iter();
    let names: Vec<&str> = top.map(|row| row[0].as_str().unwrap()).collect();
    for expected in &hostile[..3] {
        assert!(names.contains(expected), "{expected}: {names:?}");
    }
    assert!(names.contains(&"a\\u{202e}b\\u{2028}c\\u003c"), "{names:?}");
}
