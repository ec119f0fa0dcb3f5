//! The pages of ranked metrics and of aligned runs, also in a browser.

use crate::ask;
use crate::browser::{self, Seen};
use crate::views::{assert_golden, lines};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use sto_query::questions::{AlignRequest, CorrelateTableRequest, correlate_columns};
use sto_query::render;
use sto_query::sources::{BuildRef, Sources};

/// A name that closes elements and brings a script.
const HOSTILE: &str = "</script><script>document.documentElement.dataset.smuggled='by_a_name'</script>'><img/src=x>\u{202e}";

/// Returns the page of a table in which the metric `name` explains the target.
fn ranking(name: &str) -> String {
    let mut request = CorrelateTableRequest::default();
    request.table = format!("time,target,flat,{name},again,noise\n");
    for row in 0..40 {
        let step = if (10..30).contains(&row) { 5 } else { 1 };
        let (metric, noise) = (step * 2 + row % 2, row * 7 % 5);
        let _ = writeln!(request.table, "{row},{step},3,{metric},{metric},{noise}");
    }
    request.options.target = "target".to_owned();
    render::correlate::html(&correlate_columns(&request).unwrap())
}

/// Returns the page of two runs of `function`, each with pauses in some of 40 steps.
fn alignment(function: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, busy: [std::ops::Range<u32>; 2]| {
        let mut script = String::new();
        for step in 0..40 {
            let is_busy = step == 0 || step == 39 || busy.iter().any(|busy| busy.contains(&step));
            let symbol = if is_busy { function } else { "wait" };
            let _ = write!(
                script,
                "demo 1/1 5.{step:02}0000: 1000 cpu-clock:\n\t1000 {symbol}+0x0 (/bin/demo)\n\n"
            );
        }
        let path = folder.path().join(name);
        std::fs::write(&path, script).unwrap();
        BuildRef::File(path)
    };
    let mut request = AlignRequest::default();
    request.named = [run("a", [5..9, 20..30]), run("b", [8..16, 25..38])];
    request.metric = Some(format!("self:{function}"));
    request.slices = Some(40);
    let sources = Sources::from_folder(Path::new("there is no store"));
    render::align::html(&ask(&sources, &request).unwrap())
}

fn open(page: &str, width: u32) -> Value {
    let Seen { facts, console } = browser::open(page, include_str!("facts.js"), width);
    assert_eq!(facts["error"], Value::Null, "{facts:#}");
    assert_eq!(facts["smuggled"], "did not run");
    let refused = |line: &&String| !line.contains("Content Security Policy");
    let messages: Vec<&String> = console.iter().filter(refused).collect();
    assert!(messages.is_empty(), "{messages:?}");
    facts
}

#[test]
fn pages_match_golden_files() {
    assert_golden("correlate.html", &lines(&ranking("faults")));
    assert_golden("align.html", &lines(&alignment("work")));
}

#[test]
fn metrics_are_found_and_pinned_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    for width in [1280, 390] {
        let facts = open(&ranking("faults"), width);
        assert_eq!(facts["title"], "What explains target");
        assert_eq!(facts["names"], json!(["faults", "noise", "flat"]));
        assert_eq!(facts["found"], json!(["noise"]));
        assert_eq!(facts["by_other_name"], json!(["faults"]));
        assert_eq!(facts["status"], "1 of 3");
        assert_eq!(facts["pinned"], json!(["faults", "flat"]));
        assert_eq!(facts["unpinned"], json!([["flat"], ["faults", "noise"]]));
        // The target goes up after 10 rows of 40, and down after 30.
        assert_eq!(facts["borders"], json!(["10", "30"]));
        assert!(facts["target"].as_f64().unwrap() > 200.0, "{facts:#}");
        assert_eq!(facts["overflow"], 0, "at {width}");
    }
}

#[test]
fn path_of_alignment_is_drawn_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    for width in [1280, 390] {
        let facts = open(&alignment("work"), width);
        assert_eq!(facts["title"], "demo@b aligned with demo@a");
        assert_eq!(facts["doubtful"], 0);
        assert!(facts["path"].as_f64().unwrap() > 200.0, "{facts:#}");
        assert_eq!(facts["overflow"], 0, "at {width}");
    }
}

#[test]
fn hostile_names_of_metrics_stay_text() {
    let pages = [
        (ranking(HOSTILE), ranking("faults")),
        (alignment(HOSTILE), alignment("work")),
    ];
    for (page, harmless) in pages {
        let scripts = |page: &str| page.matches("<script").count();
        assert_eq!(scripts(&page), scripts(&harmless));
        assert!(!page.contains("<img") && !page.contains('\u{202e}'));
        if !browser::is_missing() {
            assert_eq!(open(&page, 390)["overflow"], 0);
        }
    }
}
