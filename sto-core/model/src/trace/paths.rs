//! Call paths: functions by who called them.

use crate::numbers;
use hashbrown::HashTable;
use std::hash::BuildHasher;

numbers! {
    /// A function of a trace, by the number that its format gave it.
    pub FunctionNo;
    /// A path in [`Paths`].
    pub PathNo;
}

const NONE: u32 = u32::MAX;

/// Distinct paths of calls: each a function and the path that called it, which has a smaller number.
///
/// They are numbered in the order in which they are called first.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    callers: Vec<u32>,
    functions: Vec<FunctionNo>,
    /// By path: the one that it called last, as loops call the same again.
    last: Vec<u32>,
    /// The outermost path that was called last.
    last_root: Option<PathNo>,
    index: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl Paths {
    /// Number of paths.
    pub fn path_count(&self) -> usize {
        self.functions.len()
    }

    /// Every path, callers before what they call.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PathNo> + use<> {
        (0..self.path_count() as u32).map(PathNo)
    }

    /// The path that called it; none of an outermost call.
    pub fn caller(&self, path: PathNo) -> Option<PathNo> {
        let caller = self.callers[path.get()];
        (caller != NONE).then_some(PathNo(caller))
    }

    /// The function that was called.
    pub fn function(&self, path: PathNo) -> FunctionNo {
        self.functions[path.get()]
    }

    /// The path of a function that a path calls; without a caller, an outermost one.
    ///
    /// # Panics
    /// Where there are 2^32 - 1 paths already, which have 64 GiB.
    #[inline]
    pub fn call(&mut self, caller: Option<PathNo>, function: FunctionNo) -> PathNo {
        let last = match caller {
            Some(caller) => self.last[caller.get()],
            None => self.last_root.map_or(NONE, |root| root.0),
        };
        if self.functions.get(last as usize) == Some(&function) {
            return PathNo(last);
        }
        let path = self.find(caller.map_or(NONE, |caller| caller.0), function);
        match caller {
            Some(caller) => self.last[caller.get()] = path.0,
            None => self.last_root = Some(path),
        }
        path
    }

    fn find(&mut self, caller: u32, function: FunctionNo) -> PathNo {
        let Paths {
            callers,
            functions,
            last,
            index,
            hasher,
            ..
        } = self;
        let hash_of = |caller: u32, function: FunctionNo| {
            hasher.hash_one(u64::from(caller) << 32 | u64::from(function.0))
        };
        let is_this =
            |&path: &u32| callers[path as usize] == caller && functions[path as usize] == function;
        let hash = hash_of(caller, function);
        if let Some(&path) = index.find(hash, is_this) {
            return PathNo(path);
        }
        let path = functions.len() as u32;
        assert_ne!(path, NONE, "a path more than 32 bits can number");
        callers.push(caller);
        functions.push(function);
        last.push(NONE);
        index.insert_unique(hash, path, |&path| {
            hash_of(callers[path as usize], functions[path as usize])
        });
        PathNo(path)
    }

    /// Adds the paths of others, in their order; returns the numbers that they have here.
    pub fn append(&mut self, others: &Paths) -> Vec<PathNo> {
        let mut here: Vec<PathNo> = Vec::with_capacity(others.path_count());
        for path in others.iter() {
            let caller = others.caller(path).map(|caller| here[caller.get()]);
            here.push(self.call(caller, others.function(path)));
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_callers_and_its_function() {
        let mut paths = Paths::default();
        let [main, read, write] = [0, 1, 2].map(FunctionNo);
        let root = paths.call(None, main);
        let reads = paths.call(Some(root), read);
        let writes = paths.call(Some(root), write);
        let nested = paths.call(Some(reads), write);
        assert_eq!([root, reads, writes, nested], [0, 1, 2, 3].map(PathNo));
        assert_eq!(paths.call(Some(root), read), reads);
        assert_eq!(paths.call(None, main), root);
        assert_eq!(paths.caller(nested), Some(reads));
        assert_eq!(paths.caller(root), None);
        assert_eq!(paths.function(nested), write);
        assert_ne!(paths.call(None, read), reads);
    }

    #[test]
    fn paths_of_others_get_the_numbers_of_their_equals() {
        let functions = |paths: &mut Paths, of: &[u32]| {
            of.iter().fold(None, |caller, &function| {
                Some(paths.call(caller, FunctionNo(function)))
            })
        };
        let (mut here, mut there) = (Paths::default(), Paths::default());
        functions(&mut here, &[0, 1]);
        functions(&mut there, &[0, 2]);
        functions(&mut there, &[0, 1]);
        assert_eq!(here.append(&there), [0, 2, 1].map(PathNo));
        assert_eq!(here.path_count(), 3);
    }
}
