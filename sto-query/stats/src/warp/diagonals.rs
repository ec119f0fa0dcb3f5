//! The least error up to each pair of points, one anti-diagonal after the other.
//!
//! Pairs of an anti-diagonal do not depend on each other, so that the compiler works out several at once. A
//! path needs the errors along it only: some anti-diagonals are kept on the way, and what lies between two
//! of them is worked out again, as far as the path can have come from there.

use std::mem::swap;
use std::ops::Range;

/// Pairs (i, j) of points of two series within a band. Anti-diagonal d has those with i + j = d.
///
/// Errors of an anti-diagonal are kept by *slot*: that of the pair with row i is i + 1, and a slot before
/// and after those of its pairs is infinite.
pub(super) struct Diagonals<'a> {
    a: &'a [f64],
    /// Backwards: along an anti-diagonal i goes up and j down.
    b: Vec<f64>,
    /// Pairs have |j (|a| - 1) - i (|b| - 1)| up to this.
    reach: Option<u64>,
}

/// What is needed to go on from some anti-diagonal: the errors of the two before it.
struct Kept {
    first_slot: usize,
    errors: [Vec<f64>; 2],
}

impl<'a> Diagonals<'a> {
    pub(super) fn new(a: &'a [f64], b: &[f64], band: Option<usize>) -> Self {
        let longer = a.len().max(b.len());
        let reach = |band: usize| {
            let narrowest = usize::from(a.len() != b.len());
            band.clamp(narrowest, longer) as u64 * (longer as u64 - 1)
        };
        Diagonals {
            a,
            b: b.iter().rev().copied().collect(),
            reach: band.filter(|&band| band < longer).map(reach),
        }
    }

    fn count(&self) -> usize {
        self.a.len() + self.b.len() - 1
    }

    /// The indices in a of the pairs of an anti-diagonal. Both ends stay or go up by one from each to the next.
    fn rows(&self, diagonal: usize) -> Range<usize> {
        let (last_a, last_b) = (self.a.len() - 1, self.b.len() - 1);
        let mut rows = diagonal.saturating_sub(last_b)..diagonal.min(last_a) + 1;
        if let Some(reach) = self.reach {
            let middle = diagonal as u64 * last_a as u64;
            let both = (last_a + last_b).max(1) as u64;
            rows.start = rows
                .start
                .max(middle.saturating_sub(reach).div_ceil(both) as usize);
            rows.end = rows.end.min(((middle + reach) / both) as usize + 1);
        }
        rows
    }

    /// Errors of some rows of an anti-diagonal by those of the two before it. All begin with slot `base`.
    fn advance(
        &self,
        diagonal: usize,
        rows: Range<usize>,
        base: usize,
        [before, last]: [&[f64]; 2],
        next: &mut [f64],
    ) {
        let (start, end) = (rows.start - base, rows.end - base);
        next[start] = f64::INFINITY;
        next[end + 1] = f64::INFINITY;
        let length = rows.len();
        let b = &self.b[rows.start + self.b.len() - 1 - diagonal..][..length];
        let a = &self.a[rows];
        let both = &before[start..][..length];
        let one_a = &last[start..][..length];
        let one_b = &last[start + 1..][..length];
        let next = &mut next[start + 1..][..length];
        // A comparison instead of `f64::min`, which has a rule for NaN that costs half as much again.
        let least = |x: f64, y: f64| if x < y { x } else { y };
        for ix in 0..length {
            next[ix] = (a[ix] - b[ix]).abs() + least(both[ix], least(one_a[ix], one_b[ix]));
        }
    }

    /// Errors of the two anti-diagonals before the first: nothing but the start, from where both series
    /// step to their first point.
    fn before_the_first(&self) -> [Vec<f64>; 2] {
        let mut errors = [(); 2].map(|()| vec![f64::INFINITY; self.a.len() + 2]);
        errors[0][0] = 0.0;
        errors
    }

    /// Works out all anti-diagonals, shows the two before each, and returns the error of the last pair.
    fn run(&self, mut show: impl FnMut(usize, [&[f64]; 2])) -> f64 {
        let [mut before, mut last] = self.before_the_first();
        let mut next = vec![f64::INFINITY; last.len()];
        for diagonal in 0..self.count() {
            show(diagonal, [&before, &last]);
            self.advance(
                diagonal,
                self.rows(diagonal),
                0,
                [&before, &last],
                &mut next,
            );
            swap(&mut before, &mut last);
            swap(&mut last, &mut next);
        }
        last[self.a.len()]
    }

    /// The least error of any path; infinite where that is more than a number holds.
    pub(super) fn error(&self) -> f64 {
        self.run(|_, _| ())
    }

    /// The least error and a path that has it, which is empty where the error is infinite.
    pub(super) fn path(&self) -> (f64, Vec<(usize, usize)>) {
        // What is kept, and what is worked out between two of them, is about equally much; but in a narrow band,
        // little is worked out twice.
        let cells: usize = (0..self.count())
            .map(|diagonal| self.rows(diagonal).len())
            .sum();
        let quarter = cells / self.count() / 4;
        let step = ((cells as f64).cbrt() as usize).min(quarter).max(16);
        let mut kept = Vec::with_capacity(self.count() / step + 1);
        let error = self.run(|diagonal, errors| {
            if diagonal % step == 0 {
                kept.push(self.keep(diagonal, errors));
            }
        });

        if !error.is_finite() {
            return (error, Vec::new());
        }
        let mut diagonal = self.count() - 1;
        let mut row = self.a.len() - 1;
        let mut pairs = vec![(row, diagonal - row)];
        for (block, kept) in kept.iter().enumerate().rev() {
            let first = block * step;
            if diagonal >= first {
                self.walk_back(first, kept, (&mut diagonal, &mut row), &mut pairs);
            }
        }
        pairs.reverse();
        (error, pairs)
    }

    fn keep(&self, diagonal: usize, errors: [&[f64]; 2]) -> Kept {
        let slots = match diagonal {
            0 => 0..2,
            _ => self.rows(diagonal - 2).start..self.rows(diagonal - 1).end + 2,
        };
        Kept {
            first_slot: slots.start,
            errors: errors.map(|errors| errors[slots.clone()].to_vec()),
        }
    }

    /// Adds the pairs of the path before the given one, until it leaves the anti-diagonals from `first` on.
    ///
    /// Only rows that a path to that pair can have come through are worked out.
    fn walk_back(
        &self,
        first: usize,
        kept: &Kept,
        (diagonal, row): (&mut usize, &mut usize),
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let height = *diagonal - first + 3;
        let base = (*row + 1).saturating_sub(height);
        let width = *row + 3 - base;
        let mut table = vec![f64::INFINITY; height * width];
        for (line, errors) in table.chunks_exact_mut(width).zip(&kept.errors) {
            let slots =
                base.max(kept.first_slot)..(base + width).min(kept.first_slot + errors.len());
            for slot in slots {
                line[slot - base] = errors[slot - kept.first_slot];
            }
        }
        for (line, number) in (first..=*diagonal).enumerate() {
            let mut rows = self.rows(number);
            rows.start = rows.start.max(row.saturating_sub(*diagonal - number));
            rows.end = rows.end.min(*row + 1).max(rows.start);
            let (done, next) = table[line * width..].split_at_mut(2 * width);
            let errors = [&done[..width], &done[width..]];
            self.advance(number, rows, base, errors, &mut next[..width]);
        }

        while *diagonal > 0 && *diagonal >= first {
            let line = |back: usize| &table[(*diagonal - first + 2 - back) * width..][..width];
            let slot = *row + 1 - base;
            let (both, one_a, one_b) = (line(2)[slot - 1], line(1)[slot - 1], line(1)[slot]);
            let (back, up) = match () {
                () if both <= one_a && both <= one_b => (2, 1),
                () if one_a <= one_b => (1, 1),
                () => (1, 0),
            };
            (*diagonal, *row) = (*diagonal - back, *row - up);
            pairs.push((*row, *diagonal - *row));
        }
    }
}
