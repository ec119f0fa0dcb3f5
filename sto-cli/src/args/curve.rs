//! Options that choose which curves are fitted to points.

use super::choice;
use crate::runtime::CliError;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::de::DeserializeOwned;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use sto_query::statistics::models::{
    Average, Bandwidth, Buckets, Decay, Estimator, Fit, Kernel, Middle, ModelKind, RollingWindow,
    WindowFunction,
};

const REGRESSION: &str = "regression";
const NORMAL_FORM: &str = "normal-form";
const REGRESSOGRAM: &str = "regressogram";
const MOVING_AVERAGE: &str = "moving-average";
const MOVING_MEDIAN: &str = "moving-median";
const EXPONENTIAL_AVERAGE: &str = "exponential-average";
const KERNEL: &str = "kernel";
const KERNEL_RIDGE: &str = "kernel-ridge";
/// Selects [`KINDS`].
const ALL: &str = "all";

/// All kinds of curves. Single kinds of formulas can be requested, too.
const KINDS: [&str; 8] = [
    REGRESSION,
    NORMAL_FORM,
    REGRESSOGRAM,
    MOVING_AVERAGE,
    MOVING_MEDIAN,
    EXPONENTIAL_AVERAGE,
    KERNEL,
    KERNEL_RIDGE,
];

fn kinds() -> PossibleValuesParser {
    let formulas = ModelKind::REGRESSION.map(ModelKind::name);
    let names = KINDS.into_iter().chain(formulas).chain([ALL]);
    names.collect::<Vec<_>>().into()
}

/// Kinds of curves and their options.
#[derive(Debug, Args)]
pub(crate) struct CurveArgs {
    /// Fit curves of these kinds: the best formula (regression) or a certain one, Extra-P's normal form, buckets, or
    /// averages of neighbours [default: regression]
    #[arg(long, value_delimiter = ',', value_parser = kinds())]
    kind: Vec<String>,

    /// Use the mean or the median of each bucket [default: mean]
    #[arg(long, value_parser = choice::<Middle>(["mean", "median"]))]
    statistic: Option<Middle>,

    /// Cut x into this many buckets, or choose the number by a rule: doane, sturges, scott, freedman-diaconis,
    /// square-root, rice, auto [default: doane]
    #[arg(long, value_name = "NUMBER|RULE", value_parser = buckets)]
    buckets: Option<Buckets>,

    /// Average this many consecutive points [default: as few as explain 88% of the variance]
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u32).range(1..))]
    window: Option<u32>,

    /// Centre the window on x, or end it at x [default: both]
    #[arg(long, value_name = "SIDES", value_parser = ["both", "before"])]
    align: Option<String>,

    /// Leave out values whose window has fewer points than this, as at both ends [default: 1]
    #[arg(long, value_name = "POINTS")]
    min_points: Option<u32>,

    /// Weight the points of a window by this function of SciPy: boxcar, triang, bartlett, barthann, parzen, bohman,
    /// cosine, lanczos, hann, hamming, blackman, nuttall, blackmanharris, flattop, gaussian=DEVIATION,
    /// exponential=POINTS, kaiser=BETA, tukey=SHARE [default: boxcar]
    #[arg(long, value_name = "FUNCTION", value_parser = window_function)]
    window_function: Option<WindowFunction>,

    /// Give distant points less weight: span=N, com=N, half-life=N points, or alpha=FRACTION [default: the largest
    /// span that explains 88% of the variance]
    #[arg(long, value_name = "HOW=NUMBER", value_parser = decay)]
    decay: Option<Decay>,

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
    /// Whether these kinds of curves accept two variables: the normal form, or the default kind.
    pub(crate) fn accepts_two_variables(&self) -> bool {
        matches!(&self.kinds()[..], [REGRESSION | NORMAL_FORM])
    }

    /// Whether kinds were requested.
    pub(crate) fn is_given(&self) -> bool {
        !self.kind.is_empty()
    }

    fn kinds(&self) -> Vec<&str> {
        match &self.kind[..] {
            [] => vec![REGRESSION],
            kinds if kinds.iter().any(|kind| kind == ALL) => KINDS.to_vec(),
            kinds => kinds.iter().map(|kind| &**kind).collect(),
        }
    }

    /// Converts the arguments for the library.
    ///
    /// # Errors
    /// Returns an error if an option belongs to another kind of curve.
    pub(crate) fn fit(&self) -> Result<Fit, CliError> {
        let kinds = self.kinds();
        self.check_options(&kinds)?;
        let mut fits: Vec<Fit> = kinds.iter().map(|kind| self.fit_of(kind)).collect();
        Ok(match fits.pop() {
            Some(only) if fits.is_empty() => only,
            last => Fit::Each(fits.into_iter().chain(last).collect()),
        })
    }

    fn check_options(&self, chosen: &[&str]) -> Result<(), CliError> {
        let windows: &[&str] = &[MOVING_AVERAGE, MOVING_MEDIAN];
        let given: [(bool, &str, &[&str]); 11] = [
            (self.statistic.is_some(), "--statistic", &[REGRESSOGRAM]),
            (self.buckets.is_some(), "--buckets", &[REGRESSOGRAM]),
            (self.window.is_some(), "--window", windows),
            (self.align.is_some(), "--align", windows),
            (self.min_points.is_some(), "--min-points", windows),
            (
                self.window_function.is_some(),
                "--window-function",
                &[MOVING_AVERAGE],
            ),
            (self.decay.is_some(), "--decay", &[EXPONENTIAL_AVERAGE]),
            (self.kernel.is_some(), "--kernel", &[KERNEL]),
            (self.bandwidth.is_some(), "--bandwidth", &[KERNEL]),
            (self.local_linear, "--local-linear", &[KERNEL]),
            (!self.gamma.is_empty(), "--gamma", &[KERNEL_RIDGE]),
        ];
        let is_wrong = |(is_given, _, kinds): &&(bool, _, &[&str])| {
            *is_given && !chosen.iter().any(|kind| kinds.contains(kind))
        };
        match given.iter().find(is_wrong) {
            None => Ok(()),
            Some((_, option, kinds)) => Err(CliError::OtherKind {
                option,
                kinds: kinds.join("` or `--kind "),
                kind: chosen.join(","),
            }),
        }
    }

    fn fit_of(&self, kind: &str) -> Fit {
        match kind {
            REGRESSION => Fit::default(),
            NORMAL_FORM => Fit::NormalForm,
            REGRESSOGRAM => Fit::Regressogram {
                buckets: self.buckets.unwrap_or_default(),
                middle: self.statistic.unwrap_or_default(),
            },
            MOVING_AVERAGE => match self.window_function {
                Some(function) => self.moving(|window| Average::Weighted { window, function }),
                None => self.moving(Average::Simple),
            },
            MOVING_MEDIAN => self.moving(Average::Median),
            EXPONENTIAL_AVERAGE => match self.decay {
                Some(decay) => Fit::MovingAverage(Average::Exponential(decay)),
                None => Fit::IterativeMovingAverage(Average::Exponential(Decay::Span(1.0))),
            },
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
            formula => Fit::Regression(rule(formula).into_iter().collect()),
        }
    }

    fn moving(&self, average: impl Fn(RollingWindow) -> Average) -> Fit {
        let is_centred = self.align.as_deref() != Some("before");
        let mut window = RollingWindow::new(self.window.unwrap_or(1) as usize, is_centred);
        window.least = self.min_points.unwrap_or(1) as usize;
        match self.window {
            Some(_) => Fit::MovingAverage(average(window)),
            None => Fit::IterativeMovingAverage(average(window)),
        }
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

fn window_function(text: &str) -> Result<WindowFunction, &'static str> {
    let function = match text.split_once('=') {
        None => rule(text),
        Some((name, value)) => above_zero(value).and_then(|value| match name {
            "gaussian" => Some(WindowFunction::Gaussian(value)),
            "exponential" => Some(WindowFunction::Exponential(value)),
            "kaiser" => Some(WindowFunction::Kaiser(value)),
            "tukey" if value <= 1.0 => Some(WindowFunction::Tukey(value)),
            _ => None,
        }),
    };
    function.ok_or(
        "expected a function of the help, such as hann, or gaussian=DEVIATION, exponential=POINTS, kaiser=BETA, or \
         tukey=SHARE of at most 1",
    )
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
