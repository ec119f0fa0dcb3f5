//! Parts that several pages have: the sides of a comparison and the table of options.

use crate::text::{Words, format_count, quantity};
use maud::{Markup, html};
use sto_core::units::{Cost, SampleType};

/// One side of a comparison.
pub(crate) struct Side {
    /// "Baseline" or "Candidate".
    pub(crate) heading: &'static str,
    /// The name of the build or builds.
    pub(crate) build: String,
    /// Names and values of further facts.
    pub(crate) facts: Vec<(String, String)>,
}

impl Side {
    /// Adds a fact, if it is known.
    pub(crate) fn fact(&mut self, name: &str, value: impl Into<Option<String>>) {
        self.facts
            .extend(value.into().map(|value| (name.to_owned(), value)));
    }
}

/// Returns both sides, baseline first.
pub(crate) fn sides(sides: [Side; 2]) -> Markup {
    html! {
        .sides {
            @for side in sides {
                section.side {
                    h3 { (side.heading) }
                    p.build { (side.build) }
                    dl { @for (name, value) in side.facts { dt { (name) } dd { (value) } } }
                }
            }
        }
    }
}

/// Returns when the first and the last run of a side were recorded.
pub(crate) fn recorded(first: Option<&String>, last: Option<&String>) -> String {
    match (first, last) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.clone(),
        (None, _) => "at an unknown time".to_owned(),
    }
}

/// Formats `1,234 samples of cpu-clock, 1.23 s`.
pub(crate) fn measured(cost: Cost, sample_type: Option<&SampleType>) -> String {
    let mut text = format_count(cost.samples, "sample");
    let Some(sample_type) = sample_type else {
        return text;
    };
    // Folded stacks have no event: "samples of samples" would be redundant.
    if sample_type.event != "samples" {
        text += &format!(" of {}", sample_type.event);
    }
    if let Some(quantity) = quantity(cost.value, sample_type.unit) {
        text += &format!(", {quantity}");
    }
    text
}

/// The name, value and meaning of an option.
pub(crate) type OptionRow = (&'static str, String, &'static str);

/// Returns a table of the options that a result depends on, headed by `kind`.
pub(crate) fn options_table(kind: &str, words: Words, rows: &[OptionRow]) -> Markup {
    html! {
        table.thresholds {
            thead { tr {
                th scope="col" { (kind) }
                th.number scope="col" { "Value" }
                th scope="col" { "What it does" }
            } }
            tbody {
                @for (option, value, meaning) in rows {
                    tr { th scope="row" { code { (words.option) (option) } } td.number { (value) } td { (meaning) } }
                }
            }
        }
    }
}
