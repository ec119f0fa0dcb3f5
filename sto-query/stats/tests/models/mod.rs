//! Curves agree with numpy, scipy, pandas, statsmodels and scikit-learn.
//! `testdata/models/README.md` says how their results were computed.

mod algebra;
mod changes;
mod fitness;
mod integrals;
mod normal_form;
mod regression;
mod smoothed;

/// Checks that two numbers agree, relative to their size.
#[track_caller]
fn same(what: &str, ours: f64, theirs: f64, size: f64) {
    let off = (ours - theirs).abs();
    assert!(
        off <= 1e-8 * size.abs().max(theirs.abs()),
        "{what}: {ours}, theirs is {theirs}"
    );
}
