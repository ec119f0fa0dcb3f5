//! Adds cost curves (cost as a function of the input size) to a comparison.

use super::result::{CompareOptions, Comparison, Verdict};
use crate::functions::key_symbol;
use crate::models::ModelChanges;

impl Comparison {
    /// Adds curves to the comparison. A function that scales worse than before makes the verdict a
    /// regression.
    pub(crate) fn add_curves(&mut self, mut curves: ModelChanges) {
        let options = &self.thresholds;
        curves.ignore(|function, module| is_ignored(options, function, module));
        let reason = &self.reason;
        (self.verdict, self.reason) = match (curves.verdict, self.verdict) {
            (Verdict::Regression, verdict) => {
                let joint = match verdict {
                    Verdict::Regression => "; ",
                    Verdict::Clean | Verdict::Insufficient => "; but ",
                };
                let reason = format!("{}{joint}{reason}", worse(&curves));
                (Verdict::Regression, reason)
            }
            (Verdict::Insufficient, Verdict::Clean) => {
                let x = &curves.candidate.x;
                let reason = format!("there are too few runs to compare cost by {x}; {reason}");
                (Verdict::Insufficient, reason)
            }
            (_, verdict) => (verdict, reason.clone()),
        };
        if !self.thresholds.all {
            curves.leave_out_unchanged();
        }
        self.curves = Some(curves);
    }
}

fn is_ignored(options: &CompareOptions, function: &str, module: &str) -> bool {
    let key = |symbol| key_symbol(symbol, options.matching);
    let mut entries = options.ignored.iter();
    entries.any(|entry| key(&entry.function) == function && entry.may_be_in(module))
}

/// Returns the headline of the first function that got worse, and the number of the others.
fn worse(curves: &ModelChanges) -> String {
    let mut worse = curves
        .functions
        .iter()
        .filter(|change| change.is_regression());
    let headline = worse
        .next()
        .map_or_else(String::new, |change| curves.headline(change));
    match worse.count() {
        0 => headline,
        1 => format!("{headline}, and 1 more function scales differently"),
        more => format!("{headline}, and {more} more functions scale differently"),
    }
}
