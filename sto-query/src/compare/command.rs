//! The command lines that make a comparison again, and show more of a finding.

use super::result::CompareOptions;
use super::result::rounded;
use super::result::{Comparison, NormalisationMethod};
use crate::text::Command;

impl Command {
    /// The differential flame graph of the stacks that have a function.
    fn diff(sides: [&str; 2], function: &str, options: &[String]) -> Command {
        let focus = ["--focus", function, "-o", "diff.svg"].map(str::to_owned);
        Command::of("diff", sides, [&focus, options].concat())
    }

    /// The comparison with these thresholds.
    fn find_regressions(
        sides: [&str; 2],
        thresholds: &CompareOptions,
        benchmark: Option<&str>,
        options: &[String],
    ) -> Command {
        let CompareOptions {
            alpha,
            min_effect,
            min_share,
            min_samples,
            normalisation,
            matching,
            ..
        } = thresholds;
        let usual = CompareOptions::default();
        let percent = |share: &f64| rounded(share * 100.0).to_string();
        let mut words = Vec::new();
        for (option, value, is_usual) in [
            ("--alpha", alpha.to_string(), *alpha == usual.alpha),
            (
                "--min-effect",
                percent(min_effect),
                *min_effect == usual.min_effect,
            ),
            (
                "--min-share",
                percent(min_share),
                *min_share == usual.min_share,
            ),
            (
                "--min-samples",
                min_samples.to_string(),
                *min_samples == usual.min_samples,
            ),
        ] {
            if !is_usual {
                words.extend([option.to_owned(), value]);
            }
        }
        words.extend(match normalisation {
            NormalisationMethod::Tmm => Vec::new(),
            NormalisationMethod::PerRun => vec!["--per-run".to_owned()],
            NormalisationMethod::Total => vec!["--shares".to_owned()],
            NormalisationMethod::PerMetric(metric) => vec!["--per".to_owned(), metric.clone()],
        });
        words.extend(matching.options());
        for (metric, worse_if) in &thresholds.worse_if {
            let worse_if = worse_if.name();
            words.extend(["--worse-if".to_owned(), format!("{metric}={worse_if}")]);
        }
        if let Some(benchmark) = benchmark {
            words.extend(["--benchmark".to_owned(), benchmark.to_owned()]);
        }
        words.extend_from_slice(options);
        Command::of("find-regressions", sides, words)
    }

    fn of(subcommand: &str, sides: [&str; 2], options: Vec<String>) -> Command {
        let sides = sides.map(str::to_owned);
        let mut words = vec!["sto".to_owned(), subcommand.to_owned()];
        // A name that begins like an option would be taken for one.
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
}

impl Comparison {
    /// Says how the sides can be named on the command line, and which options that takes, where it
    /// is not as builds of the store that is found by itself.
    pub fn set_commands(&mut self, sides: [&str; 2], options: &[String]) {
        self.command =
            Command::find_regressions(sides, &self.thresholds, self.benchmark.as_deref(), options);
        for finding in &mut self.findings {
            finding.command = Command::diff(sides, &finding.function, options);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::Command;

    #[test]
    fn no_name_is_taken_for_an_option() {
        let command = Command::diff(["-o/etc/passwd@v1", "v2"], "-f", &[]);
        assert_eq!(
            command.to_string(),
            "sto diff --focus -f -o diff.svg -- -o/etc/passwd@v1 v2"
        );
    }
}
