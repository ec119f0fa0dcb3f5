//! Writes the content of a store in the formats of other tools.
//!
//!     cargo run --release -p sto-benches --bin store_export -- STORE FOLDER
//!
//! Writes to FOLDER, for each profile in the order of `sto ls`, `0000.folded` and rows of the design
//! document's three tables (see [`sto_benches::export`]), with costs of the first sample type. With
//! `--sums`, writes only rows, with one sum per build. Prints the number of distinct nodes in the store.

use clap::Parser;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use sto_benches::export;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::store::{Loaded, LoadedBuild, Store};

/// Write the content of a store in the formats of other tools
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// Folder for the files
    folder: PathBuf,
    /// Write one sum of each build instead of its profiles
    #[arg(long)]
    sums: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args {
        store,
        folder,
        sums,
    } = Args::parse();
    let store = Store::open(&store)?.snapshot()?;
    let builds = store.builds()?;
    let mut of_executable: Vec<(&str, Vec<ProfileId>)> = Vec::new();
    let mut number = 0;
    for (version, build) in (1..).zip(&builds) {
        let name = build.build.executable.as_str();
        let executable = ExecutableId::from_name(name);
        let profiles = build.profiles.iter().map(|profile| profile.id);
        match of_executable.last_mut().filter(|(last, _)| *last == name) {
            Some((_, ids)) => ids.extend(profiles.clone()),
            None => of_executable.push((name, profiles.clone().collect())),
        }
        let mut next_name = || {
            number += 1;
            format!("{:04}", number - 1)
        };
        if sums {
            let LoadedBuild {
                frames,
                tree,
                costs,
                ..
            } = store.load_build(build.id)?;
            let loaded = Loaded {
                frames,
                tree,
                costs: Vec::new(),
            };
            export::tables(&loaded, &costs[0], (name, version), &folder, &next_name())?;
            continue;
        }
        for id in profiles {
            let loaded = store.load(executable, &[id])?;
            let (costs, file) = (&loaded.costs[0][0], next_name());
            let mut out = BufWriter::new(File::create(folder.join(format!("{file}.folded")))?);
            export::folded(&loaded, costs, &mut out)?;
            out.flush()?;
            export::tables(&loaded, costs, (name, version), &folder, &file)?;
        }
    }
    let mut nodes = 0;
    for (name, profiles) in of_executable {
        nodes += store
            .load(ExecutableId::from_name(name), &profiles)?
            .tree
            .len();
    }
    println!("{nodes}");
    Ok(())
}
