//! Checks that a server makes: `sto find-regressions --server URL`.
//!
//! The client sends the request and how findings are to be rendered. The server checks and renders with the same code that
//! a local check uses, so that text, files and exit statuses are the same.

use super::findings::{Names, outcome_of};
use crate::args::{FindingsOutputArgs, Rendered, Rendering};
use crate::runtime::{CliError, Machine, Outcome, destination};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sto_core::units::Bytes;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::places::Place;
use sto_query::sources::{BuildRef, Environment};

/// Size of the largest answer: a page with the stacks of both sides.
const MAX_ANSWER: Bytes = Bytes(1 << 30);

/// How a server renders findings for a client.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForClient {
    pub(super) rendering: Rendering,
    pub(super) names: Names,
    /// The server's address, as the client knows it.
    pub(super) server: String,
}

/// Lets a server check for regressions, and writes the findings.
pub(super) fn report(
    url: &str,
    mut request: CheckRequest,
    mut names: Names,
    output: &FindingsOutputArgs,
) -> Result<Outcome, CliError> {
    output.ask(&mut request);
    resolve_revisions(&mut request);
    let url = url.trim_end_matches('/');
    let server = Place::parse(url.as_ref(), &destination::machine())?;
    names
        .options
        .extend(["--server".to_owned(), url.to_owned()]);
    let output_for = ForClient {
        rendering: output.rendering(),
        names,
        server: url.to_owned(),
    };
    let body = json!({ "request": request, "output": output_for }).to_string();
    let answer = server.ask("checks", body.as_bytes(), MAX_ANSWER)?;
    let rendered: Rendered =
        serde_json::from_slice(&answer).map_err(|source| CliError::ServerAnswer {
            url: url.to_owned(),
            source,
        })?;
    output.write(&rendered)?;
    Ok(outcome_of(rendered.verdict))
}

/// Replaces git revisions by their commits, because the server has no work tree.
fn resolve_revisions(request: &mut CheckRequest) {
    let machine = Machine::here();
    let resolve = |text: &mut String| {
        let Some((before, revision)) = text.split_once("git:") else {
            return;
        };
        if !before.is_empty() && !before.ends_with('@') {
            return;
        }
        if let Some(commit) = machine.commit(revision) {
            *text = format!("{before}git:{}", commit.id);
        }
    };
    if let BuildRef::Selector(text) = &mut request.candidate {
        resolve(text);
    }
    if let Some(Baseline::Any(BuildRef::Selector(text)) | Baseline::OfCandidate(text)) =
        &mut request.baseline
    {
        resolve(text);
    }
}
