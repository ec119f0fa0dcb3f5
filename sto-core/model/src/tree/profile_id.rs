//! The content address of a profile.

use super::{NodeIx, ProfileData, TimeSlices};
use crate::id::ProfileId;
use crate::id::canonical::BulkHasher;
use crate::{Build, FrameIx, GnuBuildId, LabelValue, Origin, Profile, Quality};

impl ProfileId {
    /// Computes `H("sto.profile.v2", ...)` over the fields of a profile in the order of SPEC.md.
    ///
    /// The id does not depend on properties that can differ when the same file is read again with the same
    /// options: the modification time of the file, the revision of the work tree, and metrics. Neither
    /// does it depend on frames that no stack and no line uses, or on stacks without a total cost, because a
    /// store does not return them.
    ///
    /// # Panics
    /// Panics if costs refer to missing nodes, or nodes to missing frames. Profiles from a store or accepted
    /// by a store have no such references.
    pub fn new(build: &Build, profile: &Profile, interned: &ProfileData) -> Self {
        let mut id = BulkHasher::new("sto.profile.v2");
        id.raw(&profile.build.0);
        id.raw(&profile.source.0);
        properties(&mut id, build, profile);
        let used = Used::new(interned);
        stacks(&mut id, interned, &used);
        costs(&mut id, interned, &used);
        id.optional(interned.slices.as_ref(), |id, all| slices(id, all, &used));
        ProfileId(id.finish())
    }
}

fn properties(id: &mut BulkHasher, build: &Build, profile: &Profile) {
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

fn build_id(id: &mut BulkHasher, build_id: &GnuBuildId) {
    id.count(build_id.as_bytes().len());
    id.raw(build_id.as_bytes());
}

/// The nodes and frames that have a cost, numbered without the others. Unused ones are [`UNUSED`].
struct Used {
    nodes: Vec<u32>,
    frames: Vec<u32>,
}

const UNUSED: u32 = u32::MAX;

impl Used {
    fn new(interned: &ProfileData) -> Self {
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
        for line in interned.line_costs.iter().flatten() {
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

fn stacks(id: &mut BulkHasher, interned: &ProfileData, used: &Used) {
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

fn costs(id: &mut BulkHasher, interned: &ProfileData, used: &Used) {
    for (costs, lines) in interned.costs.iter().zip(&interned.line_costs) {
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

fn slices(id: &mut BulkHasher, slices: &TimeSlices, used: &Used) {
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
