//! A pair of values, one for each side of a comparison.

/// A value for the baseline and one for the candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pair<T> {
    pub(super) baseline: T,
    pub(super) candidate: T,
}

impl<T> Pair<T> {
    pub(super) fn new(baseline: T, candidate: T) -> Self {
        Pair {
            baseline,
            candidate,
        }
    }

    pub(super) fn map<U>(self, mut f: impl FnMut(T) -> U) -> Pair<U> {
        Pair::new(f(self.baseline), f(self.candidate))
    }

    pub(super) fn as_ref(&self) -> Pair<&T> {
        Pair::new(&self.baseline, &self.candidate)
    }
}
