//! Descriptions of changes in growth as sentences.

use super::change::{Commits, FunctionChange, Growth, ModelChange};
use crate::select::shortened_revision;
use crate::text::{probability, short};
use std::fmt::Write;
use sto_stats::models::{Model, ModelKind};

/// Distance from a whole number up to which an exponent is rounded to it.
const NEAR: f64 = 0.1;

/// Describes a change, such as `parse went from O(n) to O(n²) with commit 3f2a9; 14.2 times as much at n = 20000,
/// ...`.
pub(super) fn reason(change: &FunctionChange, x: &str, commits: Option<&Commits>) -> String {
    let mut text = headline(change, x, commits);
    if let Some(from) = change.matters_from {
        let _ = write!(text, ", and other from {x} = {} on", short(from));
    }
    let growth = change.growth.filter(|_| is_significant(change));
    text += &growth.map_or_else(String::new, |growth| grown(growth, x));
    if let Some(q) = change.q {
        let _ = write!(text, " (q {})", probability(q));
    }
    text
}

/// Returns the growth and the ratio, which are the first two parts of the description.
///
/// Formulas fitted to noisy points differ easily, so only a significant change is described as a change of growth.
pub(super) fn headline(change: &FunctionChange, x: &str, commits: Option<&Commits>) -> String {
    let models = [&change.baseline, &change.candidate].map(|side| side.model.as_ref());
    // The only group of a table has no name.
    let mut text = match &*change.function {
        "" => "y".to_owned(),
        name => name.to_owned(),
    };
    let went = match models {
        [Some(old), Some(new)] => otherwise([old, new], change.growth, x),
        _ => None,
    };
    let says_growth = match (went, models[1]) {
        (Some([from, to]), _) if is_significant(change) => {
            let _ = write!(text, " went from {from} to {to}");
            text += &commits.map_or_else(String::new, commit);
            true
        }
        (None, Some(new)) => {
            let _ = write!(text, " is {}, as before", growth(new, x));
            true
        }
        _ => false,
    };
    let [nothing_now, times, nothing_before] = if says_growth {
        ["; it costs", ";", "; it cost"]
    } else {
        [" costs", " costs", " cost"]
    };
    let at = short(change.largest_x);
    let _ = match change.ratio {
        Some(0.0) => write!(text, "{nothing_now} nothing now"),
        Some(ratio) => write!(text, "{times} {} times as much at {x} = {at}", short(ratio)),
        None => write!(text, "{nothing_before} nothing before at {x} = {at}"),
    };
    text
}

fn is_significant(change: &FunctionChange) -> bool {
    matches!(
        change.result,
        ModelChange::Degradation | ModelChange::Optimisation
    )
}

/// Returns the growth of each side if it differs. A parabola can be nearly a line, so if the formulas agree but the
/// exponents differ significantly and by more than the tolerance, these are returned.
fn otherwise(models: [&Model; 2], exponents: Option<Growth>, x: &str) -> Option<[String; 2]> {
    let [old, new] = models;
    if !is_as_before(old, new, x) {
        return Some(models.map(|model| growth(model, x)));
    }
    let grown = exponents.filter(|grown| grown.low > NEAR || grown.high < -NEAR)?;
    Some([grown.baseline, grown.candidate].map(|exponent| format!("O({})", power(x, exponent))))
}

/// Returns `true` if the formulas of two models have the same growth, as far as is known.
fn is_as_before(old: &Model, new: &Model, x: &str) -> bool {
    let interval = |model: &Model| {
        let exponent = model.coefficients.get(1).filter(|_| has_exponent(model))?;
        exponent.low.zip(exponent.high)
    };
    let overlap = match (interval(old), interval(new)) {
        (Some((_, high)), Some((low, _))) if high < low => false,
        (Some((low, _)), Some((_, high))) if high < low => false,
        (known, other) => known.is_some() && other.is_some(),
    };
    growth(old, x) == growth(new, x) || old.kind == new.kind && overlap
}

fn has_exponent(model: &Model) -> bool {
    matches!(model.kind, ModelKind::Power | ModelKind::Exponential)
}

/// Returns the growth of a model in big O notation, such as `O(n log n)`.
fn growth(model: &Model, x: &str) -> String {
    let second = || model.coefficients.get(1).map_or(0.0, |of| of.value);
    let of_x = match model.kind {
        ModelKind::Constant => "1".to_owned(),
        ModelKind::Logarithmic => format!("log {x}"),
        ModelKind::Linear => x.to_owned(),
        ModelKind::Linearithmic => format!("{x} log {x}"),
        ModelKind::Quadratic => format!("{x}²"),
        ModelKind::Cubic => format!("{x}³"),
        ModelKind::Power => power(x, second()),
        ModelKind::Exponential => format!("{}^{x}", exact_near_one(second())),
        _ => return "a curve without a formula".to_owned(),
    };
    format!("O({of_x})")
}

/// Formats a power of x. Caches and branch prediction distort whole powers, so an exponent near one is rounded.
fn power(x: &str, exponent: f64) -> String {
    let near = [(1.0, ""), (2.0, "²"), (3.0, "³")];
    match near
        .iter()
        .find(|(whole, _)| (exponent - whole).abs() <= NEAR)
    {
        Some((_, digit)) => format!("{x}{digit}"),
        None => format!("{x}^{}", short(exponent)),
    }
}

/// Formats the base of an exponential; near 1, every digit counts.
fn exact_near_one(base: f64) -> String {
    if (base - 1.0).abs() < 0.01 {
        format!("{base:.6}")
    } else {
        short(base)
    }
}

/// Returns ` with commit 3f2a9` if the builds are of consecutive commits.
fn commit(commits: &Commits) -> String {
    let [from, to] = [&commits.from, &commits.to].map(|hash| shortened_revision(&hash.to_string()));
    if commits.is_next {
        format!(" with commit {to}")
    } else {
        format!(" between commits {from} and {to}")
    }
}

/// Returns `; the exponent of n grew from 1.01 to 2.02, by 0.96 to 1.06`, or nothing if the difference may be chance.
fn grown(growth: Growth, x: &str) -> String {
    let Growth {
        baseline,
        candidate,
        low,
        high,
    } = growth;
    let (verb, least, most) = match (low > 0.0, high < 0.0) {
        (true, _) => ("grew", low, high),
        (_, true) => ("fell", -high, -low),
        _ => return String::new(),
    };
    format!(
        "; the exponent of {x} {verb} from {baseline:.2} to {candidate:.2}, by {least:.2} to {most:.2} with 95 %"
    )
}

#[cfg(test)]
mod tests {
    use super::power;

    #[test]
    fn rounds_powers_near_whole_ones() {
        let named = [0.95, 1.06, 1.5, 1.88, 1.92, 2.06, 3.05, 4.0].map(|of| power("n", of));
        let expected = ["n", "n", "n^1.50", "n^1.88", "n²", "n²", "n³", "n^4.00"];
        assert_eq!(named, expected);
    }
}
