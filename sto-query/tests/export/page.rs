//! The page of a build's profiles in a browser.

use crate::browser::{self, Seen};
use crate::views::{Stacks, demo, folded, frame, hostile_names, view, view_of};
use serde_json::{Value, json};
use sto_core::model::FrameKind;
use sto_core::units::{Cost, SampleType, Unit};
use sto_query::render::profile_page;
use sto_query::results::View;

fn page(view: &View) -> String {
    let mut page = Vec::new();
    profile_page::html(view, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn open(view: &View, width: u32) -> Value {
    let Seen { facts, console } = browser::open(&page(view), include_str!("facts.js"), width);
    assert_eq!(facts["error"], Value::Null, "{facts:#}");
    assert_eq!(facts["smuggled"], "did not run");
    assert_eq!(facts["overflow"], 0, "{facts:#}");
    let refused = |line: &&String| !line.contains("Content Security Policy");
    let messages: Vec<&String> = console.iter().filter(refused).collect();
    assert!(messages.is_empty(), "{messages:?}");
    facts
}

/// A view of two events: `main` has most of the first, `copy` most of the second.
fn two_events() -> View {
    let event = |event: &str, unit| SampleType {
        event: event.to_owned(),
        unit,
    };
    let [cpu, faults] = ["main;parse 70\nmain;copy 20\nmain 10", "main;copy 40"]
        .map(|stacks| folded(stacks, 1_000_000));
    view_of(
        "v1",
        &[vec![
            (event("cpu-clock", Unit::Nanoseconds), &cpu),
            (event("page-faults", Unit::Events), &faults),
        ]],
    )
}

#[test]
fn each_event_has_a_flame_graph_and_a_table() {
    if browser::is_missing() {
        return;
    }
    for width in [1280, 390] {
        let facts = open(&two_events(), width);
        assert_eq!(facts["title"], "demo@v1");
        assert_eq!(facts["choices"], json!(["cpu-clock", "page-faults"]));
        assert_eq!(facts["shown"], json!([["cpu-clock"], ["page-faults"]]));
        assert_eq!(facts["bySelf"], json!(["parse", "copy", "main"]));
        assert_eq!(facts["byTotal"], json!(["main", "parse", "copy"]));
        assert_eq!(
            facts["first"],
            json!(["70.00%", "70", "70.00%", "70", "demo", "parse"])
        );
        assert_eq!(facts["found"], json!(["parse"]));
        let status = facts["status"].as_str().unwrap();
        assert_eq!(status, "Stacks with “parse”: 70.0% of all that is drawn");
        assert_eq!(facts["drawn"], json!(["all", "main", "copy"]));
    }
}

#[test]
fn names_that_are_markup_stay_text() {
    if browser::is_missing() {
        return;
    }
    let cost = Cost {
        samples: 1,
        value: 1,
    };
    let names = hostile_names();
    let frames = names
        .into_iter()
        .map(|name| frame(name, name, FrameKind::User));
    let stacks: Stacks = frames.map(|frame| (vec![frame], cost)).collect();
    let events = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
    ];
    let events = events.map(|event| SampleType {
        event: event.to_owned(),
        unit: Unit::Events,
    });
    let run = events.iter().map(|event| (event.clone(), &stacks));
    let facts = open(&view_of("</title><b>v1</b>", &[run.collect()]), 1280);
    assert_eq!(facts["title"], "demo@</title><b>v1</b>");
    assert_eq!(facts["choices"], json!([events[0].event, events[1].event]));
    let listed = facts["bySelf"].as_array().unwrap();
    assert!(
        listed.contains(&json!("<script>alert(1)</script>")),
        "{listed:#?}"
    );
    assert_eq!(facts["images"], 0);
}

#[test]
fn page_of_large_profile_is_bounded_and_states_omissions() {
    // 30,000 frames of a thousandth each.
    let chain = |leaf: usize| (0..30).map(move |depth| format!(";f{leaf}_{depth}"));
    let stacks = (0..1000).map(|leaf| format!("main{} 1\n", chain(leaf).collect::<String>()));
    let stacks: String = stacks.collect();
    let large = page(&view("v1", &folded(Box::leak(stacks.into_boxed_str()), 1)));
    assert!(large.len() < 8_000_000, "{} bytes", large.len());
    assert!(
        large.contains(" is not drawn."),
        "narrow frames are left out"
    );
    assert!(large.contains(" functions that cost less are not listed."));
    let small = page(&demo().0);
    assert!(
        !small.contains("not drawn.") && !small.contains("not listed."),
        "{small}"
    );
}
