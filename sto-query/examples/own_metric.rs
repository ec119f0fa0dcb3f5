//! A metric of one's own over the stacks of a build: how deep the stacks are that a function is sampled in.
//!
//! `cargo run -p sto-query --example own_metric`

use std::error::Error;
use std::path::Path;
use sto_query::sources::{Filter, Sources};

/// Fifty runs of ten releases of pulldown-cmark.
const STORE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../testdata/history/history.sto"
);

fn main() -> Result<(), Box<dyn Error>> {
    let view = Sources::from_folder(Path::new(STORE)).view(&"0.10.0".into(), &Filter::default())?;
    // Callers stand before what they call, so one pass forward gives every node its depth.
    let mut depth = vec![0_u64; view.tree.len()];
    for node in view.tree.nodes() {
        depth[node.get()] = view
            .tree
            .parent(node)
            .map_or(1, |caller| depth[caller.get()] + 1);
    }
    // Samples, and the sum of their depths, of each frame that was itself running: all runs, first event.
    let mut sums = vec![(0, 0); view.frames.len()];
    for &(node, cost) in view.runs.iter().flat_map(|run| &run[0]) {
        let (samples, depths) = &mut sums[view.tree.frame(node).get()];
        *samples += cost.samples;
        *depths += cost.samples * depth[node.get()];
    }
    let mut functions: Vec<_> = view.frames.iter().zip(sums).collect();
    functions.sort_by_key(|&(_, (samples, _))| std::cmp::Reverse(samples));
    for ((_, frame), (samples, depths)) in functions.iter().take(5) {
        println!(
            "{samples:6} samples, {:5.1} deep  {}",
            *depths as f64 / *samples as f64,
            frame.symbol
        );
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("it measures the stacks");
}
