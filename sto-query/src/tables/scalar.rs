//! Scalar functions: `stack`, `subtree`, `flame`, `function_key`.

use super::stored::Stored;
use super::table::text_or_null;
use crate::QueryError;
use crate::functions::{KeyOptions, key_symbol};
use crate::questions::{FlameRequest, FlameStacks};
use crate::render::export::d3_below;
use crate::render::flame::{self, FlameOptions};
use crate::sources::EVENT;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value;
use rusqlite::{Connection, Result};
use std::sync::Arc;

/// Name, arguments and description of each function.
pub(super) const FUNCTIONS: [(&str, &str, &str); 4] = [
    (
        "stack",
        "node",
        "the functions of a stack_node, root first, in the folded format",
    ),
    (
        "subtree",
        "node",
        "a stack_node and all below it as JSON for d3-flame-graph",
    ),
    ("flame", "build", "a flame graph of a build as SVG"),
    (
        "function_key",
        "symbol",
        "the symbol without the parts that compilers change from build to build",
    ),
];

/// Registers the functions with a connection.
pub(super) fn register(connection: &Connection, stored: &Arc<Stored>) -> Result<()> {
    for (name, call) in [
        ("stack", stack as fn(&Stored, &str) -> Result<Value>),
        ("subtree", subtree),
        ("flame", flame_graph),
        ("function_key", function_key),
    ] {
        let stored = stored.clone();
        let flags = FunctionFlags::SQLITE_UTF8
            | FunctionFlags::SQLITE_DETERMINISTIC
            | FunctionFlags::SQLITE_INNOCUOUS;
        connection.create_scalar_function(name, 1, flags, move |context: &mut Context<'_>| {
            let given: Option<String> = context.get(0)?;
            given.map_or(Ok(Value::Null), |given| call(&stored, &given))
        })?;
    }
    Ok(())
}

fn stack(stored: &Stored, node: &str) -> Result<Value> {
    let Some((tree, node)) = stored.keep_failure(stored.node(node))? else {
        return Ok(Value::Null);
    };
    let view = &tree.view;
    let callers = view.tree.ancestors(node);
    let mut symbols: Vec<String> = callers
        .map(|node| {
            view.frames
                .frame(view.tree.frame(node))
                .symbol
                .replace(';', ":")
        })
        .collect();
    symbols.reverse();
    Ok(text_or_null(symbols.join(";")))
}

fn subtree(stored: &Stored, node: &str) -> Result<Value> {
    let Some((tree, node)) = stored.keep_failure(stored.node(node))? else {
        return Ok(Value::Null);
    };
    let mut json = Vec::new();
    let written = d3_below(&tree.view, tree.totals(), node, &mut json);
    stored.keep_failure(written.map_err(QueryError::from))?;
    Ok(text_or_null(String::from_utf8_lossy(&json).trim_start()))
}

fn flame_graph(stored: &Stored, build: &str) -> Result<Value> {
    let request = FlameRequest {
        named: stored.keep_failure(stored.resolve_build(build))?,
        ..FlameRequest::default()
    };
    let answer = stored.ask(&request);
    let FlameStacks { view, .. } = stored.keep_failure(answer)?;
    let drawn = flame::svg((&view, EVENT), &FlameOptions::default());
    Ok(Value::Text(
        stored.keep_failure(drawn.map_err(QueryError::from))?,
    ))
}

fn function_key(_: &Stored, symbol: &str) -> Result<Value> {
    Ok(text_or_null(key_symbol(symbol, KeyOptions::default())))
}
