//! The language server, as a client on its pipes has it.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::SystemTime;

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo")
}

/// A work tree with the source of the demo, and a store that has a recording of each of its builds.
fn with_demo() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = std::fs::read(demo().join("demo.c")).unwrap();
    let path = sandbox.write("src/demo.c", text);
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    ingest(&sandbox, "v1");
    sandbox
}

fn ingest(sandbox: &Sandbox, build: &str) {
    let recording = demo().join(format!("{build}.perf.data"));
    let recording = recording.to_str().unwrap();
    sandbox
        .sto(&["ingest", recording, "--exe", "demo", "--build", build])
        .succeeds();
}

/// A server and a client that has read all that it had to say so far.
struct Session {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    sent: i64,
    /// Notifications and requests of the server's that nobody asked for yet.
    unread: Vec<Value>,
}

impl Session {
    /// A server that nobody has initialized.
    fn new(sandbox: &Sandbox) -> Session {
        let mut command = sandbox.command(&["lsp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        Session {
            input: server.stdin.take().unwrap(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            sent: 0,
            unread: Vec::new(),
        }
    }

    /// One that has loaded the store, for a client that can all that matters.
    fn of(sandbox: &Sandbox) -> Session {
        let mut session = Session::new(sandbox);
        session.initialize(sandbox, &Value::Null);
        session.loaded();
        session
    }

    fn initialize(&mut self, sandbox: &Sandbox, options: &Value) -> Value {
        let params = json!({
            "processId": null,
            "rootUri": uri(sandbox.path("").canonicalize().unwrap()),
            "initializationOptions": options,
            "capabilities": {
                "general": { "positionEncodings": ["utf-8", "utf-16"] },
                "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } },
                "workspace": {
                    "inlayHint": { "refreshSupport": true },
                    "codeLens": { "refreshSupport": true },
                },
                "window": { "showDocument": { "support": true } },
            },
        });
        let answer = self.ask("initialize", &params);
        self.notify("initialized", &json!({}));
        answer["result"].clone()
    }

    /// Waits until costs are there, or others.
    fn loaded(&mut self) {
        self.hears("workspace/inlayHint/refresh");
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).unwrap();
        self.input.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request, whatever else comes before it.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(&json!(id))
    }

    fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.read().expect("the server ended");
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
            self.unread.push(message);
        }
    }

    /// The next notification or request of this method.
    fn hears(&mut self, method: &str) -> Value {
        let known = self.unread.iter().position(|m| m["method"] == method);
        if let Some(known) = known {
            return self.unread.drain(..=known).next_back().unwrap();
        }
        self.unread.clear();
        loop {
            let message = self.read().expect("the server ended");
            if message["method"] == method {
                return message;
            }
        }
    }

    fn read(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some((_, number)) => length = number.parse().unwrap(),
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        Some(serde_json::from_slice(&text).unwrap())
    }

    fn open(&mut self, path: &Path) -> String {
        let text = std::fs::read_to_string(path).unwrap();
        self.open_as(&uri(path), &text)
    }

    fn open_as(&mut self, uri: &str, text: &str) -> String {
        let document = json!({ "uri": uri, "languageId": "c", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        uri.to_owned()
    }

    fn change(&mut self, uri: &str, changes: &Value) {
        let params = json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": changes,
        });
        self.notify("textDocument/didChange", &params);
    }

    /// Line numbers from 1, and the hints at their ends.
    fn hints(&mut self, uri: &str, lines: [u32; 2]) -> Vec<(u64, String)> {
        let [start, end] = lines.map(|line| json!({ "line": line, "character": 0 }));
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": start, "end": end },
        });
        let answer = self.ask("textDocument/inlayHint", &params);
        let hints = answer["result"].as_array().into_iter().flatten();
        let hint = |hint: &Value| {
            let line = hint["position"]["line"].as_u64().unwrap() + 1;
            (line, hint["label"].as_str().unwrap().to_owned())
        };
        hints.map(hint).collect()
    }

    fn hover(&mut self, uri: &str, line: u32, character: u32) -> Value {
        let params = json!({
            "textDocument": { "uri": uri },
            "position": { "line": line - 1, "character": character },
        });
        self.ask("textDocument/hover", &params)["result"].clone()
    }

    /// Ends it as an editor does, and gives its exit status.
    fn end(mut self) -> Option<i32> {
        let answer = self.ask("shutdown", &Value::Null);
        assert_eq!(answer["result"], Value::Null);
        self.notify("exit", &Value::Null);
        self.server.wait().unwrap().code()
    }
}

fn uri(path: impl AsRef<Path>) -> String {
    format!("file://{}", path.as_ref().display())
}

#[test]
fn costs_stand_at_the_ends_of_the_lines_that_have_them() {
    let sandbox = with_demo();
    let mut session = Session::of(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    // `sto source count_rules` shows the same of these lines.
    let hints = session.hints(&uri, [119, 130]);
    let expected = [
        (123, "12.4 % self · 12.5 % total"),
        (124, "2.3 % self · 2.3 % total"),
        (125, "2.8 % self · 2.8 % total"),
        (127, "2.5 % self · 12.4 % total"),
        (128, "2.3 % self · 2.3 % total"),
        (129, "2.5 % self · 2.5 % total"),
    ];
    let expected = expected.map(|(line, words)| (line, words.to_owned()));
    assert_eq!(hints, expected);
    assert_eq!(session.hints(&uri, [126, 127]), expected[3..4]);
    assert_eq!(session.end(), Some(0));
}

#[test]
fn a_hover_says_what_the_function_costs_that_is_named_there() {
    let sandbox = with_demo();
    let mut session = Session::of(&sandbox);
    let uri = session.open(&sandbox.path("src/demo.c"));
    let hover = session.hover(&uri, 127, 45);
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
