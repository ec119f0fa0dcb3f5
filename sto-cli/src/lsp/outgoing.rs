//! Messages to the client.

use super::wire::{self, Failure};
use gen_lsp_types::json_rpc::Id;
use gen_lsp_types::{MessageType, Request};
use serde_json::{Value, json};
use std::io;

/// The connection to the client.
pub(super) struct Outgoing {
    output: io::Stdout,
    /// Number of requests sent, which is the id of the last one.
    sent: i64,
    /// Whether all messages so far could be written.
    is_connected: bool,
}

impl Outgoing {
    pub(super) fn new() -> Outgoing {
        Outgoing {
            output: io::stdout(),
            sent: 0,
            is_connected: true,
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.is_connected
    }

    pub(super) fn respond(&mut self, id: &Id, answer: Result<Value, Failure>) {
        self.is_connected &= wire::respond(&mut self.output, id, answer).is_ok();
    }

    /// Sends a request and returns its id.
    pub(super) fn request<R: Request>(&mut self, params: R::Params) -> Id {
        self.sent += 1;
        let id = Id::Number(self.sent);
        let (method, params) = (R::METHOD.as_str(), json!(params));
        self.is_connected &= wire::send(&mut self.output, Some(&id), method, &params).is_ok();
        id
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.is_connected &= wire::send(&mut self.output, None, method, params).is_ok();
    }

    /// Shows the user a message.
    pub(super) fn show_message(&mut self, kind: MessageType, message: &str) {
        let params = json!({ "type": kind, "message": format!("sto: {message}") });
        self.notify("window/showMessage", &params);
    }

    /// Writes a message to the client's log.
    pub(super) fn log(&mut self, message: &str) {
        let params = json!({ "type": MessageType::Info, "message": message });
        self.notify("window/logMessage", &params);
    }
}
