//! The runs of nodes that some costs need, unpacked side by side.

use crate::memory;
use crate::store::codec::{NO_PARENT, NodeColumns};
use crate::store::error::Fault;
use crate::store::read::counts::NodeCosts;
use crate::store::read::packs::NodePack;
use crate::store::read::rows::Rows;
use crate::units::Bytes;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The runs that have nodes with costs, and all that these runs stand below. Their nodes have
/// *places* from 0 on, in the order of their numbers.
pub(in crate::store) struct Chosen<'a> {
    packs: &'a [NodePack],
    /// By pack and run the place of its first node, or [`NOT_CHOSEN`].
    places: Vec<Vec<u32>>,
    len: usize,
}

const NOT_CHOSEN: u32 = u32::MAX;

/// Marks that several threads set; in what order does not matter.
pub(in crate::store) struct Marks(Vec<AtomicBool>);

impl Marks {
    pub(in crate::store) fn none(len: usize) -> Self {
        Marks((0..len).map(|_| AtomicBool::new(false)).collect())
    }

    pub(in crate::store) fn set(&self, place: usize) {
        // What is written anew is taken out of the other threads' caches.
        if !self.0[place].load(Ordering::Relaxed) {
            self.0[place].store(true, Ordering::Relaxed);
        }
    }

    pub(in crate::store) fn into_vec(self) -> Vec<bool> {
        self.0.into_iter().map(AtomicBool::into_inner).collect()
    }
}

impl<'a> Chosen<'a> {
    /// The runs that these costs need.
    pub(in crate::store) fn of(packs: &'a [NodePack], costs: &[&NodeCosts]) -> Self {
        let marks: Vec<Marks> = packs.iter().map(|p| Marks::none(p.runs.len())).collect();
        costs.par_iter().for_each(|costs| {
            let mut walk = Walk::new(packs);
            for &(node, _) in *costs {
                let (pack, run) = walk.run_of(node);
                marks[pack].set(run);
            }
        });
        let chosen = |is_chosen| if is_chosen { 0 } else { NOT_CHOSEN };
        let places = marks.into_iter().map(Marks::into_vec);
        let mut places: Vec<Vec<u32>> = places
            .map(|marks| marks.into_iter().map(chosen).collect())
            .collect();
        for pack in (0..packs.len()).rev() {
            let runs = &packs[pack].runs;
            for run in (0..runs.len()).rev() {
                if places[pack][run] != NOT_CHOSEN && runs.anchor(run) != NO_PARENT {
                    let (pack, run) = run_of(packs, runs.anchor(run));
                    places[pack][run] = 0;
                }
            }
        }
        let mut len = 0;
        for (pack, places) in packs.iter().zip(&mut places) {
            for (run, place) in places.iter_mut().enumerate() {
                if *place != NOT_CHOSEN {
                    *place = len as u32;
                    len += pack.runs.range(run).len();
                }
            }
        }
        Chosen { packs, places, len }
    }

    /// Unpacks them: parents are places.
    pub(in crate::store) fn unpack(&self, rows: &Rows) -> Result<NodeColumns, Fault> {
        let packs = self.packs.iter().zip(&self.places);
        let needed: Vec<_> = packs
            .filter(|(_, places)| places.iter().any(|&place| place != NOT_CHOSEN))
            .collect();
        // Each node's parent and frame here and in the tree, and its place there.
        memory::check(Bytes(self.len as u64 * 5 * size_of::<u32>() as u64))?;
        // Memory is only reserved once it is known that there are so many.
        let steps = needed.par_iter().map(|(pack, _)| pack.steps(rows));
        steps.collect::<Result<Vec<_>, Fault>>()?;
        let mut nodes = NodeColumns::zeroed(self.len);
        let mut parents = nodes.parents.as_mut_slice();
        let mut frames = nodes.frames.as_mut_slice();
        let parts = needed.into_iter().map(|(pack, places)| {
            let chosen = places.iter().enumerate();
            let chosen = chosen.filter(|&(_, &place)| place != NOT_CHOSEN);
            let len = chosen.map(|(run, _)| pack.runs.range(run).len()).sum();
            (
                pack,
                places,
                parents.split_off_mut(..len).unwrap_or_default(),
                frames.split_off_mut(..len).unwrap_or_default(),
            )
        });
        let parts: Vec<_> = parts.collect();
        parts
            .into_par_iter()
            .try_for_each(|(pack, places, parents, frames)| {
                self.unpack_pack(rows, pack, places, (parents, frames))
            })?;
        Ok(nodes)
    }

    fn unpack_pack(
        &self,
        rows: &Rows,
        pack: &NodePack,
        places: &[u32],
        (mut parents, mut frames): (&mut [u32], &mut [u32]),
    ) -> Result<(), Fault> {
        let mut unpacker = pack.unpacker(rows)?;
        for (run, &place) in places.iter().enumerate() {
            if place == NOT_CHOSEN {
                continue;
            }
            let anchor = match pack.runs.anchor(run) {
                NO_PARENT => NO_PARENT,
                anchor => self.place(run_of(self.packs, anchor), anchor),
            };
            let len = pack.runs.range(run).len();
            unpacker
                .unpack(
                    run,
                    (place, anchor),
                    parents.split_off_mut(..len).unwrap_or_default(),
                    frames.split_off_mut(..len).unwrap_or_default(),
                )
                .map_err(|flaw| pack.flawed(flaw))?;
        }
        Ok(())
    }

    /// The places of nodes with costs.
    pub(in crate::store) fn places_of(&self, costs: &NodeCosts) -> impl Iterator<Item = u32> {
        let mut walk = Walk::new(self.packs);
        costs
            .iter()
            .map(move |&(node, _)| self.place(walk.run_of(node), node))
    }

    fn place(&self, (pack, run): (usize, usize), node: u32) -> u32 {
        self.places[pack][run] + (node - self.packs[pack].runs.range(run).start)
    }
}

/// The pack and run of a node.
fn run_of(packs: &[NodePack], node: u32) -> (usize, usize) {
    let pack = packs.partition_point(|pack| pack.runs.first() <= node) - 1;
    (pack, packs[pack].runs.run_of(node))
}

/// The packs and runs of nodes that come in the order of their numbers.
struct Walk<'a> {
    packs: &'a [NodePack],
    pack: usize,
    run: usize,
}

impl<'a> Walk<'a> {
    fn new(packs: &'a [NodePack]) -> Self {
        Walk {
            packs,
            pack: 0,
            run: 0,
        }
    }

    fn run_of(&mut self, node: u32) -> (usize, usize) {
        while self.packs[self.pack].runs.end() <= node {
            self.pack += 1;
            self.run = 0;
        }
        let runs = &self.packs[self.pack].runs;
        // Between the runs of two nodes lie few others or many: leaps double until they go too far.
        let mut leap = 1;
        while leap > 0 {
            let next = self.run + leap;
            if next < runs.len() && runs.range(next).start <= node {
                self.run = next;
                leap *= 2;
            } else {
                leap /= 2;
            }
        }
        (self.pack, self.run)
    }
}
