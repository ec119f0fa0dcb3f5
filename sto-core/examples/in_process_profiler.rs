//! A program that profiles itself: nested spans of its work become stacks, with wall-clock time as their cost.
//!
//! `cargo run -p sto-core --example in_process_profiler`

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use sto_core::id::RecordingDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model::{Frame, FrameKind};
use sto_core::recording::{
    Format, LocationIx, RecordingBuilder, RecordingError, SampleTypeIx, ThreadIx,
};
use sto_core::store::Store;
use sto_core::units::{Bytes, Cost, Unit};

/// A recorder of spans.
struct Profiler {
    builder: RecordingBuilder,
    thread: ThreadIx,
    wall: SampleTypeIx,
    /// The spans that have not ended, outermost first.
    open: Vec<OpenSpan>,
}

struct OpenSpan {
    location: LocationIx,
    started: Instant,
    /// Time spent in nested spans.
    nested: Duration,
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

    /// Runs `work` as a span with the name `symbol`.
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
        self.open.push(OpenSpan {
            location,
            started: Instant::now(),
            nested: Duration::ZERO,
        });
        work(self)?;
        let locations: Vec<LocationIx> = self.open.iter().map(|span| span.location).collect();
        let span = self.open.pop().expect("the span was pushed above");
        let elapsed = span.started.elapsed();
        if let Some(caller) = self.open.last_mut() {
            caller.nested += elapsed;
        }
        let stack = self.builder.stack(&locations)?;
        let value = elapsed.saturating_sub(span.nested).as_nanos() as u64;
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

    // A digest that identifies the run, as there is no file with its bytes.
    let run = RecordingDigest::hash_bytes(b"run 1 of the example");
    let recording = profiler.builder.finish(Format::Own("spans"), run, Bytes(0));
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
fn runs_without_errors() {
    main().expect("the example succeeds");
}
