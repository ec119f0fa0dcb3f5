//! Messages of LSP's base protocol.
//!
//! Does not use `lsp-server`, whose reader stops at the first invalid message.

use gen_lsp_types::ErrorCodes;
use gen_lsp_types::json_rpc::Id;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// Size limit of a message in bytes; a message that opens a document contains its whole text.
const MAX_BYTES: u64 = 64 << 20;

/// Size limit of a header line in bytes.
const MAX_LINE: u64 = 64 << 10;

/// The name of the header field with the length of a message.
const LENGTH: &str = "content-length:";

/// A message from the client.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to a request of the server; null if the request failed.
    Response {
        id: Id,
        result: Value,
    },
    /// Data that is not a valid message.
    Unreadable(Failure),
}

/// The error of a request.
#[derive(Debug, PartialEq)]
pub(super) struct Failure {
    pub(super) code: ErrorCodes,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(code: ErrorCodes, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
        }
    }
}

/// Reads the next message; `None` at the end of the stream. After an invalid message, reading continues at the next header.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    if length > MAX_BYTES {
        let passed = io::copy(&mut input.take(length), &mut io::sink())?;
        let message = format!("a message has {length} bytes, and at most {MAX_BYTES} are read");
        let failure = Failure::new(ErrorCodes::InvalidRequest, message);
        return Ok((passed == length).then_some(Incoming::Unreadable(failure)));
    }
    let mut body = Vec::new();
    if input.take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(None);
    }
    Ok(Some(parsed(&body).unwrap_or_else(Incoming::Unreadable)))
}

/// Reads the length of the next message. Lines that are not headers are skipped, so that a truncated
/// message does not invalidate the following ones.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        if let Some(at) = line.rfind(LENGTH) {
            length = line[at + LENGTH.len()..].trim().parse().ok();
        }
        if let (true, Some(length)) = (line.trim().is_empty(), length) {
            return Ok(Some(length));
        }
    }
}

fn parsed(body: &[u8]) -> Result<Incoming, Failure> {
    let message: Value = serde_json::from_slice(body)
        .map_err(|error| Failure::new(ErrorCodes::ParseError, format!("invalid JSON: {error}")))?;
    let none = || Failure::new(ErrorCodes::InvalidRequest, "not a message of JSON-RPC 2.0");
    let Value::Object(mut fields) = message else {
        return Err(none());
    };
    let id = fields.remove("id").map(serde_json::from_value::<Id>);
    let id = id.transpose().map_err(|_| none())?;
    match (id, fields.remove("method")) {
        (id, Some(Value::String(method))) => {
            let params = fields.remove("params").unwrap_or_default();
            Ok(match id {
                Some(id) => Incoming::Request { id, method, params },
                None => Incoming::Notification { method, params },
            })
        }
        (Some(id), None) => Ok(Incoming::Response {
            id,
            result: fields.remove("result").unwrap_or_default(),
        }),
        _ => Err(none()),
    }
}

/// Answers a request.
pub(super) fn respond(
    output: &mut dyn Write,
    id: &Id,
    answer: Result<Value, Failure>,
) -> io::Result<()> {
    let mut message = json!({ "jsonrpc": "2.0", "id": id });
    match answer {
        // Moved, not copied, because it may be large.
        Ok(result) => message["result"] = result,
        Err(Failure {
            code,
            message: text,
        }) => {
            message["error"] = json!({ "code": code, "message": text });
        }
    }
    write(output, &message)
}

/// Sends a request, or without an id a notification.
pub(super) fn send(
    output: &mut dyn Write,
    id: Option<&Id>,
    method: &str,
    params: &Value,
) -> io::Result<()> {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    if !params.is_null() {
        message["params"] = params.clone();
    }
    write(output, &message)
}

fn write(output: &mut dyn Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    fn read_all(stream: &str) -> Vec<Incoming> {
        let mut input = stream.as_bytes();
        std::iter::from_fn(|| read(&mut input).unwrap()).collect()
    }

    fn notification(method: &str) -> Incoming {
        Incoming::Notification {
            method: method.to_owned(),
            params: Value::Null,
        }
    }

    #[test]
    fn a_truncated_message_invalidates_at_most_the_next_one() {
        let [a, b, c] = ["a", "b", "c"].map(|name| framed(&format!("{{\"method\":\"{name}\"}}")));
        for cut in 1..a.len() {
            let found = read_all(&format!("{}{b}{c}", &a[..cut]));
            assert_eq!(found.last(), Some(&notification("c")), "{cut}: {found:?}");
            assert!(found.len() <= 3, "{cut}: {found:?}");
        }
    }

    #[test]
    fn headers_may_have_other_fields_and_any_case() {
        let stream = "Content-Type: application/vscode-jsonrpc\r\ncontent-length: 14\r\n\r\n{\"method\":\"a\"}";
        assert_eq!(read_all(stream), [notification("a")]);
    }

    #[test]
    fn rejects_invalid_messages() {
        for body in [
            "",
            "[]",
            "{",
            "{}",
            "\"a\"",
            "{\"id\":{},\"method\":\"a\"}",
            "{\"method\":1}",
        ] {
            let found = read_all(&framed(body));
            assert!(
                matches!(found[..], [Incoming::Unreadable(_)]),
                "{body}: {found:?}"
            );
        }
    }

    #[test]
    fn allocates_only_for_received_bytes() {
        assert_eq!(read_all("Content-Length: 67108864\r\n\r\n{}"), []);
        assert_eq!(
            read_all("Content-Length: 18446744073709551615\r\n\r\n{}"),
            []
        );
    }
}
