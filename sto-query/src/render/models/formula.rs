//! Fitted models as formulas.

use crate::text::{quantity, short};
use sto_core::units::Unit;
use sto_stats::models::{Curve, Model, ModelKind};

/// Returns the name of a model's kind.
pub(super) fn kind(kind: ModelKind) -> String {
    match kind {
        ModelKind::Linearithmic => "n log n".to_owned(),
        kind => kind.name().replace('_', " "),
    }
}

/// Formats y as a function of x: `3.10 ms + 2.02 ns·n²`; `None` if the model has no coefficients.
pub(super) fn formula(model: &Model, x: &str, unit: Option<Unit>) -> Option<String> {
    let values: Vec<f64> = model.coefficients.iter().map(|of| of.value).collect();
    let terms: Vec<(f64, String)> = match (model.kind, &values[..]) {
        (ModelKind::Power, &[b0, b1]) => vec![(b0, format!("{x}^{}", short(b1)))],
        (ModelKind::Exponential, &[b0, b1]) => vec![(b0, format!("{}^{x}", base(b1)))],
        (ModelKind::Logarithmic, &[b0, b1]) => vec![(b0, String::new()), (b1, format!("ln {x}"))],
        (ModelKind::Linearithmic, &[b0, b1]) => {
            vec![(b0, String::new()), (b1, format!("{x} ln {x}"))]
        }
        (ModelKind::NormalForm, _) => match &model.curve {
            Curve::Terms(terms) => terms
                .iter()
                .map(|term| (term.coefficient, powers(x, term.power, term.log)))
                .collect(),
            _ => return None,
        },
        (_, []) => return None,
        _ => {
            let powers = ["", "", "²", "³"];
            let of = values.iter().zip(powers).enumerate();
            of.map(|(power, (&value, sign))| match power {
                0 => (value, String::new()),
                _ => (value, format!("{x}{sign}")),
            })
            .collect()
        }
    };
    Some(sum(&terms, unit))
}

/// Formats a sum of coefficients and the terms they multiply, which are empty for constants.
pub(super) fn sum(terms: &[(f64, String)], unit: Option<Unit>) -> String {
    // Constants below this part of the largest coefficient are rounding errors.
    let largest = terms.iter().map(|of| of.0.abs()).fold(0.0, f64::max);
    let mut text = String::new();
    for (value, of) in terms {
        if of.is_empty() && terms.len() > 1 && value.abs() < 1e-12 * largest {
            continue;
        }
        let sign = match (text.is_empty(), *value < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text += sign;
        text += &amount(value.abs(), unit);
        if !of.is_empty() {
            text += &format!("\u{b7}{of}");
        }
    }
    text
}

/// Formats `n^(3/2) log2(n)²`; empty if both powers are 0.
pub(super) fn powers(x: &str, power: f64, log: u32) -> String {
    // Exponents are fractions with small denominators.
    let below = (1..=5).find(|below| (power * f64::from(*below)).fract().abs() < 1e-9);
    let power = match (below, power) {
        (_, 0.0) => String::new(),
        (_, 1.0) => x.to_owned(),
        (Some(1), power) => format!("{x}^{power}"),
        (Some(below), power) => format!("{x}^({}/{below})", (power * f64::from(below)).round()),
        (None, power) => format!("{x}^{}", short(power)),
    };
    let log = match log {
        0 => String::new(),
        1 => format!("log2({x})"),
        log => format!("log2({x})^{log}"),
    };
    let gap = if power.is_empty() || log.is_empty() {
        ""
    } else {
        " "
    };
    power + gap + &log
}

/// Formats the base of an exponential, with more digits near 1.
fn base(base: f64) -> String {
    if (base - 1.0).abs() < 0.01 {
        format!("{base:.6}")
    } else {
        short(base)
    }
}

/// Formats a cost, which may be less than one or negative.
pub(super) fn amount(value: f64, unit: Option<Unit>) -> String {
    if value < 0.0 {
        return format!("-{}", amount(-value, unit));
    }
    let whole = value.round();
    let exact = (1000.0..1.8e19).contains(&whole);
    match unit {
        Some(unit) if exact => quantity(whole as u64, unit).unwrap_or_else(|| short(value)),
        Some(Unit::Nanoseconds) => format!("{} ns", short(value)),
        Some(Unit::Bytes) => format!("{} B", short(value)),
        _ => short(value),
    }
}
