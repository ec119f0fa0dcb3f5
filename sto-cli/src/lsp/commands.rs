//! Commands that a client runs by `workspace/executeCommand`.

use gen_lsp_types::Command;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

/// Opens the flame graph of the build, or of the stacks with the named function.
pub(super) const FLAME_GRAPH: &str = "sto.openFlameGraph";

/// Opens the page with the comparison.
pub(super) const DIFFERENCE: &str = "sto.showDifference";

/// Selects another build: the named one, or one that the user chooses.
pub(super) const SELECT_BUILD: &str = "sto.selectBuild";

/// All commands.
pub(super) const ALL: [&str; 3] = [FLAME_GRAPH, DIFFERENCE, SELECT_BUILD];

/// A command that opens the flame graph of a function.
pub(super) fn flame_graph(title: String, function: &str) -> Command {
    Command {
        title,
        tooltip: None,
        command: FLAME_GRAPH.to_owned(),
        arguments: Some(vec![json!(function)]),
    }
}

/// A command that opens the page with the comparison.
pub(super) fn difference(title: String) -> Command {
    Command {
        title,
        tooltip: None,
        command: DIFFERENCE.to_owned(),
        arguments: None,
    }
}

/// The target of a Markdown link that opens the flame graph, for clients that run commands from links.
pub(super) fn flame_graph_link(function: &str) -> String {
    let arguments = json!([function]).to_string();
    let arguments = utf8_percent_encode(&arguments, NON_ALPHANUMERIC);
    format!("command:{FLAME_GRAPH}?{arguments}")
}
