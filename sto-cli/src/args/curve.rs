//! Options that choose which curves are fitted to points.

use super::choice;
use crate::runtime::CliError;
use clap::Args;
use serde::de::DeserializeOwned;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use sto_query::statistics::models::{
    Average, Bandwidth, Buckets, Decay, Estimator, Fit, Kernel, Middle, Window,
};

const REGRESSION: &str = "regression";
const NORMAL_FORM: &str = "normal-form";
const REGRESSOGRAM: &str = "regressogram";
const MOVING_AVERAGE: &str = "moving-average";
const KERNEL: &str = "kernel";
const KERNEL_RIDGE: &str = "kernel-ridge";

/// A kind of curve and its options.
#[derive(Debug, Args)]
pub(crate) struct CurveArgs {
    /// Fit curves of this kind: formulas, Extra-P's normal form, buckets, or averages of neighbours
    #[arg(long, default_value = REGRESSION)]
    #[arg(value_parser = [REGRESSION, NORMAL_FORM, REGRESSOGRAM, MOVING_AVERAGE, KERNEL, KERNEL_RIDGE])]
    kind: String,

    /// Use the mean or the median of each bucket or window [default: mean]
    #[arg(long, value_parser = choice::<Middle>(["mean", "median"]))]
    statistic: Option<Middle>,

    /// Cut x into this many buckets, or choose the number by a rule: doane, sturges, scott, freedman-diaconis,
    /// square-root, rice, auto [default: doane]
    #[arg(long, value_name = "NUMBER|RULE", value_parser = buckets)]
    buckets: Option<Buckets>,

    /// Average this many consecutive points [default: as few as explain 88% of the variance]
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "decay")]
    window: Option<u32>,

    /// Give distant points less weight: span=N, com=N, half-life=N points, or alpha=FRACTION
    #[arg(long, value_name = "HOW=NUMBER", value_parser = decay, conflicts_with = "statistic")]
    decay: Option<Decay>,

    /// Centre the window on x, or end it before x [default: both]
    #[arg(long, value_name = "SIDES", value_parser = ["both", "before"], conflicts_with = "decay")]
    align: Option<String>,

    /// Weight neighbours by this kernel [default: gaussian]
    #[arg(
        long,
        value_parser = choice::<Kernel>([
            "gaussian", "epanechnikov", "tricube", "quartic", "gaussian4", "epanechnikov4",
        ])
    )]
    kernel: Option<Kernel>,

    /// Use this bandwidth in x, or choose it by a rule: cross-validation, aicc, scott, silverman [default: scott]
    #[arg(long, value_name = "NUMBER|RULE", value_parser = bandwidth)]
    bandwidth: Option<Bandwidth>,

    /// Fit a straight line through the neighbours instead of taking their mean
    #[arg(long)]
    local_linear: bool,

    /// Try these gammas: weights are e^(-gamma d²) [default: several, chosen by the range of x]
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',', value_parser = gamma)]
    gamma: Vec<f64>,
}

impl CurveArgs {
    /// Whether this kind of curve accepts two variables: the normal form, or the default kind.
    pub(crate) fn accepts_two_variables(&self) -> bool {
        matches!(&*self.kind, REGRESSION | NORMAL_FORM)
    }

    /// Converts the arguments for the library.
    ///
    /// # Errors
    /// Returns an error if an option belongs to another kind of curve.
    pub(crate) fn fit(&self) -> Result<Fit, CliError> {
        let averages: &[&str] = &[REGRESSOGRAM, MOVING_AVERAGE];
        let given: [(bool, &str, &[&str]); 9] = [
            (self.statistic.is_some(), "--statistic", averages),
            (self.buckets.is_some(), "--buckets", &[REGRESSOGRAM]),
            (self.window.is_some(), "--window", &[MOVING_AVERAGE]),
            (self.decay.is_some(), "--decay", &[MOVING_AVERAGE]),
            (self.align.is_some(), "--align", &[MOVING_AVERAGE]),
            (self.kernel.is_some(), "--kernel", &[KERNEL]),
            (self.bandwidth.is_some(), "--bandwidth", &[KERNEL]),
            (self.local_linear, "--local-linear", &[KERNEL]),
            (!self.gamma.is_empty(), "--gamma", &[KERNEL_RIDGE]),
        ];
        let wrong =
            |(is_given, _, kinds): &&(bool, _, &[&str])| *is_given && !kinds.contains(&&*self.kind);
        if let Some((_, option, kinds)) = given.iter().find(wrong) {
            return Err(CliError::OtherKind {
                option,
                kinds: kinds.join(" or --kind "),
                kind: self.kind.clone(),
            });
        }
        let middle = self.statistic.unwrap_or_default();
        Ok(match &*self.kind {
            NORMAL_FORM => Fit::NormalForm,
            REGRESSOGRAM => Fit::Regressogram {
                buckets: self.buckets.unwrap_or_default(),
                middle,
            },
            MOVING_AVERAGE => {
                let is_centred = self.align.as_deref() != Some("before");
                let window = Window::new(self.window.unwrap_or(1) as usize, is_centred);
                match (self.decay, middle, self.window) {
                    (Some(decay), ..) => Fit::MovingAverage(Average::Exponential(decay)),
                    (None, Middle::Median, Some(_)) => Fit::MovingAverage(Average::Median(window)),
                    (None, Middle::Median, None) => {
                        Fit::IterativeMovingAverage(Average::Median(window))
                    }
                    (None, _, Some(_)) => Fit::MovingAverage(Average::Simple(window)),
                    (None, _, None) => Fit::IterativeMovingAverage(Average::Simple(window)),
                }
            }
            KERNEL => Fit::KernelRegression {
                kernel: self.kernel.unwrap_or_default(),
                estimator: if self.local_linear {
                    Estimator::LocalLinear
                } else {
                    Estimator::NadarayaWatson
                },
                bandwidth: self.bandwidth.unwrap_or_default(),
            },
            KERNEL_RIDGE => Fit::KernelRidge(self.gamma.clone()),
            _ => Fit::default(),
        })
    }
}

/// Parses a rule by its serde name, with `-` in place of `_`.
fn rule<T: DeserializeOwned>(text: &str) -> Option<T> {
    let word = text.replace('-', "_");
    let word: StrDeserializer<'_, Error> = (&*word).into_deserializer();
    T::deserialize(word).ok()
}

fn above_zero(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

fn buckets(text: &str) -> Result<Buckets, &'static str> {
    let number = text.parse().ok().filter(|number| *number > 0);
    let found = number.map(Buckets::Number).or_else(|| rule(text));
    found.ok_or("expected a number above 0, or doane, sturges, scott, freedman-diaconis, square-root, rice or auto")
}

fn bandwidth(text: &str) -> Result<Bandwidth, &'static str> {
    let found = above_zero(text)
        .map(Bandwidth::Width)
        .or_else(|| rule(text));
    found.ok_or("expected a number above 0, or cross-validation, aicc, scott or silverman")
}

fn gamma(text: &str) -> Result<f64, &'static str> {
    above_zero(text).ok_or("expected numbers above 0, separated by commas")
}

fn decay(text: &str) -> Result<Decay, &'static str> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let decay = match text.split_once('=') {
        Some(("span", value)) => number(value).map(Decay::Span),
        Some(("com", value)) => number(value).map(Decay::CentreOfMass),
        Some(("half-life", value)) => number(value).map(Decay::HalfLife),
        Some(("alpha", value)) => number(value).map(Decay::Part),
        _ => None,
    };
    decay.filter(|decay| decay.part().is_some()).ok_or(
        "expected span=N of at least 1, com=N of at least 0, half-life=N above 0, or alpha=FRACTION above 0 and at most 1",
    )
}
