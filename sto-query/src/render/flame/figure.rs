//! The differential flame graph of two sides, for a page.

use super::label::full_label;
use super::picture::{Color, Frame, Picture};
use crate::compare::{StackNode, Stacks};
use crate::render::findings::words::ratio;
use crate::render::html::short_name;
use crate::text::{group_digits, percent};
use maud::{Markup, html};

/// Stacks that cost less on both sides (about half a pixel), in parts of a baseline run, are not
/// drawn.
const MIN_COST: f64 = 0.0005;
/// Maximum number of levels. A taller picture would be unreadable.
const MAX_LEVELS: usize = 500;

/// Descriptions of the two sides.
pub(crate) struct FlameSides {
    /// Number of runs of each side.
    pub(crate) runs: [usize; 2],
    /// Name of each side.
    pub(crate) names: [&'static str; 2],
    /// The whole that costs are parts of.
    pub(crate) unit: &'static str,
    /// The meaning of red and blue, as the start of a sentence.
    pub(crate) colors: &'static str,
}

/// A differential flame graph of two sides.
pub(crate) struct FlameGraph<'a> {
    /// Id of the element.
    pub(crate) id: &'a str,
    /// The stacks to draw.
    pub(crate) stacks: &'a Stacks,
    /// Descriptions of the sides.
    pub(crate) sides: FlameSides,
    /// Share below which changes are drawn in pale colours.
    pub(crate) min_share: f64,
    /// Maximum number of frames that the page has room for.
    pub(crate) max_frames: usize,
}

impl FlameGraph<'_> {
    /// Draws the graph and its legend.
    pub(crate) fn figure(&self) -> Markup {
        let (nodes, min_cost) = self.nodes();
        let [baseline, candidate] = self.sides.names;
        let whole = self.whole();
        let [baseline_cost, candidate_cost] = self.costs(&whole);
        let picture = Picture {
            frames: std::iter::once(self.frame(0, ["all", "all"].map(str::to_owned), &whole))
                .chain(nodes.iter().map(|node| {
                    let function = &self.stacks.functions[node.function];
                    let label = short_name(&function.function);
                    let name = full_label(&function.function);
                    let name = match function.module.as_str() {
                        "" => name,
                        module => format!("{name} [{module}]"),
                    };
                    self.frame(node.depth + 1, [name, label], node)
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
                        "Each box is a function, and the boxes below it are its callees. Costs are parts of "
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

    /// Returns the costs of both sides in the same unit.
    fn costs(&self, node: &StackNode) -> [f64; 2] {
        [
            node.baseline_samples as f64 * self.stacks.baseline_cost,
            node.candidate_samples as f64 * self.stacks.candidate_cost,
        ]
    }

    /// Returns the sum of all stacks, including those that are not drawn.
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

    /// Returns the stacks to draw and the minimum cost that was required.
    fn nodes(&self) -> (Vec<&StackNode>, f64) {
        let mut min_cost = MIN_COST;
        loop {
            // No stack costs more than its caller: all callers of a drawn stack are drawn.
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

    fn frame(&self, level: usize, [name, label]: [String; 2], node: &StackNode) -> Frame {
        let [baseline, candidate] = self.costs(node);
        let [all_baseline, all_candidate] = self.costs(&self.whole());
        let pale = self.min_share;
        let shown = |cost: f64| match cost {
            ..0.1 => format!("{:.2}%", 100.0 * cost),
            _ => format!("{:.1}%", 100.0 * cost),
        };
        let [before, after] = self.sides.runs;
        let in_runs = |samples: u64, runs| match runs {
            1 => group_digits(samples),
            _ if before == after => group_digits(samples),
            _ => format!("{} in {runs} runs", group_digits(samples)),
        };
        let part = |cost: f64, all: f64| if all > 0.0 { cost / all } else { 0.0 };
        Frame {
            level,
            name,
            label,
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
            // A doubled cost has the full colour.
            color: Color::from_change(((candidate + pale) / (baseline + pale)).log2()),
            width: part(candidate, all_candidate),
            other: Some(part(baseline, all_baseline)),
        }
    }

    fn note(&self, drawn: usize, min_cost: f64) -> String {
        let all = self.stacks.nodes.len();
        if drawn == all {
            return format!("All {} stacks are drawn.", group_digits(all as u64));
        }
        let is_deep = |node: &StackNode| node.depth >= MAX_LEVELS;
        let levels = if self.stacks.nodes.iter().any(is_deep) {
            format!(", in the outermost {MAX_LEVELS} levels of calls")
        } else {
            String::new()
        };
        format!(
            "{} of {} stacks are drawn: those that cost at least {} of {} on either side{levels}.",
            group_digits(drawn as u64),
            group_digits(all as u64),
            percent(min_cost),
            self.sides.unit,
        )
    }
}

/// Explains the colours of a change.
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
