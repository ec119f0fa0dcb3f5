//! `sto serve` and `sto ui` as commands.

use crate::support::{BEFORE, Sandbox};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use sto_test_support::missing;

/// A running server, which is killed if its test fails.
struct Running {
    child: Child,
    log: BufReader<std::process::ChildStderr>,
    /// The address that the first line of its log names.
    url: String,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let url = line
            .split([' ', '"', '\n'])
            .find(|word| word.starts_with("http"));
        let url = url
            .unwrap_or_else(|| panic!("no address in {line:?}"))
            .to_owned();
        Running { child, log, url }
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let host = self.url.split('/').nth(2).unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Asks the server to end, and returns its exit status and the rest of its log.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_and_commands_share_a_store() {
    let sandbox = Sandbox::new();
    let server = Running::start(sandbox.command(&["serve", "--listen", "127.0.0.1:0"]));
    let sent = server.send("POST", "/api/v1/profiles?program=demo&build=v1", "", BEFORE);
    assert!(sent.starts_with("HTTP/1.1 201"), "{sent}");
    assert!(sandbox.sto(&["ls"]).succeeds().stdout.contains("v1"));

    sandbox.write("b.folded", "main;parse 1\n");
    sandbox
        .sto(&["ingest", "b.folded", "--build", "v2"])
        .succeeds();
    let top = server.send("POST", "/api/v1/questions/top", "", r#"{"selector":"v2"}"#);
    assert!(top.contains(r#""function":"parse""#), "{top}");
    let (status, log) = server.stop();
    assert_eq!((status, &*log), (Some(0), "note: stopped\n"));
}

#[test]
fn files_are_looked_at_without_storing_them() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let server = Running::start(sandbox.command(&["ui", "--no-browser", "./a.folded"]));
    let token = server.url.rsplit_once('/').unwrap().1;
    let entered = server.send("GET", &format!("/{token}"), "", "");
    let cookie = entered
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let cookie = format!("cookie: {cookie}\r\n");
    let builds = server.send("GET", "/api/v1/questions/builds", &cookie, "");
    assert!(builds.contains(r#""version":"a.folded""#), "{builds}");
    assert_eq!(server.stop().0, Some(0));
    assert!(!sandbox.path("store").exists());
}

#[test]
fn a_missing_store_is_not_made_to_look_at_it() {
    let sandbox = Sandbox::new();
    sandbox
        .sto(&["ui", "--no-browser"])
        .fails_with(&["there is no store in", "sto ingest"]);
    assert!(!sandbox.path("store").exists());
}

#[test]
fn the_browser_gets_a_file_instead_of_the_secret_link() {
    let sandbox = Sandbox::with_two_builds();
    let opened = sandbox.path("opened");
    let browser = sandbox.write(
        "browser.sh",
        format!("#!/bin/sh\necho \"$1\" > {}\n", opened.display()),
    );
    let mut command = sandbox.command(&["ui"]);
    command.env("BROWSER", format!("sh {}", browser.display()));
    let server = Running::start(command);
    // A request is answered only after the browser's command has ended.
    server.send("GET", "/healthz", "", "");
    let file = std::fs::read_to_string(opened).unwrap();
    let page = std::fs::read_to_string(file.trim_end()).unwrap();
    assert!(page.contains(&server.url), "{page}");
}

#[test]
fn mistakes_in_the_configuration_are_named() {
    let sandbox = Sandbox::new();
    for (config, message) in [
        (
            "\nlistn = 1",
            "sto.toml, line 2: unknown field `listn`, expected one of `listen`",
        ),
        (
            "limits.body-mib = 'x'",
            "sto.toml, line 1: `limits.body-mib`: found the text \"x\", expected a whole number",
        ),
        (
            "limits.body-mib = 0",
            "sto.toml, line 1: `limits.body-mib`: found the number 0, expected a whole number of 1 or more",
        ),
        (
            "log = 'xml'",
            "sto.toml, line 1: `log`: found `xml`, expected `text` or `json`",
        ),
        (
            "[[token]]\nname = 'a'\nsha256 = 'x'\nscopes = []",
            "sto.toml, line 3: `token[0].sha256`: expected the 64 hexadecimal digits",
        ),
        ("listen = '0.0.0.0:0'", "sto serve --new-token NAME"),
        (
            "tls.certificate = '/nowhere'\ntls.key = '/nowhere'",
            "/nowhere: ",
        ),
    ] {
        sandbox.write("sto.toml", config);
        let run = sandbox.sto(&["serve", "--config", "sto.toml"]);
        assert_eq!(run.status, Some(2));
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn the_unit_of_systemd_is_valid() {
    if missing(&["systemd-analyze"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let unit =
        include_str!("../../dist/sto.service").replace("/usr/bin/sto", env!("CARGO_BIN_EXE_sto"));
    let unit = sandbox.write("sto.service", unit);
    let verify = ["verify", "--man=no", unit.to_str().unwrap()];
    let verified = Command::new("systemd-analyze")
        .args(verify)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && said.is_empty(), "{said}");
}

#[test]
fn a_new_token_is_printed_once_and_its_hash_is_configuration() {
    let sandbox = Sandbox::new();
    let made = sandbox.sto(&["serve", "--new-token", "a \"b\""]).succeeds();
    let token = made
        .stderr
        .trim_end()
        .rsplit(' ')
        .next()
        .unwrap()
        .to_owned();
    assert!(token.starts_with("sto_"), "{}", made.stderr);
    assert!(!made.stdout.contains(&token));
    let config = format!("listen = '127.0.0.1:0'\nlog = 'json'\n{}", made.stdout);
    sandbox.write("sto.toml", config);
    let server = Running::start(sandbox.command(&["serve", "--config", "sto.toml"]));
    let ask = |headers: &str| server.send("GET", "/api/v1/status", headers, "");
    assert!(ask("").starts_with("HTTP/1.1 401"));
    assert!(ask(&format!("authorization: Bearer {token}\r\n")).starts_with("HTTP/1.1 200"));
    assert_eq!(server.stop().1, "{\"event\":\"stopped\"}\n");
}
