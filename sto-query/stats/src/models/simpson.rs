//! Integrals of samples.

/// The integral of samples of y at these x, of which no two are equal, by Simpson's rule.
///
/// Each two intervals are taken as the parabola through their three samples. Where their number is odd, the last one is
/// taken by the parabola through the last three samples (K. V. Cartwright, J. Math. Sci. & Math. Educ. 12:1, 2017), as
/// SciPy does from 1.11 on. Two samples are a straight line, and one has no integral: 0.
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
