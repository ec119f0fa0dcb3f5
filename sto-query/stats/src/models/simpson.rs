//! Integration of samples.

/// Integrates samples of y at distinct x by Simpson's rule.
///
/// Each pair of intervals is approximated by the parabola through its three samples. If the number of intervals is
/// odd, the last one uses the parabola through the last three samples (K. V. Cartwright, J. Math. Sci. & Math. Educ.
/// 12:1, 2017), as SciPy does since 1.11. Two samples are joined by a straight line; the integral of one sample is 0.
pub fn simpson(x: &[f64], y: &[f64]) -> f64 {
    let size = x.len().min(y.len());
    let width = |ix: usize| x[ix + 1] - x[ix];
    match size {
        0 | 1 => return 0.0,
        2 => return width(0) * (y[0] + y[1]) / 2.0,
        _ => {}
    }
    let mut sum = 0.0;
    for ix in (0..size - 2).step_by(2) {
        let (a, b) = (width(ix), width(ix + 1));
        let both = a + b;
        sum += both / 6.0
            * (y[ix] * (2.0 - b / a)
                + y[ix + 1] * both * both / (a * b)
                + y[ix + 2] * (2.0 - a / b));
    }
    if size.is_multiple_of(2) {
        let (a, b) = (width(size - 3), width(size - 2));
        let last = (2.0 * b * b + 3.0 * a * b) / (6.0 * (a + b));
        let middle = (b * b + 3.0 * a * b) / (6.0 * a);
        let first = b * b * b / (6.0 * a * (a + b));
        sum += last * y[size - 1] + middle * y[size - 2] - first * y[size - 3];
    }
    sum
}
