//! Changes of the store during a session.

use super::session::{Session, ingest, with_demo};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

#[test]
fn shows_new_profiles_and_warns_about_regressions() {
    let sandbox = with_demo();
    let mut session = Session::start(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    ingest(&sandbox, "v2");
    let published = loop {
        let params = session.wait_for("textDocument/publishDiagnostics")["params"].clone();
        if !params["diagnostics"].as_array().unwrap().is_empty() {
            break params;
        }
    };
    assert_eq!(published["uri"], uri);
    let warning = &published["diagnostics"][0];
    let message = warning["message"].as_str().unwrap();
    assert!(message.starts_with("doLogging: "), "{message}");
    assert!(message.ends_with("(since v1)"), "{message}");
    assert_eq!(
        (&warning["severity"], &warning["source"]),
        (&json!(2), &json!("sto"))
    );
    let related = warning["relatedInformation"].as_array().unwrap();
    let callers: Vec<_> = related
        .iter()
        .map(|r| r["message"].as_str().unwrap())
        .collect();
    assert!(
        callers
            .iter()
            .any(|text| text.contains("got slower with it")),
        "{callers:?}"
    );

    let line = warning["range"]["start"]["line"].as_u64().unwrap() as u32;
    let hints = session.hints(&uri, [line, line + 1]);
    assert!(hints[0].1.contains("since v1"), "{hints:?}");
    let hover = session.hover(&uri, line + 1, 0)["contents"]["value"].clone();
    let hover = hover.as_str().unwrap();
    assert!(hover.contains("2 builds, `v1` to `v2`"), "{hover}");

    let params = json!({
        "textDocument": { "uri": uri },
        "range": warning["range"],
        "context": { "diagnostics": [] },
    });
    let actions = session.ask("textDocument/codeAction", &params)["result"].clone();
    let titles: Vec<_> = (actions.as_array().unwrap().iter())
        .map(|action| action["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles[0], "Show the difference since v1");
    assert!(
        titles[1].starts_with("Ignore doLogging in sto.toml until 2"),
        "{titles:?}"
    );
    assert_eq!(titles[2], "Open the flame graph of doLogging");
    let edits = &actions[1]["edit"]["documentChanges"];
    assert_eq!(edits[0]["kind"], "create");
    let policy = edits[1]["edits"][0]["newText"].as_str().unwrap();
    sandbox.write("sto.toml", policy);
    // The policy file now ignores the finding.
    let published = session.wait_for("textDocument/publishDiagnostics");
    let mut published = published["params"]["diagnostics"].clone();
    while !published.as_array().unwrap().is_empty() {
        published =
            session.wait_for("textDocument/publishDiagnostics")["params"]["diagnostics"].clone();
    }
    assert_eq!(session.end(), Some(0));
}

#[test]
fn pages_are_shown_by_the_client() {
    let sandbox = with_demo();
    ingest(&sandbox, "v2");
    let mut session = Session::start(&sandbox);
    let mut page = |command: &str, arguments: Value| {
        let params = json!({ "command": command, "arguments": arguments });
        let answer = session.ask("workspace/executeCommand", &params);
        assert_eq!(answer["result"], Value::Null, "{answer}");
        let shown = session.wait_for("window/showDocument")["params"].clone();
        assert_eq!(shown["external"], true);
        let path = PathBuf::from(shown["uri"].as_str().unwrap().replace("file://", ""));
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        fs::create_dir(path.parent().unwrap()).unwrap();
        (path.parent().unwrap().to_owned(), text)
    };
    let (_, flame) = page("sto.openFlameGraph", json!(["doLogging"]));
    assert!(flame.starts_with("<!DOCTYPE html>") && flame.contains("doLogging"));
    let (folder, report) = page("sto.showDifference", json!([]));
    assert!(report.contains("doLogging") && report.contains("find-regressions"));
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(session.end(), Some(0));
}

#[test]
fn shows_the_build_that_the_user_selects() {
    let sandbox = with_demo();
    ingest(&sandbox, "v2");
    let mut session = Session::start(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    let command = json!({ "command": "sto.selectBuild" });
    session.ask("workspace/executeCommand", &command);
    let question = session.wait_for("window/showMessageRequest");
    let choices = json!([
        { "title": "the newest of the branch" },
        { "title": "demo@v2" },
        { "title": "demo@v1" },
    ]);
    assert_eq!(question["params"]["actions"], choices);
    session.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": choices[2] }));
    while !basis(&mut session, &uri).ends_with("demo@v1`") {
        session.wait_for("workspace/inlayHint/refresh");
    }
    assert_eq!(session.end(), Some(0));
}

/// Returns the last line of the hover of `main`.
fn basis(session: &mut Session, uri: &str) -> String {
    let hover = session.hover(uri, 127, 40)["contents"]["value"].clone();
    hover.as_str().unwrap().trim_end().to_owned()
}

#[test]
fn asks_about_ambiguous_files_once_and_remembers_the_answer() {
    let sandbox = with_demo();
    fs::create_dir(sandbox.path("old")).unwrap();
    fs::copy(sandbox.path("src/demo.c"), sandbox.path("old/demo.c")).unwrap();
    let mut session = Session::start(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    assert_eq!(session.hints(&uri, [119, 130]), []);
    let question = session.wait_for("window/showMessageRequest");
    let choices = json!([{ "title": "old/demo.c" }, { "title": "src/demo.c" }]);
    assert_eq!(question["params"]["actions"], choices);
    session.open(&sandbox.path("old/demo.c"));
    session.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": choices[1] }));
    session.wait_for("workspace/inlayHint/refresh");
    assert_eq!(session.hints(&uri, [119, 130]).len(), 6);
    assert_eq!(session.end(), Some(0));

    let mut session = Session::start(&sandbox);
    session.open(&sandbox.path("src/demo.c"));
    assert_eq!(session.hints(&uri, [119, 130]).len(), 6);
    session.assert_not_received("window/showMessageRequest");
    assert_eq!(session.end(), Some(0));

    let hot = sandbox.sto(&["hot"]).succeeds();
    assert!(hot.stdout.starts_with("src/demo.c:"), "{hot:?}");
    let old = sandbox.sto(&["blame", "old/demo.c"]);
    assert_eq!(old.status, Some(3), "{old:?}");
}

#[test]
fn server_survives_removal_and_pruning_of_the_store() {
    let sandbox = with_demo();
    let mut session = Session::start(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    let hints = session.hints(&uri, [119, 130]);
    fs::rename(sandbox.path("store"), sandbox.path("gone")).unwrap();
    session.wait_for("window/logMessage");
    assert_eq!(
        session.hints(&uri, [119, 130]),
        hints,
        "what was loaded stays"
    );
    fs::create_dir(sandbox.path("store")).unwrap();
    sandbox.write("store/store.redb", "this is no store");
    let message = session.wait_for("window/showMessage")["params"]["message"].clone();
    assert!(
        message.as_str().unwrap().contains("store.redb"),
        "{message}"
    );
    fs::remove_dir_all(sandbox.path("store")).unwrap();
    fs::rename(sandbox.path("gone"), sandbox.path("store")).unwrap();
    // It can be written while the server has it open.
    ingest(&sandbox, "v2");
    while !basis(&mut session, &uri).ends_with("demo@v2`") {
        session.wait_for("workspace/inlayHint/refresh");
    }
    sandbox.sto(&["prune", "demo@v2"]).succeeds();
    sandbox.sto(&["compact"]).succeeds();
    while !basis(&mut session, &uri).ends_with("demo@v1`") {
        session.wait_for("workspace/inlayHint/refresh");
    }
    assert_eq!(session.end(), Some(0));
}
