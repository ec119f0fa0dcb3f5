//! The commands that pages show.

use crate::models::swept;
use crate::report::with_history;
use crate::support::{Sandbox, repository};
use serde_json::Value;

fn testdata(name: &str) -> String {
    let path = repository().join("testdata").join(name);
    path.to_str().unwrap().to_owned()
}

/// Returns the texts between two others.
fn between<'a>(page: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    let parts = page.split(before).skip(1);
    let texts = parts.filter_map(|part| part.split_once(after));
    texts.map(|(text, _)| text).collect()
}

fn unescaped(text: &str) -> String {
    let escapes = [
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    let text = text.to_owned();
    escapes.iter().fold(text, |text, (escape, character)| {
        text.replace(escape, character)
    })
}

/// Returns the commands in a page's text, and those that its scripts assemble.
fn commands(page: &str) -> Vec<String> {
    let code = between(page, "<code>", "</code>")
        .into_iter()
        .map(unescaped);
    let mut commands: Vec<String> = code.filter(|code| code.starts_with("sto ")).collect();
    let data = "<script id=\"data\" type=\"application/json\">";
    let data = between(page, data, "</script>");
    let data = data.first().map(|data| serde_json::from_str(data).unwrap());
    let data: Value = data.unwrap_or_default();
    let [from, to] = ["from", "to"].map(|key| data[key].as_f64().unwrap_or_default());
    // pattern.js adds a metric and points.
    for ranking in between(page, "data-ranking=\"", "\"") {
        let [ranking, metric] = [ranking, between(page, "data-metric=\"", "\"")[0]].map(unescaped);
        commands.push(format!(
            "{ranking} --target '{metric}' --by linear-pattern --pattern='{from}:1,{to}:2'"
        ));
    }
    // calls.js adds times.
    if let Some([before, between, after]) = data["command"].as_array().map(Vec::as_slice) {
        let [before, between, after] = [before, between, after].map(|part| part.as_str().unwrap());
        let [from, to] = [from, to].map(|time| time / 1e9);
        commands.push(format!("{before} {from}s {between} {to}s {after}"));
    }
    commands
}

/// Runs every command of the page that this command writes into `page.html`, and returns their number.
fn run_commands_of(sandbox: &Sandbox, page: &[&str]) -> usize {
    let written = sandbox.sto(&[page, &["-o", "page.html"]].concat());
    let file = std::fs::read_to_string(sandbox.path("page.html"));
    let shown = file.unwrap_or_else(|_| panic!("{page:?}: {written:?}"));
    assert!(shown.starts_with("<!DOCTYPE html>"), "{page:?}");
    std::fs::remove_file(sandbox.path("page.html")).unwrap();
    let commands = commands(&shown);
    for command in &commands {
        let words = shlex::split(command).unwrap();
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let ["sto", _] = words[..] {
            // Only the command's name.
            words.push("--help");
        }
        let run = sandbox.sto(&words[1..]);
        assert!(
            matches!(run.status, Some(0 | 1)) && !run.stderr.contains("error:"),
            "{command}: {run:?}"
        );
    }
    commands.len()
}

#[test]
fn commands_of_pages_can_be_run() {
    let files = Sandbox::new();
    let [threads, calls] = ["perf-data/threads.perf.data", "xray/basic.xray"].map(testdata);
    let pace = "pace = \"event:cpu-clock\" / 2";
    let target = ["--target", "event:cpu-clock"];
    let two = Sandbox::with_two_builds();
    let many = swept();
    let history = with_history();
    for (sandbox, page, has_commands) in [
        (&files, &["timeline", &threads, "--metric", pace][..], true),
        (&files, &["timeline", &calls], true),
        (
            &files,
            &["correlate", &threads, target[0], target[1]],
            false,
        ),
        (&files, &["align", &threads, &threads], false),
        (&files, &["flame", &threads], false),
        (
            &two,
            &["find-regressions", "v1", "v2", "--format", "html"],
            true,
        ),
        (&two, &["diff", "v1", "v2"], false),
        (&two, &["export", "v1", "--format", "html"], false),
        (&two, &["evolve", "--exe", "demo"], false),
        (
            &many,
            &[
                "find-regressions",
                "v1",
                "v2",
                "--x",
                "n",
                "--format",
                "html",
            ],
            true,
        ),
        (&many, &["model", "find", "v1", "--x", "n"], false),
        (&many, &["compare-models", "v1", "v2", "--x", "n"], false),
        (&history, &["report", "--min-score", "1"], true),
    ] {
        assert_eq!(run_commands_of(sandbox, page) > 0, has_commands, "{page:?}");
    }
}
