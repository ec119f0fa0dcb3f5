//! Costs in the editor, before and after edits.

use super::session::{Session, with_demo};
use crate::support::Sandbox;
use serde_json::{Value, json};

fn owned<const N: usize>(hints: [(u64, &str); N]) -> Vec<(u64, String)> {
    hints.map(|(line, words)| (line, words.to_owned())).to_vec()
}

fn opened(sandbox: &Sandbox) -> (Session, String) {
    let mut session = Session::start(sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    (session, uri)
}

#[test]
fn hints_show_costs_at_the_ends_of_lines() {
    let sandbox = with_demo();
    let (mut session, uri) = opened(&sandbox);
    // `sto source count_rules` shows the same of these lines.
    let expected = owned([
        (123, "12.4 % self · 12.5 % total"),
        (124, "2.3 % self · 2.3 % total"),
        (125, "2.8 % self · 2.8 % total"),
        (127, "2.5 % self · 12.4 % total"),
        (128, "2.3 % self · 2.3 % total"),
        (129, "2.5 % self · 2.5 % total"),
    ]);
    assert_eq!(session.hints(&uri, [119, 130]), expected);
    assert_eq!(session.hints(&uri, [126, 127]), expected[3..4]);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn hints_follow_edits_and_changed_lines_have_none() {
    let sandbox = with_demo();
    let (mut session, uri) = opened(&sandbox);
    let before = session.hints(&uri, [119, 130]);
    let place = |line, character| json!({ "line": line, "character": character });
    let changes = json!([
        { "range": { "start": place(0, 0), "end": place(0, 0) }, "text": "// größer 𝄞\n" },
        { "range": { "start": place(127, 1), "end": place(127, 7) }, "text": "give" },
    ]);
    session.change(&uri, &changes);
    let moved: Vec<_> = before
        .iter()
        .filter(|(line, _)| *line != 127)
        .map(|(line, words)| (line + 1, words.clone()))
        .collect();
    assert_eq!(session.hints(&uri, [120, 131]), moved);
    let text = std::fs::read_to_string(sandbox.path("src/demo.c")).unwrap();
    session.change(&uri, &json!([{ "text": text }]));
    assert_eq!(session.hints(&uri, [119, 130]), before);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn hover_shows_the_costs_of_the_function() {
    let sandbox = with_demo();
    let (mut session, uri) = opened(&sandbox);
    let hover = session.hover(&uri, 127, 40);
    assert_eq!(hover["contents"]["kind"], "markdown");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.starts_with("**`count_rules`** in `demo`\n\n12.4 % self · 12.5 % total\n"),
        "{text}"
    );
    assert!(text.contains("\nCalled by\n\n- `"), "{text}");
    let basis = "339 of 2,716 samples of `cpu-clock`, in 1 run of `demo@v1`";
    assert!(text.contains(basis), "{text}");
    assert_eq!(session.hover(&uri, 2, 0), Value::Null);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn settings_control_hints() {
    let sandbox = with_demo();
    let (mut session, uri) = opened(&sandbox);
    let settings = json!({ "minPercent": 12, "wording": ["{total}"], "codeLenses": true });
    let params = json!({ "settings": { "sto": settings } });
    session.notify("workspace/didChangeConfiguration", &params);
    let expected = owned([(123, "12.5 %"), (127, "12.4 %")]);
    assert_eq!(session.hints(&uri, [119, 130]), expected);
    let lenses = session.ask(
        "textDocument/codeLens",
        &json!({ "textDocument": { "uri": uri } }),
    );
    let lenses = lenses["result"].as_array().unwrap().clone();
    let of_function = lenses
        .iter()
        .find(|lens| lens["range"]["start"]["line"] == 122);
    let command = &of_function.unwrap()["command"];
    assert_eq!(command["title"], "12.5 %");
    assert_eq!(command["arguments"], json!(["count_rules"]));
    let params = json!({ "settings": { "sto": { "minPercent": "all" } } });
    session.notify("workspace/didChangeConfiguration", &params);
    let message = session.wait_for("window/showMessage")["params"]["message"].clone();
    assert!(
        message.as_str().unwrap().contains("expected f64"),
        "{message}"
    );
    assert_eq!(session.hints(&uri, [119, 130]), expected);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn hot_functions_are_symbols_and_have_a_call_hierarchy() {
    let sandbox = with_demo();
    let (mut session, uri) = opened(&sandbox);
    let symbols = session.ask("workspace/symbol", &json!({ "query": "#hot" }))["result"].clone();
    let symbols = symbols.as_array().unwrap();
    assert_eq!(symbols[0]["name"], "main #hot");
    assert_eq!(symbols[0]["location"]["uri"], uri);
    let named = session.ask("workspace/symbol", &json!({ "query": "hot RULES" }))["result"].clone();
    assert_eq!(named[0]["name"], "count_rules #hot");
    assert_eq!(named[0]["location"]["range"]["start"]["line"], 122);
    let others = session.ask("workspace/symbol", &json!({ "query": "hotel" }));
    assert_eq!(others["result"], json!([]));

    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 126, "character": 2 } });
    let items = session.ask("textDocument/prepareCallHierarchy", &at)["result"].clone();
    assert_eq!(items[0]["name"], "count_rules");
    let item = json!({ "item": items[0] });
    let callers = session.ask("callHierarchy/incomingCalls", &item)["result"].clone();
    let caller = &callers[0]["from"];
    let expected = sandbox.sto(&["top", "v1"]).succeeds().stdout;
    assert!(
        expected.contains(caller["name"].as_str().unwrap()),
        "{callers}"
    );
    let item = json!({ "item": caller });
    let callees = session.ask("callHierarchy/outgoingCalls", &item)["result"].clone();
    let callees = callees.as_array().unwrap();
    assert!(
        callees
            .iter()
            .any(|call| call["to"]["name"] == "count_rules"),
        "{callees:?}"
    );
    assert_eq!(session.end(), Some(0));
}
