//! Exported stacks: sto's and other readers find the same content.

mod calls;
mod contexts;
mod otlp;
mod page;
mod pprof;
mod round_trips;
mod tables;
mod trees;

use crate::views;
use sto_query::error::ExportError;
use sto_query::questions::Exported;
use sto_query::render;
use sto_query::results::View;

type Renderer = fn(&View, &mut Vec<u8>) -> Result<(), ExportError>;

/// Returns the exported selection before compression.
pub(crate) fn written(exported: &Exported) -> Vec<u8> {
    let mut bytes = Vec::new();
    render::export::write(exported, false, &mut bytes).unwrap();
    bytes
}

fn export(view: &View, render: Renderer) -> Vec<u8> {
    let mut bytes = Vec::new();
    render(view, &mut bytes).unwrap();
    bytes
}

fn text(view: &View, render: Renderer) -> String {
    String::from_utf8(export(view, render)).unwrap()
}

fn json(view: &View, render: Renderer) -> serde_json::Value {
    serde_json::from_slice(&export(view, render)).unwrap()
}

const EVERY: [Renderer; 8] = [
    |view, out| sto_query::render::export::folded(view, 0, out),
    |view, out| sto_query::render::export::pprof(view, None, out),
    |view, out| sto_query::render::export::speedscope(view, out),
    |view, out| sto_query::render::export::firefox(view, out),
    |view, out| sto_query::render::export::d3(view, 0, out),
    |view, out| sto_query::render::export::callgrind(view, out),
    |view, out| sto_query::render::export::csv(view, out),
    |view, out| sto_query::render::export::otlp(view, None, out),
];
const FOLDED: Renderer = EVERY[0];
const PPROF: Renderer = EVERY[1];
const SPEEDSCOPE: Renderer = EVERY[2];
const FIREFOX: Renderer = EVERY[3];
const D3: Renderer = EVERY[4];
const CALLGRIND: Renderer = EVERY[5];
const CSV: Renderer = EVERY[6];
const OTLP: Renderer = EVERY[7];

#[test]
fn rejects_view_without_samples() {
    let empty = views::view_of("v1", &[]);
    for render in EVERY {
        let error = render(&empty, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "demo@v1 has no samples to export");
    }
}

#[test]
fn deep_recursion_is_exported_only_as_a_tree() {
    use sto_core::model::FrameKind;
    use sto_core::units::Cost;
    let fib = views::frame("fib", "demo", FrameKind::User);
    let once = Cost {
        samples: 1,
        value: 1,
    };
    let mut view = views::view("v1", &vec![(vec![fib; 100_000], once)]);
    // Every level has samples.
    view.runs[0][0] = view.tree.nodes().map(|node| (node, once)).collect();
    for render in [SPEEDSCOPE, FIREFOX, D3, CALLGRIND, CSV] {
        let bytes = export(&view, render);
        assert!(bytes.len() < 20_000_000, "{} bytes", bytes.len());
    }
    for render in [FOLDED, PPROF, OTLP] {
        let error = render(&view, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("5000050000 frames in total"), "{error}");
        assert!(error.contains("speedscope"), "{error}");
    }
}
