//! p-values of many tests.

/// Returns p-values adjusted by the procedure of Y. Benjamini and Y. Hochberg (J. R. Statist. Soc. B 57:289, 1995).
///
/// On average, at most a share `alpha` of the tests with adjusted values of at most `alpha` are false positives.
/// `None` marks a test that was not performed; it stays `None` and does not count as a test.
pub fn benjamini_hochberg(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(f64, usize)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(ix, p)| p.map(|p| (p, ix)))
        .collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let tests = order.len() as f64;
    let mut q_values = vec![None; p_values.len()];
    let mut least = 1.0_f64;
    for (rank, &(p, ix)) in order.iter().enumerate().rev() {
        least = least.min(p * tests / (rank + 1) as f64);
        q_values[ix] = Some(least);
    }
    q_values
}
