//! Drawings in a browser: a frame can be searched for, and zoomed into.

use super::{difference_with, picture_with};
use crate::browser::{self, Seen};
use crate::views::{demo, folded, hostile_names, view};
use serde_json::json;
use sto_query::render::flame::{FlameOptions, Palette, Widths};

/// Searches for a frame, zooms into it, and goes back.
const FACTS: &str = r#"
async function facts() {
  await turn();
  const page = iframe.contentDocument;
  const window = iframe.contentWindow;
  const frames = [...page.querySelectorAll('#frames > g')];
  const name = (frame) => frame.querySelector('title').textContent.replace(/ \(.*/, '');
  const width = (frame) => Number.parseFloat(frame.querySelector('rect').getAttribute('width'));
  const target = frames.find((frame) => name(frame) === 'TARGET');
  const before = width(target);
  window.search('TARGET');
  const marked = frames.filter((frame) => frame.querySelector('rect').getAttribute('fill') === 'rgb(230,0,230)');
  const matched = page.querySelector('#matched').textContent;
  window.reset_search();
  target.querySelector('rect').dispatchEvent(new window.MouseEvent('click', { bubbles: true }));
  const zoomed = width(target);
  page.querySelector('#unzoom').dispatchEvent(new window.MouseEvent('click', { bubbles: true }));
  const tops = frames.map((frame) => Number(frame.querySelector('rect').getAttribute('y')));
  const all = frames.find((frame) => name(frame) === 'all');
  return {
    names: frames.map(name),
    marked: marked.map(name),
    matched,
    narrow: before < 100,
    zoomed,
    back: width(target) === before,
    rootIsOnTop: Number(all.querySelector('rect').getAttribute('y')) === Math.min(...tops),
    scripts: page.querySelectorAll('script').length,
  };
}
"#;

#[track_caller]
fn assert_can_be_used(svg: &str, target: &str, root_is_on_top: bool) -> Vec<String> {
    let Seen { facts, console } = browser::open(svg, &FACTS.replace("TARGET", target), 1200);
    assert_eq!(facts["error"], json!(null), "{facts:#}");
    assert_eq!(facts["marked"], json!([target]), "{facts:#}");
    assert!(
        facts["matched"].as_str().unwrap().starts_with("Matched: "),
        "{facts:#}"
    );
    assert_eq!(facts["narrow"], true, "{facts:#}");
    assert_eq!(facts["zoomed"], 100.0, "{facts:#}");
    assert_eq!(facts["back"], true, "{facts:#}");
    assert_eq!(facts["rootIsOnTop"], root_is_on_top);
    assert_eq!(facts["scripts"], 1, "the graph's own");
    assert_eq!(console, Vec::<String>::new());
    let names = facts["names"].as_array().unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_flame_graph_can_be_searched_and_zoomed_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let svg = picture_with(&demo().0, &FlameOptions::default());
    assert_can_be_used(&svg, "doWork", false);
}

#[test]
fn an_inverted_difference_hangs_from_its_root_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let (v1, v2) = demo();
    let options = FlameOptions {
        inverted: true,
        palette: Palette::Colorblind,
        ..FlameOptions::default()
    };
    let svg = difference_with(&v1, &v2, Widths::Candidate, &options).unwrap();
    assert_can_be_used(&svg, "ksys_write", true);
}

#[test]
fn names_that_are_markup_stay_text_in_a_browser() {
    if browser::is_missing() {
        return;
    }
    let lines: String = hostile_names()
        .iter()
        .filter(|name| !name.contains(['\n', ';']))
        .map(|name| format!("main;{name} 10\n"))
        .collect();
    let stacks = folded(
        Box::leak(format!("main;plain 10\n{lines}").into_boxed_str()),
        1,
    );
    let names = assert_can_be_used(
        &picture_with(&view("v1", &stacks), &FlameOptions::default()),
        "plain",
        false,
    );
    let script = "<script>alert(1)</script>";
    assert!(names.iter().any(|name| name == script), "{names:?}");
}
