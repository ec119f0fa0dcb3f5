//! A test client of the language server.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, SystemTime};

pub(super) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo")
}

/// A work tree with the source of the demo, and a store that has a recording of its first build.
pub(super) fn with_demo() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = std::fs::read(demo().join("demo.c")).unwrap();
    write_at(&sandbox, "src/demo.c", text, 0);
    ingest(&sandbox, "v1");
    sandbox
}

/// Stores a recording of a build of the demo.
pub(super) fn ingest(sandbox: &Sandbox, build: &str) {
    // All files of a clone have the same time, so give each build a later one.
    let second = build.trim_start_matches('v').parse().unwrap();
    for file in [format!("{build}.perf.data"), format!("demo-{build}")] {
        let bytes = std::fs::read(demo().join(&file)).unwrap();
        write_at(sandbox, &format!("recorded/{file}"), bytes, second);
    }
    let recording = format!("recorded/{build}.perf.data");
    sandbox
        .sto(&["ingest", &recording, "--exe", "demo", "--build", build])
        .succeeds();
}

/// Writes a file with this modification time, in seconds since 1970.
pub(super) fn write_at(sandbox: &Sandbox, name: &str, bytes: impl AsRef<[u8]>, second: u64) {
    let path = sandbox.write(name, bytes);
    let file = File::options().write(true).open(path).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    file.set_modified(time).unwrap();
}

/// A server, and a client that keeps the messages received so far.
pub(super) struct Session {
    server: Child,
    pub(super) input: ChildStdin,
    output: BufReader<ChildStdout>,
    sent: i64,
    /// Notifications and requests of the server that the test has not asked for yet.
    unread: Vec<Value>,
}

impl Session {
    /// Starts a server without initializing it.
    pub(super) fn new(sandbox: &Sandbox) -> Session {
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

    /// Starts a server with a loaded store, for a client with all relevant capabilities.
    pub(super) fn start(sandbox: &Sandbox) -> Session {
        let mut session = Session::new(sandbox);
        session.initialize(sandbox, &Value::Null);
        session.loaded();
        session
    }

    pub(super) fn initialize(&mut self, sandbox: &Sandbox, options: &Value) -> Value {
        let params = json!({
            "processId": null,
            "rootUri": uri(sandbox.path("").canonicalize().unwrap()),
            "initializationOptions": options,
            "capabilities": {
                "general": { "positionEncodings": ["utf-8", "utf-16"] },
                "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } },
                "workspace": {
                    "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create"] },
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

    /// Waits until the costs of a build and the comparison are loaded.
    pub(super) fn loaded(&mut self) {
        // Settings, costs, and earlier builds.
        for _ in 0..3 {
            self.wait_for("workspace/inlayHint/refresh");
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).unwrap();
        self.input.flush().unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(super) fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and returns its answer; other messages stay in `unread`.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(&json!(id))
    }

    pub(super) fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.read().expect("the server ended");
            if message.get("method").is_none() && message["id"] == *id {
                return message;
            }
            self.unread.push(message);
        }
    }

    /// Waits for the next notification or request with this method.
    pub(super) fn wait_for(&mut self, method: &str) -> Value {
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

    pub(super) fn read(&mut self) -> Option<Value> {
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

    pub(super) fn open(&mut self, path: &Path) -> String {
        let text = std::fs::read_to_string(path).unwrap();
        self.open_as(&uri(path), &text)
    }

    pub(super) fn open_as(&mut self, uri: &str, text: &str) -> String {
        let document = json!({ "uri": uri, "languageId": "c", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        uri.to_owned()
    }

    pub(super) fn change(&mut self, uri: &str, changes: &Value) {
        let params = json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": changes,
        });
        self.notify("textDocument/didChange", &params);
    }

    /// Returns the hints in these lines, with line numbers from 1.
    pub(super) fn hints(&mut self, uri: &str, lines: [u32; 2]) -> Vec<(u64, String)> {
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

    pub(super) fn hover(&mut self, uri: &str, line: u32, character: u32) -> Value {
        let params = json!({
            "textDocument": { "uri": uri },
            "position": { "line": line - 1, "character": character },
        });
        self.ask("textDocument/hover", &params)["result"].clone()
    }

    /// Checks that no message with this method has arrived.
    pub(super) fn assert_not_received(&mut self, method: &str) {
        // After this answer, all earlier messages have been read.
        self.ask("workspace/symbol", &json!({ "query": "" }));
        let heard = self.unread.iter().find(|m| m["method"] == method);
        assert_eq!(heard, None);
    }

    /// Ends the session as an editor does, and returns the exit status.
    pub(super) fn end(mut self) -> Option<i32> {
        let answer = self.ask("shutdown", &Value::Null);
        assert_eq!(answer["result"], Value::Null);
        self.exit()
    }

    /// Sends `exit`, and returns the exit status.
    pub(super) fn exit(mut self) -> Option<i32> {
        self.notify("exit", &Value::Null);
        self.server.wait().unwrap().code()
    }

    /// Disconnects, and returns the exit status.
    pub(super) fn close(mut self) -> Option<i32> {
        drop(self.input);
        self.server.wait().unwrap().code()
    }
}

pub(super) fn uri(path: impl AsRef<Path>) -> String {
    format!("file://{}", path.as_ref().display())
}
