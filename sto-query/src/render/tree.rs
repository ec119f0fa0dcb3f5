//! The call tree as indented text.

use super::guides::Guides;
use super::header::header;
use super::top::MAX_MODULE_WIDTH;
use crate::text::{
    Cell, Column, Style, Table, format_count, percent, printable, short_name, shorten, title,
};
use crate::tree::{CallTree, CallTreeNode, Link, folded_name};
use sto_core::model::FrameKind;

/// Minimum number of equal rows that are shown as one.
const EQUAL_ROWS: usize = 3;

/// Returns the report as text: one stack per line, with total and self in percent, callers above
/// their callees. Consecutive folded stacks share a line, and so do equal rows.
///
/// Only the children of a stack with several children are indented: a chain of calls has no
/// indentation. The module is shown if it differs from the caller's.
pub fn text(report: &CallTree, style: Style) -> String {
    let mut text = header(&report.subject, style) + "\n";
    let mut table = Table::new(vec![
        Column::number("total"),
        Column::number("self"),
        Column::text("function"),
    ]);
    let guides = Guides::new(report.nodes.iter().map(|node| node.parent), style);
    let mut ix = 0;
    while let Some(node) = report.nodes.get(ix) {
        let folded = report.nodes[ix..]
            .iter()
            .take_while(|node| node.folded)
            .count();
        let before = guides.before(ix).to_owned();
        let total = Cell::from(percent(node.total.share));
        if folded > 0 {
            let links: Vec<Link> = report.nodes[ix..ix + folded]
                .iter()
                .map(CallTreeNode::link)
                .collect();
            let name = Cell::from(format!("… {}", folded_name(&links))).with_style(Style::dim);
            table.add_row(vec![
                total,
                Cell::from(""),
                name.with_prefix_and_suffix(before, String::new()),
            ]);
            ix += folded;
            continue;
        }
        let equal = if report.is_unfolded {
            1
        } else {
            equal_rows(&report.nodes, &guides, ix)
        };
        let times = match equal {
            1 => String::new(),
            _ => format!("  ({equal} times)"),
        };
        // The last of several siblings closes their branch.
        let before = guides.before(ix + equal - 1).to_owned();
        let notes = notes(report, node, style) + &times;
        let name = Cell::callee(&node.frame.function, node.parent);
        table.add_row(vec![
            total,
            Cell::from(percent(node.self_cost.share)),
            name.with_prefix_and_suffix(before, notes),
        ]);
        ix += equal;
    }
    if !report.nodes.is_empty() {
        text += &format!("\n{}", table.render(style));
    }
    text += &guides.note(style);
    if report.cut.stacks > 0 {
        let deep = if report
            .nodes
            .iter()
            .any(|node| is_cut_by_depth(report, node))
        {
            format!(", or over {} deep (…)", report.max_depth)
        } else {
            String::new()
        };
        let cut = format!(
            "Not shown: {} ({} of samples) below {}{deep}",
            format_count(report.cut.stacks as u64, "stack"),
            percent(report.cut.cost.share),
            percent(report.min_share),
        );
        text += &format!("\n{}", title(style, &cut));
    }
    text
}

/// Returns the number of rows from `ix` on that are shown as one, because they look the same:
/// functions that call each other, or siblings.
fn equal_rows(nodes: &[CallTreeNode], guides: &Guides, ix: usize) -> usize {
    let shown = |node: &CallTreeNode| {
        let shares = [node.total.share, node.self_cost.share].map(percent);
        (shares, short_name(&node.frame.function), node.line)
    };
    let is_equal = |a: &CallTreeNode, b: &CallTreeNode| {
        (a.frame.kind, &a.frame.module) == (b.frame.kind, &b.frame.module) && shown(a) == shown(b)
    };
    let count = |is_next: &dyn Fn(usize) -> bool| {
        let next = (ix + 1..nodes.len()).take_while(|&next| {
            let (a, b) = (&nodes[next - 1], &nodes[next]);
            !b.folded && is_next(next) && is_equal(a, b)
        });
        1 + next.count()
    };
    let is_callee = |next: usize| {
        nodes[next].parent == Some(next - 1) && guides.before(next - 1) == guides.before(next)
    };
    let is_sibling = |next: usize| {
        let (a, b) = (&nodes[next - 1], &nodes[next]);
        a.parent == b.parent && a.frame.function == b.frame.function
    };
    match count(&is_callee).max(count(&is_sibling)) {
        ..EQUAL_ROWS => 1,
        rows => rows,
    }
}

/// Returns the text after a name: source line, module, "inlined", and a mark if callees are cut
/// off.
fn notes(report: &CallTree, node: &CallTreeNode, style: Style) -> String {
    let mut notes = String::new();
    if node.line > 0 {
        notes += &format!(":{}", node.line);
    }
    let module = &node.frame.module;
    let caller = node.parent.map(|parent| &report.nodes[parent].frame.module);
    let is_named = node.frame.kind == FrameKind::Unresolved;
    if caller != Some(module) && !module.is_empty() && !is_named {
        let module = printable(module);
        let module = style
            .width
            .map_or(module.to_string(), |_| shorten(&module, MAX_MODULE_WIDTH));
        notes += &format!("  [{}]", module.trim_matches(['[', ']']));
    }
    if node.frame.kind == FrameKind::Inlined {
        notes += "  (inlined)";
    }
    if is_cut_by_depth(report, node) {
        notes += "  …";
    }
    notes
}

fn is_cut_by_depth(report: &CallTree, node: &CallTreeNode) -> bool {
    node.cut.stacks > 0 && node.depth + 1 == report.max_depth
}
