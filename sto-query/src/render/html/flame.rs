//! A differential flame graph in a page, drawn by `flame.js`.

use super::{data, short_name};
use crate::compare::{StackNode, Stacks};
use crate::text::numbers::{grouped, percent};
use crate::text::printable;
use hashbrown::HashMap;
use maud::{Markup, html};
use serde::Serialize;
use std::borrow::Cow;

/// Stacks that cost less on both sides are not drawn, in parts of a baseline run: half a pixel.
const MIN_COST: f64 = 0.0005;
/// Levels of calls that are drawn: a picture of more could not be read.
const MAX_LEVELS: usize = 500;

/// What `flame.js` draws. A frame is the same place of each of the four lists.
#[derive(Serialize)]
struct Drawing<'a> {
    /// Name and module of each function.
    functions: Vec<(String, Cow<'a, str>)>,
    depth: Vec<usize>,
    function: Vec<usize>,
    /// Samples.
    baseline: Vec<u64>,
    candidate: Vec<u64>,
    /// All samples, those of frames that are not drawn among them.
    all: Samples,
    /// Runs of each side.
    runs: [usize; 2],
    /// What costs are parts of.
    unit: &'static str,
    /// What a sample of each side costs, in parts of that.
    baseline_cost: f64,
    candidate_cost: f64,
    /// A cost that is too small for its change to matter.
    pale_cost: f64,
}

#[derive(Default, Serialize)]
struct Samples {
    baseline: u64,
    candidate: u64,
}

/// What the two sides are.
pub(in crate::render) struct FlameSides {
    /// Runs of each.
    pub(in crate::render) runs: [usize; 2],
    /// What each is called.
    pub(in crate::render) names: [&'static str; 2],
    /// What costs are parts of.
    pub(in crate::render) unit: &'static str,
    /// What is red, and what is blue: the start of a sentence.
    pub(in crate::render) colors: &'static str,
}

/// A flame graph of the difference between two sides.
pub(in crate::render) struct FlameGraph<'a> {
    /// The element's id.
    pub(in crate::render) id: &'a str,
    /// What is drawn.
    pub(in crate::render) stacks: &'a Stacks,
    /// What its sides are.
    pub(in crate::render) sides: FlameSides,
    /// A share that is too small for its change to be coloured in full.
    pub(in crate::render) min_share: f64,
    /// Most frames that are drawn: for so much the page has room.
    pub(in crate::render) max_frames: usize,
}

impl FlameGraph<'_> {
    /// The graph, its controls and its legend.
    pub(in crate::render) fn figure(&self) -> Markup {
        let (frames, min_cost) = self.frames();
        let [baseline, candidate] = self.sides.names;
        html! {
            figure.flame id=(self.id) {
                p.without-script {
                    "The graph is drawn by the script of this page, which does not run here. Open the \
                     file in a browser, from your disk."
                }
                .tools hidden {
                    label {
                        "Search "
                        input type="search" spellcheck="false" autocomplete="off" placeholder="part of a name";
                    }
                    label {
                        "Widths "
                        select {
                            option value="candidate" { "cost in the " (candidate) }
                            option value="baseline" { "cost in the " (baseline) }
                        }
                    }
                    button type="button" { "Show all" }
                }
                p.status role="status" {}
                .drawing {}
                figcaption {
                    (legend())
                    p {
                        "Each box is a function, the boxes under it are what it called. " (self.sides.colors)
                        "; small costs stay pale, as their changes are mostly noise. A click, or Enter, shows \
                         one stack alone; arrow keys walk from box to box, Escape shows all again."
                    }
                    p { (self.note(frames.len(), min_cost)) }
                }
                script type="application/json" { (data(&self.drawing(&frames))) }
            }
        }
    }

    /// The frames to draw, and the cost below which there are none.
    fn frames(&self) -> (Vec<&StackNode>, f64) {
        let Stacks {
            nodes,
            baseline_cost,
            candidate_cost,
            ..
        } = self.stacks;
        let mut min_cost = MIN_COST;
        loop {
            // No stack costs more than its caller, so none loses its caller.
            let is_drawn = |node: &&StackNode| {
                let baseline = node.baseline_samples as f64 * baseline_cost;
                let candidate = node.candidate_samples as f64 * candidate_cost;
                node.depth < MAX_LEVELS && baseline.max(candidate) >= min_cost
            };
            let frames: Vec<&StackNode> = nodes.iter().filter(is_drawn).collect();
            if frames.len() <= self.max_frames {
                return (frames, min_cost);
            }
            min_cost *= 2.0;
        }
    }

    fn note(&self, drawn: usize, min_cost: f64) -> String {
        let all = self.stacks.nodes.len();
        if drawn == all {
            return format!("All {} stacks are drawn.", grouped(all as u64));
        }
        let is_deep = |node: &StackNode| node.depth >= MAX_LEVELS;
        let levels = match self.stacks.nodes.iter().any(is_deep) {
            true => format!(", in the outermost {MAX_LEVELS} levels of calls"),
            false => String::new(),
        };
        format!(
            "{} of {} stacks are drawn: those that cost at least {} of {} on either \
             side{levels}.",
            grouped(drawn as u64),
            grouped(all as u64),
            percent(min_cost),
            self.sides.unit,
        )
    }

    fn drawing(&self, frames: &[&StackNode]) -> Drawing<'_> {
        let mut functions = Vec::new();
        let mut places = HashMap::new();
        let mut place = |function: usize| {
            *places.entry(function).or_insert_with(|| {
                let name = &self.stacks.functions[function];
                functions.push((short_name(&name.function), printable(&name.module)));
                functions.len() - 1
            })
        };
        let mut all = Samples::default();
        for root in self.stacks.nodes.iter().filter(|node| node.depth == 0) {
            all.baseline = all.baseline.saturating_add(root.baseline_samples);
            all.candidate = all.candidate.saturating_add(root.candidate_samples);
        }
        Drawing {
            all,
            depth: frames.iter().map(|node| node.depth).collect(),
            function: frames.iter().map(|node| place(node.function)).collect(),
            baseline: frames.iter().map(|node| node.baseline_samples).collect(),
            candidate: frames.iter().map(|node| node.candidate_samples).collect(),
            runs: self.sides.runs,
            unit: self.sides.unit,
            baseline_cost: self.stacks.baseline_cost,
            candidate_cost: self.stacks.candidate_cost,
            pale_cost: self.min_share,
            functions,
        }
    }
}

fn legend() -> Markup {
    let shades = [
        "b5", "b4", "b3", "b2", "b1", "n", "w1", "w2", "w3", "w4", "w5",
    ];
    html! {
        p.legend {
            span { "half or less" }
            svg viewBox="0 0 220 16" preserveAspectRatio="none" role="img"
                aria-label="from blue over grey to red" {
                @for (ix, shade) in shades.iter().enumerate() {
                    rect class=(shade) x=(20 * ix) width="20" height="16" {}
                }
            }
            span { "twice or more" }
        }
    }
}
