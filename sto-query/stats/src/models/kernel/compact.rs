//! Kernels of bounded support: polynomials of the distance, summed over sliding windows.

use super::{Around, Estimator, Kernel, Smooth, smooth_of};
use crate::models::condensed::Condensed;
use rayon::prelude::*;

/// Number of powers of the distance that are summed: up to the ninth for the tricube kernel, and two more for lines.
const POWERS: usize = 12;
/// Share of the reach after which sums are computed afresh, to limit rounding errors.
const AGAIN: f64 = 0.5;

/// A kernel as a polynomial of the distance relative to its reach.
struct Shape {
    reach: f64,
    coefficients: &'static [f64],
    /// Whether odd powers apply to the signed distance, so one window covers both sides.
    is_two_sided: bool,
}

impl Shape {
    fn new(kernel: Kernel, width: f64) -> Shape {
        let (reach, coefficients): (f64, &[f64]) = match kernel {
            Kernel::Quartic => (7.0_f64.sqrt(), &[1.0, 0.0, -2.0, 0.0, 1.0]),
            Kernel::Tricube => (
                (243.0_f64 / 35.0).sqrt(),
                &[1.0, 0.0, 0.0, -3.0, 0.0, 0.0, 3.0, 0.0, 0.0, -1.0],
            ),
            Kernel::Epanechnikov4 => (1.0, &[9.0, 0.0, -15.0]),
            _ => (5.0_f64.sqrt(), &[1.0, 0.0, -1.0]),
        };
        Shape {
            reach: reach * width,
            coefficients,
            is_two_sided: kernel == Kernel::Tricube,
        }
    }
}

/// Sums over a window of 1 and of y, times powers of the distance of x from `origin` relative to the reach.
struct Window {
    from: usize,
    to: usize,
    sums: [[f64; 2]; POWERS],
}

impl Window {
    fn new(at: usize) -> Window {
        Window {
            from: at,
            to: at,
            sums: [[0.0; 2]; POWERS],
        }
    }

    fn go(&mut self, from: usize, to: usize, powers: usize, point: impl Fn(usize) -> [f64; 3]) {
        let mut add = |ix: usize, sign: f64| {
            let [t, weight, of_y] = point(ix);
            let mut power = sign;
            for sum in &mut self.sums[..powers] {
                sum[0] += power * weight;
                sum[1] += power * of_y;
                power *= t;
            }
        };
        (self.to..to).for_each(|ix| add(ix, 1.0));
        (self.from..from).for_each(|ix| add(ix, -1.0));
        (self.from, self.to) = (from, to);
    }

    /// Returns the sums around another origin.
    fn around(&self, place: f64, powers: usize) -> [[f64; 2]; POWERS] {
        let mut sums = self.sums;
        // Sums of (t - place)^k from those of t^k, by Horner's scheme.
        for k in 1..powers {
            for power in (k..powers).rev() {
                let [of_one, of_y] = sums[power - 1];
                sums[power][0] -= place * of_one;
                sums[power][1] -= place * of_y;
            }
        }
        sums
    }
}

pub(super) fn smooth(data: &Condensed, kernel: Kernel, estimator: Estimator, width: f64) -> Smooth {
    let shape = Shape::new(kernel, width);
    let x = &data.x;
    let mut starts = vec![0];
    while let Some(&start) = starts.last() {
        let far = x[start] + AGAIN * shape.reach;
        let next = start + x[start..].partition_point(|&x| x <= far).max(1);
        if next >= x.len() {
            break;
        }
        starts.push(next);
    }
    let ends = starts.iter().skip(1).copied().chain([x.len()]);
    let blocks: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    let values: Vec<Vec<(f64, f64)>> = blocks
        .into_par_iter()
        .map(|(from, to)| block(data, &shape, estimator, from, to))
        .collect();
    smooth_of(data, values.concat())
}

fn block(
    data: &Condensed,
    shape: &Shape,
    estimator: Estimator,
    from: usize,
    to: usize,
) -> Vec<(f64, f64)> {
    let x = &data.x;
    let origin = x[from];
    let more = if estimator == Estimator::LocalLinear {
        2
    } else {
        0
    };
    let powers = shape.coefficients.len() + more;
    let point = |ix: usize| {
        let (weight, of_y) = data.weights_of(ix);
        [(x[ix] - origin) / shape.reach, weight, of_y]
    };
    let first = x.partition_point(|&x| (origin - x) / shape.reach > 1.0);
    // One window for both sides, or one for the points before and one for those from here on.
    let mut before = Window::new(first);
    let mut after = Window::new(if shape.is_two_sided { from } else { first });
    let mut values = Vec::with_capacity(to - from);
    for at in from..to {
        let mut start = if shape.is_two_sided {
            before.from
        } else {
            after.from
        };
        while (x[at] - x[start]) / shape.reach > 1.0 {
            start += 1;
        }
        let mut end = after.to.max(at);
        while end < x.len() && (x[end] - x[at]) / shape.reach <= 1.0 {
            end += 1;
        }
        let place = (x[at] - origin) / shape.reach;
        let mut around = Around::default();
        if shape.is_two_sided {
            before.go(start, at, powers, point);
            after.go(at, end, powers, point);
            add(
                &mut around,
                &before.around(place, powers),
                shape,
                -1.0,
                more,
            );
        } else {
            after.go(start, end, powers, point);
        }
        add(&mut around, &after.around(place, powers), shape, 1.0, more);
        values.push(around.value(estimator, shape.coefficients[0]));
    }
    values
}

/// Adds the kernel-weighted sums of a window; `sign` is the sign of the distance on its side.
fn add(around: &mut Around, sums: &[[f64; 2]; POWERS], shape: &Shape, sign: f64, more: usize) {
    let mut factor = 1.0;
    for (power, coefficient) in shape.coefficients.iter().enumerate() {
        for k in 0..=more {
            around.weights[k] += factor * coefficient * sums[power + k][0];
        }
        for k in 0..=more / 2 {
            around.of_y[k] += factor * coefficient * sums[power + k][1];
        }
        factor *= sign;
    }
}
