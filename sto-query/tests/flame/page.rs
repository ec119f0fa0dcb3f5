//! Drawings in a browser: searching and zooming.

use super::{difference_with, picture_with};
use crate::browser::{self, Seen};
use crate::views::{demo, folded, hostile_names, view};
use serde_json::json;
use sto_query::render::flame::{FlameOptions, Palette, Widths};

/// Searches for a frame, zooms in and out, and moves with the keyboard.
const FACTS: &str = r#"
async function facts() {
  await turn();
  const page = iframe.contentDocument;
  const frames = [...page.querySelectorAll('.frames > g')];
  const name = (frame) => frame.querySelector('title').textContent.replace(/ \([^(]*\)$/, '');
  const rect = (frame) => frame.querySelector('rect');
  const part = (frame) => rect(frame).width.baseVal.value / page.documentElement.viewBox.baseVal.width;
  const click = (element) =>
    element.dispatchEvent(new iframe.contentWindow.MouseEvent('click', { bubbles: true }));
  const press = (key) => {
    const event = new iframe.contentWindow.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    page.activeElement.dispatchEvent(event);
    return page.activeElement.getAttribute('aria-label');
  };
  const all = frames[0];
  const target = frames.find((frame) => name(frame) === 'TARGET');
  const before = part(target);
  const search = page.querySelector('input[type="search"]');
  search.value = 'TARGET';
  search.dispatchEvent(new Event('input'));
  const marked = frames.filter((frame) => frame.classList.contains('match'));
  const matched = page.querySelector('.status').textContent;
  click(page.querySelector('button'));
  click(rect(target));
  const zoomed = part(target);
  const others = frames.filter((frame) => !frame.hasAttribute('hidden')).length;
  click(page.querySelector('button'));
  const back = part(target);
  all.focus();
  const walk = ['ArrowDown', 'ArrowUp', 'ArrowDown', 'Enter'].map(press);
  const entered = part(page.activeElement);
  press('Escape');
  const tops = frames.map((frame) => Number(rect(frame).getAttribute('y')));
  return {
    names: frames.map(name),
    marked: marked.map(name),
    matched,
    narrow: before < 0.9,
    zoomed,
    fewer: others < frames.length,
    back: back === before,
    walk: [walk[1] === all.getAttribute('aria-label'), walk[0] === walk[2], walk[2] === walk[3], entered === 1],
    rootIsOnTop: Number(rect(all).getAttribute('y')) === Math.min(...tops),
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    scripts: page.querySelectorAll('script').length,
  };
}
"#;

#[track_caller]
fn assert_can_be_used(svg: &str, target: &str) -> Vec<String> {
    let script = FACTS.replace("TARGET", target);
    let Seen { facts, console } = browser::open(svg, &script, 1200);
    assert_eq!(facts["error"], json!(null), "{facts:#}");
    assert_eq!(facts["marked"], json!([target]), "{facts:#}");
    assert!(
        facts["matched"]
            .as_str()
            .unwrap()
            .ends_with("% of all that is drawn"),
        "{facts:#}"
    );
    assert_eq!(facts["narrow"], true, "{facts:#}");
    assert_eq!(facts["zoomed"], 1, "{facts:#}");
    assert_eq!(facts["fewer"], true, "{facts:#}");
    assert_eq!(facts["walk"], json!([true, true, true, true]), "{facts:#}");
    assert_eq!(facts["overflow"], 0, "{facts:#}");
    assert_eq!(facts["back"], true, "{facts:#}");
    assert_eq!(facts["rootIsOnTop"], true);
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
    assert_can_be_used(&svg, "doWork");
}

#[test]
fn an_inverted_difference_can_be_used_in_a_browser() {
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
    assert_can_be_used(&svg, "ksys_write");
}

#[test]
fn hostile_names_stay_text_in_a_browser() {
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
    );
    let script = "<script>alert(1)</script>";
    assert!(names.iter().any(|name| name == script), "{names:?}");
}
