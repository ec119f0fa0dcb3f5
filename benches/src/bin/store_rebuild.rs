//! Adds a synthetic build to a store, derived from a recorded build.
//!
//!     cargo run --release -p sto-benches --bin store_rebuild -- STORE
//!
//! Real recordings share fewer stacks if stacks have few samples. To compare stores on two builds that
//! only differ in code, the new build has the stacks of the first, with random functions renamed until
//! they are on 3 % of all stacks. Each stack has one sample plus a Poisson-distributed number with the
//! mean of its other samples. Lines do not change. Prints the share of its stacks that the first build
//! also has.

use clap::Parser;
use std::error::Error;
use std::path::PathBuf;
use sto_benches::Random;
use sto_core::id::{ExecutableId, RecordingDigest};
use sto_core::model::{Build, Frame, FrameTable, Profile};
use sto_core::store::{LoadedLines, Store};
use sto_core::tree::{ProfileData, SelfCosts, StackTree};
use sto_core::units::Cost;

/// Add a synthetic build to a store, derived from its first build
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// Share of the stacks that the builds have in common
    #[arg(long, default_value_t = 0.97)]
    shared: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let store = Store::open_or_create(&args.store)?;
    let snapshot = store.snapshot()?;
    let builds = snapshot.builds()?;
    let first = builds.first().ok_or("the store is empty")?;
    let recorded = first.profiles.first().ok_or("the build is empty")?;
    let executable = ExecutableId::from_name(&first.build.executable);
    let loaded = snapshot.load(executable, &[recorded.id])?;
    let LoadedLines {
        frames, mut lines, ..
    } = snapshot.load_lines(recorded.id)?;

    let mut random = Random::new(3);
    let tree = loaded.tree;
    let (renamed, changed) = renamed(&tree, loaded.frames.len(), 1.0 - args.shared, &mut random);
    let mut new_frames = FrameTable::new();
    for (ix, frame) in loaded.frames.iter() {
        let symbol = if renamed[ix.get()] {
            format!("{}_2", frame.symbol)
        } else {
            frame.symbol.to_owned()
        };
        new_frames.insert(Frame {
            symbol: &symbol,
            ..frame
        });
    }
    for line in lines.iter_mut().flatten() {
        // Functions that only occur in lines are not renamed.
        let frame = frames.frame(line.frame);
        line.frame = match loaded.frames.find(frame) {
            Some(ix) => ix,
            None => new_frames.insert(frame),
        };
    }
    for lines in &mut lines {
        lines.sort_unstable_by_key(|line| (line.frame, line.line));
    }
    let costs = loaded.costs[0].iter();
    let costs: Vec<SelfCosts> = costs.map(|costs| redrawn(costs, &mut random)).collect();

    let build = Build {
        executable: first.build.executable.clone(),
        version: format!("{} made up", first.build.version),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let mut profile = Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(b"made up"),
        ..recorded.profile.clone()
    };
    profile.quality.samples = costs[0].iter().map(|(_, cost)| cost.samples).sum();
    let interned = ProfileData {
        frames: new_frames,
        costs,
        line_costs: lines,
        slices: None,
        metrics: None,
        calls: None,
        kept_calls: None,
        source_digests: Default::default(),
        addresses: None,
        tree,
    };
    drop(snapshot);
    store.writer().add(&build, &profile, &interned)?;
    println!("{}", 1.0 - changed);
    Ok(())
}

/// Chooses functions to rename, and returns them with the share of the stacks that change, about `share`.
fn renamed(tree: &StackTree, frames: usize, share: f64, random: &mut Random) -> (Vec<bool>, f64) {
    let ends = tree.subtree_ends();
    let mut nodes_of: Vec<Vec<u32>> = vec![Vec::new(); frames];
    for node in tree.nodes() {
        nodes_of[tree.frame(node).get()].push(node.0);
    }
    let most = (tree.len() as f64 * share) as usize;
    let mut is_changed = vec![false; tree.len()];
    let mut changed = 0;
    let mut renamed = vec![false; frames];
    // Enough draws to come close, even if most functions are on too many stacks.
    for _ in 0..100 * frames {
        let frame = random.below(frames as u64) as usize;
        let below = nodes_of[frame].iter();
        let below = below.flat_map(|&node| node as usize..ends[node as usize] as usize);
        let mut new: Vec<usize> = below.filter(|&node| !is_changed[node]).collect();
        new.sort_unstable();
        new.dedup();
        if changed + new.len() <= most && !renamed[frame] {
            renamed[frame] = true;
            changed += new.len();
            for node in new {
                is_changed[node] = true;
            }
        }
        if changed == most {
            break;
        }
    }
    (renamed, changed as f64 / tree.len() as f64)
}

fn redrawn(costs: &SelfCosts, random: &mut Random) -> SelfCosts {
    let redrawn = costs.iter().map(|&(node, cost)| {
        let samples = 1 + poisson(cost.samples.saturating_sub(1), random);
        let value = cost.value / cost.samples.max(1) * samples;
        (node, Cost { samples, value })
    });
    redrawn.collect()
}

/// Returns a Poisson-distributed number (Knuth, volume 2, section 3.4.1), drawn in parts to avoid underflow.
fn poisson(mut mean: u64, random: &mut Random) -> u64 {
    let mut drawn = 0;
    while mean > 0 {
        let part = mean.min(100);
        mean -= part;
        let least = (-(part as f64)).exp();
        let mut product = random.share();
        while product > least {
            drawn += 1;
            product *= random.share();
        }
    }
    drawn
}
