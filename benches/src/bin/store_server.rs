//! Writes profiles into a store while threads of the same process query it, like a server.
//!
//!     cargo run --release -p sto-benches --bin store_server -- STORE
//!
//! Readers ask for the builds and the stacks of the newest one in a loop, with a pause after each question, and each
//! keeps its snapshot for a while. Prints CSV: the number of writes and questions, and the median and longest time of
//! each in milliseconds.

use clap::Parser;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use sto_benches::generate::Program;
use sto_core::store::{Store, StoreError};

/// Write profiles into a store while threads of the same process query it
#[derive(Parser)]
struct Args {
    /// Folder of the store, which must not exist
    store: PathBuf,
    /// Number of profiles
    #[arg(long, default_value_t = 200)]
    profiles: u32,
    /// Approximate number of nodes of a profile
    #[arg(long, default_value_t = 2000)]
    nodes: u32,
    /// Number of reading threads
    #[arg(long, default_value_t = 8)]
    readers: usize,
    /// Milliseconds for which a reader keeps a snapshot
    #[arg(long, default_value_t = 1000)]
    keep: u64,
    /// Milliseconds between two questions of a reader, and between two writes
    #[arg(long, default_value_t = 20)]
    pause: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let store = Store::open_or_create(&args.store)?;
    let program = Program::new(10_000);
    let is_done = AtomicBool::new(false);
    let (writes, questions) = thread::scope(|scope| {
        let read = || read(&store, &args, &is_done);
        let readers: Vec<_> = (0..args.readers).map(|_| scope.spawn(read)).collect();
        let writes = write(&store, &args, &program);
        is_done.store(true, Ordering::Relaxed);
        let mut questions = Vec::new();
        for reader in readers {
            questions.extend(reader.join().map_err(|_| "a reader panicked")??);
        }
        Ok::<_, Box<dyn Error>>((writes?, questions))
    })?;
    println!("operation,count,median_ms,longest_ms");
    for (name, mut times) in [("write", writes), ("question", questions)] {
        times.sort_unstable();
        let ms = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
        let (median, longest) = (ms(times.get(times.len() / 2)), ms(times.last()));
        println!("{name},{},{median:.1},{longest:.1}", times.len());
    }
    eprintln!("the file has {} bytes", store.file_size()?.0);
    Ok(())
}

/// Returns the time of each write.
fn write(store: &Store, args: &Args, program: &Program) -> Result<Vec<Duration>, StoreError> {
    (0..args.profiles)
        .map(|profile| {
            let run = program.run(profile / 10, profile, args.nodes);
            thread::sleep(Duration::from_millis(args.pause));
            let start = Instant::now();
            let mut writer = store.writer();
            writer.add(&run.build, &run.profile, &run.interned)?;
            drop(writer);
            Ok(start.elapsed())
        })
        .collect()
}

/// Returns the time of each question.
fn read(store: &Store, args: &Args, is_done: &AtomicBool) -> Result<Vec<Duration>, StoreError> {
    let mut times = Vec::new();
    while !is_done.load(Ordering::Relaxed) {
        let snapshot = store.snapshot()?;
        let taken = Instant::now();
        while taken.elapsed() < Duration::from_millis(args.keep) && !is_done.load(Ordering::Relaxed)
        {
            let start = Instant::now();
            if let Some(newest) = snapshot.builds()?.last() {
                snapshot.load_build(newest.id)?;
            }
            times.push(start.elapsed());
            thread::sleep(Duration::from_millis(args.pause));
        }
    }
    Ok(times)
}
