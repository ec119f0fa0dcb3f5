//! Names in HTML. `maud` escapes them, and [`Page`](super::Page) makes hidden characters visible.

use crate::text::names::shorten_name;
use crate::text::printable;
use crate::tree::{Link, folded_name};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// Maximum width of a name. The largest names of C++ templates would fill the page.
const MAX_NAME_WIDTH: usize = 200;

/// Returns a function's name as pages show it and flame graphs search for it.
pub(crate) fn short_name(symbol: &str) -> String {
    shorten_name(&printable(symbol), MAX_NAME_WIDTH)
}

/// Returns the short name as code.
pub(crate) fn name(symbol: &str) -> Markup {
    html! { code { (short_name(symbol)) } }
}

/// Returns a function's full name, collapsed, if the [short name](short_name) is shortened.
pub(crate) fn whole_name(symbol: &str) -> Markup {
    html! {
        @if short_name(symbol) != printable(symbol) {
            details { summary { "Full name" } code { (symbol) } }
        }
    }
}

/// Returns a script element of type JSON with data for the page's script. No string in it can end
/// the element.
///
/// # Panics
///
/// Panics if the data has map keys that are not strings.
pub(crate) fn script_data(id: &str, data: &impl Serialize) -> Markup {
    let json = serde_json::to_string(data).expect("there are no keys but strings");
    // A script element ends at `</script`, whatever its type.
    let json = [("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")]
        .into_iter()
        .fold(json, |json, (mark, escape)| json.replace(mark, escape));
    html! { script id=(id) type="application/json" { (PreEscaped(json)) } }
}

/// Returns the separator between two functions of a path.
pub(crate) fn step() -> Markup {
    html! { " " span.step { "›" } " " }
}

/// Returns the passed-through frames of a chain as one collapsed line.
pub(crate) fn folded(frames: &[Link]) -> Markup {
    html! {
        details.folded {
            summary { "… " (folded_name(frames)) }
            @for (ix, frame) in frames.iter().enumerate() {
                @if ix > 0 { (step()) }
                (name(frame.symbol))
            }
        }
    }
}

/// Returns table cells with numbers.
pub(crate) fn numbers<const N: usize>(numbers: [&str; N]) -> Markup {
    html! { @for number in numbers { td.number { (number) } } }
}

/// Returns the head of a column of numbers, with an explanation.
pub(crate) fn number_head(head: &str, meaning: &str) -> Markup {
    html! { th.number scope="col" { (head) small { (meaning) } } }
}

#[cfg(test)]
mod tests {
    use super::{folded, short_name};
    use crate::tree::Link;

    #[test]
    fn folded_frames_are_collapsed_and_long_names_shortened() {
        let link = |symbol| Link {
            symbol,
            module: "",
            is_passed_through: true,
        };
        assert_eq!(
            folded(&["std::rt::start", "core::operator<"].map(link)).into_string(),
            "<details class=\"folded\"><summary>… 2 frames: std</summary><code>std::rt::start</code> \
             <span class=\"step\">›</span> <code>core::operator&lt;</code></details>"
        );
        let long = format!("{}::search", ["outer"; 60].join("::"));
        let short = short_name(&long);
        assert!(
            short.starts_with('…') && short.ends_with("::outer::search"),
            "{short}"
        );
    }
}
