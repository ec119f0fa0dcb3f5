//! Kernels of unbounded support: summed over nodes that represent the points of narrow cells.

use super::{Around, Estimator, Kernel, Smooth, smooth_of};
use crate::models::condensed::{CellNodes, Condensed, Lagrange, NODES};
use crate::models::points::Points;
use rayon::prelude::*;

/// Cells per bandwidth, so narrow that within one the kernel is a polynomial of seventh degree to 1e-11.
const CELLS: usize = 3;
/// Number of bandwidths beyond which weights are rounding errors.
const REACH: usize = 8;
/// Number of cells within reach on each side.
const FAR: usize = REACH * CELLS + 1;

/// A weight, and the weight times the distance and its square, in bandwidths.
type Weights = [f64; 3];

fn weights(kernel: Kernel, distance: f64) -> Weights {
    let square = distance * distance;
    let gaussian = (-square / 2.0).exp();
    let weight = match kernel {
        Kernel::Gaussian4 => (3.0 - square) * gaussian,
        _ => gaussian,
    };
    [weight, weight * distance, weight * square]
}

pub(super) fn smooth(points: &Points, kernel: Kernel, estimator: Estimator, width: f64) -> Smooth {
    let (data, places) = Condensed::from_cells(points, width / CELLS as f64);
    let table = Table::new(kernel);
    let own = weights(kernel, 0.0)[0];
    let values: Vec<Vec<(f64, f64)>> = (0..places.len())
        .into_par_iter()
        .with_min_len(8)
        .map(|cell| {
            let sums = around(&data, &places, cell, &table, (kernel, estimator, width));
            let value = |sums: &Around| sums.value(estimator, own);
            sums.iter().map(value).collect()
        })
        .collect();
    smooth_of(&data, values.concat())
}

/// Returns the sums of the weights of all nodes within reach, for each node of a cell.
fn around(
    data: &Condensed,
    places: &[CellNodes],
    cell: usize,
    table: &Table,
    (kernel, estimator, width): (Kernel, Estimator, f64),
) -> Vec<Around> {
    let at = &places[cell];
    let near = |place: &CellNodes| place.number.saturating_add(FAR) < at.number;
    let first = places[..cell].partition_point(near);
    let within = |place: &&CellNodes| place.number <= at.number.saturating_add(FAR);
    let mut sums = vec![Around::default(); at.nodes.len()];
    for other in places[first..].iter().take_while(within) {
        for (a, sum) in sums.iter_mut().enumerate() {
            let of = |b: usize| {
                if at.dense && other.dense {
                    *table.weights(at.number, other.number, a, b)
                } else {
                    let distance = data.x[other.nodes.start + b] - data.x[at.nodes.start + a];
                    weights(kernel, distance / width)
                }
            };
            for b in 0..other.nodes.len() {
                let (weight, of_y) = data.weights_of(other.nodes.start + b);
                let [zero, one, two] = of(b);
                sum.weights[0] += weight * zero;
                sum.of_y[0] += of_y * zero;
                if estimator == Estimator::LocalLinear {
                    sum.weights[1] += weight * one;
                    sum.weights[2] += weight * two;
                    sum.of_y[1] += of_y * one;
                }
            }
        }
    }
    sums
}

/// Weights between nodes, by the number of cells between them.
struct Table(Vec<[[Weights; NODES]; NODES]>);

impl Table {
    fn new(kernel: Kernel) -> Table {
        let nodes = Lagrange::new().nodes;
        let by_offset = |offset: usize| {
            let cells = offset as f64 - FAR as f64;
            nodes.map(|a| nodes.map(|b| weights(kernel, (cells + (b - a) / 2.0) / CELLS as f64)))
        };
        Table((0..=2 * FAR).map(by_offset).collect())
    }

    fn weights(&self, at: usize, other: usize, a: usize, b: usize) -> &Weights {
        &self.0[other + FAR - at][a][b]
    }
}
