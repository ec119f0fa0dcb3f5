//! Parts that pages have in common: the sides of a comparison, and the options it was made with.

use crate::text::{Words, counted, quantity};
use maud::{Markup, html};
use sto_core::units::{Cost, SampleType};

/// One side of what is compared.
pub(crate) struct Side {
    /// What it is.
    pub(crate) heading: &'static str,
    /// The build, or the builds.
    pub(crate) build: String,
    /// What is known of it.
    pub(crate) facts: Vec<(String, String)>,
}

impl Side {
    /// Adds what is known, if it is.
    pub(crate) fn fact(&mut self, name: &str, value: impl Into<Option<String>>) {
        self.facts
            .extend(value.into().map(|value| (name.to_owned(), value)));
    }
}

/// Both sides, the baseline first.
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

/// When the first and the last run of a side were recorded.
pub(crate) fn recorded(first: Option<&String>, last: Option<&String>) -> String {
    match (first, last) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.clone(),
        (None, _) => "at an unknown time".to_owned(),
    }
}

/// `1,234 samples of cpu-clock, 1.23 s`.
pub(crate) fn measured(cost: Cost, sample_type: Option<&SampleType>) -> String {
    let mut text = counted(cost.samples, "sample");
    let Some(sample_type) = sample_type else {
        return text;
    };
    // Folded stacks name no event: "samples of samples" would say nothing.
    if sample_type.event != "samples" {
        text += &format!(" of {}", sample_type.event);
    }
    if let Some(quantity) = quantity(cost.value, sample_type.unit) {
        text += &format!(", {quantity}");
    }
    text
}

/// An option, its value, and what it does.
pub(crate) type OptionRow = (&'static str, String, &'static str);

/// The options that a result depends on; `kind` is what they are called.
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
