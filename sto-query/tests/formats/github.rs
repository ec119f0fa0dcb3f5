//! GitHub's workflow commands, read by the rules of its actions runner.
//!
//! The reader follows `TryParseV2` of `ActionCommand.cs` in github.com/actions/runner.

use super::fixtures::{HOSTILE, clean, cost, hostile, insufficient, many, weak, worse};
use crate::compare::support::compared;
use crate::views::{Stacks, view};
use crate::words::github;
use std::collections::BTreeMap;
use sto_core::model::{Frame, FrameKind};
use sto_query::render::sarif;
use sto_query::results::{Comparison, FindingKind};
use sto_query::text::printable;

#[derive(Debug)]
struct Command {
    name: String,
    properties: BTreeMap<String, String>,
    message: String,
}

/// Parses a command: leading space is dropped; the command ends at the next `::`; properties are
/// split at `,`, and each at its first `=`; then escapes are decoded, `%25` last.
fn parsed(line: &str) -> Option<Command> {
    let rest = line.trim_start().strip_prefix("::")?;
    let (info, message) = rest.split_once("::")?;
    let (name, properties) = info.split_once(' ').unwrap_or((info, ""));
    if !["error", "warning", "notice", "debug", "group", "add-mask"].contains(&name) {
        return None;
    }
    let unescaped = |text: &str, escapes: &[(&str, &str)]| {
        let all = escapes.iter().chain(&[("%25", "%")]);
        all.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let of_message = [("%0D", "\r"), ("%0A", "\n")];
    let of_property = [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")];
    let properties = properties.trim().split(',').filter(|pair| !pair.is_empty());
    Some(Command {
        name: name.to_owned(),
        properties: properties
            .filter_map(|pair| pair.split_once('='))
            .filter(|(key, value)| !key.is_empty() && !value.is_empty())
            .map(|(key, value)| (key.to_owned(), unescaped(value, &of_property)))
            .collect(),
        message: unescaped(message, &of_message),
    })
}

fn commands(comparisons: &[Comparison]) -> Vec<Command> {
    let text = github(comparisons);
    text.lines()
        .map(|line| parsed(line).unwrap_or_else(|| panic!("no command: {line}")))
        .collect()
}

fn named<'a>(commands: &'a [Command], name: &str) -> Vec<&'a Command> {
    commands
        .iter()
        .filter(|command| command.name == name)
        .collect()
}

#[test]
fn places_are_files_of_the_repository() {
    let frame = |symbol, file| Frame {
        symbol,
        module: "demo",
        kind: FrameKind::User,
        file,
        line: 0,
    };
    let reduce = "rayon::iter::reduce";
    for (innermost, outer, expected) in [
        (
            "rayon-1.12.0/src/iter/reduce.rs",
            "src/sum.rs",
            Some("src/sum.rs"),
        ),
        ("/usr/include/rayon.h", "/srv/sum.c", None),
        ("lib/reduce.rs", "src/sum.rs", Some("lib/reduce.rs")),
    ] {
        let runs = |version, samples| {
            let callers = [frame("main", outer), frame("sum", outer)];
            let hot = [callers[0], callers[1], frame(reduce, innermost)];
            let stacks: Stacks =
                [(hot.to_vec(), cost(samples)), (callers.to_vec(), cost(900))].into();
            view(version, &stacks)
        };
        let comparison = compared(&runs("v1", 300), &runs("v2", 900));
        assert_eq!(comparison.findings[0].function, reduce);
        let commands = commands(std::slice::from_ref(&comparison));
        let found = commands
            .iter()
            .find(|c| c.properties["title"].contains(reduce))
            .unwrap();
        assert_eq!(found.properties.get("file").map(String::as_str), expected);
        let sarif = sarif(&[comparison]);
        assert!(
            !sarif.contains("reduce.rs") || innermost == "lib/reduce.rs",
            "{sarif}"
        );
    }
}

#[test]
fn runner_reads_place_and_message_of_each_finding() {
    let comparison = worse();
    let commands = commands(std::slice::from_ref(&comparison));
    let of_findings = commands
        .iter()
        .filter(|c| c.properties.contains_key("file"));
    assert_eq!(of_findings.count(), comparison.findings.len());
    let (errors, notices) = (named(&commands, "error"), named(&commands, "notice"));
    for finding in &comparison.findings {
        let is_worse = matches!(finding.kind, FindingKind::Regression | FindingKind::New);
        let of_kind = if is_worse { &errors } else { &notices };
        let title = format!(
            "sto: {} in {} (requests)",
            finding.kind.name(),
            finding.function
        );
        let found = of_kind
            .iter()
            .find(|c| c.properties["title"] == title)
            .unwrap();
        assert_eq!(found.properties["file"], "src/demo, 100%.c");
        assert_eq!(
            found.properties.get("line"),
            finding.line.map(|l| l.to_string()).as_ref()
        );
        let mut lines = found.message.lines();
        assert_eq!(lines.next(), Some(finding.reason.as_str()));
        assert_eq!(
            lines.next_back(),
            Some(finding.command.to_string().as_str())
        );
    }
}

#[test]
fn cost_of_a_run_precedes_findings_and_has_no_line() {
    let commands = commands(&[worse()]);
    let first = named(&commands, "error")[0];
    let title = &first.properties["title"];
    assert_eq!(title, "sto: total cost got worse (requests)");
    assert!(!first.properties.contains_key("file"), "{first:?}");
}

#[test]
fn hostile_names_make_no_commands() {
    let comparison = hostile();
    let commands = commands(std::slice::from_ref(&comparison));
    let errors = named(&commands, "error");
    // The first is the cost of a run, the last counts omitted findings.
    let of_findings = &errors[1..errors.len() - 1];
    assert!(commands.iter().all(|command| {
        command
            .properties
            .keys()
            .all(|key| ["file", "line", "title"].contains(&key.as_str()))
    }));
    for (error, finding) in of_findings.iter().zip(&comparison.findings) {
        assert_eq!(error.properties["file"], "src/demo, 100%.c");
        let name = printable(&finding.function);
        assert!(error.properties["title"].contains(&*name), "{error:?}");
        assert!(
            error.message.starts_with(&*printable(&finding.reason)),
            "{error:?}"
        );
    }
    let shown = |name: &str| {
        commands
            .iter()
            .any(|c| c.message.contains(&*printable(name)))
    };
    assert!(shown(HOSTILE[0]), "{commands:?}");
}

#[test]
fn source_paths_are_escaped() {
    let mut comparison = worse();
    comparison.findings.truncate(1);
    let path = "src/\x1b]0;title\x07\x1b[2J,line=9,title=x::y%0A\r\n.c";
    comparison.findings[0].file = Some(path.to_owned());
    comparison.findings[0].line = None;
    let text = github(std::slice::from_ref(&comparison));
    let is_harmless = |c: char| c == '\n' || !c.is_control();
    assert!(text.chars().all(is_harmless), "{text:?}");
    let of_finding = text.lines().filter_map(parsed);
    let of_finding = of_finding.filter(|command| command.properties.contains_key("file"));
    let found: Vec<_> = of_finding.map(|command| command.properties).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["file"], printable(path));
    assert!(
        found[0]["file"].contains("\\u{1b}]0;title\\u{7}"),
        "{found:?}"
    );
    assert!(!found[0].contains_key("line"), "{found:?}");
}

#[test]
fn shows_ten_of_a_kind_and_counts_the_rest() {
    let commands = commands(&[many()]);
    let errors = named(&commands, "error");
    assert_eq!(errors.len(), 10);
    assert!(
        errors[9]
            .message
            .starts_with("62 more of this kind are not shown here")
    );
}

#[test]
fn weak_evidence_and_insufficient_data_are_warnings() {
    let weak = commands(&[weak()]);
    assert_eq!(named(&weak, "warning").len(), 1);
    assert!(named(&weak, "error").is_empty());
    let insufficient = commands(&[insufficient()]);
    let warnings = named(&insufficient, "warning");
    assert!(warnings[0].properties["title"].contains("too little data"));
    assert!(named(&insufficient, "error").is_empty());
}

#[test]
fn clean_comparison_is_a_notice() {
    let commands = commands(&[clean()]);
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0].name, "notice");
    assert!(commands[0].message.starts_with("CLEAN: "));
}
