//! Writes what a store holds as its peers would keep it.
//!
//!     cargo run --release -p sto-benches --bin store_export -- STORE FOLDER
//!
//! Makes in FOLDER, for each profile in the order of `sto ls`, `0000.folded` and rows of the Sto
//! document's three tables (see [`sto_benches::export`]), all of its first sample type. Prints the
//! number of distinct nodes that the store holds.

use clap::Parser;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use sto_benches::export;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::store::Store;

/// Write what a store holds as its peers would keep it
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// Folder for the files
    folder: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { store, folder } = Args::parse();
    let store = Store::open(&store)?;
    let builds = store.builds()?;
    let mut of_executable: Vec<(&str, Vec<ProfileId>)> = Vec::new();
    let mut number = 0;
    for (version, build) in (1..).zip(&builds) {
        let name = build.build.executable.as_str();
        let executable = ExecutableId::of(name);
        match of_executable.last_mut().filter(|(last, _)| *last == name) {
            Some((_, ids)) => ids.extend(build.profiles.iter().map(|profile| profile.id)),
            None => {
                let ids = build.profiles.iter().map(|profile| profile.id);
                of_executable.push((name, ids.collect()));
            }
        }
        for profile in &build.profiles {
            let loaded = store.load(executable, &[profile.id])?;
            let file = |suffix| folder.join(format!("{number:04}.{suffix}"));
            let costs = &loaded.costs[0][0];
            let mut out = BufWriter::new(File::create(file("folded"))?);
            export::folded(&loaded, costs, &mut out)?;
            out.flush()?;
            let name = format!("{number:04}");
            export::tables(
                &loaded,
                costs,
                (&build.build.executable, version),
                &folder,
                &name,
            )?;
            number += 1;
        }
    }
    let mut nodes = 0;
    for (name, profiles) in of_executable {
        nodes += store.load(ExecutableId::of(name), &profiles)?.tree.len();
    }
    println!("{nodes}");
    Ok(())
}
