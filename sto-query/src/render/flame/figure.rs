//! The flame graph of the difference between two sides, on a page.

use super::picture::{Color, Frame, Picture};
use crate::compare::{StackNode, Stacks};
use crate::render::findings::words::ratio;
use crate::render::html::short_name;
use crate::text::{grouped, percent};
use maud::{Markup, html};

/// Stacks that cost less on both sides are not drawn, in parts of a baseline run: half a pixel.
const MIN_COST: f64 = 0.0005;
/// Levels of calls that are drawn: a picture of more could not be read.
const MAX_LEVELS: usize = 500;

/// What the two sides are.
pub(crate) struct FlameSides {
    /// Runs of each.
    pub(crate) runs: [usize; 2],
    /// What each is called.
    pub(crate) names: [&'static str; 2],
    /// What costs are parts of.
    pub(crate) unit: &'static str,
    /// What is red, and what is blue: the start of a sentence.
    pub(crate) colors: &'static str,
}

/// A flame graph of the difference between two sides.
pub(crate) struct FlameGraph<'a> {
    /// The element's id.
    pub(crate) id: &'a str,
    /// What is drawn.
    pub(crate) stacks: &'a Stacks,
    /// What its sides are.
    pub(crate) sides: FlameSides,
    /// A share that is too small for its change to be coloured in full.
    pub(crate) min_share: f64,
    /// Most frames that are drawn: for so much the page has room.
    pub(crate) max_frames: usize,
}

impl FlameGraph<'_> {
    /// The graph and its legend.
    pub(crate) fn figure(&self) -> Markup {
        let (nodes, min_cost) = self.nodes();
        let [baseline, candidate] = self.sides.names;
        let whole = self.whole();
        let [baseline_cost, candidate_cost] = self.costs(&whole);
        let picture = Picture {
            frames: std::iter::once(self.frame(0, "all".to_owned(), &whole))
                .chain(nodes.iter().map(|node| {
                    let function = &self.stacks.functions[node.function];
                    let name = short_name(&function.function);
                    let name = match function.module.as_str() {
                        "" => name,
                        module => format!("{name} [{module}]"),
                    };
                    self.frame(node.depth + 1, name, node)
                }))
                .collect(),
        };
        html! {
            figure.flame id=(self.id) data-drawn=(candidate) data-other=(baseline) data-unit=(self.sides.unit)
                data-costs={ (candidate_cost) " " (baseline_cost) } {
                (picture.svg())
                figcaption {
                    (change_legend())
                    p {
                        "Each box is a function, the boxes under it are what it called. Costs are parts of "
                        (self.sides.unit) ". " (self.sides.colors)
                        "; small costs stay pale, as their changes are mostly noise. In a browser that runs \
                         the script of this page, a click, or Enter, shows one stack alone; arrow keys walk \
                         from box to box, Escape shows all again."
                    }
                    p { (self.note(nodes.len(), min_cost)) }
                }
            }
        }
    }

    /// What each side cost, in the same unit.
    fn costs(&self, node: &StackNode) -> [f64; 2] {
        [
            node.baseline_samples as f64 * self.stacks.baseline_cost,
            node.candidate_samples as f64 * self.stacks.candidate_cost,
        ]
    }

    /// All stacks, those that are not drawn among them.
    fn whole(&self) -> StackNode {
        let roots = || self.stacks.nodes.iter().filter(|node| node.depth == 0);
        let sum =
            |samples: fn(&StackNode) -> u64| roots().map(samples).fold(0, u64::saturating_add);
        StackNode {
            depth: 0,
            function: 0,
            baseline_samples: sum(|node| node.baseline_samples),
            candidate_samples: sum(|node| node.candidate_samples),
        }
    }

    /// The stacks to draw, and the cost below which there are none.
    fn nodes(&self) -> (Vec<&StackNode>, f64) {
        let mut min_cost = MIN_COST;
        loop {
            // No stack costs more than its caller, so none loses its caller.
            let is_drawn = |node: &&StackNode| {
                let [baseline, candidate] = self.costs(node);
                node.depth < MAX_LEVELS && baseline.max(candidate) >= min_cost
            };
            let nodes: Vec<&StackNode> = self.stacks.nodes.iter().filter(is_drawn).collect();
            if nodes.len() < self.max_frames {
                return (nodes, min_cost);
            }
            min_cost *= 2.0;
        }
    }

    fn frame(&self, level: usize, name: String, node: &StackNode) -> Frame {
        let [baseline, candidate] = self.costs(node);
        let [all_baseline, all_candidate] = self.costs(&self.whole());
        let pale = self.min_share;
        let shown = |cost: f64| match cost {
            ..0.1 => format!("{:.2}%", 100.0 * cost),
            _ => format!("{:.1}%", 100.0 * cost),
        };
        let [before, after] = self.sides.runs;
        let in_runs = |samples: u64, runs| match runs {
            1 => grouped(samples),
            _ if before == after => grouped(samples),
            _ => format!("{} in {runs} runs", grouped(samples)),
        };
        let part = |cost: f64, all: f64| if all > 0.0 { cost / all } else { 0.0 };
        Frame {
            level,
            name,
            about: format!(
                "{} → {}, {}; {} → {} samples",
                shown(baseline),
                shown(candidate),
                ratio(
                    (baseline > 0.0).then(|| candidate / baseline),
                    candidate > 0.0
                ),
                in_runs(node.baseline_samples, before),
                in_runs(node.candidate_samples, after),
            ),
            // Twice as much has full colour.
            color: Color::of_change(((candidate + pale) / (baseline + pale)).log2()),
            width: part(candidate, all_candidate),
            other: Some(part(baseline, all_baseline)),
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
            "{} of {} stacks are drawn: those that cost at least {} of {} on either side{levels}.",
            grouped(drawn as u64),
            grouped(all as u64),
            percent(min_cost),
            self.sides.unit,
        )
    }
}

/// What colours of a change mean.
pub(crate) fn change_legend() -> Markup {
    let shades = [
        "b5", "b4", "b3", "b2", "b1", "n", "w1", "w2", "w3", "w4", "w5",
    ];
    html! {
        p.legend {
            span { "half or less" }
            svg viewBox="0 0 220 16" preserveAspectRatio="none" role="img"
                aria-label="from less over grey to more" {
                @for (ix, shade) in shades.iter().enumerate() {
                    rect class=(shade) x=(20 * ix) width="20" height="16" {}
                }
            }
            span { "twice or more" }
        }
    }
}
