//! Findings as JUnit XML, which most CI systems read.
//!
//! A comparison is a test suite and a tested function is a test case, which fails if the function
//! got worse. Therefore CI systems show since when a function has failed.

use super::curves::{self, Curve, Weight};
use super::steps::steps;
use super::words::{ignore_reason, label, side_name, weakness};
use super::{Detail, findings_text, metrics};
use crate::compare::{Comparison, Finding, MetricOutcome, Verdict};
use crate::text::{Style, Words, printable};
use maud::{Markup, html};
use std::borrow::Cow;
use std::collections::BTreeMap;
use sto_core::Hint;

/// Maximum width of names in a call path, and number of functions at either end of it.
const NAME_WIDTH: usize = 100;
const PATH_ENDS: usize = 16;

/// Returns the comparisons as JUnit XML that is valid by the schema of Jenkins (`junit-10.xsd`).
///
/// Each suite has a test case `enough data`. If there is too little data, it is skipped, and so are
/// all others. Functions that did not change are included if [`Comparison::functions`] is set.
pub fn junit(comparisons: &[Comparison], words: Words) -> String {
    let suites: Vec<Suite> = comparisons.iter().map(Suite::new).collect();
    let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let failures: usize = suites.iter().map(Suite::failures).sum();
    let xml = html! {
        testsuites name=(words.name(Hint::Check).unwrap_or("sto")) tests=(tests) failures=(failures) errors="0" {
            @for suite in &suites { (suite.xml(words)) }
        }
    };
    // One line per element. Neither character occurs unescaped in names.
    let xml = xml
        .into_string()
        .replace("><", ">\n<")
        .replace(">\n</", "></");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{xml}\n")
}

/// A comparison as a test suite.
struct Suite<'a> {
    comparison: &'a Comparison,
    cases: Vec<Case<'a>>,
}

struct Case<'a> {
    name: Cow<'a, str>,
    module: &'a str,
    outcome: Outcome<'a>,
}

enum Outcome<'a> {
    Passed,
    Skipped,
    /// A regression that a policy ignores.
    Ignored(&'a Finding),
    Failed(&'a Finding),
    /// A metric that got worse.
    Worse(metrics::Row),
    /// The curve of a function, changed or not.
    Curve(Curve<'a>),
}

const ENOUGH_DATA: &str = "enough data";

impl<'a> Suite<'a> {
    fn new(comparison: &'a Comparison) -> Suite<'a> {
        let is_judged = comparison.verdict != Verdict::Insufficient;
        // Sorted by name, so that reports can be compared.
        let mut cases: BTreeMap<(&str, &str), Outcome> = BTreeMap::new();
        for function in comparison.functions.iter().flatten() {
            cases.insert((&function.function, &function.module), Outcome::Passed);
        }
        for finding in &comparison.findings {
            let outcome = match (finding.is_regression(), &finding.ignored) {
                (true, _) => Outcome::Failed(finding),
                (false, Some(_)) => Outcome::Ignored(finding),
                (false, None) => Outcome::Passed,
            };
            cases.insert((&finding.function, &finding.module), outcome);
        }
        let cases = cases.into_iter().map(|((name, module), outcome)| Case {
            name: Cow::Borrowed(name),
            module,
            outcome: if is_judged { outcome } else { Outcome::Skipped },
        });
        let metrics = metrics::rows(comparison).into_iter().map(|row| Case {
            name: Cow::Owned(row.name.clone()),
            module: "",
            outcome: match row.outcome {
                _ if !is_judged => Outcome::Skipped,
                MetricOutcome::Worse => Outcome::Worse(row),
                MetricOutcome::Untested => Outcome::Skipped,
                _ => Outcome::Passed,
            },
        });
        let x = comparison.curves.as_ref().map(|of| &*of.candidate.x);
        let curves = curves::all(comparison).into_iter().map(|curve| Case {
            name: Cow::Owned(format!(
                "{} by {}",
                curve.change.function,
                x.unwrap_or_default()
            )),
            module: &curve.change.module,
            outcome: if is_judged {
                Outcome::Curve(curve)
            } else {
                Outcome::Skipped
            },
        });
        let enough = Case {
            name: Cow::Borrowed(ENOUGH_DATA),
            module: "",
            outcome: if is_judged {
                Outcome::Passed
            } else {
                Outcome::Skipped
            },
        };
        Suite {
            comparison,
            cases: std::iter::once(enough)
                .chain(metrics)
                .chain(curves)
                .chain(cases)
                .collect(),
        }
    }

    fn failures(&self) -> usize {
        let failed = |case: &&Case| match &case.outcome {
            Outcome::Failed(_) | Outcome::Worse(_) => true,
            Outcome::Curve(curve) => curve.weight == Weight::Error,
            _ => false,
        };
        self.cases.iter().filter(failed).count()
    }

    fn xml(&self, words: Words) -> Markup {
        let Suite { comparison, cases } = self;
        let skipped = |case: &&Case| matches!(case.outcome, Outcome::Skipped | Outcome::Ignored(_));
        let candidate = &comparison.candidate;
        let properties = [
            ("verdict", comparison.verdict.name().to_owned()),
            ("baseline", side_name(&comparison.baseline)),
            ("candidate", side_name(candidate)),
        ];
        let without_functions = Comparison {
            functions: None,
            ..(*comparison).clone()
        };
        html! {
            testsuite name=(printable(label(comparison))) tests=(cases.len())
                failures=(self.failures()) errors="0" skipped=(cases.iter().filter(skipped).count())
                timestamp=[candidate.last_recorded.as_deref().map(printable)]
                hostname=[candidate.hosts.first().map(|host| printable(host))] {
                properties {
                    @for (name, value) in properties {
                        property name=(name) value=(printable(&value)) {}
                    }
                }
                @for case in cases { (case.xml(comparison)) }
                system-out { (findings_text(&without_functions, Style { words, ..Style::default() }, Detail::Short)) }
            }
        }
    }
}

impl Case<'_> {
    fn xml(&self, comparison: &Comparison) -> Markup {
        let class = match self.module {
            "" => label(comparison).to_owned(),
            module => format!("{}.{module}", label(comparison)),
        };
        let skipped = |reason: &str| html! { skipped message=(printable(reason)) {} };
        html! {
            testcase name=(printable(&self.name)) classname=(printable(&class)) {
                @match &self.outcome {
                    Outcome::Passed => {},
                    Outcome::Skipped => (skipped(&comparison.reason)),
                    Outcome::Ignored(finding) => {
                        @let why = ignore_reason(finding).unwrap_or_default();
                        (skipped(&format!("{}; {why}", finding.reason)))
                    },
                    Outcome::Worse(row) => {
                        @let message = format!("{} -> {}: {}", row.baseline, row.candidate, row.change);
                        failure type="metric" message=(printable(&message)) { (printable(&row.evidence)) }
                    },
                    Outcome::Curve(curve) if curve.weight == Weight::Error => {
                        failure type=(curve.kind) message=(printable(&curve.change.reason)) {}
                    },
                    Outcome::Curve(_) => {},
                    Outcome::Failed(finding) => {
                        failure type=(finding.kind.name()) message=(printable(&finding.reason)) {
                            (details(finding))
                        }
                    },
                }
            }
        }
    }
}

/// Returns the text of a failed test.
fn details(finding: &Finding) -> String {
    let reason = printable(&finding.reason);
    let mut lines = vec![format!("{reason}{}", weakness(finding.weak))];
    let location = finding.location();
    lines.extend(location.map(|location| format!("in {}", printable(&location))));
    for path in &finding.call_paths {
        lines.push(format!("by {}", steps(path, PATH_ENDS, NAME_WIDTH)));
    }
    if finding.more_call_paths > 0 {
        lines.push(format!("and {} more call paths", finding.more_call_paths));
    }
    lines.extend(finding.command.line());
    lines.join("\n")
}
