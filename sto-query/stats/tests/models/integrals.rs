//! Integrals of samples and curves.

use super::same;
use sto_stats::models::simpson;

#[test]
fn parabolas_are_integrated_exactly() {
    let x: Vec<f64> = (0..=10).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x).collect();
    same("0 to 10", simpson(&x, &y), 1000.0 / 3.0, 0.0);
    // Parabolas are also integrated exactly with an even number of samples, and with uneven steps.
    same("0 to 9", simpson(&x[..10], &y[..10]), 243.0, 0.0);
    let x = [0.0, 1.0, 1.5, 4.0];
    let y = x.map(|x| x * x);
    same("uneven", simpson(&x, &y), 64.0 / 3.0, 0.0);
    assert_eq!(simpson(&[1.0, 3.0], &[2.0, 4.0]), 6.0);
    assert_eq!(simpson(&[1.0], &[2.0]), 0.0);
}
