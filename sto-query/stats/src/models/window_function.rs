//! Weights of the points in a window.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Window function: the weights of the points in a window, by their distance from its middle.
///
/// The functions have the names and definitions of `scipy.signal.windows`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WindowFunction {
    /// Equal weights.
    Boxcar,
    /// A triangle that is above 0 at both ends.
    Triang,
    /// A triangle that is 0 at both ends.
    Bartlett,
    /// A mixture of `Bartlett` and `Hann`.
    Barthann,
    /// Four times convolved equal weights.
    Parzen,
    /// Two convolved arches of a cosine.
    Bohman,
    /// An arch of a cosine.
    Cosine,
    /// The middle of a sinc function.
    Lanczos,
    /// A raised cosine that is 0 at both ends.
    Hann,
    /// A raised cosine that is above 0 at both ends.
    Hamming,
    /// A sum of three cosines.
    Blackman,
    /// A sum of four cosines.
    Nuttall,
    /// Another sum of four cosines.
    Blackmanharris,
    /// A sum of five cosines, some of whose weights are below 0.
    Flattop,
    /// A normal distribution with this standard deviation in points.
    Gaussian(f64),
    /// Weights that decrease to 1 / e over this number of points.
    Exponential(f64),
    /// A Kaiser window with this beta, which makes it narrower.
    Kaiser(f64),
    /// Equal weights, but for the ends: this share of the window, up to 1, is a raised cosine.
    Tukey(f64),
}

impl WindowFunction {
    /// Returns the weights of a window of this many points.
    pub fn weights(self, points: usize) -> Vec<f64> {
        if points == 1 {
            return vec![1.0];
        }
        let half = points.saturating_sub(1) as f64 / 2.0;
        let distances = (0..points).map(|ix| (ix as f64 - half).abs());
        distances.map(|of| self.weight(of, half)).collect()
    }

    /// Returns the weight at a distance from the middle of a window that extends up to the distance `half`.
    fn weight(self, distance: f64, half: f64) -> f64 {
        let part = distance / half;
        let cosines = |factors: &[f64]| -> f64 {
            let terms = factors.iter().enumerate();
            terms.map(|(k, a)| a * (k as f64 * PI * part).cos()).sum()
        };
        match self {
            WindowFunction::Boxcar => 1.0,
            WindowFunction::Triang => 1.0 - distance / (half.floor() + 1.0),
            WindowFunction::Bartlett => 1.0 - part,
            WindowFunction::Barthann => 0.62 - 0.24 * part + 0.38 * (PI * part).cos(),
            WindowFunction::Parzen => {
                let part = distance / (half + 0.5);
                if distance <= half / 2.0 {
                    1.0 - 6.0 * part.powi(2) * (1.0 - part)
                } else {
                    2.0 * (1.0 - part).powi(3)
                }
            }
            WindowFunction::Bohman if part == 1.0 => 0.0,
            WindowFunction::Bohman => (1.0 - part) * (PI * part).cos() + (PI * part).sin() / PI,
            WindowFunction::Cosine => (PI * distance / (2.0 * half + 1.0)).cos(),
            WindowFunction::Lanczos if part == 0.0 => 1.0,
            WindowFunction::Lanczos => (PI * part).sin() / (PI * part),
            WindowFunction::Hann => cosines(&[0.5, 0.5]),
            WindowFunction::Hamming => cosines(&[0.54, 0.46]),
            WindowFunction::Blackman => cosines(&[0.42, 0.5, 0.08]),
            WindowFunction::Nuttall => cosines(&[0.3635819, 0.4891775, 0.1365995, 0.0106411]),
            WindowFunction::Blackmanharris => cosines(&[0.35875, 0.48829, 0.14128, 0.01168]),
            WindowFunction::Flattop => cosines(&[
                0.21557895,
                0.41663158,
                0.277263158,
                0.083578947,
                0.006947368,
            ]),
            WindowFunction::Gaussian(deviation) => (-0.5 * (distance / deviation).powi(2)).exp(),
            WindowFunction::Exponential(points) => (-distance / points).exp(),
            WindowFunction::Kaiser(beta) => {
                bessel_i0(beta * (1.0 - part * part).sqrt()) / bessel_i0(beta)
            }
            WindowFunction::Tukey(share) if part > 1.0 - share => {
                0.5 + 0.5 * (PI * (part - 1.0 + share) / share).cos()
            }
            WindowFunction::Tukey(_) => 1.0,
        }
    }
}

/// Returns the modified Bessel function of the first kind of order 0, as the sum of its series.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1.. {
        term *= quarter / f64::from(k * k);
        if sum + term == sum {
            break;
        }
        sum += term;
    }
    sum
}
