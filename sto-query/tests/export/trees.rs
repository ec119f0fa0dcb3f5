//! Formats of viewers in browsers: speedscope, the Firefox Profiler, d3-flame-graph.

use super::{D3, FIREFOX, FOLDED, SPEEDSCOPE, json, text};
use crate::views::{assert_golden, demo, folded, hostile_names, view};
use serde_json::Value;
use std::collections::BTreeMap;
use sto_core::model::{Frame, FrameKind};
use sto_core::units::Cost;
use sto_query::results::View;

/// Self cost by stack of symbols.
type Costs = BTreeMap<Vec<String>, f64>;

/// Returns the self costs of a view's first sample type.
fn expected(view: &View) -> Costs {
    let costs = view.self_costs(0);
    let mut expected = Costs::new();
    for node in view.tree.nodes().filter(|node| costs[node.get()].value > 0) {
        let ancestors = view.tree.ancestors(node);
        let symbol = |node| view.frames.frame(view.tree.frame(node)).symbol.to_owned();
        let mut stack: Vec<String> = ancestors.map(symbol).collect();
        stack.reverse();
        *expected.entry(stack).or_default() += costs[node.get()].value as f64;
    }
    expected
}

/// Sums events like speedscope: the time between two events is a cost of the open stack.
fn in_speedscope(file: &Value) -> Costs {
    let frames = file["shared"]["frames"].as_array().unwrap();
    let profile = &file["profiles"][0];
    let mut costs = Costs::new();
    let mut open: Vec<(u64, String)> = Vec::new();
    let mut last = profile["startValue"].as_f64().unwrap();
    for event in profile["events"].as_array().unwrap() {
        let at = event["at"].as_f64().unwrap();
        if at > last {
            let stack = open.iter().map(|(_, name)| name.clone()).collect();
            *costs.entry(stack).or_default() += at - last;
        }
        last = at;
        let frame = event["frame"].as_u64().unwrap();
        match event["type"].as_str().unwrap() {
            "O" => {
                let name = frames[frame as usize]["name"].as_str().unwrap();
                open.push((frame, name.to_owned()));
            }
            _ => assert_eq!(open.pop().unwrap().0, frame, "frames close as they opened"),
        }
    }
    assert!(open.is_empty());
    assert_eq!(last, profile["endValue"].as_f64().unwrap());
    costs
}

fn in_firefox(file: &Value) -> Costs {
    let thread = &file["threads"][0];
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let mut costs = Costs::new();
    let samples = &thread["samples"];
    for row in 0..number(&samples["length"]) {
        let mut stack = Vec::new();
        let mut next = Some(number(&samples["stack"][row]));
        while let Some(at) = next {
            let frame = number(&thread["stackTable"]["frame"][at]);
            let function = number(&thread["frameTable"]["func"][frame]);
            let name = number(&thread["funcTable"]["name"][function]);
            stack.push(thread["stringArray"][name].as_str().unwrap().to_owned());
            let prefix = &thread["stackTable"]["prefix"][at];
            next = prefix.as_u64().map(|prefix| prefix as usize);
            assert!(next.is_none_or(|caller| caller < at), "callers stand first");
        }
        stack.reverse();
        let weight = samples["weight"][row].as_f64().unwrap();
        *costs.entry(stack).or_default() += (weight * 1e6).round();
    }
    assert_eq!(samples["weightType"], "tracing-ms");
    costs
}

fn in_d3(node: &Value, stack: &mut Vec<String>, costs: &mut Costs) {
    let children = node["children"].as_array().unwrap();
    let below: f64 = children
        .iter()
        .map(|child| child["value"].as_f64().unwrap())
        .sum();
    let own = node["value"].as_f64().unwrap() - below;
    if own > 0.0 {
        *costs.entry(stack.clone()).or_default() += own;
    }
    for child in children {
        stack.push(child["name"].as_str().unwrap().to_owned());
        in_d3(child, stack, costs);
        stack.pop();
    }
}

fn hostile() -> View {
    let cost = Cost {
        samples: 3,
        value: 7_000_001,
    };
    let frames = hostile_names().into_iter().map(|name| Frame {
        module: name,
        symbol: name,
        kind: FrameKind::User,
        file: name,
        line: 0,
    });
    let main = crate::views::frame("main", "demo", FrameKind::User);
    let stacks = frames.map(|frame| (vec![main, frame], cost)).collect();
    view("v\"1\n</script>", &stacks)
}

#[test]
fn viewers_find_the_stacks_and_costs_of_the_view() {
    for view in [demo().0, demo().1, hostile()] {
        let expected = expected(&view);
        assert_eq!(in_speedscope(&json(&view, SPEEDSCOPE)), expected);
        assert_eq!(in_firefox(&json(&view, FIREFOX)), expected);
        let mut costs = Costs::new();
        let root = json(&view, D3);
        in_d3(&root, &mut Vec::new(), &mut costs);
        assert_eq!(costs, expected);
        let whole: f64 = expected.values().sum();
        assert_eq!(root["value"].as_f64().unwrap(), whole);
    }
}

#[test]
fn files_state_their_type_and_unit() {
    let view = demo().0;
    assert_golden("export-v1.speedscope.json", &text(&view, SPEEDSCOPE));
    assert_golden("export-v1.firefox.json", &text(&view, FIREFOX));
    assert_golden("export-v1.d3.json", &text(&view, D3));
    assert_golden("export-v1.folded", &text(&view, FOLDED));
}

#[test]
fn tables_have_their_stated_length() {
    let file = json(&demo().0, FIREFOX);
    let mut tables = 0;
    for (name, table) in file["threads"][0].as_object().unwrap() {
        let Some(length) = table["length"].as_u64() else {
            continue;
        };
        tables += 1;
        for (column, values) in table.as_object().unwrap() {
            if let Some(values) = values.as_array() {
                assert_eq!(values.len() as u64, length, "{name}.{column}");
            }
        }
    }
    assert_eq!(tables, 7);
}

#[test]
fn hostile_names_do_not_break_folded_lines() {
    let view = hostile();
    let text = text(&view, FOLDED);
    assert_eq!(text.lines().count(), hostile_names().len());
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        assert_eq!(count, "7000001");
        assert_eq!(stack.split(';').count(), 2, "{stack}");
        assert!(!stack.contains(char::is_control), "{stack:?}");
    }
    let numbered = view_of_leaf("ends in 12 34");
    assert_eq!(super::text(&numbered, FOLDED), "ends in 12\u{a0}34 1\n");
    let comment = view_of_leaf("# comment");
    assert_eq!(super::text(&comment, FOLDED), "\\# comment 1\n");
}

fn view_of_leaf(name: &'static str) -> View {
    let mut stacks = folded("x 1", 1);
    stacks[0].0[0].symbol = name;
    view("v1", &stacks)
}
