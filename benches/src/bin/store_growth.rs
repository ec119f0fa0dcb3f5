//! Fills a new store with generated profiles, and tells how each went in.
//!
//!     cargo run --release -p sto-benches --bin store_growth -- STORE --profiles 1000 --builds 100
//!
//! Prints CSV, a line a profile: its number, its nodes, what `Store::add` took in seconds, the size
//! of the file then in bytes, and the most memory that this process ever held, in bytes.
//! benches/store_growth.py runs it and draws the curve.

use clap::Parser;
use std::error::Error;
use std::hint::black_box;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::Instant;
use sto_benches::generate::Program;
use sto_benches::peak_memory;
use sto_core::store::{Added, Store};

/// Fill a new store with generated profiles
#[derive(Parser)]
struct Args {
    /// Folder of the store, which must not exist
    store: PathBuf,
    /// Number of profiles
    #[arg(long)]
    profiles: u32,
    /// Number of builds that the profiles are of
    #[arg(long, default_value_t = 1)]
    builds: u32,
    /// Nodes of a profile, about
    #[arg(long, default_value_t = 100_000)]
    nodes: u32,
    /// Distinct functions of the program
    #[arg(long, default_value_t = 100_000)]
    functions: u32,
    /// Add at last a build with one run of this many nodes
    #[arg(long)]
    large: Option<u32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.store.exists() {
        return Err(format!("{} exists", args.store.display()).into());
    }
    let store = Store::open_or_create(&args.store)?;
    let program = Program::new(args.functions);
    let mut out = stdout().lock();
    writeln!(out, "profiles,nodes,seconds,file_bytes,peak_memory_bytes")?;
    let runs = (0..args.profiles).map(|run| {
        let build = u64::from(run) * u64::from(args.builds) / u64::from(args.profiles);
        (build as u32, run, args.nodes)
    });
    let large = args.large.map(|nodes| (args.builds, args.profiles, nodes));
    for (build, run, nodes) in runs.chain(large) {
        let run_of = program.run(build, run, nodes);
        let start = Instant::now();
        let added = store.add(&run_of.build, &run_of.profile, &run_of.interned)?;
        let seconds = start.elapsed().as_secs_f64();
        if added == Added::AlreadyStored {
            return Err("a generated profile is not new".into());
        }
        let (nodes, bytes) = (run_of.interned.tree.len(), store.file_size()?.0);
        writeln!(
            out,
            "{},{nodes},{seconds:.6},{bytes},{}",
            run + 1,
            peak_memory()?
        )?;
        black_box(run_of);
    }
    Ok(())
}
