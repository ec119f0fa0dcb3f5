//! Zooming into expressions down to single calls.

use super::page::{assert_has, open};
use super::tasks::Trace;
use crate::ask;
use crate::browser;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use sto_core::Hint;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::units::Nanoseconds;
use sto_query::questions::{CallTimelineRequest, CallTraceRequest, Window};
use sto_query::render::calls::{self, PartCommand};
use sto_query::sources::{BuildRef, Sources};
use sto_query::text::Words;

/// Words of a program whose option for keeping calls is named `keep them`.
const WORDS: fn() -> Words = || Words {
    hint: |hint| match hint {
        Hint::KeepCalls => "keep them",
        _ => "",
    },
    ..Words::default()
};

/// The command that opens a part of a run; its store is in a folder whose name has a space.
fn opens(run: &str) -> PartCommand {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    PartCommand {
        before: words(&["show", "--in", "my store", run, "--since"]),
        between: words(&["--until"]),
        after: words(&["-o", "part.html"]),
    }
}

/// Stores a folder of threads' calls and returns it as sources.
fn stored(trace: &Path, keep: bool) -> Sources {
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        keep_calls: keep,
        ..IngestOptions::default()
    };
    ingest(&store, trace, &options, &mut |_| ()).unwrap();
    Sources::from_snapshot(store.snapshot().unwrap())
}

fn page_of(sources: &Sources, window: Option<(u64, u64)>) -> String {
    page_of_named(sources, "v1".into(), window)
}

fn page_of_named(sources: &Sources, named: BuildRef, window: Option<(u64, u64)>) -> String {
    let mut request = CallTimelineRequest::default();
    request.named = named;
    request.filter.window = window.map(|(from, to)| Window::Time {
        from: Nanoseconds(from),
        to: Some(Nanoseconds(to)),
    });
    let part = |run: Option<_>| opens(run.map_or("file".to_owned(), |_| "run".to_owned()).as_str());
    let run = ask(sources, &CallTraceRequest(request)).unwrap();
    calls::html(&run, WORDS(), &part).unwrap()
}

/// A server that answers a request every 5 ms: it looks up for 1 ms and sends for 3 ms, once for 4 ms. A worker holds a
/// lock during the longest send.
fn served() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Trace::default();
    for number in 0..220 {
        let begin = number * 5;
        let sent = if number == 77 { 5 } else { 4 };
        server = server
            .enter("answer", begin)
            .call("look_up", begin, begin + 1)
            .call("send", begin + 1, begin + sent)
            .exit("answer", begin + sent);
    }
    let worker = Trace::default()
        .call("idle", 0, 380)
        .call("hold_lock", 386, 390)
        .call("idle", 390, 1099);
    for (name, Trace(text)) in [("server", server), ("worker", worker)] {
        std::fs::write(folder.path().join(format!("{name}.txt")), text).unwrap();
    }
    folder
}

#[test]
fn zooms_from_an_expression_to_each_of_its_calls() {
    if browser::is_missing() {
        return;
    }
    let trace = served();
    let sources = stored(trace.path(), true);
    let page = page_of(&sources, None);
    assert!(
        page == page_of(&sources, None),
        "every page of it is the same"
    );
    let asked = "
        async function asked({ page, click, press, point, pinned, button, time, now, escape }) {
          const opens = () => texts(page, '#now .opens').join();
          const seen = { before: click('server', 0.32, 1), says: opens(), more: texts(page, '#more').join() };
          button('Zoom in').click();
          seen.zoomed = [time(), texts(page, '#more').join(), pinned().is];
          // One call after the other.
          seen.calls = [press('server', 'Home')];
          for (let presses = 0; presses < 60; presses += 1) seen.calls.push(press('server', 'ArrowRight'));
          seen.below = [press('server', 'Home'), press('server', 'ArrowDown'), press('server', 'ArrowRight')];
          escape();
          seen.worker = click('worker', 0.353, 0);
          return seen;
        }";
    for width in [1280, 390] {
        let facts = open(&page, asked, width);
        assert_has(&facts["kept"], "zooms in on it, down to its calls.");
        let is = facts["before"]["is"].as_str().unwrap();
        assert!(
            is.contains(" calls took ") && is.contains("in an expression"),
            "{is}"
        );
        let all = 29 * 3;
        assert_eq!(
            facts["says"],
            format!("Zooming in shows each of the {all} calls that it is made of.")
        );
        assert_eq!(
            (&facts["more"], &facts["zoomed"][1]),
            (&json!(""), &json!(""))
        );
        // The first and last calls are drawn one by one, in the order of time.
        let mut calls: Vec<&str> = facts["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of.as_str().unwrap())
            .collect();
        calls.dedup();
        assert_eq!(calls.len(), 29, "{calls:#?}");
        assert!(
            calls.iter().all(|call| call.starts_with("answer took ")),
            "{calls:#?}"
        );
        let usual = calls
            .iter()
            .filter(|call| call.starts_with("answer took 4.00 ms, "));
        let slow: Vec<_> = calls
            .iter()
            .filter(|call| call.starts_with("answer took 5.00 ms, 0.3850 s to 0.3900 s"))
            .collect();
        assert_eq!((usual.count(), slow.len()), (28, 1), "{calls:#?}");
        let below: Vec<&str> = facts["below"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of.as_str().unwrap().split(',').next().unwrap())
            .collect();
        assert_eq!(
            below,
            [
                "answer took 4.00 ms",
                "look_up took 1.00 ms",
                "send took 3.00 ms"
            ]
        );
        // Task T3: in a part of an expression, each call is known.
        let worker = &facts["worker"];
        assert_has(
            &worker["is"],
            "hold_lock: 1 call took 4.00 ms (100%), in an expression, 0.386 s to 0.390 s (4.00 ms), of worker",
        );
        assert_eq!(worker["others"]["server"], "send 4.00 ms (100%)");
    }
}

#[test]
fn page_states_that_calls_were_not_kept() {
    let trace = served();
    let page = page_of(&stored(trace.path(), false), None);
    let message = "Single calls of expressions were not kept; `keep them` keeps them.";
    assert!(page.contains(message));
    assert!(!page.contains("my store"));
    if browser::is_missing() {
        return;
    }
    let asked = "
        async function asked({ page, click, button }) {
          click('server', 0.32, 1);
          const seen = { pinned: texts(page, '#now .opens').join() };
          button('Zoom in').click();
          seen.zoomed = texts(page, '#more').join();
          return seen;
        }";
    let facts = open(&page, asked, 1280);
    assert_eq!(
        [&facts["kept"], &facts["pinned"], &facts["zoomed"]],
        [message; 3]
    );
}

/// A thread with more calls than fit on a page, and one with fewer calls in a shorter time.
fn many() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (thread, calls, shortest) in [(1, 140_000, 300_000_000), (2, 20_000, 1_000)] {
        let (mut text, mut now, mut random) = (String::new(), 0u64, thread);
        for number in 0..calls {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let (function, took) = (number % 7, shortest + random % shortest);
            let _ = writeln!(text, "0 f{function} {now}\n1 f{function} {}", now + took);
            now += took + random % 90;
        }
        std::fs::write(folder.path().join(format!("t{thread}.txt")), text).unwrap();
    }
    folder
}

#[test]
fn page_of_many_calls_stays_small_and_states_their_number() {
    let trace = many();
    let page = page_of(&stored(trace.path(), true), None);
    assert!(page.len() < 3_000_000, "{}", page.len());
    assert!(page.len() > 1_500_000, "{}", page.len());
    assert!(page.contains(" of 160,000 calls are on this page."));
}

#[test]
fn page_names_the_command_that_opens_missing_calls() {
    if browser::is_missing() {
        return;
    }
    let trace = served();
    // The calls of a file are read again when a part of its time is requested.
    let sources = Sources::from_folder(Path::new("there is no store"));
    let page = |window| page_of_named(&sources, BuildRef::File(trace.path().to_owned()), window);
    let asked = "
        async function asked({ page, click, button, time }) {
          click('server', 0.32, 1);
          const seen = { says: texts(page, '#now .opens').join(), command: texts(page, '#now .opens code').join() };
          button('Zoom in').click();
          seen.more = texts(page, '#more code').join();
          return seen;
        }";
    let facts = open(&page(None), asked, 1280);
    assert_has(&facts["kept"], "are not on this page");
    assert_has(
        &facts["says"],
        "Its calls that are not on this page are opened by show ",
    );
    let command = "show --in 'my store' file --since 0.29s --until 0.434s -o part.html";
    assert_eq!([&facts["command"], &facts["more"]], [command; 2]);
    let part = page(Some((290_000_000, 434_000_000)));
    assert!(
        part.contains("Every call is drawn by itself."),
        "each takes more than a hundredth of that time"
    );
}

#[test]
fn zooms_of_a_window_have_only_its_calls() {
    if browser::is_missing() {
        return;
    }
    let trace = served();
    let part = page_of(
        &stored(trace.path(), true),
        Some((382_000_000, 402_000_000)),
    );
    let asked = "
        async function asked({ page, press, click, button, escape }) {
          const seen = { long: [press('server', 'Home')] };
          for (let presses = 0; presses < 9; presses += 1) seen.long.push(press('server', 'ArrowRight'));
          return seen;
        }";
    let facts = open(&part, asked, 1280);
    let mut long: Vec<&str> = facts["long"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of.as_str().unwrap())
        .collect();
    long.dedup();
    let long: Vec<&str> = long
        .iter()
        .map(|of| of.rsplit_once(',').unwrap().0)
        .collect();
    assert_eq!(
        long,
        [
            "answer took 4.00 ms, 380.00 ms to 384.00 ms",
            "answer took 5.00 ms, 385.00 ms to 390.00 ms",
            "answer took 4.00 ms, 390.00 ms to 394.00 ms",
            "answer took 4.00 ms, 395.00 ms to 399.00 ms",
            "answer took 4.00 ms, 400.00 ms to 404.00 ms",
        ]
    );
}
