//! Curves are what numpy, scipy, pandas, statsmodels and scikit-learn make of the same points;
//! `testdata/models/README.md` says how.

mod algebra;
mod changes;
mod fitness;
mod integrals;
mod normal_form;
mod regression;
mod smoothed;

/// Agreement relative to the size of the numbers.
#[track_caller]
fn same(what: &str, ours: f64, theirs: f64, size: f64) {
    let off = (ours - theirs).abs();
    assert!(
        off <= 1e-8 * size.abs().max(theirs.abs()),
        "{what}: {ours}, theirs is {theirs}"
    );
}
