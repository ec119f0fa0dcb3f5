//! The stacks that have a function: the rest of a finding.

use crate::closest::closest;
use crate::functions::{KeyOptions, key_of};
use crate::render::printable;
use crate::select::full_name;
use crate::tree::View;
use sto_core::model::Frame;
use sto_core::units::Cost;

/// A choice of functions by name, to look at the stacks that have one of them.
#[derive(Clone, Debug)]
pub struct Focus {
    name: String,
    rule: Rule,
}

/// How a name is compared with a function's, most exact first: the first rule by which there is any
/// such function is the one that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The symbol, or its key.
    Name,
    /// The key without template arguments.
    NameOfTemplate,
    /// A part of the symbol.
    Part,
}

/// Why there is nothing to focus on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FocusError {
    /// No function has that name.
    #[error(
        "{builds}: no function has `{}` in its name{}",
        printable(.name),
        .closest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
    )]
    NotFound {
        /// The builds that were looked through, as `EXE@BUILD`.
        builds: String,
        /// What was asked for.
        name: String,
        /// The function whose name is closest, if any is close.
        closest: Option<String>,
    },
}

impl Focus {
    /// Chooses the functions of this name, as it stands in a profile or in a finding. If none is
    /// called so, it may be the name of a template without its arguments, and else a part of names.
    /// The same rule holds for all views.
    ///
    /// # Errors
    /// Where no function has `name` in its name.
    pub fn new(name: &str, views: &[&View]) -> Result<Focus, FocusError> {
        let frames = || {
            let frames = views.iter().flat_map(|view| view.frames.iter());
            frames.map(|(_, frame)| frame)
        };
        let mut rules = [Rule::Name, Rule::NameOfTemplate, Rule::Part].into_iter();
        let fits = rules.find(|rule| frames().any(|frame| rule.fits(name, frame)));
        match fits {
            Some(rule) => Ok(Focus {
                name: name.to_owned(),
                rule,
            }),
            None => {
                let builds = views.iter().map(|view| full_name(&view.selection.build));
                let builds: Vec<_> = builds.map(|name| printable(&name).into_owned()).collect();
                Err(FocusError::NotFound {
                    builds: builds.join(" and "),
                    name: name.to_owned(),
                    closest: closest(name, frames().map(|frame| frame.symbol)).map(str::to_owned),
                })
            }
        }
    }

    /// The name that was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a frame is of such a function.
    pub fn has(&self, frame: Frame<'_>) -> bool {
        self.rule.fits(&self.name, frame)
    }

    /// Takes away the self costs, by node of the view, of stacks that have no such function.
    ///
    /// # Panics
    /// If there is not one cost a node.
    pub fn keep(&self, view: &View, self_costs: &mut [Cost]) {
        self.take_away(view, self_costs, false);
    }

    /// Takes away the self costs, by node of the view, of stacks that have such a function.
    ///
    /// # Panics
    /// If there is not one cost a node.
    pub fn leave_out(&self, view: &View, self_costs: &mut [Cost]) {
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

impl Rule {
    fn fits(self, name: &str, frame: Frame<'_>) -> bool {
        let key = |ignore_template_arguments| {
            key_of(
                frame,
                KeyOptions {
                    ignore_template_arguments,
                    ..KeyOptions::default()
                },
            )
        };
        match self {
            Rule::Name => frame.symbol == name || key(false) == name,
            Rule::NameOfTemplate => key(true) == name,
            Rule::Part => frame.symbol.contains(name),
        }
    }
}
