//! The program whose compilation `rustc.csv` counts.

use std::collections::{BTreeMap, HashMap};
pub fn words(t: &str) -> BTreeMap<String, usize> {
    let mut m = BTreeMap::new();
    for w in t.split_whitespace() {
        *m.entry(w.to_lowercase()).or_insert(0) += 1
    }
    m
}
pub fn pairs(t: &str) -> HashMap<(char, char), u64> {
    let mut m = HashMap::new();
    for p in t.chars().zip(t.chars().skip(1)) {
        *m.entry(p).or_default() += 1
    }
    m
}
pub fn sorted(mut v: Vec<String>) -> Vec<String> {
    v.sort_by_key(|s| s.len());
    v.dedup();
    v
}
fn main() {
    let t = std::env::args().collect::<Vec<_>>().join(" ");
    println!(
        "{:?} {:?} {:?}",
        words(&t),
        pairs(&t),
        sorted(t.split(' ').map(String::from).collect())
    )
}
