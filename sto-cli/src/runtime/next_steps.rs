//! Commands for the user to repeat a result or to see more of it.

use sto_query::questions::{CompareOptions, KeyOptions, NormalisationMethod, SuspectOptions};
use sto_query::results::{Comparison, Suspects};
use sto_query::text::Command;

/// Fills in the commands of a comparison. `sides` are the names of the sides, and `options` are the other options
/// that are needed to repeat it.
pub(crate) fn add_comparison_commands(
    comparison: &mut Comparison,
    sides: &[&str],
    options: &[String],
) {
    let mut words = thresholds(&comparison.thresholds);
    if let Some(curves) = &comparison.curves {
        words.extend(["--x".to_owned(), curves.candidate.x.clone()]);
    }
    if let Some(benchmark) = &comparison.benchmark {
        words.extend(["--benchmark".to_owned(), benchmark.clone()]);
    }
    comparison.command = command_for_sides("find-regressions", sides, [&words, options].concat());
    for finding in &mut comparison.findings {
        let focus = ["--focus", &finding.function, "-o", "diff.svg"].map(str::to_owned);
        finding.command = command_for_sides("diff", sides, [&focus, options].concat());
    }
}

fn command_for_sides(subcommand: &str, sides: &[&str], options: Vec<String>) -> Command {
    let sides: Vec<String> = sides.iter().map(|&side| side.to_owned()).collect();
    let mut words = vec!["sto".to_owned(), subcommand.to_owned()];
    // A name that begins with `-` would be parsed as an option.
    if sides.iter().any(|side| side.starts_with('-')) {
        words.extend(options);
        words.push("--".to_owned());
        words.extend(sides);
    } else {
        words.extend(sides);
        words.extend(options);
    }
    Command { words }
}

fn thresholds(thresholds: &CompareOptions) -> Vec<String> {
    let usual = CompareOptions::default();
    let mut words = unusual([
        ("--alpha", thresholds.alpha, usual.alpha),
        (
            "--min-effect",
            percent(thresholds.min_effect),
            percent(usual.min_effect),
        ),
        (
            "--min-share",
            percent(thresholds.min_share),
            percent(usual.min_share),
        ),
        (
            "--min-samples",
            thresholds.min_samples as f64,
            usual.min_samples as f64,
        ),
    ]);
    words.extend(match &thresholds.normalisation {
        None => Vec::new(),
        Some(NormalisationMethod::Tmm) => vec!["--unequal-work".to_owned()],
        Some(NormalisationMethod::PerRun) => vec!["--per-run".to_owned()],
        Some(NormalisationMethod::Total) => vec!["--shares".to_owned()],
        Some(NormalisationMethod::PerMetric(metric)) => vec!["--per".to_owned(), metric.clone()],
    });
    words.extend(matching(thresholds.matching));
    words.extend(thresholds.instances.then(|| "--instances".to_owned()));
    for (metric, worse_if) in &thresholds.worse_if {
        let worse_if = worse_if.name();
        words.extend(["--worse-if".to_owned(), format!("{metric}={worse_if}")]);
    }
    words
}

/// Fills in the commands of suspects. `options` are the other options that are needed to repeat them.
pub(crate) fn add_suspect_commands(found: &mut Suspects, options: &[String]) {
    let history = &found.history;
    let profile = &found.run().run.profile;
    let named = [
        ("--exe", Some(&*history.executable)),
        ("--benchmark", history.benchmark.as_deref()),
        ("--event", Some(&*history.sample_type.event)),
        ("--at", Some(&profile[..12])),
    ];
    let named = named
        .into_iter()
        .filter_map(|(option, value)| Some((option, value?)));
    let mut words = options.to_vec();
    words.extend(named.flat_map(|(option, value)| {
        // A separate value that begins with `-` would be parsed as an option.
        if value.starts_with('-') {
            vec![format!("{option}={value}")]
        } else {
            vec![option.to_owned(), value.to_owned()]
        }
    }));
    words.extend(matching(found.matching));
    let command = |subcommand: &str, rest: &[&str]| {
        let head = ["sto", subcommand].map(str::to_owned);
        let rest: Vec<String> = rest.iter().map(|&word| word.to_owned()).collect();
        Command {
            words: [&head[..], &words, &rest].concat(),
        }
    };
    for suspect in &mut found.suspects {
        // A name may begin with a dash.
        suspect.command = command("expand", &["--", &suspect.score.function.function]);
    }
    let (options, usual) = (found.options, SuspectOptions::default());
    let options = unusual([
        ("--window", options.window as f64, usual.window as f64),
        (
            "--min-share",
            percent(options.min_share),
            percent(usual.min_share),
        ),
        ("--min-score", options.min_score, usual.min_score),
        ("--limit", options.limit as f64, usual.limit as f64),
    ]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    found.command = command("report", &[&options, &["-o", "report.html"][..]].concat());
}

/// The options with their values that differ from the default.
fn unusual<const N: usize>(options: [(&str, f64, f64); N]) -> Vec<String> {
    let unusual = options
        .into_iter()
        .filter(|(_, value, usual)| value != usual);
    unusual
        .flat_map(|(option, value, _)| [option.to_owned(), value.to_string()])
        .collect()
}

/// A share in percent, rounded to hide the error of binary fractions.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

fn matching(options: KeyOptions) -> impl Iterator<Item = String> {
    let given = [
        (options.exact_symbols, "--exact-symbols"),
        (
            options.ignore_template_arguments,
            "--ignore-template-arguments",
        ),
    ];
    let given = given.into_iter().filter(|(is_given, _)| *is_given);
    given.map(|(_, option)| option.to_owned())
}
