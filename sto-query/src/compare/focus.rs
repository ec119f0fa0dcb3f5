//! The stacks that have a function: the rest of a finding.

use crate::functions::{FunctionChoice, FunctionError, symbols_of};
use crate::select::full_name;
use crate::text::printable;
use crate::tree::View;
use hashbrown::HashSet;
use sto_core::model::Frame;
use sto_core::units::Cost;

/// A choice of functions by name, to look at the stacks that have one of them.
#[derive(Clone, Debug)]
pub struct Focus {
    text: String,
    functions: Vec<String>,
    symbols: HashSet<String>,
}

impl Focus {
    /// Chooses functions as a user [names](FunctionChoice) them, in all views by the same rule.
    ///
    /// # Errors
    /// Where no function fits, or what is to be a regular expression is none.
    pub fn new(name: &str, views: &[&View]) -> Result<Focus, FunctionError> {
        let choice = FunctionChoice::parse(name)?;
        let frames = views.iter().flat_map(|view| view.frames.iter());
        let builds = || {
            let builds = views.iter().map(|view| full_name(&view.selection.build));
            let builds: Vec<_> = builds.map(|name| printable(&name).into_owned()).collect();
            builds.join(" and ")
        };
        let frames = frames.map(|(_, frame)| frame);
        let (symbols, functions) = symbols_of(&choice, frames, builds)?;
        Ok(Focus {
            text: name.to_owned(),
            functions,
            symbols,
        })
    }

    /// The name that was asked for.
    pub(crate) fn name(&self) -> &str {
        &self.text
    }

    /// The keys of the functions that it means, in order.
    pub(crate) fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Whether a frame is of such a function.
    pub(crate) fn has(&self, frame: Frame<'_>) -> bool {
        self.symbols.contains(frame.symbol)
    }

    /// Takes away the self costs, by node of the view, of stacks that have no such function.
    ///
    /// # Panics
    /// If there is not one cost a node.
    pub(crate) fn keep(&self, view: &View, self_costs: &mut [Cost]) {
        self.take_away(view, self_costs, false);
    }

    /// Takes away the self costs, by node of the view, of stacks that have such a function.
    ///
    /// # Panics
    /// If there is not one cost a node.
    pub(crate) fn leave_out(&self, view: &View, self_costs: &mut [Cost]) {
        self.take_away(view, self_costs, true);
    }

    fn take_away(&self, view: &View, self_costs: &mut [Cost], those_with: bool) {
        let tree = &view.tree;
        assert_eq!(tree.len(), self_costs.len(), "one self cost a node");
        let frames = view.frames.iter();
        let fits: Vec<bool> = frames.map(|(_, frame)| self.has(frame)).collect();
        let mut has: Vec<bool> = Vec::with_capacity(tree.len());
        for (node, cost) in tree.nodes().zip(self_costs) {
            let is_below = tree.parent(node).is_some_and(|caller| has[caller.get()]);
            has.push(is_below || fits[tree.frame(node).get()]);
            if has[node.get()] == those_with {
                *cost = Cost::ZERO;
            }
        }
    }
}
