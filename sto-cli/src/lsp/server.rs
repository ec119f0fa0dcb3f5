//! The thread that answers.

use super::client::{self, Client};
use super::costs::{Costs, Document, Documents};
use super::hints::hints;
use super::hovers::hover;
use super::settings::Settings;
use super::text::Encoding;
use super::wire::{self, Failure, Incoming};
use super::worker::{self, Chosen, Job, Report, Wanted, Worker};
use crate::runtime::error::sentence;
use crate::runtime::{CliError, Outcome, StorePath, panics};
use gen_lsp_types::json_rpc::Id;
use gen_lsp_types::{
    CodeLensRefreshRequest, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ErrorCodes, HoverRequest,
    InitializeResult, InlayHintRefreshRequest, InlayHintRequest, LspNotificationMethod,
    LspRequestMethod, MessageType, PositionEncodingKind, Request, ServerCapabilities, ServerInfo,
    TextDocumentContentChangeEvent, TextDocumentSyncKind, TextDocumentSyncOptions, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufReader};
use std::sync::mpsc::{self, Receiver, Sender};
use std::{env, thread};

/// What happened.
enum Event {
    Message(Incoming),
    Report(Report),
    /// The client closed standard input.
    End,
}

/// LSP's `RequestCancelled`.
const CANCELLED: i32 = -32800;

/// Serves the client on standard input and output until it says `exit`, or closes its end. `find` finds the store, from the
/// folder that the client opened.
pub(crate) fn serve(
    find: impl FnOnce() -> Result<StorePath, CliError>,
) -> Result<Outcome, CliError> {
    let (sender, events) = mpsc::channel();
    let reader = sender.clone();
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        // What cannot be read any more is as its end.
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
    let Some(start) = wait_for_initialize(&mut events)? else {
        return Ok(Outcome::NotShutDown);
    };
    Server::start(start, find, sender).run(&mut events)
}

/// Events in order, of which those that wait can be looked at.
struct Queue {
    received: Receiver<Event>,
    waiting: VecDeque<Event>,
}

impl Queue {
    fn next(&mut self) -> Event {
        self.waiting.extend(self.received.try_iter());
        let next = self.waiting.pop_front();
        next.unwrap_or_else(|| self.received.recv().unwrap_or(Event::End))
    }

    /// Whether the client wants no answer to this request any more.
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

/// The request that a session begins with; `None` where it ends before.
fn wait_for_initialize(events: &mut Queue) -> Result<Option<(Id, Value)>, CliError> {
    let mut output = io::stdout().lock();
    loop {
        let answered = match events.next() {
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
        answered.map_err(CliError::Stdout)?;
    }
}

struct Server {
    output: io::Stdout,
    client: Client,
    settings: Settings,
    documents: Documents,
    costs: Option<Costs>,
    jobs: Sender<Job>,
    /// Requests that were sent, which number them.
    sent: i64,
    /// Whether the client asked to shut down.
    is_shut_down: bool,
    /// Why the client went away.
    broken: Option<io::Error>,
}

impl Server {
    fn start(
        (id, params): (Id, Value),
        find: impl FnOnce() -> Result<StorePath, CliError>,
        events: Sender<Event>,
    ) -> Server {
        // All that looks from the working directory upwards then looks from there: git, the store, sto.toml.
        if let Some(folder) = client::folder(&params) {
            let _ = env::set_current_dir(folder);
        }
        let (jobs, waiting) = mpsc::channel();
        let mut server = Server {
            output: io::stdout(),
            client: Client::of(&params),
            settings: Settings::default(),
            documents: Documents::new(),
            costs: None,
            jobs,
            sent: 0,
            is_shut_down: false,
            broken: None,
        };
        server.respond(&id, Ok(server.capabilities()));
        match find() {
            Ok(store) => {
                let report = move |report| drop(events.send(Event::Report(report)));
                let worker = Worker::new(store, worker::root(), Chosen::new(), report);
                thread::spawn(move || worker.run(&waiting));
            }
            Err(error) => server.say(MessageType::Error, &sentence(&error)),
        }
        server.set(&params["initializationOptions"]);
        server
    }

    fn capabilities(&self) -> Value {
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            ..TextDocumentSyncOptions::default()
        };
        let capabilities = ServerCapabilities {
            position_encoding: Some(match self.client.encoding {
                Encoding::Utf8 => PositionEncodingKind::UTF8,
                Encoding::Utf16 => PositionEncodingKind::UTF16,
            }),
            text_document_sync: Some(sync.into()),
            inlay_hint_provider: Some(true.into()),
            hover_provider: Some(true.into()),
            ..ServerCapabilities::default()
        };
        json!(InitializeResult {
            capabilities,
            server_info: Some(ServerInfo {
                name: "sto".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    fn run(mut self, events: &mut Queue) -> Result<Outcome, CliError> {
        while self.broken.is_none() {
            match events.next() {
                Event::Message(Incoming::Request { id, method, params }) => {
                    let answer = match events.cancels(&id) {
                        true => Err(Failure::new(ErrorCodes::Custom(CANCELLED), "cancelled")),
                        false => self.answer(&method, params),
                    };
                    self.respond(&id, answer);
                }
                Event::Message(Incoming::Notification { method, .. }) if method == "exit" => break,
                Event::Message(Incoming::Notification { method, params }) => {
                    self.take(&method, params);
                }
                Event::Message(Incoming::Response { .. }) => {}
                Event::Message(Incoming::Unreadable(failure)) => {
                    self.respond(&Id::Null, Err(failure));
                }
                Event::Report(report) => self.show(report),
                Event::End => break,
            }
        }
        Ok(match self.is_shut_down {
            true => Outcome::Clean,
            false => Outcome::NotShutDown,
        })
    }

    /// The result of a request.
    fn answer(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        if self.is_shut_down {
            let message = format!("`{method}` came after `shutdown`");
            return Err(Failure::new(ErrorCodes::InvalidRequest, message));
        }
        let answered = panics::caught(|| Ok(self.answer_to(method, params)));
        answered
            .unwrap_or_else(|error| Err(Failure::new(ErrorCodes::InternalError, sentence(&error))))
    }

    fn answer_to(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let encoding = self.client.encoding;
        match LspRequestMethod::from(method) {
            LspRequestMethod::Shutdown => {
                self.is_shut_down = true;
                Ok(Value::Null)
            }
            LspRequestMethod::Initialize => Err(Failure::new(
                ErrorCodes::InvalidRequest,
                "`initialize` came twice",
            )),
            LspRequestMethod::TextDocumentInlayHint => result::<InlayHintRequest>(params, |p| {
                let document = opened(&mut self.documents, &p.text_document.uri)?;
                let costs = self.costs.as_ref().filter(|_| self.settings.inlay_hints);
                let settings = &self.settings;
                Ok(costs.map(|costs| hints(document, costs, settings, p.range, encoding)))
            }),
            LspRequestMethod::TextDocumentHover => result::<HoverRequest>(params, |p| {
                let place = p.text_document_position_params;
                let form = self.client.hover;
                let document = opened(&mut self.documents, &place.text_document.uri)?;
                let costs = self.costs.as_ref();
                Ok(costs.and_then(|costs| hover(document, costs, place.position, encoding, form)))
            }),
            _ => Err(Failure::new(
                ErrorCodes::MethodNotFound,
                format!("sto does not answer `{method}`"),
            )),
        }
    }

    /// Heeds a notification; one that cannot be read is as if it had not come.
    fn take(&mut self, method: &str, params: Value) {
        match LspNotificationMethod::from(method) {
            LspNotificationMethod::TextDocumentDidOpen => {
                if let Ok(opened) = parsed::<DidOpenTextDocumentParams>(params) {
                    let opened = opened.text_document;
                    let document = Document::new(&opened.uri, opened.text);
                    self.documents.insert(opened.uri, document);
                }
            }
            LspNotificationMethod::TextDocumentDidChange => {
                if let Ok(changed) = parsed::<DidChangeTextDocumentParams>(params) {
                    self.change(changed);
                }
            }
            LspNotificationMethod::TextDocumentDidClose => {
                if let Ok(closed) = parsed::<DidCloseTextDocumentParams>(params) {
                    self.documents.remove(&closed.text_document.uri);
                }
            }
            LspNotificationMethod::WorkspaceDidChangeConfiguration => {
                if let Ok(changed) = parsed::<DidChangeConfigurationParams>(params) {
                    self.set(&changed.settings);
                    self.refresh();
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, changed: DidChangeTextDocumentParams) {
        let uri = changed.text_document.text_document_identifier.uri;
        let Some(document) = self.documents.get_mut(&uri) else {
            return;
        };
        for change in changed.content_changes {
            use TextDocumentContentChangeEvent as Change;
            let (part, text) = match change {
                Change::TextDocumentContentChangePartial(part) => (Some(part.range), part.text),
                Change::TextDocumentContentChangeWholeDocument(whole) => (None, whole.text),
            };
            document.text.replace(part, &text, self.client.encoding);
        }
        document.edited();
    }

    /// Takes settings, and has the worker show what they say.
    fn set(&mut self, settings: &Value) {
        match Settings::of(settings) {
            Ok(settings) => self.settings = settings,
            Err(error) => {
                let message = format!("the settings of sto are not used: {error}");
                self.say(MessageType::Warning, &message);
            }
        }
        let mut wanted = Wanted {
            build: self.settings.build.clone(),
            baseline: self.settings.baseline.clone(),
            ..Wanted::default()
        };
        wanted.filter.benchmark.clone_from(&self.settings.benchmark);
        wanted.filter.event.clone_from(&self.settings.event);
        self.tell(Job::Show(wanted));
    }

    fn tell(&self, job: Job) {
        // Without a store there is no worker.
        let _ = self.jobs.send(job);
    }

    /// Takes what the worker found.
    fn show(&mut self, report: Report) {
        match report {
            Report::Costs(index, placed) => self.costs = Some(Costs::new(index, placed)),
            Report::Failed { message, is_usual } => {
                return match is_usual {
                    true => self.log(&message),
                    false => self.say(MessageType::Warning, &message),
                };
            }
            later => {
                if let Some(costs) = &mut self.costs {
                    costs.add(later);
                }
            }
        }
        self.documents.values_mut().for_each(Document::rebuilt);
        self.refresh();
    }

    /// Has the client ask again for what it shows.
    fn refresh(&mut self) {
        if self.client.refreshes_hints {
            self.request::<InlayHintRefreshRequest>(());
        }
        if self.client.refreshes_lenses && self.settings.code_lenses {
            self.request::<CodeLensRefreshRequest>(());
        }
    }

    fn say(&mut self, kind: MessageType, message: &str) {
        let params = json!({ "type": kind, "message": format!("sto: {message}") });
        self.notify("window/showMessage", &params);
    }

    fn log(&mut self, message: &str) {
        let params = json!({ "type": MessageType::Info, "message": message });
        self.notify("window/logMessage", &params);
    }

    fn request<R: Request>(&mut self, params: R::Params) {
        self.sent += 1;
        let id = Id::Number(self.sent);
        let params = json!(params);
        let sent = wire::send(&mut self.output, Some(&id), R::METHOD.as_str(), &params);
        self.broken = self.broken.take().or(sent.err());
    }

    fn notify(&mut self, method: &str, params: &Value) {
        let sent = wire::send(&mut self.output, None, method, params);
        self.broken = self.broken.take().or(sent.err());
    }

    fn respond(&mut self, id: &Id, answer: Result<Value, Failure>) {
        let sent = wire::respond(&mut self.output, id, answer);
        self.broken = self.broken.take().or(sent.err());
    }
}

fn opened<'d>(documents: &'d mut Documents, uri: &Uri) -> Result<&'d mut Document, Failure> {
    let none = || Failure::new(ErrorCodes::InvalidParams, "this document is not open");
    documents.get_mut(uri).ok_or_else(none)
}

/// The result of a request, of its parameters.
fn result<R: Request>(
    params: Value,
    answer: impl FnOnce(R::Params) -> Result<R::Result, Failure>,
) -> Result<Value, Failure> {
    Ok(json!(answer(parsed::<R::Params>(params)?)?))
}

fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, Failure> {
    serde_json::from_value(params)
        .map_err(|error| Failure::new(ErrorCodes::InvalidParams, error.to_string()))
}
