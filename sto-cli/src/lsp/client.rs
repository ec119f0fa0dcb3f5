//! Capabilities of the client and of the server.

use super::commands;
use super::text::Encoding;
use gen_lsp_types::{
    CodeLensOptions, ExecuteCommandOptions, InitializeResult, PositionEncodingKind,
    ServerCapabilities, ServerInfo, TextDocumentSyncKind, TextDocumentSyncOptions, Uri,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use sto_query::render::hover::HoverForm;

/// Capabilities of the client. They are read from JSON one by one: a field of an unexpected type counts
/// as missing.
pub(super) struct Client {
    pub(super) encoding: Encoding,
    pub(super) hover: HoverForm,
    pub(super) refreshes_hints: bool,
    pub(super) refreshes_lenses: bool,
    /// Whether the client opens a page on request.
    pub(super) shows_documents: bool,
    /// Whether an edit may create a file.
    pub(super) creates_files: bool,
    /// Whether the client answers requests for settings.
    pub(super) has_settings: bool,
}

impl Client {
    /// Reads the parameters of `initialize`.
    pub(super) fn new(params: &Value) -> Client {
        let can = |path: &str| params["capabilities"].pointer(path);
        let does = |path: &str| can(path).and_then(Value::as_bool) == Some(true);
        let lists = |path: &str, name: &str| {
            let listed = can(path).and_then(Value::as_array);
            listed.is_some_and(|listed| listed.iter().any(|value| value == name))
        };
        Client {
            encoding: if lists("/general/positionEncodings", "utf-8") {
                Encoding::Utf8
            } else {
                Encoding::Utf16
            },
            hover: if lists("/textDocument/hover/contentFormat", "markdown") {
                HoverForm::Markdown
            } else {
                HoverForm::Text
            },
            refreshes_hints: does("/workspace/inlayHint/refreshSupport"),
            refreshes_lenses: does("/workspace/codeLens/refreshSupport"),
            shows_documents: does("/window/showDocument/support"),
            creates_files: does("/workspace/workspaceEdit/documentChanges")
                && lists("/workspace/workspaceEdit/resourceOperations", "create"),
            has_settings: does("/workspace/configuration"),
        }
    }

    /// The capabilities of the server for this client.
    pub(super) fn server(&self) -> Value {
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(true.into()),
            ..TextDocumentSyncOptions::default()
        };
        let capabilities = ServerCapabilities {
            position_encoding: Some(match self.encoding {
                Encoding::Utf8 => PositionEncodingKind::UTF8,
                Encoding::Utf16 => PositionEncodingKind::UTF16,
            }),
            text_document_sync: Some(sync.into()),
            inlay_hint_provider: Some(true.into()),
            hover_provider: Some(true.into()),
            code_lens_provider: Some(CodeLensOptions::default()),
            code_action_provider: Some(true.into()),
            workspace_symbol_provider: Some(true.into()),
            call_hierarchy_provider: Some(true.into()),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: commands::ALL.map(str::to_owned).to_vec(),
                ..ExecuteCommandOptions::default()
            }),
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
}

/// The folder that is open in the editor; the first one if there are several.
pub(super) fn folder(params: &Value) -> Option<PathBuf> {
    let uri = params.pointer("/workspaceFolders/0/uri");
    let uri = uri.or_else(|| params.get("rootUri"))?.as_str()?;
    super::uri::to_path(&Uri::from(uri))
}
