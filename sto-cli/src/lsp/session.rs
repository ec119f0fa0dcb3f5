//! The main loop of a session on standard input and output.

use super::server::Server;
use super::wire::{self, Failure, Incoming};
use super::worker::Report;
use crate::runtime::{CliError, Outcome, StorePath};
use gen_lsp_types::ErrorCodes;
use gen_lsp_types::json_rpc::Id;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufReader};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// LSP's `RequestCancelled`.
const CANCELLED: i32 = -32800;

/// An input of the main loop.
enum Event {
    Message(Incoming),
    Report(Report),
    /// The client closed standard input.
    End,
}

/// Serves the client on standard input and output until it sends `exit` or disconnects. `find` finds the store, starting in the
/// folder that the client opened.
pub(crate) fn serve(
    find: impl FnOnce() -> Result<StorePath, CliError>,
) -> Result<Outcome, CliError> {
    let (sender, events) = mpsc::channel();
    let reader = sender.clone();
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        // An unreadable stream counts as its end.
        while let Ok(Some(message)) = wire::read(&mut input) {
            if reader.send(Event::Message(message)).is_err() {
                return;
            }
        }
        let _ = reader.send(Event::End);
    });
    let mut events = Queue {
        received: events,
        waiting: VecDeque::new(),
    };
    let Some((id, params)) = wait_for_initialize(&mut events)? else {
        return Ok(Outcome::NotShutDown);
    };
    let report = move |report| drop(sender.send(Event::Report(report)));
    let mut server = Server::start(&id, &params, find, report);
    while server.is_connected() {
        match events.next() {
            Event::Message(Incoming::Request { id, method, params }) => {
                let answer = if events.cancels(&id) {
                    Err(Failure::new(ErrorCodes::Custom(CANCELLED), "cancelled"))
                } else {
                    server.answer(&method, params)
                };
                server.respond(&id, answer);
            }
            Event::Message(Incoming::Notification { method, .. }) if method == "exit" => break,
            Event::Message(Incoming::Notification { method, params }) => {
                server.handle_notification(&method, params);
            }
            Event::Message(Incoming::Response { id, result }) => {
                server.handle_response(&id, &result)
            }
            Event::Message(Incoming::Unreadable(failure)) => {
                server.respond(&Id::Null, Err(failure));
            }
            Event::Report(report) => server.handle_report(report),
            Event::End => break,
        }
    }
    Ok(server.outcome())
}

/// Waits for the `initialize` request; `None` if the session ends before.
fn wait_for_initialize(events: &mut Queue) -> Result<Option<(Id, Value)>, CliError> {
    let mut output = io::stdout().lock();
    loop {
        let sent = match events.next() {
            Event::Message(Incoming::Request { id, method, params }) => {
                if method == "initialize" {
                    return Ok(Some((id, params)));
                }
                let message = format!("`{method}` came before `initialize`");
                let failure = Failure::new(ErrorCodes::ServerNotInitialized, message);
                wire::respond(&mut output, &id, Err(failure))
            }
            Event::Message(Incoming::Notification { method, .. }) if method == "exit" => {
                return Ok(None);
            }
            Event::Message(Incoming::Unreadable(failure)) => {
                wire::respond(&mut output, &Id::Null, Err(failure))
            }
            Event::End => return Ok(None),
            Event::Message(_) | Event::Report(_) => Ok(()),
        };
        sent.map_err(CliError::Stdout)?;
    }
}

/// Events in order, with lookahead for cancellations.
struct Queue {
    received: Receiver<Event>,
    waiting: VecDeque<Event>,
}

impl Queue {
    fn next(&mut self) -> Event {
        let next = self.waiting.pop_front();
        next.unwrap_or_else(|| self.received.recv().unwrap_or(Event::End))
    }

    /// Whether the client has already cancelled this request.
    fn cancels(&mut self, id: &Id) -> bool {
        self.waiting.extend(self.received.try_iter());
        self.waiting.iter().any(|event| match event {
            Event::Message(Incoming::Notification { method, params }) => {
                method == "$/cancelRequest" && params["id"] == json!(id)
            }
            _ => false,
        })
    }
}
