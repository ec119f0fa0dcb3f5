//! The server: answers requests and sends notifications.

mod questions;

use super::client::{self, Client};
use super::costs::Costs;
use super::documents::{Document, Documents};
use super::outgoing::Outgoing;
use super::settings::Settings;
use super::wire::Failure;
use super::worker::{Job, Page, Report, Wanted, Worker};
use super::{calls, commands, findings, hints, hovers, lenses, symbols, uri};
use crate::runtime::error::sentence;
use crate::runtime::git;
use crate::runtime::source_choices::Choices;
use crate::runtime::{CliError, Outcome, StorePath, panics};
use gen_lsp_types::json_rpc::Id;
use gen_lsp_types::{
    CallHierarchyIncomingCallsRequest, CallHierarchyOutgoingCallsRequest,
    CallHierarchyPrepareRequest, CodeAction, CodeActionRequest, CodeLensRefreshRequest,
    CodeLensRequest, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ErrorCodes, ExecuteCommandParams,
    ExecuteCommandRequest, HoverRequest, InlayHintRefreshRequest, InlayHintRequest,
    LspNotificationMethod, LspRequestMethod, MessageType, Request, ShowDocumentParams,
    ShowDocumentRequest, TextDocumentContentChangeEvent, Uri, WorkspaceSymbolRequest,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::{env, thread};
use sto_query::internal::hot::HotFunction;
use sto_query::text::printable;

/// A question that the client was asked.
pub(super) enum Question {
    /// Its settings for sto.
    Settings,
    /// Which build to show.
    Build,
    /// Which of these files corresponds to a source file in the profiles.
    File {
        profile_path: String,
        files: Vec<PathBuf>,
    },
}

pub(super) struct Server {
    client: Client,
    outgoing: Outgoing,
    settings: Settings,
    documents: Documents,
    costs: Option<Costs>,
    choices: Choices,
    jobs: Sender<Job>,
    /// Pending requests to the client.
    asked: HashMap<Id, Question>,
    /// URIs of the documents with warnings.
    warned: BTreeSet<String>,
    is_shut_down: bool,
}

impl Server {
    /// Answers `initialize`, and starts the worker.
    pub(super) fn start(
        id: &Id,
        params: &Value,
        find: impl FnOnce() -> Result<StorePath, CliError>,
        report: impl Fn(Report) + Send + 'static,
    ) -> Server {
        // git, the store and sto.toml are searched from the working directory upwards.
        if let Some(folder) = client::folder(params) {
            let _ = env::set_current_dir(folder);
        }
        let client = Client::new(params);
        let mut outgoing = Outgoing::new();
        outgoing.respond(id, Ok(client.server()));
        let root = git::here().source_folder();
        let (jobs, waiting) = mpsc::channel();
        let choices = match find() {
            Ok(store) => {
                let choices = Choices::load(Some(&store.folder), &root);
                let worker = Worker::new(store, root, choices.chosen.clone(), report);
                thread::spawn(move || worker.run(&waiting));
                choices
            }
            Err(error) => {
                outgoing.show_message(MessageType::Error, &sentence(&error));
                Choices::load(None, &root)
            }
        };
        let mut server = Server {
            client,
            outgoing,
            settings: Settings::default(),
            documents: Documents::default(),
            costs: None,
            choices,
            jobs,
            asked: HashMap::new(),
            warned: BTreeSet::new(),
            is_shut_down: false,
        };
        server.apply_settings(&params["initializationOptions"]);
        server
    }

    /// Whether the client is still connected.
    pub(super) fn is_connected(&self) -> bool {
        self.outgoing.is_connected()
    }

    pub(super) fn respond(&mut self, id: &Id, answer: Result<Value, Failure>) {
        self.outgoing.respond(id, answer);
    }

    /// The outcome of the session.
    pub(super) fn outcome(&self) -> Outcome {
        if self.is_shut_down {
            Outcome::Clean
        } else {
            Outcome::NotShutDown
        }
    }

    /// The result of a request.
    pub(super) fn answer(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        if self.is_shut_down {
            let message = format!("`{method}` came after `shutdown`");
            return Err(Failure::new(ErrorCodes::InvalidRequest, message));
        }
        let answer = panics::catch(|| Ok(self.dispatch(method, params)));
        let failed = |error| Failure::new(ErrorCodes::InternalError, sentence(&error));
        answer.unwrap_or_else(|error| Err(failed(error)))
    }

    fn dispatch(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let encoding = self.client.encoding;
        let (documents, settings) = (&mut self.documents, &self.settings);
        // Without costs, answers are empty.
        let costs = self.costs.as_ref();
        match LspRequestMethod::from(method) {
            LspRequestMethod::Shutdown => {
                self.is_shut_down = true;
                Ok(Value::Null)
            }
            LspRequestMethod::Initialize => {
                let message = "`initialize` came twice";
                Err(Failure::new(ErrorCodes::InvalidRequest, message))
            }
            LspRequestMethod::TextDocumentInlayHint => result::<InlayHintRequest>(params, |p| {
                let document = opened(documents, &p.text_document.uri)?;
                let costs = costs.filter(|_| settings.inlay_hints);
                Ok(costs.map(|costs| hints::hints(document, costs, settings, p.range, encoding)))
            }),
            LspRequestMethod::TextDocumentCodeLens => result::<CodeLensRequest>(params, |p| {
                let document = opened(documents, &p.text_document.uri)?;
                let costs = costs.filter(|_| settings.code_lenses);
                Ok(costs.map(|costs| lenses::lenses(document, costs, settings, encoding)))
            }),
            LspRequestMethod::TextDocumentHover => result::<HoverRequest>(params, |p| {
                let (p, form) = (p.text_document_position_params, self.client.hover);
                let (at, links) = (p.position, settings.command_links);
                let document = opened(documents, &p.text_document.uri)?;
                let hover = |costs| hovers::hover(document, costs, at, encoding, form, links);
                Ok(costs.and_then(hover))
            }),
            LspRequestMethod::TextDocumentCodeAction => result::<CodeActionRequest>(params, |p| {
                let Some(costs) = costs else {
                    return Ok(None);
                };
                let place = (&p.text_document.uri, p.range);
                let document = opened(documents, place.0)?;
                let function = calls::function_at(document, costs, p.range.start, encoding);
                let creates = self.client.creates_files;
                let mut actions = findings::actions(documents, costs, place, encoding, creates);
                actions.extend(function.map(flame_graph_action));
                Ok(Some(actions.into_iter().map(Into::into).collect()))
            }),
            LspRequestMethod::WorkspaceSymbol => result::<WorkspaceSymbolRequest>(params, |p| {
                let find =
                    |costs| symbols::symbols(documents, costs, settings, &p.query, encoding).into();
                Ok(costs.map(find))
            }),
            LspRequestMethod::TextDocumentPrepareCallHierarchy => {
                result::<CallHierarchyPrepareRequest>(params, |p| {
                    let p = p.text_document_position_params;
                    let document = opened(documents, &p.text_document.uri)?;
                    let Some(costs) = costs else {
                        return Ok(None);
                    };
                    let function = calls::function_at(document, costs, p.position, encoding);
                    let item = function.and_then(|function| {
                        let change = costs.change(function.number);
                        let words = settings.words(&function.costs, change);
                        calls::item(documents, costs, function, words, encoding)
                    });
                    Ok(item.map(|item| vec![item]))
                })
            }
            LspRequestMethod::CallHierarchyIncomingCalls => result::<
                CallHierarchyIncomingCallsRequest,
            >(params, |p| {
                Ok(costs.and_then(|costs| calls::incoming(documents, costs, &p.item, encoding)))
            }),
            LspRequestMethod::CallHierarchyOutgoingCalls => result::<
                CallHierarchyOutgoingCallsRequest,
            >(params, |p| {
                Ok(costs.and_then(|costs| calls::outgoing(documents, costs, &p.item, encoding)))
            }),
            LspRequestMethod::WorkspaceExecuteCommand => {
                result::<ExecuteCommandRequest>(params, |p| self.execute(&p).map(|()| None))
            }
            _ => {
                let message = format!("sto does not answer `{method}`");
                Err(Failure::new(ErrorCodes::MethodNotFound, message))
            }
        }
    }

    /// Starts a command; its result is shown later.
    fn execute(&mut self, params: &ExecuteCommandParams) -> Result<(), Failure> {
        let argument = params.arguments.as_ref().and_then(|all| all.first());
        let argument = argument.and_then(Value::as_str).map(str::to_owned);
        match (&*params.command, argument) {
            (commands::FLAME_GRAPH, function) => {
                self.send_job(Job::Draw(Page::FlameGraph(function)))
            }
            (commands::DIFFERENCE, _) => self.send_job(Job::Draw(Page::Difference)),
            (commands::SELECT_BUILD, Some(build)) => self.select(build),
            (commands::SELECT_BUILD, None) => self.send_job(Job::List),
            (other, _) => {
                let message = format!("sto has no command `{other}`");
                return Err(Failure::new(ErrorCodes::InvalidParams, message));
            }
        }
        Ok(())
    }

    /// Handles a notification; an invalid one is ignored.
    pub(super) fn handle_notification(&mut self, method: &str, params: Value) {
        match LspNotificationMethod::from(method) {
            LspNotificationMethod::TextDocumentDidOpen => {
                if let Ok(opened) = parsed::<DidOpenTextDocumentParams>(params) {
                    let document = opened.text_document;
                    self.documents.open(document.uri, document.text);
                    self.ask_for_files();
                }
            }
            LspNotificationMethod::TextDocumentDidChange => {
                if let Ok(changed) = parsed::<DidChangeTextDocumentParams>(params) {
                    self.change(changed);
                }
            }
            LspNotificationMethod::TextDocumentDidClose => {
                if let Ok(closed) = parsed::<DidCloseTextDocumentParams>(params) {
                    self.documents.close(&closed.text_document.uri);
                }
            }
            LspNotificationMethod::TextDocumentDidSave => {
                self.documents.forget_closed();
                self.publish_warnings();
            }
            LspNotificationMethod::WorkspaceDidChangeConfiguration => {
                match parsed::<DidChangeConfigurationParams>(params) {
                    // Some clients only report that something changed.
                    Ok(changed) if !changed.settings.is_null() => {
                        self.apply_settings(&changed.settings)
                    }
                    _ if self.client.has_settings => self.ask_for_settings(),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, changed: DidChangeTextDocumentParams) {
        let uri = changed.text_document.text_document_identifier.uri;
        let Some(document) = self.documents.get(&uri) else {
            return;
        };
        for change in changed.content_changes {
            use TextDocumentContentChangeEvent as Change;
            let (part, text) = match change {
                Change::TextDocumentContentChangePartial(part) => (Some(part.range), part.text),
                Change::TextDocumentContentChangeWholeDocument(whole) => (None, whole.text),
            };
            document.edit(part, &text, self.client.encoding);
        }
    }

    /// Applies settings.
    fn apply_settings(&mut self, settings: &Value) {
        match Settings::parse(settings) {
            Ok(settings) => self.settings = settings,
            Err(error) => {
                let message = format!("sto ignores invalid settings: {error}");
                self.outgoing.show_message(MessageType::Warning, &message);
            }
        }
        self.show_wanted();
        self.refresh();
    }

    fn show_wanted(&mut self) {
        let mut wanted = Wanted {
            build: self.settings.build.clone(),
            baseline: self.settings.baseline.clone(),
            ..Wanted::default()
        };
        wanted.filter.benchmarks = self.settings.benchmark.iter().cloned().collect();
        wanted.filter.event.clone_from(&self.settings.event);
        self.send_job(Job::Show(wanted));
    }

    fn send_job(&self, job: Job) {
        // Without a store there is no worker; the user was told.
        let _ = self.jobs.send(job);
    }

    /// Handles a report of the worker.
    pub(super) fn handle_report(&mut self, report: Report) {
        match report {
            Report::Costs(index, placed) => self.costs = Some(Costs::new(index, placed)),
            Report::Drawn(page) => return self.show_page(&page),
            Report::Builds(builds) => return self.ask_for_build(builds),
            Report::Failed {
                message,
                is_expected,
            } => {
                return if is_expected {
                    self.outgoing.log(&message)
                } else {
                    self.outgoing.show_message(MessageType::Warning, &message)
                };
            }
            later => {
                if let Some(costs) = &mut self.costs {
                    costs.add(later);
                }
            }
        }
        self.documents.forget_costs();
        self.ask_for_files();
        self.refresh();
    }

    /// Asks the client to request hints and lenses again, and publishes the warnings.
    fn refresh(&mut self) {
        if self.client.refreshes_hints {
            self.outgoing.request::<InlayHintRefreshRequest>(());
        }
        if self.client.refreshes_lenses {
            self.outgoing.request::<CodeLensRefreshRequest>(());
        }
        self.publish_warnings();
    }

    fn publish_warnings(&mut self) {
        let costs = self.costs.as_ref().filter(|_| self.settings.diagnostics);
        let encoding = self.client.encoding;
        let of = |costs| findings::diagnostics(&mut self.documents, costs, encoding);
        let mut diagnostics = costs.map(of).unwrap_or_default();
        let warned = diagnostics.keys().cloned().collect();
        for uri in std::mem::replace(&mut self.warned, warned) {
            diagnostics.entry(uri).or_default();
        }
        for (uri, diagnostics) in diagnostics {
            let params = json!({ "uri": uri, "diagnostics": diagnostics });
            let method = "textDocument/publishDiagnostics";
            self.outgoing.notify(method, &params);
        }
    }

    fn show_page(&mut self, page: &Path) {
        if self.client.shows_documents {
            self.outgoing
                .request::<ShowDocumentRequest>(ShowDocumentParams {
                    uri: uri::from_path(page),
                    external: Some(true),
                    take_focus: None,
                    selection: None,
                });
        } else {
            let message = format!("open {} in a browser", page.display());
            self.outgoing.show_message(MessageType::Info, &message);
        }
    }
}

fn flame_graph_action(function: HotFunction<'_>) -> CodeAction {
    let title = format!("Open the flame graph of {}", printable(function.name));
    CodeAction {
        title: title.clone(),
        command: Some(commands::flame_graph(title, function.name)),
        ..CodeAction::default()
    }
}

fn opened<'d>(documents: &'d mut Documents, uri: &Uri) -> Result<&'d mut Document, Failure> {
    let none = || Failure::new(ErrorCodes::InvalidParams, "this document is not open");
    documents.get(uri).ok_or_else(none)
}

/// Parses the parameters of a request and answers it.
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
