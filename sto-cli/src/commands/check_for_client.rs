//! Checks that this program makes as a server, for `sto find-regressions --server URL`.

use super::check_by_server::ForClient;
use crate::args::FindingsFormat;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use sto_query::check::Check;
use sto_query::results::{Comparison, Side};
use sto_query::text::Command;

/// Length of the longest link with all runs; browsers and proxies take twice as much. Longer ones name the builds.
const LONGEST_LINK: usize = 4000;

/// Renders a check as a client wants it.
pub(super) fn render(mut check: Check, output: Value) -> Result<Value, String> {
    let output: ForClient = serde_json::from_value(output).map_err(|error| error.to_string())?;
    output.names.add_commands(&mut check);
    // No other command asks a server; the page of the comparison shows the rest.
    for comparison in &mut check.comparisons {
        for finding in &mut comparison.findings {
            finding.command = Command::default();
        }
    }
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
