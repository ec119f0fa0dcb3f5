//! Measures plain columns for a store's nodes and costs, against the store as it is.
//!
//!     cargo run --release -p sto-benches --bin store_codec -- --store STORE
//!     cargo run --release -p sto-benches --bin store_codec -- --profiles 1000 --builds 100 --large 1000000
//!
//! Profiles go one by one into a graph of numbered nodes, as they do in a store: what is new of one stands
//! in preorder behind all others, and small packs at the end are made one. Prints CSV, a line a way to
//! encode: its name, zstd's level, bytes of nodes and of costs, bytes a node, and what a million nodes take
//! to decode on one core in milliseconds of processor time (fastest and middle of nine).

use clap::Parser;
use hashbrown::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;
use sto_benches::generate::Program;
use sto_core::id::{ExecutableId, FrameId};
use sto_core::intern::{SelfCosts, StackTree};
use sto_core::model::FrameTable;
use sto_core::store::Store;
use sto_core::units::Cost;

/// Measure plain columns for a store's nodes and costs
#[derive(Parser)]
struct Args {
    /// A store whose profiles are taken, in the order of their recording
    #[arg(long)]
    store: Option<PathBuf>,
    /// Number of generated profiles
    #[arg(long, default_value_t = 0)]
    profiles: u32,
    /// Number of their builds
    #[arg(long, default_value_t = 1)]
    builds: u32,
    /// Nodes of a generated profile, about
    #[arg(long, default_value_t = 100_000)]
    nodes: u32,
    /// At last a build with one run of this many nodes
    #[arg(long)]
    large: Option<u32>,
    /// Levels of zstd
    #[arg(long, value_delimiter = ',', default_values_t = [3, 6, 9, 12])]
    levels: Vec<i32>,
    /// Only these ways
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// First columns of a pack's kind that serve as a dictionary for later packs, in KiB
    #[arg(long)]
    dictionary: Option<usize>,
}

const NONE: u32 = u32::MAX;
/// As in the store.
const MOST_NODES: u32 = 1 << 18;

#[derive(Default)]
struct Graph {
    parents: Vec<u32>,
    frames: Vec<u32>,
    found: HashMap<(u32, u32), u32>,
    frame_numbers: HashMap<FrameId, u32>,
    /// First node and length of each pack.
    packs: Vec<(u32, u32)>,
    /// Costs by profile and sample type.
    costs: Vec<Vec<(u32, Cost)>>,
}

impl Graph {
    fn add(&mut self, frames: &FrameTable, tree: &StackTree, costs: &[SelfCosts]) {
        let frames: Vec<u32> = frames
            .iter()
            .map(|(_, frame)| {
                let next = self.frame_numbers.len() as u32;
                *self.frame_numbers.entry(FrameId::of(frame)).or_insert(next)
            })
            .collect();
        let before = self.parents.len() as u32;
        let mut numbers: Vec<u32> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let parent = tree.parent(node).map_or(NONE, |p| numbers[p.get()]);
            let frame = frames[tree.frame(node).get()];
            let next = self.parents.len() as u32;
            let number = *self.found.entry((parent, frame)).or_insert(next);
            if number == next {
                self.parents.push(parent);
                self.frames.push(frame);
            }
            numbers.push(number);
        }
        for costs in costs {
            let mut costs: Vec<(u32, Cost)> = costs
                .iter()
                .map(|&(node, cost)| (numbers[node.get()], cost))
                .collect();
            costs.sort_unstable_by_key(|&(node, _)| node);
            self.costs.push(costs);
        }
        let new = self.parents.len() as u32 - before;
        let mut first = before;
        let mut len = new;
        while let Some(&(start, pack)) = self.packs.last()
            && new > 0
            && pack <= len
            && pack < MOST_NODES
        {
            first = start;
            len += pack;
            self.packs.pop();
        }
        while len > 0 {
            let part = len.min(MOST_NODES);
            self.packs.push((first, part));
            first += part;
            len -= part;
        }
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

struct In<'a>(&'a [u8]);

impl In<'_> {
    #[inline]
    fn byte(&mut self) -> u8 {
        let (&byte, rest) = self.0.split_first().expect("more");
        self.0 = rest;
        byte
    }
    #[inline]
    fn number(&mut self) -> u32 {
        let byte = self.byte();
        if byte < 0x80 {
            return byte.into();
        }
        let mut value = u32::from(byte & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte();
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
}

fn zigzag(value: u32, previous: u32) -> u32 {
    let difference = value.wrapping_sub(previous) as i32;
    ((difference << 1) ^ (difference >> 31)) as u32
}

fn unzigzag(previous: u32, difference: u32) -> u32 {
    previous.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg())
}

type Columns = Vec<Vec<u8>>;

type Decode = fn(u32, &[Vec<u8>], &mut [u32], &mut [u32]);

/// A way to encode the nodes of a pack.
struct Way {
    name: &'static str,
    encode: fn(u32, &[u32], &[u32]) -> Columns,
    decode: Option<Decode>,
}

/// Parent as distance, frame as number.
fn plain(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = vec![Vec::new(); 2];
    for (node, (&parent, &frame)) in (first..).zip(parents.iter().zip(frames)) {
        let distance = if parent == NONE { 0 } else { node - parent };
        varint(&mut columns[0], distance.into());
        varint(&mut columns[1], frame.into());
    }
    columns
}

fn plain_decode(first: u32, columns: &[Vec<u8>], parents: &mut [u32], frames: &mut [u32]) {
    let (mut distances, mut numbers) = (In(&columns[0]), In(&columns[1]));
    for (node, (parent, frame)) in (first..).zip(parents.iter_mut().zip(frames)) {
        let distance = distances.number();
        *parent = if distance == 0 { NONE } else { node - distance };
        *frame = numbers.number();
    }
}

/// What a node is packed by.
struct Step {
    /// Levels up from the node before, plus 1; 0 begins a segment.
    up: u32,
    parent: u32,
    caller: u32,
    /// Frame of the sibling before within the segment, or NONE.
    sibling: u32,
    frame: u32,
}

fn steps(first: u32, parents: &[u32], frames: &[u32], mut see: impl FnMut(Step)) {
    // Node, its frame, frame of its last child.
    let mut path: Vec<(u32, u32, u32)> = Vec::new();
    for (node, (&parent, &frame)) in (first..).zip(parents.iter().zip(frames)) {
        let depth = path.len();
        while path.last().is_some_and(|&(open, ..)| open != parent) {
            path.pop();
        }
        let up = (depth - path.len()) as u32 + 1;
        let (up, caller, sibling) = match path.last_mut() {
            None => (0, NONE, NONE),
            Some((_, caller, sibling)) => {
                let before = std::mem::replace(sibling, frame);
                (up, *caller, before)
            }
        };
        see(Step {
            up,
            parent,
            caller,
            sibling,
            frame,
        });
        path.push((node, frame, NONE));
    }
}

/// Decodes nodes: where they go up to, and what frame is there.
#[inline]
fn unsteps(
    first: u32,
    parents: &mut [u32],
    frames: &mut [u32],
    mut up: impl FnMut() -> u32,
    mut attach: impl FnMut() -> u32,
    mut frame_of: impl FnMut(u32, u32, u32) -> u32,
) {
    let mut path: Vec<(u32, u32, u32)> = Vec::new();
    for (node, (parent, frame)) in (first..).zip(parents.iter_mut().zip(frames)) {
        match up() {
            0 => {
                path.clear();
                *parent = attach();
                *frame = frame_of(NONE, NONE, node);
            }
            up => {
                let len = path.len() + 1 - up as usize;
                path.truncate(len);
                let open = path.last_mut().expect("open");
                *parent = open.0;
                *frame = frame_of(open.1, open.2, node);
                open.2 = *frame;
            }
        }
        path.push((node, *frame, NONE));
    }
}

/// Levels up, attach points as differences, frames by number.
fn ups(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = vec![Vec::new(); 3];
    let mut last = 0;
    steps(first, parents, frames, |step| {
        varint(&mut columns[0], step.up.into());
        if step.up == 0 {
            let attach = step.parent.wrapping_add(1);
            varint(&mut columns[1], zigzag(attach, last).into());
            last = attach;
        }
        varint(&mut columns[2], step.frame.into());
    });
    columns
}

fn ups_decode(first: u32, columns: &[Vec<u8>], parents: &mut [u32], frames: &mut [u32]) {
    let [mut up, mut attach, mut number] = [0, 1, 2].map(|i| In(&columns[i]));
    let mut last = 0;
    unsteps(
        first,
        parents,
        frames,
        || up.number(),
        || {
            last = unzigzag(last, attach.number());
            last.wrapping_sub(1)
        },
        |_, _, _| number.number(),
    );
}

/// The same, frames as the difference to the caller's.
fn ups_delta(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = vec![Vec::new(); 3];
    let (mut last, mut before) = (0, 0);
    steps(first, parents, frames, |step| {
        varint(&mut columns[0], step.up.into());
        if step.up == 0 {
            let attach = step.parent.wrapping_add(1);
            varint(&mut columns[1], zigzag(attach, last).into());
            last = attach;
        }
        let from = if step.caller == NONE {
            before
        } else {
            step.caller
        };
        varint(&mut columns[2], zigzag(step.frame, from).into());
        before = step.frame;
    });
    columns
}

/// The same, frames by byte.
fn ups_bytes(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = ups(first, parents, frames);
    columns.truncate(2);
    for plane in 0..3 {
        columns.push(
            frames
                .iter()
                .map(|frame| (frame >> (8 * plane)) as u8)
                .collect(),
        );
    }
    columns
}

/// The same, frames in as many bytes each as the largest takes.
fn ups_fixed(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = ups(first, parents, frames);
    columns.truncate(2);
    let largest = frames.iter().copied().max().unwrap_or(0) | 1;
    let width = largest.ilog2() as usize / 8 + 1;
    columns.push(
        frames
            .iter()
            .flat_map(|f| f.to_le_bytes()[..width].to_vec())
            .collect(),
    );
    columns
}

/// Levels up and frame beside each other.
fn records(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = vec![Vec::new(); 2];
    let mut last = 0;
    steps(first, parents, frames, |step| {
        columns[0].push(step.up.min(255) as u8);
        if step.up == 0 {
            let attach = step.parent.wrapping_add(1);
            varint(&mut columns[1], zigzag(attach, last).into());
            last = attach;
        }
        columns[0].extend_from_slice(&step.frame.to_le_bytes()[..3]);
    });
    columns
}

const TABLE_BITS: u32 = 16;

fn slot(a: u32, b: u32) -> usize {
    let pair = u64::from(a) << 32 | u64::from(b);
    (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TABLE_BITS)) as usize
}

/// Recently seen frames by context.
struct Recent<const N: usize>(Vec<[u32; N]>);

impl<const N: usize> Recent<N> {
    fn new() -> Self {
        Recent(vec![[NONE; N]; 1 << TABLE_BITS])
    }
    /// The place of a frame among those that came up last; it moves to the front.
    #[inline]
    fn place(&mut self, slot: usize, frame: u32) -> usize {
        let row = &mut self.0[slot];
        let place = row.iter().position(|&known| known == frame);
        let end = place.unwrap_or(N - 1);
        row.copy_within(..end, 1);
        row[0] = frame;
        place.unwrap_or(N)
    }
    #[inline]
    fn take(&mut self, slot: usize, place: usize) -> u32 {
        let row = &mut self.0[slot];
        let frame = row[place];
        row.copy_within(..place, 1);
        row[0] = frame;
        frame
    }
    #[inline]
    fn push(&mut self, slot: usize, frame: u32) {
        let row = &mut self.0[slot];
        row.copy_within(..N - 1, 1);
        row[0] = frame;
    }
}

/// Frames as their place among the last ones after the same sibling below the same caller; others by number.
fn recent<const N: usize>(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = vec![Vec::new(); 4];
    let mut last = 0;
    let mut table = Recent::<N>::new();
    steps(first, parents, frames, |step| {
        varint(&mut columns[0], step.up.into());
        if step.up == 0 {
            let attach = step.parent.wrapping_add(1);
            varint(&mut columns[1], zigzag(attach, last).into());
            last = attach;
        }
        let place = table.place(slot(step.caller, step.sibling), step.frame);
        columns[2].push(place as u8);
        if place == N {
            varint(&mut columns[3], step.frame.into());
        }
    });
    columns
}

fn recent_decode<const N: usize>(
    first: u32,
    columns: &[Vec<u8>],
    parents: &mut [u32],
    frames: &mut [u32],
) {
    let [mut up, mut attach, mut places, mut number] = [0, 1, 2, 3].map(|i| In(&columns[i]));
    let mut last = 0;
    let mut table = Recent::<N>::new();
    unsteps(
        first,
        parents,
        frames,
        || up.number(),
        || {
            last = unzigzag(last, attach.number());
            last.wrapping_sub(1)
        },
        |caller, sibling, _| {
            let slot = slot(caller, sibling);
            let place = places.byte() as usize;
            if place < N {
                table.take(slot, place)
            } else {
                let frame = number.number();
                table.push(slot, frame);
                frame
            }
        },
    );
}

/// The same in one byte with the levels up.
fn recent_byte<const N: usize>(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut columns = vec![Vec::new(); 4];
    let mut last = 0;
    let mut table = Recent::<N>::new();
    let most = 255 / (N as u32 + 1) - 1;
    steps(first, parents, frames, |step| {
        if step.up == 0 {
            let attach = step.parent.wrapping_add(1);
            varint(&mut columns[1], zigzag(attach, last).into());
            last = attach;
        }
        let place = table.place(slot(step.caller, step.sibling), step.frame);
        columns[0].push((step.up.min(most) * (N as u32 + 1)) as u8 + place as u8);
        if step.up >= most {
            varint(&mut columns[3], (step.up - most).into());
        }
        if place == N {
            varint(&mut columns[2], step.frame.into());
        }
    });
    columns
}

fn recent_byte_decode<const N: usize>(
    first: u32,
    columns: &[Vec<u8>],
    parents: &mut [u32],
    frames: &mut [u32],
) {
    let [mut steps, mut attach, mut number, mut more] = [0, 1, 2, 3].map(|i| In(&columns[i]));
    let mut last = 0;
    let mut table = Recent::<N>::new();
    let most = 255 / (N as u32 + 1) - 1;
    let place = std::cell::Cell::new(0usize);
    unsteps(
        first,
        parents,
        frames,
        || {
            let step = u32::from(steps.byte());
            let (up, at) = (step / (N as u32 + 1), step % (N as u32 + 1));
            place.set(at as usize);
            if up == most { up + more.number() } else { up }
        },
        || {
            last = unzigzag(last, attach.number());
            last.wrapping_sub(1)
        },
        |caller, sibling, _| {
            let slot = slot(caller, sibling);
            if place.get() < N {
                table.take(slot, place.get())
            } else {
                let frame = number.number();
                table.push(slot, frame);
                frame
            }
        },
    );
}

/// Frames as their rank among all that their caller calls in the pack, counted on from the sibling before;
/// callees of each caller apart: today's idea without its ways around the bytes of others.
fn ranks(first: u32, parents: &[u32], frames: &[u32]) -> Columns {
    let mut calls: Vec<(u32, u32)> = Vec::new();
    steps(first, parents, frames, |step| {
        if step.up > 0 {
            calls.push((step.caller, step.frame));
        }
    });
    calls.sort_unstable();
    calls.dedup();
    let mut columns = vec![Vec::new(); 6];
    let mut starts: HashMap<u32, (usize, usize)> = HashMap::new();
    let (mut caller, mut at) = (0, 0);
    for of in calls.chunk_by(|a, b| a.0 == b.0) {
        varint(&mut columns[2], (of[0].0 - caller).into());
        caller = of[0].0;
        varint(&mut columns[3], of.len() as u64 - 1);
        let mut frame = caller;
        for &(_, callee) in of {
            varint(&mut columns[4], zigzag(callee, frame).into());
            frame = callee;
        }
        starts.insert(caller, (at, of.len()));
        at += of.len();
    }
    let mut last = 0;
    steps(first, parents, frames, |step| {
        varint(&mut columns[0], step.up.into());
        if step.up == 0 {
            let attach = step.parent.wrapping_add(1);
            varint(&mut columns[1], zigzag(attach, last).into());
            last = attach;
            varint(&mut columns[1], step.frame.into());
            return;
        }
        let (start, fan) = starts[&step.caller];
        let callees = &calls[start..start + fan];
        let rank = |frame| callees.partition_point(|&(_, callee)| callee < frame);
        let next = if step.sibling == NONE {
            0
        } else {
            rank(step.sibling) + 1
        };
        varint(
            &mut columns[5],
            ((rank(step.frame) + fan - next) % fan) as u64,
        );
    });
    columns
}

fn ranks_decode(first: u32, columns: &[Vec<u8>], parents: &mut [u32], frames: &mut [u32]) {
    let [
        mut up,
        attach,
        mut callers,
        mut fans,
        mut callees,
        mut ranks,
    ] = [0, 1, 2, 3, 4, 5].map(|i| In(&columns[i]));
    let attach = std::cell::RefCell::new(attach);
    let mut starts: Vec<(u32, u32)> = Vec::new();
    let mut all: Vec<u32> = Vec::new();
    let mut caller = 0;
    while !callers.0.is_empty() {
        caller += callers.number();
        let fan = fans.number() + 1;
        let mut frame = caller;
        starts.resize(starts.len().max(caller as usize + 1), (0, 0));
        starts[caller as usize] = (all.len() as u32, fan);
        for _ in 0..fan {
            frame = unzigzag(frame, callees.number());
            all.push(frame);
        }
    }
    let mut last = 0;
    // The third of the path is the next rank.
    let mut path: Vec<(u32, u32, u32, u32)> = Vec::new();
    for (node, (parent, frame)) in (first..).zip(parents.iter_mut().zip(frames)) {
        match up.number() {
            0 => {
                path.clear();
                last = unzigzag(last, attach.borrow_mut().number());
                *parent = last.wrapping_sub(1);
                *frame = attach.borrow_mut().number();
            }
            up => {
                let len = path.len() + 1 - up as usize;
                path.truncate(len);
                let open = path.last_mut().expect("open");
                *parent = open.0;
                let mut rank = open.3 + ranks.number();
                if rank >= open.2 {
                    rank -= open.2;
                }
                *frame = all[(open.1 + rank) as usize];
                open.3 = rank + 1;
            }
        }
        let (start, fan) = starts.get(*frame as usize).copied().unwrap_or_default();
        path.push((node, start, fan, 0));
    }
}

const WAYS: &[Way] = &[
    Way {
        name: "distance+frame",
        encode: plain,
        decode: Some(plain_decode),
    },
    Way {
        name: "up+frame",
        encode: ups,
        decode: Some(ups_decode),
    },
    Way {
        name: "up+difference",
        encode: ups_delta,
        decode: None,
    },
    Way {
        name: "up+byte split",
        encode: ups_bytes,
        decode: None,
    },
    Way {
        name: "up+fixed",
        encode: ups_fixed,
        decode: None,
    },
    Way {
        name: "records",
        encode: records,
        decode: None,
    },
    Way {
        name: "up+recent1",
        encode: recent::<1>,
        decode: Some(recent_decode::<1>),
    },
    Way {
        name: "up+recent4",
        encode: recent::<4>,
        decode: Some(recent_decode::<4>),
    },
    Way {
        name: "recent3 byte",
        encode: recent_byte::<3>,
        decode: Some(recent_byte_decode::<3>),
    },
    Way {
        name: "recent7 byte",
        encode: recent_byte::<7>,
        decode: Some(recent_byte_decode::<7>),
    },
    Way {
        name: "ranks",
        encode: ranks,
        decode: Some(ranks_decode),
    },
];

fn period(costs: &[(u32, Cost)]) -> Option<u64> {
    let one = costs.iter().find(|(_, cost)| cost.samples > 0)?.1;
    let period = one.value / one.samples;
    costs
        .iter()
        .all(|(_, cost)| cost.samples * period == cost.value)
        .then_some(period)
}

/// Gaps, samples, values where no period gives them.
fn cost_columns(costs: &[(u32, Cost)]) -> Columns {
    let mut columns = vec![Vec::new(); 3];
    let period = period(costs);
    let mut next = 0;
    for &(node, cost) in costs {
        varint(&mut columns[0], (node - next).into());
        varint(&mut columns[1], cost.samples);
        if period.is_none() {
            varint(&mut columns[2], cost.value);
        }
        next = node + 1;
    }
    columns
}

/// Gap and samples in one byte where both are short.
fn cost_bytes(costs: &[(u32, Cost)]) -> Columns {
    let mut columns = vec![Vec::new(); 4];
    let period = period(costs);
    let mut next = 0;
    for &(node, cost) in costs {
        let (gap, samples) = (u64::from(node - next), cost.samples);
        columns[0].push((gap.min(15) << 4 | samples.min(15)) as u8);
        if gap >= 15 {
            varint(&mut columns[1], gap - 15);
        }
        if samples >= 15 {
            varint(&mut columns[2], samples - 15);
        }
        if period.is_none() {
            varint(&mut columns[3], cost.value);
        }
        next = node + 1;
    }
    columns
}

fn cost_bytes_decode(columns: &[Vec<u8>], costs: &mut Vec<(u32, u64)>) {
    let [mut gaps, mut samples] = [1, 2].map(|i| In(&columns[i]));
    let mut next = 0;
    for &byte in &columns[0] {
        let (mut gap, mut sample) = (u32::from(byte >> 4), u64::from(byte & 15));
        if gap == 15 {
            gap += gaps.number();
        }
        if sample == 15 {
            sample += u64::from(samples.number());
        }
        costs.push((next + gap, sample));
        next += gap + 1;
    }
}

fn compressed(columns: &[Vec<u8>], level: i32, dictionaries: &[Vec<u8>]) -> (Vec<Vec<u8>>, usize) {
    let packed: Vec<Vec<u8>> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let dictionary = dictionaries.get(at).map_or(&[][..], Vec::as_slice);
            let mut compressor = if dictionary.is_empty() {
                zstd::bulk::Compressor::new(level)
            } else {
                zstd::bulk::Compressor::with_dictionary(level, dictionary)
            }
            .expect("level");
            compressor.compress(column).expect("compresses")
        })
        .collect();
    let size = packed
        .iter()
        .zip(columns)
        .map(|(p, c)| p.len().min(c.len()) + 3)
        .sum();
    (packed, size)
}

/// Fastest and middle time in milliseconds; the fastest of short work is that of a core of its own.
fn timed(mut work: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

/// Sizes of line costs in some forms.
fn lines(store: &Store) -> Result<(), Box<dyn Error>> {
    let mut sizes = [[0usize; 3]; 4];
    let levels = [3, 9, 12];
    for build in store.builds()? {
        for profile in &build.profiles {
            for lines in store.load_lines(profile.id)?.lines {
                let costs: Vec<(u32, Cost)> = lines.iter().map(|l| (0, l.self_cost)).collect();
                let totals: Vec<(u32, Cost)> = lines.iter().map(|l| (0, l.total)).collect();
                let mut columns = vec![Vec::new(); 6];
                let mut records = Vec::new();
                let (mut frame, mut line) = (0, 0);
                for l in &lines {
                    let up = l.frame.0 - frame;
                    if up > 0 {
                        line = 0;
                    }
                    let mut put = |column: usize, value: u64| {
                        varint(&mut columns[column], value);
                        varint(&mut records, value);
                    };
                    put(0, up.into());
                    put(1, zigzag(l.line, line).into());
                    put(2, l.self_cost.samples);
                    put(3, l.total.samples - l.self_cost.samples);
                    if period(&costs).is_none() {
                        put(4, l.self_cost.value);
                    }
                    if period(&totals).is_none() {
                        put(5, l.total.value);
                    }
                    (frame, line) = (l.frame.0, l.line);
                }
                let mut folded = columns.clone();
                let mut joint = Vec::new();
                let (mut more_self, mut more_total) = (Vec::new(), Vec::new());
                for l in &lines {
                    let (own, rest) = (l.self_cost.samples, l.total.samples - l.self_cost.samples);
                    joint.push((own.min(15) << 4 | rest.min(15)) as u8);
                    if own >= 15 {
                        varint(&mut more_self, own - 15);
                    }
                    if rest >= 15 {
                        varint(&mut more_total, rest - 15);
                    }
                }
                (folded[2], folded[3]) = (joint, more_self);
                folded.push(more_total);
                for (at, &level) in levels.iter().enumerate() {
                    sizes[0][at] += compressed(&columns, level, &[]).1;
                    sizes[1][at] += compressed(&[records.clone()], level, &[]).1;
                    sizes[2][at] += compressed(&[columns.concat()], level, &[]).1;
                    sizes[3][at] += compressed(&folded, level, &[]).1;
                }
            }
        }
    }
    eprintln!("lines at {levels:?}: columns, records, one behind the other, nibbles: {sizes:?}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut graph = Graph::default();
    if let Some(path) = &args.store {
        let store = Store::open(path)?;
        let mut profiles = Vec::new();
        for build in store.builds()? {
            let executable = ExecutableId::of(&build.build.executable);
            profiles.extend(
                build
                    .profiles
                    .iter()
                    .map(|p| (p.profile.order_of_recording(), executable, p.id)),
            );
        }
        profiles.sort_by_key(|&(order, _, id)| (order, id));
        for (_, executable, id) in profiles {
            let loaded = store.load(executable, &[id])?;
            graph.add(&loaded.frames, &loaded.tree, &loaded.costs[0]);
        }
        for part in store.stats()?.parts {
            eprintln!("{} {} {}", part.part, part.count, part.bytes.0);
        }
    } else {
        let program = Program::new(100_000);
        for run in 0..args.profiles {
            let build = u64::from(run) * u64::from(args.builds) / u64::from(args.profiles);
            let run = program.run(build as u32, run, args.nodes);
            graph.add(
                &run.interned.frames,
                &run.interned.tree,
                &run.interned.costs,
            );
        }
        if let Some(nodes) = args.large {
            let run = program.run(args.builds, args.profiles, nodes);
            graph.add(
                &run.interned.frames,
                &run.interned.tree,
                &run.interned.costs,
            );
        }
    }
    if let Some(path) = &args.store {
        lines(&Store::open(path)?)?;
    }
    let nodes = graph.parents.len();
    let count: usize = graph.costs.iter().map(Vec::len).sum();
    eprintln!(
        "{nodes} nodes, {} frames, {} packs, {count} costs",
        graph.frame_numbers.len(),
        graph.packs.len()
    );
    println!("way,level,bytes,bytes a node,fastest,middle");
    for way in WAYS {
        if !args.only.is_empty() && !args.only.iter().any(|name| name == way.name) {
            continue;
        }
        let packs: Vec<(u32, Columns)> = graph
            .packs
            .iter()
            .map(|&(first, len)| {
                let range = first as usize..(first + len) as usize;
                (
                    first,
                    (way.encode)(first, &graph.parents[range.clone()], &graph.frames[range]),
                )
            })
            .collect();
        for &level in &args.levels {
            let mut parts = vec![0; packs.first().map_or(0, |(_, columns)| columns.len())];
            let mut size = 0;
            let mut all = Vec::new();
            let mut dictionary: Columns = Vec::new();
            for (first, columns) in &packs {
                let (packed, bytes) = compressed(columns, level, &dictionary);
                size += bytes;
                for (part, packed) in parts.iter_mut().zip(&packed) {
                    *part += packed.len();
                }
                if let Some(most) = args.dictionary
                    && dictionary.is_empty()
                {
                    dictionary = columns
                        .iter()
                        .map(|c| c[..c.len().min(most << 10)].to_vec())
                        .collect();
                }
                all.push((
                    *first,
                    columns.iter().map(Vec::len).collect::<Vec<_>>(),
                    packed,
                ));
            }
            let mut times = (f64::NAN, f64::NAN);
            if let (Some(decode), None) = (way.decode, args.dictionary) {
                let (mut parents, mut frames) = (vec![0; nodes], vec![0; nodes]);
                times = timed(|| {
                    for (first, lens, packed) in &all {
                        let columns: Columns = packed
                            .iter()
                            .zip(lens)
                            .map(|(packed, &len)| zstd::bulk::decompress(packed, len).expect("ok"))
                            .collect();
                        let at = *first as usize;
                        let end = graph
                            .packs
                            .iter()
                            .find(|pack| pack.0 == *first)
                            .map_or(0, |pack| pack.1) as usize
                            + at;
                        decode(
                            *first,
                            &columns,
                            &mut parents[at..end],
                            &mut frames[at..end],
                        );
                    }
                });
                assert!(
                    parents == graph.parents && frames == graph.frames,
                    "{}",
                    way.name
                );
                let scale = 1e6 / nodes as f64;
                times = (times.0 * scale, times.1 * scale);
            }
            println!(
                "{},{level},{size},{:.3},{:.1},{:.1},{parts:?}",
                way.name,
                size as f64 / nodes as f64,
                times.0,
                times.1
            );
        }
    }
    type CostWay = (&'static str, fn(&[(u32, Cost)]) -> Columns);
    let ways: [CostWay; 2] = [("costs", cost_columns), ("cost bytes", cost_bytes)];
    for (name, way) in ways {
        for &level in &args.levels {
            let mut size = 0;
            let mut all = Vec::new();
            for costs in &graph.costs {
                let columns = way(costs);
                let (packed, bytes) = compressed(&columns, level, &[]);
                size += bytes;
                all.push((columns.iter().map(Vec::len).collect::<Vec<_>>(), packed));
            }
            let mut times = (f64::NAN, f64::NAN);
            if name == "cost bytes" {
                times = timed(|| {
                    for (lens, packed) in &all {
                        let columns: Columns = packed
                            .iter()
                            .zip(lens)
                            .map(|(packed, &len)| zstd::bulk::decompress(packed, len).expect("ok"))
                            .collect();
                        let mut costs = Vec::with_capacity(columns[0].len());
                        cost_bytes_decode(&columns, &mut costs);
                        black_box(costs);
                    }
                });
                let scale = 1e6 / count as f64;
                times = (times.0 * scale, times.1 * scale);
            }
            println!(
                "{name},{level},{size},{:.3},{:.1},{:.1}",
                size as f64 / count as f64,
                times.0,
                times.1
            );
        }
    }
    Ok(())
}
