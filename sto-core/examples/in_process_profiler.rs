//! A program that profiles itself: spans of its work are stacks, and what they cost is wall-clock time.
//!
//! `cargo run -p sto-core --example in_process_profiler`

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use sto_core::id::SourceDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model::{Frame, FrameKind};
use sto_core::recording::{
    Format, LocationIx, RecordingBuilder, RecordingError, SampleTypeIx, ThreadIx,
};
use sto_core::store::Store;
use sto_core::units::{Bytes, Cost, Unit};

/// Spans that are open, and what those that ended cost by themselves.
struct Profiler {
    builder: RecordingBuilder,
    thread: ThreadIx,
    wall: SampleTypeIx,
    open: Vec<(LocationIx, Instant, Duration)>,
}

impl Profiler {
    fn new() -> Result<Profiler, RecordingError> {
        let mut builder = RecordingBuilder::default();
        let process = builder.process(std::process::id(), "example");
        Ok(Profiler {
            thread: builder.thread(process, 1, "main")?,
            wall: builder.sample_type("wall-clock", Unit::Nanoseconds),
            open: Vec::new(),
            builder,
        })
    }

    /// Does some work as a span of this name.
    fn span(
        &mut self,
        symbol: &str,
        work: impl FnOnce(&mut Self) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        let location = self.builder.frame(Frame {
            module: "example",
            symbol,
            kind: FrameKind::User,
            file: file!(),
            line: 0,
        })?;
        self.open.push((location, Instant::now(), Duration::ZERO));
        work(self)?;
        let stack: Vec<LocationIx> = self.open.iter().map(|&(location, ..)| location).collect();
        let (_, began, within) = self.open.pop().expect("it was opened above");
        let took = began.elapsed();
        if let Some((.., within)) = self.open.last_mut() {
            *within += took;
        }
        let stack = self.builder.stack(&stack)?;
        let value = took.saturating_sub(within).as_nanos() as u64;
        self.builder
            .add(self.thread, self.wall, stack, Cost { samples: 1, value })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut profiler = Profiler::new()?;
    for _ in 0..3 {
        profiler.span("serve", |profiler| {
            profiler.span("parse", |_| {
                std::hint::black_box((0..10_000_u64).sum::<u64>());
                Ok(())
            })?;
            profiler.span("answer", |_| Ok(()))
        })?;
    }

    // What tells this run from others: no file has its bytes.
    let run = SourceDigest::of(b"run 1 of the example");
    let recording = profiler.builder.finish(Format::Folded, run, Bytes(0));
    let store = Store::in_memory()?;
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let report = ingest(
        &store,
        (Path::new("example"), recording),
        &options,
        &mut |_stage| {},
    )?;

    let build = store
        .snapshot()?
        .load_build(report.profiles[0].build.id())?;
    for &(node, cost) in &build.costs[0] {
        let stack: Vec<&str> = build
            .tree
            .ancestors(node)
            .map(|node| build.frames.frame(build.tree.frame(node)).symbol)
            .collect();
        println!(
            "{:40} {} times, {} ns",
            stack.join(" < "),
            cost.samples,
            cost.value
        );
    }
    assert_eq!(build.tree.len(), 3);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("it profiles itself");
}
