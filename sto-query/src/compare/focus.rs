//! Selects the stacks that contain a function.

use crate::functions::{FunctionChoice, FunctionError, symbols_of};
use crate::select::full_name;
use crate::text::printable;
use crate::tree::View;
use hashbrown::HashSet;
use sto_core::model::Frame;
use sto_core::units::Cost;

/// A selection of functions by name, for restricting views to the stacks that contain one of them.
#[derive(Clone, Debug)]
pub struct Focus {
    text: String,
    functions: Vec<String>,
    symbols: HashSet<String>,
}

impl Focus {
    /// Selects the functions that match a name as the user typed it, by the same
    /// rule in all views.
    ///
    /// # Errors
    /// Returns an error if no function matches, or if a regular expression is invalid.
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

    /// The function name as the user typed it.
    pub(crate) fn name(&self) -> &str {
        &self.text
    }

    /// The keys of the selected functions, in order.
    pub(crate) fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Whether the frame's function is selected.
    pub(crate) fn contains(&self, frame: Frame<'_>) -> bool {
        self.symbols.contains(frame.symbol)
    }

    /// Sets the self costs of stacks without a selected function to zero. `self_costs` has one
    /// entry per node of the view.
    ///
    /// # Panics
    /// Panics if `self_costs` does not have one cost per node.
    pub(crate) fn keep_only(&self, view: &View, self_costs: &mut [Cost]) {
        self.set_to_zero(view, self_costs, false);
    }

    /// Sets the self costs of stacks with a selected function to zero. `self_costs` has one entry
    /// per node of the view.
    ///
    /// # Panics
    /// Panics if `self_costs` does not have one cost per node.
    pub(crate) fn exclude(&self, view: &View, self_costs: &mut [Cost]) {
        self.set_to_zero(view, self_costs, true);
    }

    /// Returns the view with only one sample type, and only the costs of stacks with a selected function, as one run.
    pub(crate) fn focused(&self, view: &View, sample_type: usize) -> View {
        let mut costs = view.self_costs(sample_type);
        self.keep_only(view, &mut costs);
        let costs = view.tree.nodes().zip(costs);
        View {
            sample_types: view.sample_types[sample_type..]
                .iter()
                .take(1)
                .cloned()
                .collect(),
            runs: vec![vec![costs.filter(|(_, cost)| !cost.is_zero()).collect()]],
            ..view.clone()
        }
    }

    fn set_to_zero(&self, view: &View, self_costs: &mut [Cost], with_function: bool) {
        let tree = &view.tree;
        assert_eq!(tree.len(), self_costs.len(), "one self cost per node");
        let frames = view.frames.iter();
        let fits: Vec<bool> = frames.map(|(_, frame)| self.contains(frame)).collect();
        let mut has: Vec<bool> = Vec::with_capacity(tree.len());
        for (node, cost) in tree.nodes().zip(self_costs) {
            let is_below = tree.parent(node).is_some_and(|caller| has[caller.get()]);
            has.push(is_below || fits[tree.frame(node).get()]);
            if has[node.get()] == with_function {
                *cost = Cost::ZERO;
            }
        }
    }
}
