//! Moving averages: means and medians of neighbouring points.

use super::curve::Curve;
use super::model::{Fitness, Model, ModelKind};
use super::points::Points;
use super::rolling::{self, RollingWindow};
use super::sums::sums;
use super::window_function::WindowFunction;
use serde::{Deserialize, Serialize};

/// Kind of moving average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Average {
    /// Mean of a window.
    Simple(RollingWindow),
    /// Weighted mean of a window.
    Weighted {
        /// The window.
        window: RollingWindow,
        /// Weights of the points in the window.
        function: WindowFunction,
    },
    /// Median of a window.
    Median(RollingWindow),
    /// Exponentially weighted mean of the point and all earlier ones.
    Exponential(Decay),
}

impl Average {
    /// The kind of model.
    pub fn kind(self) -> ModelKind {
        match self {
            Average::Simple(_) | Average::Weighted { .. } => ModelKind::MovingAverage,
            Average::Median(_) => ModelKind::MovingMedian,
            Average::Exponential(_) => ModelKind::ExponentialAverage,
        }
    }

    /// Returns the same average of windows of another width, or with another span.
    fn with_width(self, width: usize) -> Average {
        match self {
            Average::Simple(window) => Average::Simple(RollingWindow { width, ..window }),
            Average::Weighted { window, function } => Average::Weighted {
                window: RollingWindow { width, ..window },
                function,
            },
            Average::Median(window) => Average::Median(RollingWindow { width, ..window }),
            Average::Exponential(_) => Average::Exponential(Decay::Span(width as f64)),
        }
    }
}

/// Rate at which weights decrease from each point to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decay {
    /// By 2 / (span + 1), for a span of at least 1.
    Span(f64),
    /// By 1 / (centre of mass + 1), for a centre of mass of at least 0.
    CentreOfMass(f64),
    /// By half after this many points, above 0.
    HalfLife(f64),
    /// By this share, above 0 and at most 1.
    Part(f64),
}

impl Decay {
    /// Returns the share by which weights decrease; `None` if the number is out of its range.
    pub fn part(self) -> Option<f64> {
        let part = match self {
            Decay::Span(span) if span >= 1.0 => 2.0 / (span + 1.0),
            Decay::CentreOfMass(centre) if centre >= 0.0 => 1.0 / (centre + 1.0),
            Decay::HalfLife(points) if points > 0.0 => -(-std::f64::consts::LN_2 / points).exp_m1(),
            Decay::Part(part) => part,
            _ => return None,
        };
        (part > 0.0 && part <= 1.0).then_some(part)
    }
}

/// Maximum width of a window with a window function, in points.
const MAX_WEIGHTS: usize = 1 << 24;
/// R² at which the search for a window ends.
const ENOUGH: f64 = 0.88;
/// Initial window, as a share of the range of x.
const FIRST: f64 = 0.05;
/// Share of the window removed in each step, per 1 that R² lacks.
const STEP: f64 = 0.15;

/// Averages neighbouring points in order. Returns `None` if there are no points, the window is empty, or an option is
/// out of its range. R² only covers the points that have a value.
pub fn moving_average(points: &Points, average: Average) -> Option<Model> {
    let y = points.y();
    if y.is_empty() {
        return None;
    }
    match average {
        Average::Simple(window) | Average::Median(window) if window.width == 0 => return None,
        Average::Weighted { window, .. } if !(1..=MAX_WEIGHTS).contains(&window.width) => {
            return None;
        }
        _ => {}
    }
    let own_of_equal = |window: RollingWindow| -> f64 {
        let counts = (0..y.len()).map(|ix| window.range(ix, y.len()).len());
        let counts = counts.filter(|count| *count >= window.least);
        counts.map(|count| 1.0 / count as f64).sum()
    };
    // `own` is the sum of each point's weight in its own average.
    let (values, smoothing, own) = match average {
        Average::Simple(window) => {
            let values = rolling::mean(y, window);
            (values, window.width as f64, own_of_equal(window))
        }
        Average::Median(window) => {
            let values = rolling::median(y, window);
            (values, window.width as f64, own_of_equal(window))
        }
        Average::Weighted { window, function } => {
            let weights = function.weights(window.width);
            let values = rolling::weighted_mean(y, window, &weights);
            let points = (0..y.len()).filter(|ix| values[*ix].is_finite());
            let sums =
                points.map(|ix| window.weights_at(ix, y.len(), &weights).iter().sum::<f64>());
            let own = sums.map(|sum| window.own_weight(&weights) / sum).sum();
            (values, window.width as f64, own)
        }
        Average::Exponential(decay) => {
            let part = decay.part()?;
            let own = rolling::sum_own_weights(part, y.len());
            (rolling::exponential(y, part), part, own)
        }
    };
    let fitness = fitness(y, &values, own)?;
    let curve = sampled_curve(points.x(), &values);
    Some(fitness.smoothed(average.kind(), points, own, smoothing, curve))
}

/// Averages with a window that narrows until R² reaches 0.88, by the rule of Perun's algorithm 1. `average` says
/// whether to use means or medians, and whether the window is centred.
pub fn iterative_moving_average(points: &Points, average: Average) -> Option<Model> {
    let (low, high) = points.range()?;
    let mut width = ((FIRST * (high - low)) as usize).clamp(1, points.len());
    loop {
        let model = moving_average(points, average.with_width(width))?;
        let lacks = STEP * (width - 1) as f64 * (ENOUGH - model.r_square);
        let less = lacks.min(0.9 * width as f64 - 1.0).max(1.0) as usize;
        let next = width.saturating_sub(less).max(1);
        if model.r_square >= ENOUGH || next == width {
            return Some(model);
        }
        width = next;
    }
}

/// Returns the fitness for the points that have a value; `None` if no point has one.
fn fitness(y: &[f64], values: &[f64], parameters: f64) -> Option<Fitness> {
    let of_all = values.iter().all(|value| value.is_finite());
    let defined: Vec<f64>;
    let y_of = if of_all {
        y
    } else {
        let pairs = y.iter().zip(values);
        defined = pairs
            .filter(|(_, v)| v.is_finite())
            .map(|(y, _)| *y)
            .collect();
        &defined
    };
    let pairs = y.iter().zip(values).filter(|(_, value)| value.is_finite());
    let residual = pairs.map(|(y, value)| (y - value).powi(2)).sum();
    let of_y = sums(y_of);
    let all = (residual, of_y.squared_deviations(), of_y.squares);
    let fitness = Fitness::new((y_of.len() as f64, parameters), all, 0.0);
    // AICc of different sets of points cannot be compared.
    (!y_of.is_empty()).then_some(Fitness {
        aicc: fitness.aicc.filter(|_| of_all),
        ..fitness
    })
}

/// Maximum number of samples in a curve.
const SAMPLES: usize = 8192;

/// Creates a curve of the values, or of evenly spaced ones if there are too many.
pub(super) fn sampled_curve(x: &[f64], values: &[f64]) -> Curve {
    let step = x.len().div_ceil(SAMPLES).max(1);
    let last = x.len().saturating_sub(1);
    let pairs = x.iter().zip(values).enumerate();
    let (x, y) = pairs
        .filter(|(ix, (_, value))| (ix % step == 0 || *ix == last) && value.is_finite())
        .map(|(_, (x, value))| (*x, *value))
        .unzip();
    Curve::Samples { x, y }
}
