//! Ranks of numbers.

/// Returns the rank of each number, from 1; equal numbers share the mean of their ranks.
pub fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut first = 1;
    for equal in order.chunk_by(|&a, &b| numbers[a] == numbers[b]) {
        let last = first + equal.len() - 1;
        for &ix in equal {
            ranks[ix] = (first + last) as f64 / 2.0;
        }
        first = last + 1;
    }
    ranks
}
