//! Dynamic programming over anti-diagonals: the least error up to each pair of points.
//!
//! The pairs of an anti-diagonal are independent of each other, so the compiler can vectorise them. Only the errors
//! along the path are needed to find it: some anti-diagonals are kept, and the cells between two of them are computed
//! again, as far as the path can pass through them.

use std::mem::swap;
use std::ops::Range;

/// Pairs (i, j) of points of two series within a band. Anti-diagonal d has the pairs with i + j = d.
///
/// Errors of an anti-diagonal are stored by *slot*: the pair with row i has slot i + 1, and the slots before and
/// after its pairs are infinite.
pub(super) struct Diagonals<'a> {
    a: &'a [f64],
    /// The second series in reverse, because along an anti-diagonal i rises and j falls.
    b: Vec<f64>,
    /// Pairs satisfy |j (|a| - 1) - i (|b| - 1)| <= `reach`.
    reach: Option<u64>,
}

/// Checkpoint: the errors of the two anti-diagonals before some anti-diagonal.
struct Checkpoint {
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

    /// Returns the indices in a of the pairs of an anti-diagonal. From each to the next, both ends stay or rise by
    /// one.
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

    /// Computes the errors of some rows of an anti-diagonal from the errors of the two anti-diagonals before it. All
    /// slices begin with slot `base`.
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
        // A comparison, because the NaN rule of `f64::min` takes half as much time again.
        let least = |x: f64, y: f64| if x < y { x } else { y };
        for ix in 0..length {
            next[ix] = (a[ix] - b[ix]).abs() + least(both[ix], least(one_a[ix], one_b[ix]));
        }
    }

    /// Returns the errors of the two anti-diagonals before the first. They contain only the start, from which both
    /// series step to their first point.
    fn before_the_first(&self) -> [Vec<f64>; 2] {
        let mut errors = [(); 2].map(|()| vec![f64::INFINITY; self.a.len() + 2]);
        errors[0][0] = 0.0;
        errors
    }

    /// Computes all anti-diagonals, passes the two before each to `show`, and returns the error of the last pair.
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

    /// Returns the least error of any path; infinite if it overflows.
    pub(super) fn error(&self) -> f64 {
        self.run(|_, _| ())
    }

    /// Returns the least error and a path with that error; the path is empty if the error is infinite.
    pub(super) fn path(&self) -> (f64, Vec<(usize, usize)>) {
        // Checkpoints and the cells computed again between two of them take about equal memory; in a narrow band,
        // few cells are computed twice.
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

    fn keep(&self, diagonal: usize, errors: [&[f64]; 2]) -> Checkpoint {
        let slots = match diagonal {
            0 => 0..2,
            _ => self.rows(diagonal - 2).start..self.rows(diagonal - 1).end + 2,
        };
        Checkpoint {
            first_slot: slots.start,
            errors: errors.map(|errors| errors[slots.clone()].to_vec()),
        }
    }

    /// Adds the pairs of the path before the given one, until it leaves the anti-diagonals from `first` on.
    ///
    /// Computes only rows that a path to that pair can have passed through.
    fn walk_back(
        &self,
        first: usize,
        kept: &Checkpoint,
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
