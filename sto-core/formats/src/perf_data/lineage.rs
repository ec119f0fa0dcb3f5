//! Finds the process that the user recorded.

use hashbrown::{HashMap, HashSet};

/// Programs that only start another program as their child: the user means that one.
const LAUNCHERS: &[&str] = &["doas", "flock", "sudo", "time", "timeout"];

/// The processes of a recording and their parents.
#[derive(Default)]
pub(super) struct Lineage {
    /// Process ids in the order in which records name them.
    pids: Vec<u32>,
    known: HashSet<u32>,
    parents: HashMap<u32, u32>,
}

impl Lineage {
    /// Adds a process. The idle process and the kernel's mappings (-1) are not processes.
    pub(super) fn add(&mut self, pid: u32) {
        if pid != 0 && pid != u32::MAX && self.known.insert(pid) {
            self.pids.push(pid);
        }
    }

    /// Adds a process that was started by another one.
    pub(super) fn add_child(&mut self, pid: u32, parent: u32) {
        self.add(pid);
        self.parents.entry(pid).or_insert(parent);
    }

    /// Returns the recorded process: the one from which all others descend. A launcher's only child takes its place.
    ///
    /// `None` if several processes were started by a process outside of the recording, as in one of a whole system.
    pub(super) fn recorded<'a>(&self, program: impl Fn(u32) -> &'a str) -> Option<u32> {
        let has_parent = |pid: &u32| {
            let parent = self.parents.get(pid);
            parent.is_some_and(|parent| self.known.contains(parent))
        };
        let mut recorded = only(self.pids.iter().copied().filter(|pid| !has_parent(pid)))?;
        let children = |pid| {
            let is_child = move |child: &u32| self.parents.get(child) == Some(&pid);
            self.pids.iter().copied().filter(is_child)
        };
        // Process ids are used again, so parents may form a circle.
        for _ in 0..self.pids.len() {
            match only(children(recorded)) {
                Some(child) if LAUNCHERS.contains(&program(recorded)) => recorded = child,
                _ => break,
            }
        }
        Some(recorded)
    }
}

fn only(mut pids: impl Iterator<Item = u32>) -> Option<u32> {
    pids.next().filter(|_| pids.next().is_none())
}
