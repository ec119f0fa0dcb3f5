//! Regressions as warnings in the source code, and actions for them.

use super::costs::Costs;
use super::documents::Documents;
use super::text::{Encoding, Text};
use super::{commands, uri};
use crate::args::PolicyArg;
use crate::runtime::now;
use gen_lsp_types::{
    CodeAction, CodeActionKind, CreateFile, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, Position,
    Range, TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::{env, fs};
use sto_core::units::UnixSeconds;
use sto_query::render::hot;
use sto_query::results::Finding;
use sto_query::text::{Date, printable, short_name};

/// Maximum number of callers that a finding lists.
const MAX_CALLERS: usize = 5;

/// Number of days after which an ignored finding is reported again.
const IGNORED_DAYS: u64 = 30;

/// The warnings by document, in the order of the findings.
pub(super) fn diagnostics(
    documents: &mut Documents,
    costs: &Costs,
    encoding: Encoding,
) -> BTreeMap<String, Vec<Diagnostic>> {
    let mut diagnostics: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for (finding, since) in costs.regressions() {
        let mut place = |function: &str, module: &str| {
            let function = costs.index.find(function, module)?;
            documents.place(costs, function, encoding)
        };
        let Some(location) = place(&finding.function, &finding.module) else {
            continue;
        };
        let callers = finding.affected_callers.iter().filter_map(|caller| {
            let message = format!(
                "{} got slower with it: {} to {}",
                printable(&short_name(&caller.function)),
                hot::percent(caller.baseline_share),
                hot::percent(caller.candidate_share),
            );
            Some(DiagnosticRelatedInformation {
                location: place(&caller.function, &caller.module)?,
                message,
            })
        });
        let related = callers.take(MAX_CALLERS).collect();
        let message = format!(
            "{}: {} (since {})",
            printable(&short_name(&finding.function)),
            printable(&finding.reason),
            printable(since)
        );
        let diagnostic = Diagnostic {
            range: location.range,
            severity: Some(DiagnosticSeverity::Warning),
            code: Some(finding.kind.name().to_owned().into()),
            source: Some("sto".to_owned()),
            message: message.into(),
            related_information: Some(related),
            data: Some(json!({ "function": finding.function })),
            ..Diagnostic::default()
        };
        diagnostics
            .entry(location.uri.0)
            .or_default()
            .push(diagnostic);
    }
    diagnostics
}

/// The actions for findings in a range of lines of a document.
pub(super) fn actions(
    documents: &mut Documents,
    costs: &Costs,
    (document, range): (&Uri, Range),
    encoding: Encoding,
    creates_files: bool,
) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    for (finding, since) in costs.regressions() {
        let function = costs.index.find(&finding.function, &finding.module);
        let place = function.and_then(|function| documents.place(costs, function, encoding));
        let Some(place) = place.filter(|place| place.uri == *document) else {
            continue;
        };
        let lines = range.start.line..=range.end.line;
        if !lines.contains(&place.range.start.line) {
            continue;
        }
        let show = format!("Show the difference since {}", printable(since));
        actions.push(CodeAction {
            title: show.clone(),
            kind: Some(CodeActionKind::QuickFix),
            command: Some(commands::difference(show)),
            ..CodeAction::default()
        });
        let until = Date::from_time(UnixSeconds(now().0 + IGNORED_DAYS * 24 * 60 * 60));
        let edit = ignoring(documents, finding, &until, encoding, creates_files);
        actions.extend(edit.map(|edit| CodeAction {
            title: format!(
                "Ignore {} in sto.toml until {until}",
                printable(&short_name(&finding.function))
            ),
            kind: Some(CodeActionKind::QuickFix),
            edit: Some(edit),
            ..CodeAction::default()
        }));
    }
    actions
}

/// An edit that makes the policy ignore a finding until a day; the user has to fill in the reason. `None` if the policy file
/// does not exist and the client cannot create files.
fn ignoring(
    documents: &mut Documents,
    finding: &Finding,
    until: &Date,
    encoding: Encoding,
    creates_files: bool,
) -> Option<WorkspaceEdit> {
    let found = PolicyArg::found();
    let path = env::current_dir().ok()?;
    let path = path.join(found.as_deref().unwrap_or("sto.toml".as_ref()));
    let uri = uri::from_path(&path);
    let (last, ends_line) = match documents.get(&uri) {
        Some(document) => end(&document.text, encoding),
        None => end(
            &Text::new(fs::read_to_string(&path).unwrap_or_default()),
            encoding,
        ),
    };
    // A JSON string is also a TOML string, except for this character.
    let function = json!(finding.function)
        .to_string()
        .replace('\u{7f}', "\\u007f");
    let line = if ends_line { "" } else { "\n" };
    let edit = TextEdit {
        range: Range {
            start: last,
            end: last,
        },
        new_text: format!(
            "{line}\n[[ignore]]\nfunction = {function}\nreason = \"say why\"\nexpires = {until}\n"
        ),
    };
    if found.is_some() {
        return Some(WorkspaceEdit {
            changes: Some(HashMap::from([(uri, vec![edit])])),
            ..WorkspaceEdit::default()
        });
    }
    let create = CreateFile {
        uri: uri.clone(),
        options: None,
        annotation_id: None,
    };
    let edit = TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            version: None,
            text_document_identifier: TextDocumentIdentifier { uri },
        },
        edits: vec![Edit::TextEdit(edit)],
    };
    creates_files.then(|| WorkspaceEdit {
        document_changes: Some(vec![
            DocumentChange::CreateFile(create),
            DocumentChange::TextDocumentEdit(edit),
        ]),
        ..WorkspaceEdit::default()
    })
}

/// The end of a text, and whether its last line ends with a line break.
fn end(text: &Text, encoding: Encoding) -> (Position, bool) {
    let last = text.lines() - 1;
    let end = text.end_of_line(last, encoding);
    (end, text.line(last).is_empty())
}
