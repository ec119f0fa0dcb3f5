//! Findings as JUnit XML, which every other CI system reads.
//!
//! A comparison is a test suite, a function that was tested a test case: it fails if the function got
//! worse. So a function has a history, and a CI system can say since when it fails.

use super::metrics;
use super::steps::steps;
use super::words::{label, not_counted, side_name, weakness};
use super::{Detail, findings_text};
use crate::compare::{Comparison, Finding, MetricOutcome, Verdict};
use crate::render::xml::escaped;
use crate::text::{Style, printable};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Columns of a name in a call path, and functions at either end of one.
const NAME_WIDTH: usize = 100;
const PATH_ENDS: usize = 16;

/// The comparisons as JUnit XML: valid by the schema of Jenkins (`junit-10.xsd`).
///
/// Each suite has a test case `enough data`, which is skipped where there is too little; all
/// others are then skipped as well. Functions that did not change are there if
/// [`Comparison::functions`] is.
pub fn junit(comparisons: &[Comparison]) -> String {
    let suites: Vec<Suite> = comparisons.iter().map(Suite::of).collect();
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(
        xml,
        "<testsuites name=\"sto find-regressions\" tests=\"{}\" failures=\"{}\" errors=\"0\">",
        sum(|suite| suite.cases.len()),
        sum(|suite| suite.failures()),
    );
    for suite in &suites {
        suite.write(&mut xml);
    }
    xml + "</testsuites>\n"
}

/// A comparison as tests.
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
    /// It does not count, as a policy says.
    Ignored(&'a Finding),
    Failed(&'a Finding),
    /// A metric got worse.
    Worse(metrics::Row),
}

const ENOUGH_DATA: &str = "enough data";

impl<'a> Suite<'a> {
    fn of(comparison: &'a Comparison) -> Suite<'a> {
        let is_judged = comparison.verdict != Verdict::Insufficient;
        // Sorted by name, so that two reports can be laid side by side.
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
            outcome: match is_judged {
                true => outcome,
                false => Outcome::Skipped,
            },
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
        let enough = Case {
            name: Cow::Borrowed(ENOUGH_DATA),
            module: "",
            outcome: match is_judged {
                true => Outcome::Passed,
                false => Outcome::Skipped,
            },
        };
        Suite {
            comparison,
            cases: std::iter::once(enough)
                .chain(metrics)
                .chain(cases)
                .collect(),
        }
    }

    fn failures(&self) -> usize {
        let failed = |case: &&Case| matches!(case.outcome, Outcome::Failed(_) | Outcome::Worse(_));
        self.cases.iter().filter(failed).count()
    }

    fn write(&self, xml: &mut String) {
        let Suite { comparison, cases } = self;
        let skipped = |case: &&Case| matches!(case.outcome, Outcome::Skipped | Outcome::Ignored(_));
        let skipped = cases.iter().filter(skipped).count();
        let _ = write!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{skipped}\"",
            attribute(label(comparison)),
            cases.len(),
            self.failures(),
        );
        if let Some(recorded) = &comparison.candidate.last_recorded {
            let _ = write!(xml, " timestamp=\"{}\"", attribute(recorded));
        }
        if let Some(host) = comparison.candidate.hosts.first() {
            let _ = write!(xml, " hostname=\"{}\"", attribute(host));
        }
        *xml += ">\n    <properties>\n";
        for (name, value) in [
            ("verdict", comparison.verdict.name()),
            ("baseline", &side_name(&comparison.baseline)),
            ("candidate", &side_name(&comparison.candidate)),
        ] {
            let value = attribute(value);
            let _ = writeln!(xml, "      <property name=\"{name}\" value=\"{value}\"/>");
        }
        *xml += "    </properties>\n";
        for case in cases {
            case.write(comparison, xml);
        }
        let without_functions = Comparison {
            functions: None,
            ..(*comparison).clone()
        };
        let text = findings_text(&without_functions, Style::default(), Detail::Short);
        let _ = writeln!(xml, "    <system-out>{}</system-out>", escaped(&text));
        *xml += "  </testsuite>\n";
    }
}

impl Case<'_> {
    fn write(&self, comparison: &Comparison, xml: &mut String) {
        let class = match self.module {
            "" => label(comparison).to_owned(),
            module => format!("{}.{module}", label(comparison)),
        };
        let _ = write!(
            xml,
            "    <testcase name=\"{}\" classname=\"{}\"",
            attribute(&self.name),
            attribute(&class)
        );
        *xml += &match &self.outcome {
            Outcome::Passed => "/>\n".to_owned(),
            Outcome::Skipped => skipped(&comparison.reason),
            Outcome::Ignored(finding) => {
                let why = not_counted(finding).unwrap_or_default();
                skipped(&format!("{}; {why}", finding.reason))
            }
            Outcome::Worse(row) => {
                let message = format!("{} -> {}: {}", row.baseline, row.candidate, row.change);
                let message = attribute(&message);
                let evidence = escaped(&row.evidence);
                format!(
                    ">\n      <failure type=\"metric\" message=\"{message}\">{evidence}</failure>\n    \
                     </testcase>\n"
                )
            }
            Outcome::Failed(finding) => format!(
                ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                finding.kind.name(),
                attribute(&finding.reason),
                escaped(&details(finding)),
            ),
        };
    }
}

fn skipped(reason: &str) -> String {
    let reason = attribute(reason);
    format!(">\n      <skipped message=\"{reason}\"/>\n    </testcase>\n")
}

/// What a person reads who opens a failed test.
fn details(finding: &Finding) -> String {
    let reason = printable(&finding.reason);
    let mut lines = vec![format!("{reason}{}", weakness(finding.weak))];
    let place = finding.place();
    lines.extend(place.map(|place| format!("in {}", printable(&place))));
    for path in &finding.call_paths {
        lines.push(format!("by {}", steps(path, PATH_ENDS, NAME_WIDTH)));
    }
    if finding.more_call_paths > 0 {
        lines.push(format!("and {} more call paths", finding.more_call_paths));
    }
    lines.push(finding.command.to_string());
    lines.join("\n")
}

/// A name or sentence as an attribute's value: one line, in which every character shows.
fn attribute(text: &str) -> String {
    escaped(&printable(text))
}
