//! Merges a store into a new one, and measures each profile.
//!
//!     cargo run --release -p sto-benches --bin store_merge -- STORE NEW
//!
//! Prints CSV with one line per profile: its number, its time in seconds (for the first profile
//! including the listing of both stores and unpacking the executable), and the peak memory of this
//! process in bytes. `store_growth` prints the same for `Store::add`.

use clap::Parser;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;
use sto_benches::peak_memory;
use sto_core::store::{Merged, Store};

/// Merge a store into a new one
#[derive(Parser)]
struct Args {
    /// The store to merge
    other: PathBuf,
    /// Folder of the new store, which must not exist
    new: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    if args.new.exists() {
        return Err(format!("{} exists", args.new.display()).into());
    }
    let new = Store::open_or_create(&args.new)?;
    let other = Store::open(&args.other)?;
    println!("profiles,seconds,peak_memory_bytes");
    let mut last = Instant::now();
    let mut memory = Ok(());
    let mut tell = |merged: &Merged| {
        if merged.processed() > 0 {
            let seconds = last.elapsed().as_secs_f64();
            last = Instant::now();
            memory =
                peak_memory().map(|peak| println!("{},{seconds:.6},{peak}", merged.processed()));
        }
        Ok(())
    };
    let merged = new.merge(&other.snapshot()?, &mut tell)?;
    memory?;
    if !merged.left_out.is_empty() {
        return Err("a profile was left out".into());
    }
    Ok(())
}
