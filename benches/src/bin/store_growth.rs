//! Fills a new store with generated profiles, and measures each addition.
//!
//!     cargo run --release -p sto-benches --bin store_growth -- STORE --profiles 1000 --builds 100
//!
//! Prints CSV with one line per profile: its number, its nodes, the seconds of `Writer::add`, and in
//! bytes its packed records, the store's file and the peak memory of this process. With `--count`,
//! only prints the number of distinct nodes of all profiles. benches/store_growth.py runs it and draws
//! the curve.

use clap::Parser;
use std::collections::HashSet;
use std::error::Error;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;
use sto_benches::generate::{EXECUTABLE, Program, Run};
use sto_benches::peak_memory;
use sto_core::id::{ExecutableId, NodeId};
use sto_core::store::{Added, Store};

/// Fill a new store with generated profiles
#[derive(Parser)]
struct Args {
    /// Folder of the store, which must not exist
    #[arg(required_unless_present = "count")]
    store: Option<PathBuf>,
    /// Number of profiles
    #[arg(long)]
    profiles: u32,
    /// Number of builds that the profiles belong to
    #[arg(long, default_value_t = 1)]
    builds: u32,
    /// Approximate number of nodes of a profile
    #[arg(long, default_value_t = 100_000)]
    nodes: u32,
    /// Distinct functions of the program
    #[arg(long, default_value_t = 100_000)]
    functions: u32,
    /// Repeat rare stacks in several runs, so that later runs have fewer new ones
    #[arg(long)]
    saturating: bool,
    /// Finally add a build with one run of this many nodes
    #[arg(long)]
    large: Option<u32>,
    /// Store nothing; count distinct nodes
    #[arg(long, conflicts_with = "store")]
    count: bool,
}

impl Args {
    fn runs(&self) -> impl Iterator<Item = Run> {
        let mut program = Program::new(self.functions);
        if self.saturating {
            program = program.saturating();
        }
        let runs = (0..self.profiles).map(|run| {
            let build = u64::from(run) * u64::from(self.builds) / u64::from(self.profiles);
            (build as u32, run, self.nodes)
        });
        let large = self.large.map(|nodes| (self.builds, self.profiles, nodes));
        runs.chain(large)
            .map(move |(build, run, nodes)| program.run(build, run, nodes))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    match &args.store {
        Some(store) => fill(store, args.runs()),
        None => {
            println!("{}", count(args.runs()));
            Ok(())
        }
    }
}

fn count(runs: impl Iterator<Item = Run>) -> usize {
    let mut distinct: HashSet<NodeId> = HashSet::new();
    for Run { interned, .. } in runs {
        let executable = ExecutableId::from_name(EXECUTABLE);
        distinct.extend(interned.tree.node_ids(executable, &interned.frames));
    }
    distinct.len()
}

fn fill(store: &Path, runs: impl Iterator<Item = Run>) -> Result<(), Box<dyn Error>> {
    if store.exists() {
        return Err(format!("{} exists", store.display()).into());
    }
    let store = Store::open_or_create(store)?;
    let mut out = stdout().lock();
    writeln!(
        out,
        "profiles,nodes,seconds,stored_bytes,file_bytes,peak_memory_bytes"
    )?;
    for (profiles, run) in (1..).zip(runs) {
        let start = Instant::now();
        let added = store
            .writer()
            .add(&run.build, &run.profile, &run.interned)?;
        let seconds = start.elapsed().as_secs_f64();
        let Added::New { stored, .. } = added else {
            return Err("a generated profile is not new".into());
        };
        let (nodes, bytes) = (run.interned.tree.len(), store.file_size()?.0);
        let memory = peak_memory()?;
        let stored = stored.0;
        writeln!(
            out,
            "{profiles},{nodes},{seconds:.6},{stored},{bytes},{memory}"
        )?;
    }
    Ok(())
}
