//! Tasks T1 to T3 of the user study on NonSequitur (section 5.5 of the paper), answered only from the page.

use super::page::{assert_has, open};
use crate::ask;
use crate::browser;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_query::questions::{CallTimelineRequest, CallTraceRequest};
use sto_query::render::calls::{self, PartCommand};
use sto_query::sources::{BuildRef, Sources};
use sto_query::text::Words;

const MILLISECOND: u64 = 1_000_000;

/// A thread's calls in NonSequitur's format: `0` for enter and `1` for exit, function, nanoseconds.
#[derive(Default)]
pub(super) struct Trace(pub(super) String);

impl Trace {
    /// Adds the begin of a call, in milliseconds.
    pub(super) fn enter(self, function: &str, at: u64) -> Trace {
        self.event(0, function, at)
    }

    /// Adds the end of a call, in milliseconds.
    pub(super) fn exit(self, function: &str, at: u64) -> Trace {
        self.event(1, function, at)
    }

    fn event(mut self, event: u8, function: &str, at: u64) -> Trace {
        let time = 1_000_000_000 + at * MILLISECOND;
        let _ = writeln!(self.0, "{event} {function} {time}");
        self
    }

    /// Adds a call, in milliseconds.
    pub(super) fn call(self, function: &str, from: u64, to: u64) -> Trace {
        self.enter(function, from).exit(function, to)
    }

    /// Adds calls of 4 ms, one every 5 ms, cycling through these functions.
    fn calls(self, functions: &[&str], from: u64, to: u64) -> Trace {
        let begins = (from..to).step_by(5).zip(functions.iter().cycle());
        begins.fold(self, |trace, (begin, function)| {
            trace.call(function, begin, begin + 4)
        })
    }
}

/// Writes ten seconds of calls to a folder with one file per thread.
fn traced() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let next = ["cursor_next"];
    let threads = [
        // Opens and closes cursors only at the beginning and the end.
        (
            "scanner",
            Trace::default()
                .calls(&["cursor_open", "cursor_next"], 0, 300)
                .calls(&next, 300, 9_700)
                .calls(&["cursor_open", "cursor_next"], 9_700, 10_000),
        ),
        // Opens cursors all the time.
        (
            "opener",
            Trace::default().calls(&["cursor_open", "cursor_next"], 0, 10_000),
        ),
        // Opens cursors some of the time.
        (
            "idler",
            Trace::default()
                .calls(&["cursor_open", "cursor_next"], 0, 300)
                .call("sleep", 300, 9_700)
                .calls(&["cursor_open", "cursor_next"], 9_700, 10_000),
        ),
        // Waits for the disk, 0.8 s and 0.3 s.
        (
            "logger",
            Trace::default()
                .calls(&["append"], 0, 3_000)
                .call("fsync_wait", 3_000, 3_800)
                .calls(&["append"], 3_800, 6_000)
                .call("fsync_wait", 6_000, 6_300)
                .calls(&["append"], 6_300, 10_000),
        ),
        // Waits 1.2 s for the compactor, which starts before and ends after that.
        (
            "writer",
            Trace::default()
                .calls(&["put"], 0, 6_100)
                .call("fsync_wait", 6_100, 7_300)
                .calls(&["put"], 7_300, 10_000),
        ),
        (
            "compactor",
            Trace::default()
                .call("sleep", 0, 6_000)
                .call("compact_level", 6_000, 7_500)
                .call("sleep", 7_500, 10_000),
        ),
        // Works from 5.9 s to 6.7 s, and then calls nothing.
        (
            "helper",
            Trace::default()
                .call("sleep", 0, 5_800)
                .calls(&["merge", "split"], 5_900, 6_700)
                .call("sleep", 7_400, 10_000),
        ),
    ];
    for (name, Trace(text)) in threads {
        std::fs::write(folder.path().join(format!("{name}.txt")), text).unwrap();
    }
    folder
}

fn page_of(trace: &Path) -> String {
    let sources = Sources::from_folder(Path::new("there is no store"));
    let mut request = CallTimelineRequest::default();
    request.named = BuildRef::File(PathBuf::from(trace));
    let run = ask(&sources, &CallTraceRequest(request)).unwrap();
    calls::html(&run, Words::default(), &|_| PartCommand::default()).unwrap()
}

/// Returns the search results for a function: thread, when, calls, time and the longest call.
fn found<'a>(search: &'a Value, function: &str) -> Vec<[&'a str; 5]> {
    let rows = search["found"].as_array().unwrap().iter();
    let rows = rows.map(|row| [0, 1, 2, 3, 4, 5].map(|ix| row[ix].as_str().unwrap()));
    let rows = rows.filter(|row| row[1] == function);
    rows.map(|row| [row[0], row[2], row[3], row[4], row[5]])
        .collect()
}

#[test]
fn t1_finds_thread_that_opens_cursors_only_at_its_ends() {
    if browser::is_missing() {
        return;
    }
    let trace = traced();
    let asked = "
        async function asked({ page, search, point, rows, nameOf }) {
          const seen = { open: search('cursor_open'), next: search('cursor_next') };
          search('');
          // Functions drawn at the beginning, in the middle and at the end.
          seen.drawn = {};
          for (const name of ['scanner', 'opener', 'idler']) {
            // The largest part of the row that an expression has, without the time between calls.
            const near = (from) => {
              const functions = new Set();
              for (let part = from; part < from + 0.13; part += 0.004) functions.add(point(name, part).split(/[ :]/)[0]);
              return [...functions].filter((function_) => /^(cursor|sleep)/.test(function_)).sort();
            };
            seen.drawn[name] = [near(0.002), near(0.5), near(0.868)];
          }
          return seen;
        }";
    let facts = open(&page_of(trace.path()), asked, 1280);
    let open = found(&facts["open"], "cursor_open");
    let when = |of: &[[&str; 5]], thread: &str| {
        of.iter().find(|row| row[0] == thread).unwrap()[1].to_owned()
    };
    let next = found(&facts["next"], "cursor_next");
    assert_eq!(
        facts["open"]["threads"],
        json!(["idler", "opener", "scanner"])
    );
    // A function that runs throughout has one span of time.
    let throughout: Vec<&str> = next
        .iter()
        .filter(|row| !row[1].contains(", "))
        .map(|row| row[0])
        .collect();
    assert_eq!(throughout, ["opener", "scanner"]);
    assert_eq!(when(&next, "scanner"), "0.00 s to 10.00 s");
    let of_scanner = when(&open, "scanner");
    let [first, last] = &of_scanner.split(", ").collect::<Vec<_>>()[..] else {
        panic!("{of_scanner}");
    };
    assert!(
        first.starts_with("0.00 s to ") && last.ends_with(" to 10.00 s"),
        "{of_scanner}"
    );
    assert_eq!(when(&open, "opener"), "0.00 s to 10.00 s");
    // The picture says the same.
    let both = json!(["cursor_next", "cursor_open"]);
    assert_eq!(facts["drawn"]["opener"], json!([both, both, both]));
    assert_eq!(
        facts["drawn"]["scanner"],
        json!([both, ["cursor_next"], both])
    );
    assert_eq!(facts["drawn"]["idler"][1], json!(["sleep"]));
}

#[test]
fn t2_finds_calls_longer_than_half_a_second() {
    if browser::is_missing() {
        return;
    }
    let trace = traced();
    let asked = "
        async function asked({ page, search, marks, now }) {
          const seen = { search: search('fsync_wait') };
          // Clicks the button of the longest call.
          const longest = [...page.querySelectorAll('#found .show')].map((button) => button.textContent);
          seen.longest = longest;
          [...page.querySelectorAll('#found .show')].find((button) => button.textContent.startsWith('1.20 s')).click();
          seen.shown = [now(), marks()];
          return seen;
        }";
    let facts = open(&page_of(trace.path()), asked, 1280);
    assert_eq!(facts["search"]["threads"], json!(["logger", "writer"]));
    let calls = [
        [
            "logger",
            "3.00 s to 3.80 s, 6.00 s to 6.30 s",
            "2",
            "1.10 s",
            "800 ms at 3.00 s 300 ms at 6.00 s",
        ],
        [
            "writer",
            "6.10 s to 7.30 s",
            "1",
            "1.20 s",
            "1.20 s at 6.10 s",
        ],
    ];
    assert_eq!(found(&facts["search"], "fsync_wait"), calls);
    assert_has(&facts["shown"][0], "fsync_wait took 1.20 s, 6.1");
    assert_has(&facts["shown"][0], "in writer");
    // The view shows three times the length of the call, with the call in the middle.
    let mark = &facts["shown"][1]["writer"];
    let [from, to] = [0, 1].map(|end| mark[end].as_f64().unwrap());
    assert!(
        from > 0.2 && from < 0.4 && to > 0.6 && to < 0.8,
        "{from} {to}"
    );
}

#[test]
fn t3_shows_other_threads_while_one_is_blocked() {
    if browser::is_missing() {
        return;
    }
    let trace = traced();
    let asked = "
        async function asked({ page, click, marks, search, now }) {
          // Moves along the row until it points at the wait.
          let seen = {};
          for (let part = 0.5; part < 0.8; part += 0.01) {
            const found = click('writer', part);
            if (found.is.startsWith('fsync_wait took')) {
              seen = { pinned: found, marks: marks() };
              break;
            }
          }
          return seen;
        }";
    let facts = open(&page_of(trace.path()), asked, 1280);
    let pinned = &facts["pinned"];
    assert_eq!(
        pinned["is"],
        "fsync_wait took 1.20 s, 6.10 s to 7.30 s, in writer"
    );
    let others = &pinned["others"];
    assert_eq!(others["compactor"], "compact_level 1.20 s (100%)");
    // An expression that overlaps it states its share: 0.6 s of 0.8 s, without the last pause of 1 ms.
    assert_eq!(
        others["helper"],
        "in no call 601 ms (50%); an expression of merge, split 599 ms (50%), 75% of it"
    );
    assert_has(&others["logger"], "fsync_wait 200 ms (17%)");
    assert_has(&others["idler"], "sleep 1.20 s (100%)");
    // Rows with only long calls have a linear time axis, whatever the other rows have.
    let [from, to] = [0, 1].map(|end| facts["marks"]["compactor"][end].as_f64().unwrap());
    assert!(
        (from - 0.61).abs() < 0.002 && (to - 0.73).abs() < 0.002,
        "{from} {to}"
    );
    // Each row has a mark.
    assert!(
        facts["marks"]
            .as_object()
            .unwrap()
            .values()
            .all(Value::is_array)
    );
}
