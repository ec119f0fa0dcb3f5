//! Workspace symbols: the most expensive functions.

use super::costs::Costs;
use super::documents::Documents;
use super::settings::Settings;
use super::text::Encoding;
use gen_lsp_types::{BaseSymbolInformation, SymbolKind, WorkspaceSymbol};
use sto_query::text::{printable, short_name};

/// The prefix of queries that are answered: other symbols are left to the language's own server.
const HOT: &str = "hot";

const MOST_SYMBOLS: usize = 100;

/// The most expensive functions in the workspace, for `#hot` or `#hot NAME`; `#` is optional, as some editors remove
/// it.
pub(super) fn symbols(
    documents: &mut Documents,
    costs: &Costs,
    settings: &Settings,
    query: &str,
    encoding: Encoding,
) -> Vec<WorkspaceSymbol> {
    let query = query.trim();
    let query = query.strip_prefix('#').unwrap_or(query);
    let Some(name) = query.strip_prefix(HOT) else {
        return Vec::new();
    };
    // `hotel` is another symbol.
    if name.starts_with(|c: char| !c.is_whitespace()) {
        return Vec::new();
    }
    let name = name.trim().to_lowercase();
    let functions = costs.index.hottest();
    let named = functions.filter(|function| {
        let names = [function.name, &short_name(function.name)];
        names
            .iter()
            .any(|known| known.to_lowercase().contains(&name))
    });
    let symbols = named.filter_map(|function| {
        let location = documents.place(costs, function, encoding)?;
        let words = settings.words(&function.costs, costs.change(function.number));
        Some(WorkspaceSymbol {
            location: location.into(),
            data: None,
            base_symbol_information: BaseSymbolInformation {
                // Editors hide symbols whose names do not contain the query.
                name: format!("{} #hot", printable(&short_name(function.name))),
                kind: SymbolKind::Function,
                tags: None,
                container_name: Some(words),
            },
        })
    });
    symbols.take(MOST_SYMBOLS).collect()
}
