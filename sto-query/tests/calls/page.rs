//! The page of calls in a browser.

use super::{crowded, server};
use crate::browser::{self, Seen};
use crate::views::{assert_golden, lines};
use serde_json::{Value, json};
use sto_query::render::calls::{self, PartCommand};
use sto_query::results::CallTrace;
use sto_query::text::Words;

/// Returns the page of a run, without hints about commands.
fn html(run: &CallTrace) -> String {
    calls::html(run, Words::default(), &|_| PartCommand::default()).unwrap()
}

/// Opens a page, interacts with it as the JavaScript `asked` says, and returns what that returns.
pub(super) fn open(page: &str, asked: &str, width: u32) -> Value {
    let facts = format!("{}\n{asked}", include_str!("facts.js"));
    let Seen { facts, console } = browser::open(page, &facts, width);
    assert_eq!(facts["error"], Value::Null, "{facts:#}");
    // The browser must refuse scripts in names.
    assert_eq!(facts["smuggled"], "did not run");
    let refused = |line: &&String| !line.contains("Content Security Policy");
    let messages: Vec<&String> = console.iter().filter(refused).collect();
    assert!(messages.is_empty(), "{messages:?}");
    facts
}

#[track_caller]
pub(super) fn assert_has(text: &Value, part: &str) {
    let text = text.as_str().unwrap();
    assert!(text.contains(part), "no `{part}` in `{text}`");
}

#[test]
fn page_matches_golden_file() {
    assert_golden("calls.html", &lines(&html(&server())));
}

#[test]
fn every_stack_is_drawn_if_the_row_has_room() {
    if browser::is_missing() {
        return;
    }
    let asked = "
        async function asked({ point, time }) {
          const names = new Set();
          for (const level of [0, 1, 2]) {
            for (let part = 0; part < 1; part += 0.0004) names.add(point('main', part, level).split(':')[0].split(' ')[0]);
          }
          return { names: [...names], time: time() };
        }";
    let facts = open(&html(&crowded()), asked, 1280);
    assert_eq!(facts["time"], "All: 0.00 µs to 99.00 µs");
    let names: Vec<&str> = facts["names"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let many = (0..200).map(|ix| format!("f{ix}"));
    for name in ["e", "p", "x", "y", "q", "m", "long"]
        .map(str::to_owned)
        .into_iter()
        .chain(many)
    {
        assert!(names.contains(&&*name), "{name}: {names:?}");
    }
}

#[test]
fn pointing_names_a_call_and_marks_its_time_in_every_row() {
    if browser::is_missing() {
        return;
    }
    let asked = "
        async function asked({ page, point, click, marks, press, escape, button, time, pointer, now, laneOf, overflow }) {
          const seen = { long: point('server', 0.5, 1), marks: marks() };
          seen.gap = point('worker (9)', 0.24);
          seen.expression = point('server', 0.05, 1);
          seen.inner = [];
          for (let part = 0.015; part < 0.2; part += 0.01) seen.inner.push(point('server', part, 2));
          seen.pinned = click('server', 0.5, 1);
          seen.stays = point('worker (10)', 0.5);
          button('Zoom in').click();
          seen.zoomed = [time(), marks()];
          escape();
          seen.released = now();
          escape();
          seen.whole = time();
          seen.walked = ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowLeft', 'ArrowUp'].map((key) => press('server', key));
          seen.kept = [press('server', 'Enter'), page.querySelectorAll('#now dt').length];
          escape();
          seen.tapped = click('server', 0.5, 1, 'touch').is;
          escape();
          pointer('pointerdown', 'server', 0.4, 0);
          pointer('pointermove', 'server', 0.6, 0);
          pointer('pointerup', 'server', 0.6, 0);
          seen.dragged = time();
          seen.narrow = overflow();
          button('Back').click();
          seen.back = time();
          [...page.querySelectorAll('#outliers .show')][0].click();
          seen.outlier = now();
          seen.labels = ['server', 'worker (9)'].map((name) => laneOf(name).getAttribute('aria-label'));
          return seen;
        }";
    for width in [1280, 390] {
        let facts = open(&html(&server()), asked, width);
        assert_eq!(facts["title"], "Calls of demo@v1");
        assert_has(
            &facts["about"],
            "3 threads made 217 calls in 100 µs, kept as 12 records",
        );
        assert_eq!(
            facts["threads"],
            json!(["server", "worker (9)", "worker (10)"])
        );
        assert_eq!(
            (&facts["overflow"], &facts["narrow"]),
            (&json!(0), &json!(0))
        );
        assert_has(&facts["legend"][0], "work");
        assert_has(&facts["legend"][0], "3 × 2");
        assert_eq!(facts["time"], "All: 0.0 µs to 100.0 µs");

        assert_eq!(
            facts["long"],
            "wait took 50.0 µs, 24.0 µs to 74.0 µs, in server"
        );
        // A row with a single call has a linear time axis.
        let [from, to] = [0, 1].map(|end| facts["marks"]["worker (10)"][end].as_f64().unwrap());
        assert!(
            (from - 0.24).abs() < 1e-6 && (to - 0.74).abs() < 1e-6,
            "{from} {to}"
        );
        assert_has(
            &facts["gap"],
            "In no call, 19.0 µs to 29.0 µs (10.0 µs), in worker (9)",
        );
        let expression = "handle: 40 calls took 18.0 µs together (95%), in an expression, 1.0 µs to 20.0 µs (19.0 µs), of server";
        assert_eq!(facts["expression"], expression);
        let inner = facts["inner"].as_array().unwrap().iter();
        let inner: Vec<&str> = inner
            .map(|text| text.as_str().unwrap().split(':').next().unwrap())
            .collect();
        let first = |name| inner.iter().position(|found| *found == name).unwrap();
        assert!(first("parse") < first("reply"), "{inner:?}");

        let pinned = &facts["pinned"];
        assert_eq!(pinned["path"], "serve › wait");
        assert_eq!(
            pinned["others"]["worker (9)"],
            "lock 45.0 µs (90%); in no call 5.00 µs (10%)"
        );
        assert_eq!(pinned["others"]["worker (10)"], "work 50.0 µs (100%)");
        assert_eq!(facts["stays"], pinned["is"]);
        assert_eq!(facts["zoomed"][0], "24.00 µs to 74.00 µs");
        assert_eq!(facts["zoomed"][1]["worker (10)"], json!([0, 1]));
        assert_has(&facts["released"], "work took 100 µs");
        assert_eq!(facts["whole"], facts["time"]);
        let walked = facts["walked"].as_array().unwrap().iter();
        let walked: Vec<&str> = walked
            .map(|text| text.as_str().unwrap().split([' ', ':']).next().unwrap())
            .collect();
        assert_eq!(
            walked,
            ["serve", "handle", "wait", "handle", "handle", "serve"]
        );
        assert_eq!(facts["kept"][1], 2);
        assert_eq!(facts["tapped"], pinned["is"]);
        assert!(
            facts["dragged"].as_str().unwrap().starts_with("4"),
            "{}",
            facts["dragged"]
        );
        assert_eq!(facts["back"], facts["time"]);
        assert_eq!(
            facts["outlier"],
            "wait took 50.0 µs, usually 600 ns (median of 4 calls), 24.0 µs to 74.0 µs, in server"
        );
    }
}

#[test]
fn functions_are_highlighted_and_threads_selected() {
    if browser::is_missing() {
        return;
    }
    let asked = "
        async function asked({ page, rows, nameOf, search, picture }) {
          const threads = () => rows().map(nameOf);
          const before = picture('server');
          const seen = { lock: search('LOCK'), none: search('no such function'), all: search('') };
          const legend = [...page.querySelectorAll('#legend button')];
          const wait = legend.find((button) => button.textContent.startsWith('wait'));
          wait.click();
          seen.pressed = [wait.getAttribute('aria-pressed'), picture('server') !== before];
          seen.found = [...page.querySelectorAll('#found tbody tr')].map((row) => row.textContent);
          wait.click();
          seen.again = [wait.getAttribute('aria-pressed'), page.querySelectorAll('#found tbody tr').length];
          const boxes = [...page.querySelectorAll('#plot .choose input')];
          boxes[0].click();
          seen.two = [threads(), page.querySelector('#plot summary').textContent];
          [...page.querySelectorAll('#plot .choose button')][1].click();
          seen.nothing = threads();
          return seen;
        }";
    let facts = open(&html(&server()), asked, 1280);
    assert_eq!(facts["lock"]["threads"], json!(["worker (9)"]));
    assert_eq!(facts["lock"]["said"], "1 function, 1 thread");
    let expected = [[
        "worker (9)",
        "lock",
        "29.0 µs to 75.0 µs",
        "1",
        "46.0 µs",
        "46.0 µs at 29.0 µs",
    ]];
    assert_eq!(facts["lock"]["found"], json!(expected));
    assert_eq!(
        (&facts["none"]["threads"], &facts["none"]["said"]),
        (&json!([]), &json!("0 functions, 0 threads"))
    );
    assert_eq!(facts["all"]["threads"], facts["threads"]);
    assert_eq!(facts["pressed"], json!(["true", true]));
    assert_eq!(facts["found"].as_array().unwrap().len(), 1);
    assert_eq!(facts["again"], json!(["false", 0]));
    assert_eq!(
        facts["two"],
        json!([["worker (9)", "worker (10)"], "Threads: 2 of 3"])
    );
    assert_eq!(facts["nothing"], json!([]));
}

#[test]
fn hostile_names_stay_text() {
    let hostile = [
        "</script><script>document.documentElement.dataset.smuggled='by_a_name'</script>",
        "\"],\"parents\":[]}//",
        "<img/src=x/onerror=alert(1)>&lt;",
        "a\u{202e}b\u{2028}c\\u003c",
    ];
    let mut run: CallTrace = server();
    for (thread, name) in run.calls.threads.iter_mut().zip(&hostile[1..]) {
        (*name).clone_into(&mut thread.thread.name);
    }
    let mut frames = sto_core::model::FrameTable::new();
    for (_, frame) in run.view.frames.iter() {
        let symbol = hostile[frame.symbol.len() % hostile.len()].to_owned() + frame.symbol;
        frames.insert(sto_core::model::Frame {
            symbol: &symbol,
            ..frame
        });
    }

    run.view.frames = frames;
    let page = html(&run);
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
    let asked = "
        async function asked({ page, search }) {
          return { found: search('onerror'), lists: texts(page, '#legend code'), names: texts(page, '#threads th[scope=row]') };
        }";
    let facts = open(&page, asked, 1280);
    let names = facts["lists"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
    for expected in &hostile[..3] {
        assert!(
            names.iter().any(|name| name.starts_with(expected)),
            "{expected}: {names:?}"
        );
    }
    assert_eq!(facts["names"][1], hostile[2]);
    assert_eq!(facts["threads"][2], "a\\u{202e}b\\u{2028}c\\u003c");
    assert!(!facts["found"]["found"].as_array().unwrap().is_empty());
}
