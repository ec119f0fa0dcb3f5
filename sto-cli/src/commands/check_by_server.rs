//! Checks that a server makes: `sto find-regressions --server URL`.
//!
//! The client sends the request and how findings are to be rendered. The server checks and renders with the same code that
//! a local check uses, so that text, files and exit statuses are the same.

use super::findings::{Names, outcome_of};
use crate::args::{FindingsFormat, FindingsOutputArgs, Rendered, Rendering};
use crate::runtime::server::Server;
use crate::runtime::{CliError, Machine, Outcome};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sto_query::check::{Baseline, Check, CheckRequest};
use sto_query::results::{Comparison, Side};
use sto_query::sources::{BuildRef, Environment};

/// Length of the longest link with all runs; browsers and proxies take twice as much. Longer ones name the builds.
const LONGEST_LINK: usize = 4000;

/// How a server renders findings for a client.
#[derive(Debug, Serialize, Deserialize)]
struct ForClient {
    rendering: Rendering,
    names: Names,
    /// The server's address, as the client knows it.
    server: String,
}

/// Lets a server check for regressions, and writes the findings.
pub(super) fn report(
    server: &Server,
    mut request: CheckRequest,
    mut names: Names,
    output: &FindingsOutputArgs,
) -> Result<Outcome, CliError> {
    if request.counts.is_some() {
        return Err(CliError::NotByServer("--counts"));
    }
    request.all = output.shows_all();
    request.stacks = output.shows_stacks();
    resolve_revisions(&mut request);
    names
        .options
        .extend(["--server".to_owned(), server.url.clone()]);
    let output_for = ForClient {
        rendering: output.rendering(),
        names,
        server: server.url.clone(),
    };
    let body = json!({ "request": request, "output": output_for });
    let rendered: Rendered = server.post("/api/v1/checks", &body)?;
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
    match &mut request.baseline {
        Some(Baseline::Any(BuildRef::Selector(text)) | Baseline::OfCandidate(text)) => {
            resolve(text)
        }
        _ => {}
    }
}

/// Renders a check for a client: the part of a server that knows how this program writes findings.
pub(crate) fn render(mut check: Check, output: Value) -> Result<Value, String> {
    let output: ForClient = serde_json::from_value(output).map_err(|error| error.to_string())?;
    output.names.add_commands(&mut check);
    let mut rendered = output.rendering.render(&check);
    if let Some(comparison) = most_important(&check) {
        let link = link(&output.server, comparison);
        add_link(&mut rendered.findings, output.rendering.format, &link);
    }
    serde_json::to_value(rendered).map_err(|error| error.to_string())
}

/// Returns the comparison that decides the verdict.
fn most_important(check: &Check) -> Option<&Comparison> {
    let mut comparisons = check.comparisons.iter();
    comparisons.find(|comparison| comparison.verdict == check.verdict)
}

/// Adds the address of the page of a comparison to findings that people read.
fn add_link(findings: &mut String, format: FindingsFormat, link: &str) {
    match format {
        FindingsFormat::Text => *findings += &format!("\n{link}\n"),
        FindingsFormat::Md => *findings += &format!("\n[Open this comparison]({link})\n"),
        FindingsFormat::Github => {
            *findings = format!("::notice title=sto%3A open this comparison::{link}\n{findings}");
        }
        FindingsFormat::Json
        | FindingsFormat::Html
        | FindingsFormat::Junit
        | FindingsFormat::Sarif => {}
    }
}

/// Returns the address of the page of a comparison. It names the runs by their content, and so shows the same later.
fn link(server: &str, comparison: &Comparison) -> String {
    let sides = [&comparison.baseline, &comparison.candidate];
    let of_runs = link_to(server, sides.map(runs));
    if of_runs.len() <= LONGEST_LINK {
        return of_runs;
    }
    let build = |side: &Side| {
        let name = format!("{}@{}", side.executable, side.build);
        utf8_percent_encode(&name, NON_ALPHANUMERIC).to_string()
    };
    link_to(server, sides.map(build))
}

fn link_to(server: &str, [baseline, candidate]: [String; 2]) -> String {
    format!("{server}/compare?baseline={baseline}&candidate={candidate}")
}

fn runs(side: &Side) -> String {
    let mut ids: Vec<&str> = side.profiles.iter().map(|run| &*run.profile).collect();
    ids.sort_unstable();
    ids.dedup();
    format!("runs:{}", ids.join(","))
}
