//! What the client can do, as far as it matters here.

use super::text::Encoding;
use gen_lsp_types::Uri;
use serde_json::Value;
use std::path::PathBuf;
use sto_query::render::hover::HoverForm;

/// What the client said of itself. It is read here and there out of its JSON: a field of another type than LSP has it
/// is then as one that is not there.
pub(super) struct Client {
    pub(super) encoding: Encoding,
    pub(super) hover: HoverForm,
    pub(super) refreshes_hints: bool,
    pub(super) refreshes_lenses: bool,
    /// Whether it shows a page that it is told of.
    pub(super) shows_documents: bool,
    /// Whether an edit may make a file.
    pub(super) creates_files: bool,
    /// Whether it can be asked for settings.
    pub(super) has_settings: bool,
}

impl Client {
    /// Of the parameters of `initialize`.
    pub(super) fn of(params: &Value) -> Client {
        let can = |path: &str| params["capabilities"].pointer(path);
        let does = |path: &str| can(path).and_then(Value::as_bool) == Some(true);
        let lists = |path: &str, name: &str| {
            let listed = can(path).and_then(Value::as_array);
            listed.is_some_and(|listed| listed.iter().any(|value| value == name))
        };
        Client {
            encoding: match lists("/general/positionEncodings", "utf-8") {
                true => Encoding::Utf8,
                false => Encoding::Utf16,
            },
            hover: match lists("/textDocument/hover/contentFormat", "markdown") {
                true => HoverForm::Markdown,
                false => HoverForm::Text,
            },
            refreshes_hints: does("/workspace/inlayHint/refreshSupport"),
            refreshes_lenses: does("/workspace/codeLens/refreshSupport"),
            shows_documents: does("/window/showDocument/support"),
            creates_files: does("/workspace/workspaceEdit/documentChanges")
                && lists("/workspace/workspaceEdit/resourceOperations", "create"),
            has_settings: does("/workspace/configuration"),
        }
    }
}

/// The folder that is open in the editor; of several the first.
pub(super) fn folder(params: &Value) -> Option<PathBuf> {
    let uri = params.pointer("/workspaceFolders/0/uri");
    let uri = uri.or_else(|| params.get("rootUri"))?.as_str()?;
    super::uri::path_of(&Uri::from(uri))
}
