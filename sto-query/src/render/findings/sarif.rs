//! Findings as SARIF 2.1.0, which code scanning shows next to the code.

use super::curves::{self, Curve, Weight};
use super::metrics;
use super::words::{RankedFinding, basis, label, rank_findings, reason, side_name, weakness};
use crate::compare::{CallPath, Comparison, Finding, FindingKind, MetricOutcome, Verdict};
use crate::text::printable;
use serde_json::{Value, json};

/// Maximum number of results that GitHub accepts.
const MAX_RESULTS: usize = 5_000;

/// Kinds of findings, with the descriptions of their rules.
const RULES: [(FindingKind, &str); 6] = [
    (FindingKind::Regression, "A function got slower"),
    (FindingKind::New, "A function is new, and costs time"),
    (FindingKind::Moved, "Cost moved to another function"),
    (
        FindingKind::Replaced,
        "A function replaced another at the same cost",
    ),
    (FindingKind::Improvement, "A function got faster"),
    (FindingKind::Gone, "A function is gone"),
];

/// Changes of curves in Perun's terms, with the descriptions of their rules.
const CURVES: [(&str, &str, Weight); 4] = [
    (
        "degradation",
        "The cost of a function grows faster than it did",
        Weight::Error,
    ),
    (
        "maybe_degradation",
        "The cost of a function may grow faster than it did",
        Weight::Warning,
    ),
    (
        "maybe_optimisation",
        "The cost of a function may grow slower than it did",
        Weight::Note,
    ),
    (
        "optimisation",
        "The cost of a function grows slower than it did",
        Weight::Note,
    ),
];

/// Rule of metrics that got worse.
const METRIC: &str = "metric";

/// Returns the comparisons as one SARIF 2.1.0 run with at most 5,000 results, worst first.
/// Notifications report the number of results that were left out, and comparisons with too little
/// data.
pub fn sarif(comparisons: &[Comparison]) -> String {
    let findings = rank_findings(comparisons);
    let slower_runs = comparisons.iter().flat_map(worse_metrics);
    let curves = comparisons.iter().flat_map(of_curves);
    let mut results: Vec<Value> = slower_runs
        .chain(curves)
        .chain(findings.iter().copied().map(result))
        .collect();
    let left_out = results.len().saturating_sub(MAX_RESULTS);
    results.truncate(MAX_RESULTS);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sto",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications(comparisons, left_out),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": Verdict::combine(comparisons).name(),
                "reason": printable(&reason(comparisons)),
            },
        }],
    });
    format!("{log:#}\n")
}

fn rules() -> Vec<Value> {
    let rule = |id: &str, text: &str, is_worse: bool| {
        json!({
            "id": id,
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": level(is_worse, false) },
        })
    };
    let kinds = RULES.map(|(kind, text)| rule(kind.name(), text, kind.is_worse()));
    let metric = rule(
        METRIC,
        "A run takes longer, or costs more, as a whole",
        true,
    );
    let curves = CURVES.map(|(kind, text, weight)| {
        let mut rule = rule(kind, text, true);
        rule["defaultConfiguration"]["level"] = of_weight(weight).1.into();
        rule
    });
    kinds.into_iter().chain([metric]).chain(curves).collect()
}

/// Returns a result for each metric that got worse. Its location is the program, as GitHub rejects
/// results without a location.
fn worse_metrics(comparison: &Comparison) -> impl Iterator<Item = Value> {
    let rows = metrics::rows(comparison).into_iter();
    let worse = rows.filter(|row| row.outcome == MetricOutcome::Worse);
    worse.map(|row| {
        let text = format!(
            "{}: {} got worse: {} -> {} ({}, {})",
            label(comparison),
            row.name,
            row.baseline,
            row.candidate,
            row.change,
            row.evidence
        );
        json!({
            "ruleId": METRIC,
            "ruleIndex": RULES.len(),
            "kind": "fail",
            "level": level(true, comparison.verdict == Verdict::Insufficient),
            "message": { "text": escaped(&printable(&text)) },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(&comparison.candidate.executable) },
            }}],
            "partialFingerprints": fingerprints("sto.metric/1", comparison, "", &row.name),
            "properties": properties(comparison, json!({ "command": comparison.command })),
        })
    })
}

/// Returns a result for each function whose growth of cost changed.
fn of_curves(comparison: &Comparison) -> Vec<Value> {
    let result = |curve: Curve| {
        let change = curve.change;
        let (kind, level) = of_weight(curve.weight);
        let name = curve.kind;
        let rule = CURVES.iter().position(|(known, ..)| *known == name);
        json!({
            "ruleId": name,
            "ruleIndex": rule.map(|ix| RULES.len() + 1 + ix),
            "kind": kind,
            "level": level,
            "message": { "text": escaped(&printable(&change.reason)) },
            "locations": [{
                "physicalLocation": { "artifactLocation": { "uri": uri(match &*change.module {
                    "" => &comparison.candidate.executable,
                    module => module,
                }) } },
                "logicalLocations": [function(&change.function)],
            }],
            "partialFingerprints":
                fingerprints("sto.curve/1", comparison, &change.module, &change.function),
            "properties": properties(comparison, json!({
                "x": curve.x,
                "largestX": change.largest_x,
                "ratio": change.ratio,
                "mattersFrom": change.matters_from,
                "q": change.q,
                "command": comparison.command,
            })),
        })
    };
    curves::changed(comparison)
        .into_iter()
        .map(result)
        .collect()
}

/// Returns the kind and level of a result.
fn of_weight(weight: Weight) -> (&'static str, &'static str) {
    match weight {
        Weight::Error => ("fail", "error"),
        Weight::Warning => ("fail", "warning"),
        Weight::Note => ("informational", "none"),
    }
}

fn level(is_worse: bool, is_weak: bool) -> &'static str {
    match (is_worse, is_weak) {
        (true, false) => "error",
        (true, true) => "warning",
        (false, _) => "none",
    }
}

fn result(
    RankedFinding {
        comparison,
        finding,
    }: RankedFinding<'_>,
) -> Value {
    let is_weak = finding.weak || comparison.verdict == Verdict::Insufficient;
    let change = basis(finding);
    let fingerprints = fingerprints(
        "sto.finding/1",
        comparison,
        &finding.module,
        &finding.function,
    );
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": RULES.iter().position(|(kind, _)| *kind == finding.kind),
        "kind": if finding.is_regression() { "fail" } else { "informational" },
        "level": level(finding.is_regression(), is_weak),
        "message": { "text": message(comparison, finding) },
        "locations": [location(finding, &comparison.candidate.executable)],
        "partialFingerprints": fingerprints,
        "properties": properties(comparison, json!({
            "basis": finding.basis,
            "baselineShare": change.baseline_share,
            "candidateShare": change.candidate_share,
            "change": change.change,
            "changeLow": change.change_low,
            "changeHigh": change.change_high,
            "q": change.q,
            "moreCallPaths": finding.more_call_paths,
            "command": finding.command,
        })),
    });
    if let Some(ignored) = &finding.ignored {
        result["suppressions"] = json!([{
            "kind": "external",
            "status": "accepted",
            "justification": printable(&format!("{} (until {})", ignored.reason, ignored.expires)),
        }]);
    }
    if !finding.call_paths.is_empty() {
        result["stacks"] = finding.call_paths.iter().map(stack).collect();
    }
    result
}

/// Returns the properties of a result: the compared builds, and all properties of `more`.
fn properties(comparison: &Comparison, mut more: Value) -> Value {
    more["benchmark"] = json!(comparison.benchmark);
    more["baseline"] = json!(side_name(&comparison.baseline));
    more["candidate"] = json!(side_name(&comparison.candidate));
    more
}

/// Returns the fingerprints of a function, which are the same in all builds of a program.
fn fingerprints(kind: &str, comparison: &Comparison, module: &str, function: &str) -> Value {
    let mut hasher = blake3::Hasher::new();
    let benchmark = comparison.benchmark.as_deref().unwrap_or_default();
    for part in [
        kind,
        &comparison.candidate.executable,
        benchmark,
        module,
        function,
    ] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    let fingerprint = &hash[..32];
    // GitHub only uses the second one. Without it, GitHub would hash the line, which changes with
    // every edit.
    json!({
        "stoFunction/v1": fingerprint,
        "primaryLocationLineHash": format!("{fingerprint}:1"),
    })
}

fn message(comparison: &Comparison, finding: &Finding) -> String {
    let benchmark = match &comparison.benchmark {
        Some(benchmark) => format!("{}: ", printable(benchmark)),
        None => String::new(),
    };
    let reason = printable(&finding.reason);
    let weak = weakness(finding.weak);
    escaped(&format!("{benchmark}{reason}{weak}"))
}

/// Escapes a message.
fn escaped(text: &str) -> String {
    // In messages, `[text](n)` is a link and `{0}` an argument.
    let may_link = text.contains("](");
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '[' | ']' | '\\' if may_link => escaped.extend(['\\', character]),
            '{' => escaped.push_str("{{"),
            '}' => escaped.push_str("}}"),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Returns the location of a finding. If no source file in the repository is known, it is the
/// module, as GitHub rejects results without a location.
fn location(finding: &Finding, executable: &str) -> Value {
    let module = match &*finding.module {
        "" => executable,
        module => module,
    };
    let (file, line) = finding.annotated_place().unwrap_or((module, None));
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(line) = line {
        physical["region"] = json!({ "startLine": line });
    }
    json!({
        "physicalLocation": physical,
        "logicalLocations": [function(&finding.function)],
    })
}

fn function(name: &str) -> Value {
    json!({ "fullyQualifiedName": printable(name), "kind": "function" })
}

/// Returns a call path as a SARIF stack, innermost function first.
fn stack(path: &CallPath) -> Value {
    let frame = |name: &str, module: &str| json!({ "module": printable(module), "location": { "logicalLocations": [function(name)] } });
    let mut frames: Vec<Value> = path
        .stack
        .iter()
        .map(|step| frame(&step.function, &step.module))
        .collect();
    if path.omitted > 0 {
        let omitted = format!("({} more)", path.omitted);
        frames.insert(frames.len() / 2, frame(&omitted, ""));
    }
    frames.reverse();
    json!({
        "message": { "text": format!(
            "{} samples before, {} now", path.baseline_samples, path.candidate_samples
        )},
        "frames": frames,
    })
}

fn notifications(comparisons: &[Comparison], left_out: usize) -> Vec<Value> {
    let notification =
        |level: &str, text: &str| json!({ "level": level, "message": { "text": printable(text) } });
    let mut notifications = Vec::new();
    for comparison in comparisons {
        let name = label(comparison);
        if comparison.verdict == Verdict::Insufficient {
            let text = format!("{name}: too little data: {}", comparison.reason);
            notifications.push(notification("warning", &text));
        }
        for warning in &comparison.warnings {
            notifications.push(notification("warning", &format!("{name}: {warning}")));
        }
    }
    if left_out > 0 {
        let text = format!("{left_out} more results are left out, as GitHub takes {MAX_RESULTS}.");
        notifications.push(notification("note", &text));
    }
    notifications
}

/// Returns a path as a URI reference, which is relative if the path is.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://" } else { "" }.to_owned();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
