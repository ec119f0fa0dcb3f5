//! Packs every call of a trace, for the option `keep_calls`.

use crate::intern::StackNodes;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::io;
use std::path::Path;
use sto_formats::recording::LoggedCalls;
use sto_model::id::FrameId;
use sto_model::trace::dag::{MAX_PIECE_CALLS, Pieces};
use sto_model::trace::log::Call;
use sto_model::trace::paths::{CallPathIx, TraceFunctionIx};
use sto_model::trace::{CallThread, PackedCalls};
use sto_model::tree::{NodeIx, ProfileData};
use sto_store::{KeptHead, PieceInfo, pack_kept_head, pack_piece};

/// Packs the calls of the threads for which `keep` returns `true`.
///
/// `nodes` are the nodes of the recording's stacks in the profile `interned`. `folder` is for a temporary file.
pub(super) fn pack_calls(
    logged: &LoggedCalls,
    interned: &ProfileData,
    nodes: &StackNodes,
    keep: impl Fn(&CallThread) -> bool,
    folder: Option<&Path>,
) -> io::Result<PackedCalls> {
    let Functions {
        numbers,
        stacks,
        addresses,
    } = Functions::new(logged, interned, nodes);
    let mut head = KeptHead {
        functions: stacks,
        pieces: Vec::new(),
    };
    // The head comes first in the result, but is only complete after all pieces.
    let mut pieces = PackedCalls::new(folder);
    let threads = logged.log.threads();
    let threads = threads.filter(|&no| keep(logged.log.thread(no)));
    for (thread, no) in (0..).zip(threads) {
        let mut calls = logged.log.calls(no);
        let numbered = calls.by_ref().map(|call| Call {
            function: numbers[call.function.get()],
            ..call
        });
        let mut cut = Pieces::new(numbered, MAX_PIECE_CALLS, &addresses);
        loop {
            let batch: Vec<_> = cut
                .by_ref()
                .take(2 * rayon::current_num_threads())
                .collect();
            if batch.is_empty() {
                break;
            }
            head.pieces.extend(batch.iter().map(|piece| PieceInfo {
                thread,
                begin: piece.begin,
                calls: piece.gaps.len() as u32,
            }));
            let packs: Vec<_> = batch.par_iter().map(pack_piece).collect();
            for pack in packs {
                pieces.push(&pack.map_err(io::Error::other)?)?;
            }
        }
        calls.check()?;
    }
    pieces.push_front(&pack_kept_head(&head).map_err(io::Error::other)?)?;
    Ok(pieces)
}

/// The distinct functions of a trace, by their frames in the profile.
#[derive(Default)]
struct Functions {
    /// For each function number of the trace, the index of the function in `stacks` and `addresses`.
    numbers: Vec<TraceFunctionIx>,
    /// For each function a stack with the function as its leaf, and its number of frames there.
    stacks: Vec<(NodeIx, u32)>,
    /// For each function a hash of its frames.
    addresses: Vec<[u8; 16]>,
}

const NONE: TraceFunctionIx = TraceFunctionIx(u32::MAX);

impl Functions {
    fn new(logged: &LoggedCalls, interned: &ProfileData, nodes: &StackNodes) -> Functions {
        let tree = &interned.tree;
        let mut functions = Functions::default();
        // Several functions of a trace may have the same frames.
        let mut numbers: HashMap<[u8; 16], TraceFunctionIx> = HashMap::new();
        let node = |path: CallPathIx| nodes.node(logged.stacks[path.get()]);
        for path in logged.paths.iter() {
            let function = logged.paths.function(path).get();
            if functions.numbers.len() <= function {
                functions.numbers.resize(function + 1, NONE);
            }
            let leaf = node(path);
            if functions.numbers[function] != NONE || leaf.get() >= tree.len() {
                continue;
            }
            let caller = logged.paths.caller(path).map(node);
            let frames = tree.ancestors(leaf);
            let frames = frames.take_while(|&node| Some(node) != caller);
            let frames: Vec<_> = frames.map(|node| tree.frame(node)).collect();
            let mut hasher = blake3::Hasher::new();
            for &frame in frames.iter().rev() {
                hasher.update(&FrameId::from_frame(interned.frames.frame(frame)).0);
            }
            let mut address = [0; 16];
            address.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
            let new = TraceFunctionIx(functions.stacks.len() as u32);
            let number = *numbers.entry(address).or_insert(new);
            functions.numbers[function] = number;
            if number == new {
                functions.stacks.push((leaf, frames.len() as u32));
                functions.addresses.push(address);
            }
        }
        functions
    }
}
