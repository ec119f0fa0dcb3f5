//! Times dynamic time warping of two series, for `benches/warp.py`.
//!
//!     cargo run --release -p sto-benches --bin warp -- A B --path
//!
//! Prints JSON for the Python script: the error, the minimum wall and processor time in seconds, and the
//! peak memory in MB, including the series.

use clap::Parser;
use std::error::Error;
use std::fs::read_to_string;
use std::path::PathBuf;
use std::time::Instant;
use sto_query::statistics::warp::{distance, path};

/// Time dynamic time warping of two series
#[derive(Parser)]
struct Args {
    /// The first series, one number per line
    a: PathBuf,
    /// The second series
    b: PathBuf,
    /// Half the width of the band
    #[arg(long)]
    band: Option<usize>,
    /// Also compute the path
    #[arg(long)]
    path: bool,
    /// Number of repetitions
    #[arg(long, default_value_t = 5)]
    repeat: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let series = [&args.a, &args.b].map(|file| -> Result<Vec<f64>, Box<dyn Error>> {
        let numbers = read_to_string(file)?;
        Ok(numbers.lines().map(str::parse).collect::<Result<_, _>>()?)
    });
    let [a, b] = series;
    let (a, b) = (a?, b?);
    let (mut clock, mut processor, mut error) = (f64::INFINITY, f64::INFINITY, 0.0);
    for _ in 0..args.repeat {
        let start = (Instant::now(), processor_seconds()?);
        error = if args.path {
            path(&a, &b, args.band)?.error
        } else {
            distance(&a, &b, args.band)?
        };
        clock = clock.min(start.0.elapsed().as_secs_f64());
        processor = processor.min(processor_seconds()? - start.1);
    }
    let memory = peak_kib()? * 1024.0 / 1e6;
    println!("[{error:?}, {clock}, {processor}, {memory}]");
    Ok(())
}

fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let text = read_to_string("/proc/self/schedstat")?;
    let nanoseconds = text.split(' ').next().unwrap_or_default();
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn peak_kib() -> Result<f64, Box<dyn Error>> {
    let text = read_to_string("/proc/self/status")?;
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.ok_or("no VmHWM in /proc/self/status")?;
    Ok(peak.trim().trim_end_matches(" kB").parse()?)
}
