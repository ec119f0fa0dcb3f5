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

#[cfg(test)]
mod tests {
    use super::Lineage;

    /// Returns the recorded process among processes with these parents and programs.
    fn recorded(processes: &[(u32, Option<u32>, &'static str)]) -> Option<u32> {
        let mut lineage = Lineage::default();
        for &(pid, parent, _) in processes {
            match parent {
                Some(parent) => lineage.add_child(pid, parent),
                None => lineage.add(pid),
            }
        }
        lineage.recorded(|pid| {
            let mut processes = processes.iter();
            processes
                .find(|(known, ..)| *known == pid)
                .map_or("", |&(_, _, program)| program)
        })
    }

    #[test]
    fn helpers_do_not_take_the_place_of_the_program_that_starts_them() {
        let fd = [(10, None, "fd"), (11, Some(10), "true")];
        assert_eq!(recorded(&fd), Some(10));
        let make = [
            (10, None, "make"),
            (11, Some(10), "cc"),
            (12, Some(11), "as"),
        ];
        assert_eq!(recorded(&make), Some(10));
    }

    #[test]
    fn only_child_takes_the_place_of_its_launcher() {
        let timeout = [
            (10, None, "timeout"),
            (11, Some(10), "app"),
            (12, Some(11), "sh"),
        ];
        assert_eq!(recorded(&timeout), Some(11));
        let nested = [
            (10, None, "sudo"),
            (11, Some(10), "time"),
            (12, Some(11), "app"),
        ];
        assert_eq!(recorded(&nested), Some(12));
        let two = [(10, None, "time"), (11, Some(10), "a"), (12, Some(10), "b")];
        assert_eq!(recorded(&two), Some(10));
    }

    #[test]
    fn no_process_is_the_recorded_one_among_several_without_a_parent() {
        assert_eq!(recorded(&[(1, None, "init"), (10, None, "app")]), None);
        assert_eq!(
            recorded(&[(0, None, "swapper"), (10, None, "app")]),
            Some(10)
        );
        // Process ids were used again.
        let circle = [(10, Some(11), "time"), (11, Some(10), "time")];
        assert_eq!(recorded(&circle), None);
    }
}
