//! Runs in the store of a server.

use crate::support::Server;
use std::path::Path;
use sto_core::id::RecordingDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::Sample;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Nanoseconds, UnixSeconds};
use sto_core::{Cost, Format, Frame, FrameKind, RecordingBuilder, Unit};

/// The time at which the first run begins.
pub(crate) const BEGIN: u64 = 1_700_000_000;

/// A run that takes each of its stacks once in each of ten seconds.
pub(crate) struct Run {
    pub(crate) program: &'static str,
    pub(crate) build: &'static str,
    pub(crate) labels: &'static [(&'static str, &'static str)],
    pub(crate) recorded: u64,
    /// Folded stacks, and the value of a sample in milliseconds.
    pub(crate) stacks: &'static [(&'static str, u64)],
}

/// Two builds of `shop`, and one of `api`, which has labels with dots in their names.
pub(crate) const RUNS: [Run; 3] = [
    Run {
        program: "shop",
        build: "v1",
        labels: &[("zone", "a")],
        recorded: BEGIN,
        stacks: &[
            ("main;parse", 30),
            ("main;render;draw", 10),
            ("main;render", 5),
        ],
    },
    Run {
        program: "shop",
        build: "v2",
        labels: &[("zone", "b")],
        recorded: BEGIN + 60,
        stacks: &[("main;parse", 60), ("main;render;draw", 10)],
    },
    Run {
        program: "api",
        build: "v1",
        labels: &[("cloud.zone", "a")],
        recorded: BEGIN,
        stacks: &[("serve", 1)],
    },
];

pub(crate) fn server() -> Server {
    let server = Server::start();
    for run in &RUNS {
        add(&server.store, run);
    }
    server
}

pub(crate) fn add(store: &Store, run: &Run) {
    let mut builder = RecordingBuilder::default();
    let process = builder.process(1, run.program);
    let thread = builder.thread(process, 1, "main").unwrap();
    let sample_type = builder.sample_type("cpu", Unit::Nanoseconds);
    for &(stack, milliseconds) in run.stacks {
        let frames: Vec<_> = stack
            .split(';')
            .map(|symbol| {
                let module = run.program;
                let kind = FrameKind::User;
                let frame = Frame {
                    module,
                    symbol,
                    kind,
                    file: "",
                    line: 0,
                };
                builder.frame(frame).unwrap()
            })
            .collect();
        let stack = builder.stack(&frames).unwrap();
        for second in 0..10 {
            let cost = Cost {
                samples: 1,
                value: milliseconds * 1_000_000,
            };
            // From begin to end of 10 seconds, so that a slice is a second.
            let time = match second {
                0 => 0,
                9 => 9_999_999_999,
                _ => second * 1_000_000_000 + 500_000_000,
            };
            let time = Some(Nanoseconds(time));
            builder
                .add_sample(Sample {
                    stack,
                    thread,
                    sample_type,
                    time,
                    cost,
                    truncated: false,
                })
                .unwrap();
        }
    }
    let digest = format!("{} {} {}", run.program, run.build, run.recorded);
    let digest = RecordingDigest::hash_bytes(digest.as_bytes());
    let recording = builder.finish(Format::Own("test"), digest, Bytes(0));
    let labels = run.labels.iter();
    let options = IngestOptions {
        executable: Some(run.program.to_owned()),
        version: Some(run.build.to_owned()),
        labels: labels.map(|&(k, v)| (k.to_owned(), v.to_owned())).collect(),
        recorded: Some(UnixSeconds(run.recorded)),
        slices: SliceCount::new(10),
        ..IngestOptions::default()
    };
    ingest(store, (Path::new("test"), recording), &options, &mut |_| {}).unwrap();
}
