//! The content address of a profile: everything that is stored of it when it goes in.

use super::{Interned, NodeIx, Slices};
use crate::id::canonical::Bulk;
use crate::id::{BuildId, ProfileId, SourceDigest};
use crate::{Build, FrameIx, GnuBuildId, LabelValue, Origin, Profile, Quality};

impl ProfileId {
    /// `H("sto.profile.v2", ...)` over what a recording is, as it was read and named: the fields in the order
    /// of SPEC.md. Not in it is what may differ between two that read the same file in the same way: when the
    /// file was written, the revision of the work tree, and metrics, which may be given later.
    ///
    /// Frames that no stack and no line uses, and stacks without a cost in themselves or below, are not
    /// part of it, as a store does not give them back.
    ///
    /// # Panics
    /// Where the profile's costs are of nodes, or its nodes of frames, that it does not have. What a store
    /// takes or gives has them.
    pub fn of(build: &Build, profile: &Profile, interned: &Interned) -> Self {
        let mut id = Bulk::new("sto.profile.v2");
        let BuildId(of_build) = profile.build;
        let SourceDigest(source) = profile.source;
        id.raw(&of_build);
        id.raw(&source);
        about(&mut id, build, profile);
        let used = Used::of(interned);
        stacks(&mut id, interned, &used);
        costs(&mut id, interned, &used);
        id.optional(interned.slices.as_ref(), |id, all| slices(id, all, &used));
        ProfileId(id.finish())
    }
}

fn about(id: &mut Bulk, build: &Build, profile: &Profile) {
    let Origin {
        recorded: _,
        duration,
        host,
        kernel,
        arch,
        cpu,
        command,
    } = &profile.origin;
    let Quality {
        samples,
        unresolved,
        truncated,
        without_stack,
        lost,
    } = profile.quality;
    id.u64(profile.source_bytes.0);
    id.string(&profile.format);
    id.optional(build.gnu_build_id.as_ref(), build_id);
    id.optional(duration.as_ref(), |id, time| id.u64(time.0));
    for text in [host, kernel, arch, cpu, command, &profile.benchmark] {
        id.optional(text.as_ref(), |id, text| id.string(text));
    }
    for count in [samples, unresolved, truncated, without_stack, lost] {
        id.u64(count);
    }
    id.u8(profile.granularity as u8);
    id.count(profile.modules.len());
    for module in &*profile.modules {
        id.string(&module.name);
        id.optional(module.build_id.as_ref(), build_id);
    }
    id.count(profile.labels.len());
    for (key, value) in &profile.labels {
        id.string(key);
        id.string(value);
    }
    id.count(profile.sample_types.len());
    for sample_type in &profile.sample_types {
        id.string(&sample_type.event);
        id.u8(sample_type.unit as u8);
    }
}

fn build_id(id: &mut Bulk, build_id: &GnuBuildId) {
    id.count(build_id.as_bytes().len());
    id.raw(build_id.as_bytes());
}

/// The nodes and frames that a profile has a cost for, by their numbers without the others.
struct Used {
    nodes: Vec<u32>,
    frames: Vec<u32>,
}

/// The number of what is not used.
const UNUSED: u32 = u32::MAX;

impl Used {
    fn of(interned: &Interned) -> Self {
        let tree = &interned.tree;
        let mut nodes = vec![UNUSED; tree.len()];
        for &(node, _) in interned.costs.iter().flatten() {
            nodes[node.get()] = 0;
        }
        for node in tree.nodes().rev() {
            if let (0, Some(parent)) = (nodes[node.get()], tree.parent(node)) {
                nodes[parent.get()] = 0;
            }
        }
        let mut frames = vec![UNUSED; interned.frames.len()];
        for node in tree.nodes().filter(|node| nodes[node.get()] == 0) {
            frames[tree.frame(node).get()] = 0;
        }
        for line in interned.lines.iter().flatten() {
            frames[line.frame.get()] = 0;
        }
        for numbers in [&mut nodes, &mut frames] {
            let used = numbers.iter_mut().filter(|number| **number != UNUSED);
            (0..).zip(used).for_each(|(next, number)| *number = next);
        }
        Used { nodes, frames }
    }

    fn node(&self, node: NodeIx) -> u32 {
        self.nodes[node.get()]
    }

    fn frame(&self, frame: FrameIx) -> u32 {
        self.frames[frame.get()]
    }
}

fn count_used(numbers: &[u32]) -> usize {
    let is_used = |number: &&u32| **number != UNUSED;
    numbers.iter().filter(is_used).count()
}

fn stacks(id: &mut Bulk, interned: &Interned, used: &Used) {
    id.count(count_used(&used.frames));
    let frames = interned.frames.iter();
    for (_, frame) in frames.filter(|&(ix, _)| used.frame(ix) != UNUSED) {
        id.u8(frame.kind as u8);
        id.string(frame.symbol);
        id.string(frame.module);
        id.string(frame.file);
        id.u32(frame.line);
    }
    let tree = &interned.tree;
    id.count(count_used(&used.nodes));
    for node in tree.nodes().filter(|&node| used.node(node) != UNUSED) {
        let parent = tree.parent(node);
        id.u32(parent.map_or(0, |parent| used.node(parent) + 1));
        id.u32(used.frame(tree.frame(node)));
    }
}

fn costs(id: &mut Bulk, interned: &Interned, used: &Used) {
    for (costs, lines) in interned.costs.iter().zip(&interned.lines) {
        id.count(costs.len());
        for &(node, cost) in costs {
            id.u32(used.node(node));
            id.cost(cost);
        }
        id.count(lines.len());
        for line in lines {
            id.u32(used.frame(line.frame));
            id.u32(line.line);
            id.cost(line.self_cost);
            id.cost(line.total);
        }
    }
}

fn slices(id: &mut Bulk, slices: &Slices, used: &Used) {
    let grid = slices.grid;
    id.u64(grid.first().0);
    id.u64(grid.last().0);
    id.u32(grid.count().get());
    id.count(slices.contexts.len());
    for context in &slices.contexts {
        id.u32(context.thread.pid);
        id.u32(context.thread.tid);
        id.string(&context.thread.name);
        id.count(context.labels.len());
        for label in &*context.labels {
            id.string(&label.key);
            match &label.value {
                LabelValue::Text(text) => {
                    id.u8(0);
                    id.string(text);
                }
                LabelValue::Number { number, unit } => {
                    id.u8(1);
                    id.raw(&number.to_le_bytes());
                    id.string(unit);
                }
            }
        }
    }
    for costs in &slices.costs {
        id.count(costs.len());
        for cell in costs.iter() {
            id.u32(cell.context.0);
            id.u32(cell.slice.0);
            id.u32(used.node(cell.node));
            id.cost(cell.cost);
        }
    }
}
