//! What curves say of two builds, beside what their runs say together.

use super::result::{CompareOptions, Comparison, Verdict};
use crate::functions::key_symbol;
use crate::models::{FunctionChange, ModelChanges};

impl Comparison {
    /// Adds curves to what was compared: a function that grows otherwise is a regression, too.
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

/// What the function says that changed most, which is rarely one that only calls others, and how many there are.
fn worse(curves: &ModelChanges) -> String {
    let mut worse: Vec<&FunctionChange> = curves.functions.iter().collect();
    worse.retain(|of| of.is_regression());
    let ratio = |of: &FunctionChange| of.ratio.unwrap_or(f64::INFINITY);
    // Of equals the one that costs most, which stands first.
    let most = worse
        .iter()
        .rev()
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let headline = most.map_or_else(String::new, |most| curves.headline(most));
    match worse.len() {
        0 | 1 => headline,
        2 => format!("{headline}, and 1 more function grows otherwise"),
        all => format!("{headline}, and {} more functions grow otherwise", all - 1),
    }
}
