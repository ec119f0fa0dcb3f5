//! Protocol errors never end the server.

use super::session::{Session, with_demo};
use crate::support::Sandbox;
use serde_json::{Value, json};
use sto_test_support::Random;

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_default()
}

#[test]
fn requests_are_answered_in_time() {
    let sandbox = Sandbox::new();
    let mut session = Session::new(&sandbox);
    assert_eq!(code(&session.ask("textDocument/hover", &json!({}))), -32002);
    session.notify("textDocument/didOpen", &json!({}));
    let capabilities = session.initialize(&sandbox, &Value::Null)["capabilities"].clone();
    assert_eq!(capabilities["positionEncoding"], "utf-8");
    assert_eq!(code(&session.ask("initialize", &json!({}))), -32600);
    assert_eq!(
        code(&session.ask("textDocument/rename", &json!({}))),
        -32601
    );
    assert_eq!(
        code(&session.ask("textDocument/hover", &json!([1]))),
        -32602
    );
    assert_eq!(
        code(&session.ask("workspace/executeCommand", &json!({ "command": "rm" }))),
        -32602
    );
    session.notify("$/setTrace", &json!({ "value": "off" }));
    assert_eq!(session.ask("shutdown", &Value::Null)["result"], Value::Null);
    assert_eq!(
        code(&session.ask("workspace/symbol", &json!({ "query": "#hot" }))),
        -32600
    );
    assert_eq!(session.exit(), Some(0));
}

#[test]
fn the_server_exits_when_the_client_disconnects() {
    let sandbox = Sandbox::new();
    assert_eq!(Session::new(&sandbox).exit(), Some(1));
    let mut session = Session::new(&sandbox);
    session.initialize(&sandbox, &Value::Null);
    assert_eq!(session.exit(), Some(1));
    assert_eq!(Session::new(&sandbox).close(), Some(1));
}

#[test]
fn cancelled_requests_are_answered_as_such() {
    let sandbox = with_demo();
    let mut session = Session::start(&sandbox);
    let symbols =
        json!({ "jsonrpc": "2.0", "method": "workspace/symbol", "params": { "query": "#hot" } });
    let with_id = |id: &str| {
        let mut request = symbols.clone();
        request["id"] = json!(id);
        request
    };
    // All messages are sent in one write, so that the cancellation arrives before the answer.
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": "b" } });
    let mut messages = vec![with_id("a"), with_id("b"), cancel];
    // The first requests take long enough for the others to be read.
    messages.splice(
        0..0,
        (0..50).map(|number| with_id(&format!("first-{number}"))),
    );
    let text: String = messages
        .iter()
        .map(|message| message.to_string())
        .map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()))
        .collect();
    session.write(text.as_bytes());
    assert!(session.answer(&json!("a"))["result"].is_array());
    assert_eq!(code(&session.answer(&json!("b"))), -32800);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn invalid_messages_do_not_affect_later_requests() {
    let sandbox = with_demo();
    let mut session = Session::start(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    let expected = session.hints(&uri, [119, 130]);
    let at =
        json!({ "textDocument": { "uri": uri }, "position": { "line": 126, "character": 40 } });
    let valid = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": at }),
        json!({ "jsonrpc": "2.0", "id": [1], "method": "textDocument/hover", "params": at }),
        json!({ "jsonrpc": "2.0", "id": 7, "result": { "title": "?" } }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": { "uri": "file:///none.c", "version": -1 }, "contentChanges": [{ "text": "" }] } }),
        json!({ "jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {} }),
        json!([{ "jsonrpc": "2.0" }]),
    ];
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let text = valid[random.below(valid.len())].to_string();
        let length = text.len() + [0, 0, 1, 100][random.below(4)];
        let mut bytes = format!("Content-Length: {length}\r\n\r\n{text}").into_bytes();
        match random.below(4) {
            0 => bytes.truncate(random.below(bytes.len())),
            1 => {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            2 => {
                let at = random.below(bytes.len());
                bytes.splice(at..at, std::iter::repeat_n(b'{', 300));
            }
            _ => {}
        }
        session.write(&bytes);
    }
    // An invalid length may consume the beginning of the next message, so some of these may be lost.
    for _ in 0..20 {
        session.request("shutdown-not", &Value::Null);
    }
    let hints = session.hints(&uri, [119, 130]);
    assert_eq!(hints, expected);
    assert_eq!(session.end(), Some(0));
}
