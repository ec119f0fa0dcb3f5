//! The call hierarchy: callers and callees of functions, according to the profiles.

use super::costs::Costs;
use super::documents::{Document, Documents};
use super::hovers;
use super::text::Encoding;
use gen_lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Position, SymbolKind,
};
use serde_json::{Value, json};
use sto_query::internal::hot::{FunctionNo, HotFunction};
use sto_query::render::hot;
use sto_query::text::{printable, short_name};

/// The function at a position: the one that is named there, otherwise the one whose body contains the position.
pub(super) fn function_at<'a>(
    document: &mut Document,
    costs: &'a Costs,
    at: Position,
    encoding: Encoding,
) -> Option<HotFunction<'a>> {
    let named = hovers::function(document, costs, at, encoding);
    let mut around = || {
        let functions = &document.shown(costs)?.functions;
        let before = functions.partition_point(|&(line, _)| line <= at.line.saturating_add(1));
        let &(_, number) = functions.get(before.checked_sub(1)?)?;
        Some(costs.index.function(number))
    };
    named.or_else(&mut around)
}

/// The item for a function; `None` if the function is outside of the workspace.
pub(super) fn item(
    documents: &mut Documents,
    costs: &Costs,
    function: HotFunction<'_>,
    detail: String,
    encoding: Encoding,
) -> Option<CallHierarchyItem> {
    let place = documents.place(costs, function, encoding)?;
    Some(CallHierarchyItem {
        name: printable(&short_name(function.name)).into_owned(),
        kind: SymbolKind::Function,
        tags: None,
        detail: Some(detail),
        uri: place.uri,
        range: place.range,
        selection_range: place.range,
        // Function numbers change with the next build.
        data: Some(json!({ "function": function.name, "module": function.module })),
    })
}

/// Calls of an item's function. The place of the call is unknown, so it is the beginning of the caller.
pub(super) fn incoming(
    documents: &mut Documents,
    costs: &Costs,
    of: &CallHierarchyItem,
    encoding: Encoding,
) -> Option<Vec<CallHierarchyIncomingCall>> {
    let function = function_of(costs, of)?;
    let calls = costs.index.callers(function);
    let calls = calls.filter_map(|(caller, cost)| {
        let detail = format!("{} in calls of this", hot::percent(cost.share));
        let caller = costs.index.function(caller);
        let from = item(documents, costs, caller, detail, encoding)?;
        Some(CallHierarchyIncomingCall {
            from_ranges: vec![from.selection_range],
            from,
        })
    });
    Some(calls.collect())
}

/// Calls that an item's function makes.
pub(super) fn outgoing(
    documents: &mut Documents,
    costs: &Costs,
    of: &CallHierarchyItem,
    encoding: Encoding,
) -> Option<Vec<CallHierarchyOutgoingCall>> {
    let function = function_of(costs, of)?;
    let calls = costs.index.callees(function);
    let calls = calls.filter_map(|(callee, cost)| {
        let detail = format!("{} in these calls", hot::percent(cost.share));
        let callee = costs.index.function(callee);
        Some(CallHierarchyOutgoingCall {
            to: item(documents, costs, callee, detail, encoding)?,
            from_ranges: vec![of.selection_range],
        })
    });
    Some(calls.collect())
}

fn function_of(costs: &Costs, item: &CallHierarchyItem) -> Option<FunctionNo> {
    let data = item.data.as_ref()?;
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let function = costs.index.find(text("function")?, text("module")?)?;
    Some(function.number)
}
