//! Callees: which frames each frame calls within a pack.

use super::Flaw;
use super::bytes::{Packer, Unpacker};
use super::planes::{Planes, add_difference, difference, pack_planes};

/// What each frame calls within the runs of a pack, while these are packed.
pub(super) struct AllCallees {
    /// In the order of the callers.
    callers: Vec<CalleesOf>,
    /// By frame, its place there.
    places: Vec<u32>,
}

/// What a frame calls.
pub(super) struct CalleesOf {
    caller: u32,
    /// In the order of their numbers.
    frames: Vec<u32>,
    /// The rank of the one that is most often the first child of a node.
    pub(super) favourite: usize,
}

impl CalleesOf {
    /// How many they are.
    pub(super) fn fan(&self) -> usize {
        self.frames.len()
    }

    /// The place of a callee.
    pub(super) fn rank(&self, callee: u32) -> usize {
        self.frames.partition_point(|&frame| frame < callee)
    }
}

impl AllCallees {
    /// The callees in these pairs of a caller and a callee, of which those in `firsts`, once for each
    /// time, are first children. Pairs may come up many times and in any order.
    pub(super) fn new(mut calls: Vec<(u32, u32)>, firsts: Vec<(u32, u32)>) -> Self {
        calls.sort_unstable();
        calls.dedup();
        let of_caller = calls.chunk_by(|a, b| a.0 == b.0).map(|calls| CalleesOf {
            caller: calls[0].0,
            frames: calls.iter().map(|&(_, callee)| callee).collect(),
            favourite: 0,
        });
        let callers: Vec<CalleesOf> = of_caller.collect();
        let last = callers.last().map_or(0, |last| last.caller as usize);
        let mut places = vec![0; last + 1];
        for (place, callees) in (0..).zip(&callers) {
            places[callees.caller as usize] = place;
        }
        let mut all = AllCallees { callers, places };
        all.choose_favourites(firsts);
        all
    }

    fn choose_favourites(&mut self, mut firsts: Vec<(u32, u32)>) {
        firsts.sort_unstable();
        for of_caller in firsts.chunk_by(|a, b| a.0 == b.0) {
            let most = of_caller.chunk_by(|a, b| a == b).rev();
            // Of some that are as many, the first.
            if let Some(most) = most.max_by_key(|same| same.len()) {
                let (caller, callee) = most[0];
                let callees = &mut self.callers[self.places[caller as usize] as usize];
                callees.favourite = callees.rank(callee);
            }
        }
    }

    /// The callees of a frame that calls others.
    pub(super) fn of(&self, caller: u32) -> &CalleesOf {
        &self.callers[self.places[caller as usize] as usize]
    }

    /// Packs them.
    pub(super) fn pack(&self, pack: &mut Packer) {
        let mut callers = Vec::with_capacity(self.callers.len());
        let mut fans = Vec::with_capacity(self.callers.len());
        let mut favourites = Vec::with_capacity(self.callers.len());
        let mut firsts = Vec::with_capacity(self.callers.len());
        let mut others = Vec::new();
        let mut next_caller = 0;
        for callees in &self.callers {
            callers.push(callees.caller - next_caller);
            next_caller = callees.caller + 1;
            fans.push(callees.fan() as u32 - 1);
            favourites.push(callees.favourite as u32);
            firsts.push(difference(callees.frames[0], callees.caller));
            let pairs = callees.frames.windows(2);
            others.extend(pairs.map(|pair| pair[1] - pair[0] - 1));
        }
        pack.number(self.callers.len() as u64);
        for numbers in [callers, fans, favourites, firsts] {
            pack_planes(&numbers, pack);
        }
        pack.number(others.len() as u64);
        pack_planes(&others, pack);
    }
}

const NO_FRAME: Flaw = Flaw("a node's frame does not exist");

/// The frames that call others, and where these stand: callers have *places* in the order of their
/// frames. A profile needs those of few of them, so callees are unpacked when they are asked for.
pub(super) struct Callers {
    frame_count: u32,
    /// By 64 frames: which of them are callers, and the place of the first.
    words: Vec<(u64, u32)>,
    /// By place, the frame.
    frames: Vec<u32>,
    /// By place, how many callees stand before its own; behind them, how many there are.
    starts: Vec<u32>,
    /// By place, the rank of the callee that is expected first.
    favourites: Planes,
    /// By place, the first callee.
    firsts: Planes,
    /// The other callees of all, side by side.
    others: Planes,
}

/// In place of a caller's place: the frame calls nothing.
pub(super) const NO_CALLER: u32 = u32::MAX;

impl Callers {
    /// Unpacks callers of frames below `frame_count`.
    pub(super) fn unpack(pack: &mut Unpacker<'_>, frame_count: u32) -> Result<Self, Flaw> {
        let count = pack.number32()? as usize;
        let mut frames = Planes::unpack(pack, count)?.numbers();
        let fans = Planes::unpack(pack, count)?.numbers();
        let favourites = Planes::unpack(pack, count)?;
        let firsts = Planes::unpack(pack, count)?;
        let other_count = pack.number32()?;
        let others = Planes::unpack(pack, other_count as usize)?;
        let mut words = vec![(0u64, 0); frame_count.div_ceil(64) as usize];
        let mut next_frame = 0u32;
        for (place, frame) in (0..).zip(&mut frames) {
            *frame = next_frame
                .checked_add(*frame)
                .filter(|&frame| frame < frame_count)
                .ok_or(NO_FRAME)?;
            next_frame = *frame + 1;
            let (word, before) = &mut words[*frame as usize / 64];
            if *word == 0 {
                *before = place;
            }
            *word |= 1 << (*frame % 64);
        }
        let mut starts = Vec::with_capacity(count + 1);
        let mut start = 0u32;
        for fan in fans {
            starts.push(start);
            start = (fan.checked_add(1))
                .and_then(|fan| start.checked_add(fan))
                .ok_or(NOT_ALL)?;
        }
        starts.push(start);
        if u64::from(start) != count as u64 + u64::from(other_count) {
            return Err(NOT_ALL);
        }
        Ok(Callers {
            frame_count,
            words,
            frames,
            starts,
            favourites,
            firsts,
            others,
        })
    }

    /// How many callees a caller has.
    #[inline]
    pub(super) fn fan(&self, caller: usize) -> u32 {
        self.starts[caller + 1] - self.starts[caller]
    }

    /// The rank of the callee that a caller is expected to have first.
    #[inline]
    pub(super) fn favourite(&self, caller: usize) -> u32 {
        self.favourites.get(caller)
    }

    /// The place of a caller, or [`NO_CALLER`].
    #[inline]
    pub(super) fn place(&self, frame: u32) -> u32 {
        let (word, before) = self.words[frame as usize / 64];
        let bit = 1 << (frame % 64);
        match word & bit {
            0 => NO_CALLER,
            _ => before + (word & (bit - 1)).count_ones(),
        }
    }
}

const NOT_ALL: Flaw = Flaw("its callers have not as many callees as it has");

/// The callees that were asked for.
pub(super) struct Callees {
    /// By place of a caller, where its callees stand in `unpacked`, plus 1.
    starts: Vec<u32>,
    unpacked: Vec<Callee>,
}

#[derive(Clone, Copy)]
pub(super) struct Callee {
    pub(super) frame: u32,
    /// Its place as a caller, or [`NO_CALLER`].
    pub(super) caller: u32,
}

impl Callees {
    /// None yet of these callers.
    pub(super) fn new(callers: &Callers) -> Self {
        Callees {
            starts: vec![0; callers.frames.len()],
            unpacked: Vec::new(),
        }
    }

    /// The callee at a place.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Callee {
        self.unpacked[place]
    }

    /// Where the callees of a caller stand.
    #[inline]
    pub(super) fn of(&mut self, caller: u32, callers: &Callers) -> Result<u32, Flaw> {
        match self.starts[caller as usize] {
            0 => self.unpack(caller as usize, callers),
            start => Ok(start - 1),
        }
    }

    #[cold]
    fn unpack(&mut self, caller: usize, callers: &Callers) -> Result<u32, Flaw> {
        let start = self.unpacked.len() as u32;
        let mut frame = add_difference(callers.frames[caller], callers.firsts.get(caller));
        // As many first callees stand before.
        let others = callers.starts[caller] as usize - caller;
        for rank in 0..callers.fan(caller) as usize {
            if rank > 0 {
                let between = callers.others.get(others + rank - 1);
                frame = (frame.checked_add(1))
                    .and_then(|next| next.checked_add(between))
                    .ok_or(NO_FRAME)?;
            }
            if frame >= callers.frame_count {
                return Err(NO_FRAME);
            }
            self.unpacked.push(Callee {
                frame,
                caller: callers.place(frame),
            });
        }
        self.starts[caller] = start + 1;
        Ok(start)
    }
}
