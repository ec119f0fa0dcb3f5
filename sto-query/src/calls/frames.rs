//! The functions of stacks in results.

use super::CallTrace;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use sto_core::tree::{NodeIx, StackTree};

/// The functions of a stack. All stacks of a result share one table, so deep ones take no more memory than others.
#[derive(Clone)]
pub struct CallFrames {
    table: Arc<FrameNames>,
    stack: Option<NodeIx>,
}

/// The names of the functions of a tree's nodes.
pub(crate) struct FrameNames {
    tree: StackTree,
    /// By index of the frame.
    names: Vec<String>,
}

impl CallFrames {
    /// Iterates over the functions, innermost first.
    pub fn innermost_first(&self) -> impl Iterator<Item = &str> {
        let FrameNames { tree, names } = &*self.table;
        let nodes = std::iter::successors(self.stack, |&node| tree.parent(node));
        nodes.map(|node| &*names[tree.frame(node).get()])
    }

    /// Returns the functions, root first.
    pub fn root_first(&self) -> Vec<&str> {
        let mut functions: Vec<&str> = self.innermost_first().collect();
        functions.reverse();
        functions
    }

    /// The stack; `None` if it has no functions.
    pub(crate) fn stack(&self) -> Option<NodeIx> {
        self.stack
    }
}

impl FrameNames {
    pub(crate) fn new(run: &CallTrace) -> Arc<FrameNames> {
        let frames = run.view.frames.iter();
        Arc::new(FrameNames {
            tree: run.view.tree.clone(),
            names: frames
                .map(|(_, frame)| match frame.symbol {
                    "" => "[unknown]".to_owned(),
                    symbol => symbol.to_owned(),
                })
                .collect(),
        })
    }

    /// Returns the functions of a stack.
    pub(crate) fn of(self: &Arc<Self>, stack: Option<NodeIx>) -> CallFrames {
        CallFrames {
            table: self.clone(),
            stack,
        }
    }
}

impl fmt::Debug for CallFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.root_first()).finish()
    }
}

/// A list of the functions, root first.
impl Serialize for CallFrames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.root_first())
    }
}
