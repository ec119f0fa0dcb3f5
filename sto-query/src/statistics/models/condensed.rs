//! Points as few numbers that have the same sums.

use super::points::Points;
use rayon::prelude::*;
use std::ops::Range;

/// Up to so many distinct x, each is kept.
const EXACT: usize = 8192;
/// Stretches of x that points are gathered in where there are more.
const CELLS: usize = 1024;
/// No stretch goes from one x to more than this many times it, as logarithms bend there.
const RATIO: f64 = 1.1;
/// Nodes that stand for the points of a stretch.
const NODES: usize = 8;

/// Points, gathered in cells of neighbouring x.
///
/// Points of one x are a node with their number and the mean of y. Where there are too many, the points of a cell
/// become eight nodes with weights w such that the sum of any smooth f over the points is the sum of w f over the
/// nodes: f is taken as the polynomial through the nodes, which at this width is f to the last digits.
pub(super) struct Condensed {
    /// By node: its x.
    pub(super) x: Vec<f64>,
    /// By node: its weight, which may be negative.
    weight: Vec<f64>,
    /// By node: the mean of y in its cell.
    mean: Vec<f64>,
    /// By node: the weight of what y differs by from that mean.
    rest: Vec<f64>,
    /// Sum of squares of what y differs by from the mean of its cell.
    within: f64,
    /// Number of points.
    pub(super) points: usize,
    /// The smallest and the largest x; no number of no points.
    pub(super) range: (f64, f64),
    /// Number of distinct x; at least [`EXACT`] where there are more.
    pub(super) distinct: usize,
    /// Sum of the logarithms of weights.
    pub(super) log_weights: f64,
    /// Sum of the squares of y.
    pub(super) squares: f64,
    /// Sum of squares of what y differs by from its mean.
    pub(super) about_mean: f64,
}

#[derive(Default)]
struct Cell {
    nodes: Vec<(f64, f64, f64)>,
    mean: f64,
    within: f64,
    squares: f64,
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
            .map(|range| cell(points, range, &lagrange))
            .collect();
        let mut condensed = Condensed {
            x: Vec::new(),
            weight: Vec::new(),
            mean: Vec::new(),
            rest: Vec::new(),
            within: cells.iter().map(|cell| cell.within).sum(),
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
            for (x, weight, rest) in cell.nodes {
                condensed.x.push(x);
                condensed.weight.push(weight);
                condensed.mean.push(cell.mean);
                condensed.rest.push(rest);
            }
        }
        let ones = vec![1.0; condensed.x.len()];
        let mean = condensed.with_y(&ones) / condensed.inner(&ones, &ones);
        condensed.about_mean = condensed.residual_squares(&vec![mean; condensed.x.len()]);
        condensed
    }

    /// A function's values at the nodes.
    pub(super) fn at_nodes(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        self.x.iter().map(|&x| f(x)).collect()
    }

    /// Sum over the points of w f g.
    pub(super) fn inner(&self, f: &[f64], g: &[f64]) -> f64 {
        let both = self.weight.iter().zip(f).zip(g);
        both.map(|((w, f), g)| w * f * g).sum()
    }

    /// Sum over the points of w y f.
    pub(super) fn with_y(&self, f: &[f64]) -> f64 {
        (0..f.len())
            .map(|ix| (self.weight[ix] * self.mean[ix] + self.rest[ix]) * f[ix])
            .sum()
    }

    /// Sum over the points of w (y - fitted) f.
    pub(super) fn residual_with(&self, fitted: &[f64], f: &[f64]) -> f64 {
        (0..f.len())
            .map(|ix| (self.weight[ix] * (self.mean[ix] - fitted[ix]) + self.rest[ix]) * f[ix])
            .sum()
    }

    /// Sum over the points of w (y - fitted)².
    pub(super) fn residual_squares(&self, fitted: &[f64]) -> f64 {
        let between = (0..fitted.len()).map(|ix| {
            let off = self.mean[ix] - fitted[ix];
            (self.weight[ix] * off + 2.0 * self.rest[ix]) * off
        });
        (self.within + between.sum::<f64>()).max(0.0)
    }
}

fn distinct(x: &[f64]) -> usize {
    if x.is_empty() {
        return 0;
    }
    let others = x.windows(2).filter(|pair| pair[0] != pair[1]);
    1 + others.take(EXACT).count()
}

/// Where cells begin and end: of equal width, and cut further where x is near zero.
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

fn cell(points: &Points, range: Range<usize>, lagrange: &Lagrange) -> Cell {
    let (x, y) = (&points.x()[range.clone()], &points.y()[range.clone()]);
    let weights = points.weights().map(|weights| &weights[range]);
    let weight = |ix: usize| weights.map_or(1.0, |weights| weights[ix]);
    let total: f64 = weights.map_or(x.len() as f64, |weights| weights.iter().sum());
    let mean = (0..x.len()).map(|ix| weight(ix) * y[ix]).sum::<f64>() / total;
    let (low, high) = (x[0], x[x.len() - 1]);
    let (middle, half) = (low + (high - low) / 2.0, (high - low) / 2.0);
    let mut cell = Cell {
        mean,
        ..Cell::default()
    };
    let (mut powers, mut of_rest) = ([0.0; NODES], [0.0; NODES]);
    for ix in 0..x.len() {
        let (w, rest) = (weight(ix), y[ix] - mean);
        cell.within += w * rest * rest;
        cell.squares += w * y[ix] * y[ix];
        if half > 0.0 {
            let t = (x[ix] - middle) / half;
            let mut power = w;
            for k in 0..NODES {
                powers[k] += power;
                of_rest[k] += power * rest;
                power *= t;
            }
        }
    }
    cell.nodes = match half > 0.0 {
        false => vec![(low, total, 0.0)],
        true => (0..NODES)
            .map(|node| {
                let sum = |moments: &[f64; NODES]| {
                    let terms = lagrange.coefficients[node].iter().zip(moments);
                    terms.map(|(c, m)| c * m).sum::<f64>()
                };
                let x = middle + half * lagrange.nodes[node];
                (x, sum(&powers), sum(&of_rest))
            })
            .collect(),
    };
    cell
}

/// Polynomials that are 1 at one node and 0 at the others.
struct Lagrange {
    /// Zeros of the Chebyshev polynomial, between -1 and 1.
    nodes: [f64; NODES],
    /// By node: the coefficients of its polynomial, the constant one first.
    coefficients: [[f64; NODES]; NODES],
}

impl Lagrange {
    fn new() -> Lagrange {
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
