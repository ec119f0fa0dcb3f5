//! The page of suspects in a browser.

use super::{slow, suspects};
use crate::browser::{self, Seen};
use crate::views::{assert_golden, lines};
use crate::words::suspects_html as html;
use serde_json::{Value, json};

fn open(log: &str, width: u32) -> Seen {
    let page = html(&suspects(&slow(log)));
    browser::open(&page, include_str!("facts.js"), width)
}

#[test]
fn page_matches_golden_file() {
    assert_golden("report.html", &lines(&html(&suspects(&slow("log")))));
}

#[test]
fn suspects_can_be_read_and_searched_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let Seen { facts, console } = open("log", 1280);
    assert_eq!(facts["error"], Value::Null, "{facts:#}");
    assert_eq!(
        facts["title"],
        "7 functions far from expected: app, startup"
    );
    assert_eq!(facts["rows"].as_array().map(Vec::len), Some(7));
    assert_eq!(facts["suspects"][1]["heading"], "2. log ");
    assert_eq!(facts["suspects"][4]["heading"], "5. connect new");
    assert_eq!(facts["suspects"][6]["heading"], "7. cache gone");

    // Each suspect, the overview and the metric have a plot of the runs.
    let plots = facts["plots"].as_array().unwrap();
    assert_eq!(plots.len(), 9);
    for plot in plots {
        assert_eq!(plot["dots"], 14, "{plot}");
        assert_eq!(plot["judged"], 1, "{plot}");
        assert!(plot["width"].as_f64().unwrap() > 600.0, "{plot}");
        assert!(plot["band"].as_f64().unwrap() > 300.0, "{plot}");
        assert_eq!(plot["outside"], 0, "dots beyond the plot in {plot}");
    }
    let tooltip = facts["plots"][3]["tooltip"].as_str().unwrap();
    assert_eq!(
        tooltip,
        "v5 2026-01-11 09:20: 530 samples, 21.46% of the run"
    );

    // Stacks can be folded and unfolded.
    let traces = &facts["suspects"][1]["traces"];
    assert_eq!(
        traces[0]["names"],
        json!(["log", "handle", "serve", "main"])
    );
    assert_eq!(traces[1]["names"], json!(["log", "format"]));
    let height = |state: &str| traces[0][state].as_f64().unwrap();
    assert!(height("unfolded") > height("folded") + 80.0, "{traces}");

    // By name, and with the keyboard only.
    assert_eq!(facts["searched"], json!(["5. connect new"]));
    assert_eq!(facts["all_again"], 7);
    assert_eq!(
        facts["walk"],
        json!(["suspect-1", "suspect-2", "suspect-1"])
    );
    assert_eq!(facts["opened_by_key"], true);

    let graph = &facts["graph"];
    let labels = graph["frames"].as_array().unwrap().iter();
    let labels: Vec<&str> = labels.filter_map(|frame| frame["label"].as_str()).collect();
    assert!(
        labels.iter().any(|label| label.starts_with("retry (")
            && label.ends_with("new; 0 in 13 runs → 40 samples)")),
        "{labels:#?}"
    );
    let found = facts["found"]["status"].as_str().unwrap();
    assert!(
        found.starts_with("Stacks with “handle”: ") && found.contains(" of an average run ("),
        "{found}"
    );
    assert_only_smuggled_script_is_refused(&facts, &console);
}

#[test]
fn hostile_name_stays_text_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let name = "<script>alert(1)</script></script><img src=x onerror=alert(1)>\"><svg onload=alert(1)>\u{202e}";
    let scripts = html(&suspects(&slow("log"))).matches("<script").count();
    let Seen { facts, console } = open(name, 1280);
    let shown = name.replace('\u{202e}', "\\u{202e}");
    assert_eq!(facts["suspects"][1]["heading"], format!("2. {shown} "));
    assert_eq!(facts["suspects"][1]["traces"][0]["names"][0], shown);
    assert_eq!(facts["scripts"], scripts, "no more than any page has");
    assert_eq!(facts["images"], 0);
    assert_only_smuggled_script_is_refused(&facts, &console);
}

#[test]
fn page_fits_a_phone() {
    if browser::is_missing() {
        return;
    }
    let long =
        "std::map<std::string, std::vector<Token>>::find(std::string const&) const".repeat(9);
    let Seen { facts, .. } = open(&long, 390);
    assert_eq!(facts["overflow"], 0, "the page scrolls in one direction");
    let width = facts["plots"][0]["width"].as_f64().unwrap();
    assert!((250.0..390.0).contains(&width), "{width}");
}

#[test]
fn frames_of_libraries_unfold_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let library = [
        "std::rt::lang_start",
        "std::panicking::try",
        "core::ops::function::FnOnce::call_once",
    ];
    let below_library = format!("main;{};serve;", library.join(";"));
    let runs = slow("log").into_iter();
    let runs: Vec<String> = runs
        .map(|run| run.replace("main;serve;", &below_library))
        .collect();
    let page = html(&suspects(&runs));
    for width in [1280, 390] {
        let Seen { facts, .. } = browser::open(&page, include_str!("facts.js"), width);
        let callers = &facts["suspects"][0]["traces"][0];
        let folds = callers["folds"].as_array().unwrap();
        assert_eq!(folds.len(), 1, "{callers:#}");
        // The outermost frame stays, because its caller has another difference.
        assert_eq!(folds[0]["text"], "… 2 frames: std");
        assert_eq!(folds[0]["folded"], json!([]), "{width}");
        assert_eq!(folds[0]["unfolded"], json!([library[2], library[1]]));
        assert_eq!(folds[0]["overflow"], 0, "{width}");
    }
}

/// The probe tries to run a script that is not the page's own; nothing else may be wrong.
fn assert_only_smuggled_script_is_refused(facts: &Value, console: &[String]) {
    assert_eq!(facts["smuggled"], "did not run");
    assert_eq!(console.len(), 1, "{console:#?}");
    assert!(
        console[0].contains("Content Security Policy"),
        "{console:#?}"
    );
}
