//! Times models of points and detectors of changes, for `benches/models.py`.
//!
//!     cargo run --release -p sto-benches --bin models -- POINTS...
//!
//! Each file contains the x of a function's points and then their y, as little-endian 64-bit floating-point numbers. Prints
//! JSON for the Python script: for each kind of fit and each detector, the minimum wall and processor time in seconds
//! over all functions, and the mean of R².

use clap::Parser;
use rayon::prelude::*;
use std::error::Error;
use std::fs::read;
use std::path::PathBuf;
use std::time::Instant;
use sto_query::statistics::models::changes::{
    Change, DetectorRules, average_amount, best_model_order, fast_check, integral_comparison,
    linear_check, local_statistics, polynomial_check,
};
use sto_query::statistics::models::{
    Average, Bandwidth, Buckets, Decay, Estimator, Fit, Kernel, Middle, Models, Points,
    RollingWindow,
};

/// Time models of points and detectors of changes
#[derive(Parser)]
struct Args {
    /// The points of each function
    points: Vec<PathBuf>,
    /// Number of repetitions
    #[arg(long, default_value_t = 3)]
    repeat: usize,
}

fn fits() -> Vec<(&'static str, Fit)> {
    let kernel = |kernel, bandwidth| Fit::KernelRegression {
        kernel,
        estimator: Estimator::NadarayaWatson,
        bandwidth,
    };
    let buckets = |middle| Fit::Regressogram {
        buckets: Buckets::Doane,
        middle,
    };
    vec![
        ("regression", Fit::default()),
        ("normal form", Fit::NormalForm),
        ("regressogram, mean", buckets(Middle::Mean)),
        ("regressogram, median", buckets(Middle::Median)),
        (
            "moving average of 4",
            Fit::MovingAverage(Average::Simple(RollingWindow::new(4, true))),
        ),
        (
            "moving median of 4",
            Fit::MovingAverage(Average::Median(RollingWindow::new(4, true))),
        ),
        (
            "exponential average",
            Fit::MovingAverage(Average::Exponential(Decay::Span(4.0))),
        ),
        (
            "kernel, Gaussian, Scott",
            kernel(Kernel::Gaussian, Bandwidth::Scott),
        ),
        (
            "kernel, Epanechnikov, Scott",
            kernel(Kernel::Epanechnikov, Bandwidth::Scott),
        ),
        ("kernel ridge, a gamma", Fit::KernelRidge(vec![1e-5])),
        ("kernel ridge, 11 gammas", Fit::KernelRidge(Vec::new())),
    ]
}

type Side<'a> = (&'a Points, &'a Models);
type Detect = fn(Side<'_>, Side<'_>) -> Option<Change>;

fn detectors() -> [(&'static str, Detect); 7] {
    [
        ("integral comparison", |a, b| {
            integral_comparison(
                a.1.models.first()?,
                b.1.models.first()?,
                &DetectorRules::default(),
            )
        }),
        ("local statistics", |a, b| {
            local_statistics(
                a.1.models.first()?,
                b.1.models.first()?,
                &DetectorRules::default(),
            )
        }),
        ("average amount", |a, b| average_amount(a.0, b.0)),
        ("best model order", |a, b| {
            best_model_order(a.1.models.first()?, b.1.models.first()?)
        }),
        ("fast check", |a, b| fast_check(a.1, b.1)),
        ("linear check", |a, b| linear_check(a.1, b.1)),
        ("polynomial check", |a, b| polynomial_check(a.1, b.1)),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut figures = Vec::new();
    let files = args
        .points
        .iter()
        .map(read)
        .collect::<Result<Vec<_>, _>>()?;
    let mut functions = Vec::new();
    let took = fastest(args.repeat, || {
        functions = files.par_iter().map(|bytes| points(bytes, 1.0)).collect();
    })?;
    functions
        .iter()
        .try_for_each(|of| of.as_ref().map(|_| ()).map_err(ToString::to_string))?;
    let functions: Vec<Points> = functions.into_iter().flatten().collect();
    figures.push(figure("points, sorted", took, None));
    for (name, fit) in fits() {
        let mut fitted = Vec::new();
        let took = fastest(args.repeat, || {
            // In parallel, like the command.
            fitted = functions
                .par_iter()
                .map(|points| fit.models_with_certainty(points).0)
                .collect();
        })?;
        let r_square: Vec<f64> = fitted
            .iter()
            .filter_map(|of| Some(of.models.first()?.r_square))
            .collect();
        let mean = r_square.iter().sum::<f64>() / r_square.len().max(1) as f64;
        figures.push(figure(name, took, Some(mean)));
    }
    let others: Vec<Points> = files
        .iter()
        .map(|bytes| points(bytes, 1.2))
        .collect::<Result<_, Box<dyn Error + Send + Sync>>>()
        .map_err(|error| error as Box<dyn Error>)?;
    let models = |points: &Vec<Points>| -> Vec<Models> {
        points
            .iter()
            .map(|points| Fit::default().models_with_certainty(points).0)
            .collect()
    };
    let (old, new) = (models(&functions), models(&others));
    for (name, detect) in detectors() {
        let took = fastest(args.repeat, || {
            for ix in 0..functions.len() {
                std::hint::black_box(detect((&functions[ix], &old[ix]), (&others[ix], &new[ix])));
            }
        })?;
        figures.push(figure(name, took, None));
    }
    println!("[{}]", figures.join(", "));
    Ok(())
}

/// Parses the points of a file, with y multiplied by a factor.
fn points(bytes: &[u8], times: f64) -> Result<Points, Box<dyn Error + Send + Sync>> {
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .filter_map(|bytes| Some(f64::from_le_bytes(bytes.try_into().ok()?)))
        .collect();
    let (x, y) = numbers.split_at(numbers.len() / 2);
    Ok(Points::new(x.iter().zip(y).map(|(&x, &y)| (x, times * y)))?)
}

fn figure(name: &str, (clock, processor): (f64, f64), r_square: Option<f64>) -> String {
    let r_square = r_square.map_or_else(|| "null".to_owned(), |r_square| r_square.to_string());
    format!("[{name:?}, {clock}, {processor}, {r_square}]")
}

/// Returns the minimum wall and processor time in seconds.
fn fastest(repeat: usize, mut work: impl FnMut()) -> Result<(f64, f64), Box<dyn Error>> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeat {
        let start = (Instant::now(), processor_seconds()?);
        work();
        best.0 = best.0.min(start.0.elapsed().as_secs_f64());
        best.1 = best.1.min(processor_seconds()? - start.1);
    }
    Ok(best)
}

/// Returns the processor time of all threads.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let mut nanoseconds = 0.0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanoseconds += text
            .split(' ')
            .next()
            .unwrap_or_default()
            .parse()
            .unwrap_or(0.0);
    }
    Ok(nanoseconds / 1e9)
}
