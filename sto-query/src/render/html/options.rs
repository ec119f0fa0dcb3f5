//! The table of a command's options that a page was made with.

use super::Html;

/// An option, its value, and what it does.
pub(in crate::render) type OptionRow = (&'static str, String, &'static str);

/// Writes the options that a result depends on; `kind` is what they are called.
pub(in crate::render) fn options_table(html: &mut Html, kind: &'static str, rows: &[OptionRow]) {
    html.raw("<table class=\"thresholds\">\n<thead><tr><th scope=\"col\">")
        .raw(kind)
        .raw(
            "</th><th scope=\"col\" class=\"number\">Value</th><th scope=\"col\">What it does</th>",
        )
        .raw("</tr></thead>\n<tbody>\n");
    for (option, value, meaning) in rows {
        html.raw("<tr><th scope=\"row\"><code>")
            .raw(option)
            .raw("</code></th><td class=\"number\">")
            .text(value)
            .raw("</td><td>")
            .raw(meaning)
            .raw("</td></tr>\n");
    }
    html.raw("</tbody>\n</table>\n");
}
