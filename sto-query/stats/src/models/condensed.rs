//! Points condensed to a few weighted nodes with the same sums.

use super::points::Points;
use rayon::prelude::*;
use std::ops::Range;

/// Number of distinct x up to which each becomes a node.
const EXACT: usize = 8192;
/// Number of cells if there are more distinct x.
const CELLS: usize = 1024;
/// Maximum ratio between the x at the two ends of a cell, because logarithms bend near zero.
const RATIO: f64 = 1.1;
/// Number of nodes that represent the points of a cell.
pub(super) const NODES: usize = 8;

/// Points gathered in cells of neighbouring x.
///
/// Points with the same x become one node with their number and mean y. If there are too many distinct x, the points
/// of a cell become eight nodes with weights w such that for any smooth f, the sum of f over the points equals the
/// sum of w f over the nodes. The method replaces f by its interpolation polynomial, which for cells of this width
/// agrees to the last digits.
pub(super) struct Condensed {
    /// x of each node.
    pub(super) x: Vec<f64>,
    /// Weight of each node; may be negative.
    weight: Vec<f64>,
    /// Mean of y in each node's cell.
    mean: Vec<f64>,
    /// Weighted deviation of y from that mean, for each node.
    rest: Vec<f64>,
    /// Weighted squared deviation of y from that mean, for each node.
    rest_squared: Vec<f64>,
    /// Number of points.
    pub(super) points: usize,
    /// The smallest and largest x; NaN if there are no points.
    pub(super) range: (f64, f64),
    /// Number of distinct x; only a lower bound of at least [`EXACT`] if there are more than that.
    pub(super) distinct: usize,
    /// Sum of the logarithms of the weights.
    pub(super) log_weights: f64,
    /// Sum of the squares of y.
    pub(super) squares: f64,
    /// Sum of the squared deviations of y from its mean.
    pub(super) about_mean: f64,
}

/// Points with neighbouring x.
struct Cell {
    /// x, and the weights of 1, of the deviation of y from the mean, and of its square.
    nodes: Vec<[f64; 4]>,
    mean: f64,
    squares: f64,
}

/// Location of a cell's nodes, for cells of equal width.
pub(super) struct CellNodes {
    /// Index of the cell, counted from the smallest x.
    pub(super) number: usize,
    pub(super) nodes: Range<usize>,
    /// Whether the cell has the nodes of [`Lagrange`].
    pub(super) dense: bool,
}

impl Condensed {
    pub(super) fn new(points: &Points) -> Condensed {
        let x = points.x();
        let distinct = distinct(x);
        let cells: Vec<Range<usize>> = if distinct <= EXACT {
            let mut from = 0;
            let runs = x.chunk_by(|a, b| a == b).map(|run| {
                from += run.len();
                from - run.len()..from
            });
            runs.collect()
        } else {
            stretches(x)
        };
        let lagrange = Lagrange::new();
        let cells: Vec<Cell> = cells
            .into_par_iter()
            .with_min_len(64)
            .map(|range| {
                let (low, high) = (x[range.start], x[range.end - 1]);
                let (middle, half) = (low + (high - low) / 2.0, (high - low) / 2.0);
                if half > 0.0 {
                    cell(points, range, &lagrange, middle, half)
                } else {
                    one_x(points, range)
                }
            })
            .collect();
        Condensed::of_cells(points, cells, distinct)
    }

    /// Condenses points to one unweighted node per distinct x.
    pub(super) fn from_distinct_x(points: &Points) -> Condensed {
        let mut from = 0;
        let runs: Vec<Range<usize>> = points
            .x()
            .chunk_by(|a, b| a == b)
            .map(|run| {
                from += run.len();
                from - run.len()..from
            })
            .collect();
        let plain = points.without_weights();
        let cells: Vec<Cell> = runs
            .into_par_iter()
            .with_min_len(4096)
            .map(|range| one_x(&plain, range))
            .collect();
        let distinct = cells.len();
        Condensed::of_cells(&plain, cells, distinct)
    }

    /// Condenses unweighted points in cells of this width. A cell with no more distinct x than nodes keeps each x.
    pub(super) fn from_cells(points: &Points, width: f64) -> (Condensed, Vec<CellNodes>) {
        let x = points.x();
        let low = x.first().copied().unwrap_or(0.0);
        let number = |x: f64| ((x - low) / width) as usize;
        let mut ranges = Vec::new();
        let mut from = 0;
        while from < x.len() {
            let of = number(x[from]);
            let to = from + x[from..].partition_point(|&x| number(x) <= of);
            ranges.push((of, from..to));
            from = to;
        }
        let lagrange = Lagrange::new();
        let plain = points.without_weights();
        let cells: Vec<(usize, bool, Vec<Cell>)> = ranges
            .into_par_iter()
            .with_min_len(16)
            .map(|(of, range)| {
                let runs = x[range.clone()].chunk_by(|a, b| a == b);
                if runs.clone().take(NODES + 1).count() > NODES {
                    let middle = low + (of as f64 + 0.5) * width;
                    let cell = cell(&plain, range, &lagrange, middle, width / 2.0);
                    return (of, true, vec![cell]);
                }
                let mut from = range.start;
                let cells = runs.map(|run| {
                    from += run.len();
                    one_x(&plain, from - run.len()..from)
                });
                (of, false, cells.collect())
            })
            .collect();
        let mut places = Vec::with_capacity(cells.len());
        let mut nodes = 0;
        for (number, dense, cells) in &cells {
            let more: usize = cells.iter().map(|cell| cell.nodes.len()).sum();
            places.push(CellNodes {
                number: *number,
                nodes: nodes..nodes + more,
                dense: *dense,
            });
            nodes += more;
        }
        let cells = cells.into_iter().flat_map(|(_, _, cells)| cells).collect();
        (Condensed::of_cells(&plain, cells, distinct(x)), places)
    }

    fn of_cells(points: &Points, cells: Vec<Cell>, distinct: usize) -> Condensed {
        let mut condensed = Condensed {
            x: Vec::new(),
            weight: Vec::new(),
            mean: Vec::new(),
            rest: Vec::new(),
            rest_squared: Vec::new(),
            points: points.len(),
            range: points.range().unwrap_or((f64::NAN, f64::NAN)),
            distinct,
            log_weights: points
                .weights()
                .map_or(0.0, |weights| weights.iter().map(|w| w.ln()).sum()),
            squares: cells.iter().map(|cell| cell.squares).sum(),
            about_mean: 0.0,
        };
        for cell in cells {
            for [x, weight, rest, rest_squared] in cell.nodes {
                condensed.x.push(x);
                condensed.weight.push(weight);
                condensed.mean.push(cell.mean);
                condensed.rest.push(rest);
                condensed.rest_squared.push(rest_squared);
            }
        }
        let ones = vec![1.0; condensed.x.len()];
        let mean = condensed.inner_with_y(&ones) / condensed.inner_product(&ones, &ones);
        condensed.about_mean = condensed.residual_squares(&vec![mean; condensed.x.len()]);
        condensed
    }

    /// Evaluates a function at the nodes.
    pub(super) fn at_nodes(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        self.x.iter().map(|&x| f(x)).collect()
    }

    /// Returns the sum of w f g over the points.
    pub(super) fn inner_product(&self, f: &[f64], g: &[f64]) -> f64 {
        let both = self.weight.iter().zip(f).zip(g);
        both.map(|((w, f), g)| w * f * g).sum()
    }

    /// Returns the sum of w y f over the points.
    pub(super) fn inner_with_y(&self, f: &[f64]) -> f64 {
        (0..f.len())
            .map(|ix| (self.weight[ix] * self.mean[ix] + self.rest[ix]) * f[ix])
            .sum()
    }

    /// Returns the sum of w (y - fitted) f over the points.
    pub(super) fn residual_with(&self, fitted: &[f64], f: &[f64]) -> f64 {
        (0..f.len())
            .map(|ix| (self.weight[ix] * (self.mean[ix] - fitted[ix]) + self.rest[ix]) * f[ix])
            .sum()
    }

    /// Returns the sum of w (y - fitted)² over the points.
    pub(super) fn residual_squares(&self, fitted: &[f64]) -> f64 {
        let all = (0..fitted.len()).map(|ix| self.residual_square(ix, fitted[ix]));
        all.sum::<f64>().max(0.0)
    }

    /// Returns one node's contribution to the sum of w (y - fitted)².
    pub(super) fn residual_square(&self, ix: usize, fitted: f64) -> f64 {
        let off = self.mean[ix] - fitted;
        self.rest_squared[ix] + (self.weight[ix] * off + 2.0 * self.rest[ix]) * off
    }

    /// Returns the same points with each node's weights multiplied by `times`, scaled to a mean of 1.
    pub(super) fn reweighed(&self, mut times: Vec<f64>) -> Condensed {
        let ones = vec![1.0; self.x.len()];
        let mean = self.inner_product(&times, &ones) / self.inner_product(&ones, &ones);
        times.iter_mut().for_each(|times| *times /= mean);
        let logarithms: Vec<f64> = times.iter().map(|times| times.ln()).collect();
        let by_node = |of: &[f64]| {
            of.iter()
                .zip(&times)
                .map(|(of, times)| of * times)
                .collect()
        };
        let mut other = Condensed {
            x: self.x.clone(),
            weight: by_node(&self.weight),
            mean: self.mean.clone(),
            rest: by_node(&self.rest),
            rest_squared: by_node(&self.rest_squared),
            log_weights: self.log_weights + self.inner_product(&logarithms, &ones),
            ..*self
        };
        other.squares = other.residual_squares(&vec![0.0; other.x.len()]);
        let mean = other.inner_with_y(&ones) / other.inner_product(&ones, &ones);
        other.about_mean = other.residual_squares(&vec![mean; other.x.len()]);
        other
    }

    /// Returns a node's weights of 1 and of y.
    pub(super) fn weights_of(&self, ix: usize) -> (f64, f64) {
        (
            self.weight[ix],
            self.weight[ix] * self.mean[ix] + self.rest[ix],
        )
    }
}

fn distinct(x: &[f64]) -> usize {
    if x.is_empty() {
        return 0;
    }
    let others = x.windows(2).filter(|pair| pair[0] != pair[1]);
    1 + others.take(EXACT).count()
}

/// Returns the ranges of cells of equal width, split further if x is near zero.
fn stretches(x: &[f64]) -> Vec<Range<usize>> {
    let (low, high) = (x[0], x[x.len() - 1]);
    let mut edges = Vec::with_capacity(CELLS + 512);
    for cell in 1..=CELLS {
        let at = |cell: usize| low + (high - low) * cell as f64 / CELLS as f64;
        let (from, to) = (at(cell - 1), at(cell));
        let mut edge = from.max(f64::MIN_POSITIVE);
        while from > 0.0 && edge * RATIO < to {
            edge *= RATIO;
            edges.push(edge);
        }
        edges.push(to);
    }
    let mut from = 0;
    let mut cells = Vec::with_capacity(edges.len());
    for edge in edges {
        let to = from + x[from..].partition_point(|&x| x < edge);
        if to > from {
            cells.push(from..to);
        }
        from = to;
    }
    if from < x.len() {
        cells.push(from..x.len());
    }
    cells
}

/// Creates the cell of points with a single x.
fn one_x(points: &Points, range: Range<usize>) -> Cell {
    let (x, y) = (points.x()[range.start], &points.y()[range.clone()]);
    let weights = points.weights().map(|weights| &weights[range]);
    let weight = |ix: usize| weights.map_or(1.0, |weights| weights[ix]);
    let total: f64 = weights.map_or(y.len() as f64, |weights| weights.iter().sum());
    let mean = (0..y.len()).map(|ix| weight(ix) * y[ix]).sum::<f64>() / total;
    let sum = |f: &dyn Fn(f64) -> f64| (0..y.len()).map(|ix| weight(ix) * f(y[ix])).sum::<f64>();
    Cell {
        nodes: vec![[x, total, 0.0, sum(&|y| (y - mean) * (y - mean))]],
        mean,
        squares: sum(&|y| y * y),
    }
}

/// Creates the cell of points within `half` of `middle`.
fn cell(points: &Points, range: Range<usize>, lagrange: &Lagrange, middle: f64, half: f64) -> Cell {
    let (x, y) = (&points.x()[range.clone()], &points.y()[range.clone()]);
    let weights = points.weights().map(|weights| &weights[range]);
    let weight = |ix: usize| weights.map_or(1.0, |weights| weights[ix]);
    let total: f64 = weights.map_or(x.len() as f64, |weights| weights.iter().sum());
    let mean = (0..x.len()).map(|ix| weight(ix) * y[ix]).sum::<f64>() / total;
    // Sums of powers of x: unweighted, times the deviation of y, and times its square.
    let mut sums = [[0.0; 3]; NODES];
    let mut squares = 0.0;
    for ix in 0..x.len() {
        let (w, rest, t) = (weight(ix), y[ix] - mean, (x[ix] - middle) / half);
        squares += w * y[ix] * y[ix];
        let mut power = w;
        for sum in &mut sums {
            sum[0] += power;
            sum[1] += power * rest;
            sum[2] += power * rest * rest;
            power *= t;
        }
    }
    let node = |node: usize| {
        let of = |which: usize| -> f64 {
            let terms = lagrange.coefficients[node].iter().zip(&sums);
            terms.map(|(c, sum)| c * sum[which]).sum()
        };
        [middle + half * lagrange.nodes[node], of(0), of(1), of(2)]
    };
    Cell {
        nodes: (0..NODES).map(node).collect(),
        mean,
        squares,
    }
}

/// Lagrange polynomials: 1 at one node and 0 at the others.
pub(super) struct Lagrange {
    /// Zeros of the Chebyshev polynomial, between -1 and 1.
    pub(super) nodes: [f64; NODES],
    /// Coefficients of each node's polynomial, the constant one first.
    coefficients: [[f64; NODES]; NODES],
}

impl Lagrange {
    pub(super) fn new() -> Lagrange {
        let angle = |node: usize| std::f64::consts::PI * (node as f64 + 0.5) / NODES as f64;
        let nodes: [f64; NODES] = std::array::from_fn(|node| -angle(node).cos());
        let coefficients = std::array::from_fn(|node| {
            let mut polynomial = [0.0; NODES];
            polynomial[0] = 1.0;
            for (other, at) in nodes.iter().enumerate().filter(|(ix, _)| *ix != node) {
                let scale = 1.0 / (nodes[node] - at);
                let degree = if other < node { other } else { other - 1 };
                for k in (0..=degree + 1).rev() {
                    let below = if k > 0 { polynomial[k - 1] } else { 0.0 };
                    polynomial[k] = scale * (below - at * polynomial[k]);
                }
            }
            polynomial
        });
        Lagrange {
            nodes,
            coefficients,
        }
    }
}
