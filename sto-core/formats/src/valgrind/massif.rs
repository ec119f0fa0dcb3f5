//! Massif's text: the size of the heap over time, and the allocations by stack at its peak or in
//! the last tree.
//!
//! Source: `massif/ms_main.c` and the chapter *Massif* of Valgrind's manual.

use super::{Place, stack};
use crate::error::{At, DecodeError, Decoded};
use crate::recording::{Built, RecordingBuilder, over_time, process_name};
use crate::report::add_to_only_thread;
use crate::source::Head;
use crate::wire::text::{decimal, excerpt, lines};
use sto_model::units::{Cost, Nanoseconds, Unit};
use sto_model::{FrameKind, MetricSeries};

pub(crate) fn matches(head: &Head<'_>) -> bool {
    let mut begin = lines(head.bytes).map(|(_, line)| line);
    let mut starts = |with: &[u8]| begin.next().is_some_and(|line| line.starts_with(with));
    starts(b"desc:") && starts(b"cmd:") && starts(b"time_unit:")
}

pub(crate) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let mut builder = RecordingBuilder::with_file_size(bytes.len());
    let mut tree = None;
    let mut is_peak = false;
    let mut sizes = Sizes::default();
    for (number, line) in lines(bytes) {
        match line {
            b"heap_tree=peak" => {
                tree = Some(number);
                is_peak = true;
            }
            b"heap_tree=detailed" if !is_peak => tree = Some(number),
            _ => sizes.line(line),
        }
        if let Some(command) = line.strip_prefix(b"cmd: ") {
            let program = command
                .split(|&byte| byte == b' ')
                .next()
                .unwrap_or_default();
            let program = process_name(crate::wire::text::base_name(program));
            let process = builder.process(0, &program);
            builder.new_thread(process, 0, "");
            builder.origin().command = Some(builder.text(command).into_owned());
        }
    }
    let metrics = sizes.metrics();
    metrics.for_each(|metric| builder.add_metric(metric));
    let tree = tree.ok_or_else(|| {
        DecodeError::unsupported(
            "a profile of massif without a tree of calls; run the program for longer, or with \
             --detailed-freq=1"
                .to_owned(),
        )
    })?;
    let mut path = Path::default();
    for (number, line) in lines(bytes).skip(tree) {
        if line.starts_with(b"#") {
            break;
        }
        let read = path.node(line, &mut builder);
        read.map_err(DecodeError::at(At::Line(number)))?;
    }
    let ended = path.leave(0, &mut builder);
    ended.map_err(DecodeError::at(At::Line(tree)))?;
    builder.sample_type("peak", Unit::Bytes);
    Ok(builder)
}

/// The sizes of snapshots over time, if snapshots have times; by default massif counts
/// instructions.
#[derive(Default)]
struct Sizes {
    is_timed: bool,
    time: Option<Nanoseconds>,
    /// Points by the key in a snapshot and the name of the metric.
    series: [Vec<(Nanoseconds, f64)>; SIZES.len()],
}

const SIZES: [(&str, &str); 3] = [
    ("mem_heap_B", "heap"),
    ("mem_heap_extra_B", "heap overhead"),
    ("mem_stacks_B", "stacks"),
];

impl Sizes {
    /// Reads a line of a snapshot.
    fn line(&mut self, line: &[u8]) {
        self.is_timed |= line == b"time_unit: ms";
        let Some(equals) = memchr::memchr(b'=', line).filter(|_| self.is_timed) else {
            return;
        };
        let (key, value) = (&line[..equals], decimal(&line[equals + 1..]));
        if key == b"time" {
            let ns = value.and_then(|ms| ms.checked_mul(1_000_000));
            self.time = ns.map(Nanoseconds);
        }
        let of = SIZES.iter().position(|(name, _)| name.as_bytes() == key);
        if let (Some(of), Some(time), Some(value)) = (of, self.time, value) {
            self.series[of].push((time, value as f64));
        }
    }

    /// The measured metrics; massif only measures stacks on request.
    fn metrics(self) -> impl Iterator<Item = MetricSeries> {
        let series = SIZES.into_iter().zip(self.series);
        let measured = series.filter(|(_, points)| points.iter().any(|&(_, value)| value > 0.0));
        measured.filter_map(|((_, name), points)| over_time::level_metric(name, points))
    }
}

/// A path in the tree from an allocation, its root, up to a caller.
#[derive(Default)]
struct Path<'b> {
    /// Nodes with the bytes that no child has.
    nodes: Vec<(Option<Place<'b>>, u64)>,
}

impl<'b> Path<'b> {
    /// `  n1: 200000 0x1096BE: keep(int) (work.cc:20)`: a node, indented by its depth, with its
    /// number of callers.
    fn node(&mut self, line: &'b [u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let unexpected = || format!("expected `n1: BYTES FRAME`, found {}", excerpt(line));
        let text = line.trim_ascii_start();
        let depth = line.len() - text.len();
        let mut parts = text.splitn(3, |&byte| byte == b' ');
        let has_callers = parts
            .next()
            .filter(|part| part.starts_with(b"n"))
            .ok_or_else(unexpected)?;
        let bytes = parts.next().and_then(decimal).ok_or_else(unexpected)?;
        let frame = parts.next().unwrap_or_default();
        if depth > self.nodes.len() || !has_callers.ends_with(b":") {
            return Err(unexpected());
        }
        self.leave(depth, builder)?;
        if let Some((_, left)) = self.nodes.last_mut() {
            *left = left.checked_sub(bytes).ok_or_else(|| {
                format!(
                    "callers with more bytes than their callee, at {}",
                    excerpt(line)
                )
            })?;
        }
        // Other nodes group allocation functions (the root) or callers below the threshold.
        let is_place = frame.starts_with(b"0x");
        self.nodes
            .push((is_place.then(|| Place::parse(frame)), bytes));
        Ok(())
    }

    fn leave(&mut self, depth: usize, builder: &mut RecordingBuilder) -> Built<()> {
        while self.nodes.len() > depth {
            let left = self.nodes.last().map_or(0, |&(_, left)| left);
            if left > 0 {
                let leaf_first: Vec<Place<'_>> =
                    self.nodes.iter().filter_map(|&(place, _)| place).collect();
                let is_below = matches!(self.nodes.last(), Some((None, _)));
                let below = is_below.then(|| {
                    builder.function(FrameKind::Unresolved, "[below massif's threshold]", "")
                });
                let stack = stack(&leaf_first, below.transpose()?, builder)?;
                let cost = Cost {
                    samples: 1,
                    value: left,
                };
                add_to_only_thread(builder, 0, stack, cost)?;
            }
            self.nodes.pop();
        }
        Ok(())
    }
}
