//! Markup that names cannot break.

use crate::text::names::shorten_name;
use crate::text::printable;
use crate::tree::{Link, folded_name};
use serde::Serialize;

/// HTML that is being written. Markup is `'static`, so what is only known at run time can get in
/// as text alone, and is escaped.
#[derive(Debug, Default)]
pub(in crate::render) struct Html(String);

impl Html {
    /// Adds markup.
    pub(in crate::render) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Adds text, for an element or for an attribute in double quotes. What would be hidden is
    /// shown, as [`printable`] does.
    pub(in crate::render) fn text(&mut self, text: &str) -> &mut Html {
        for character in printable(text).chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(character),
            }
        }
        self
    }

    /// Adds data for the page's scripts: JSON in which nothing can end the element that it is in.
    pub(in crate::render) fn data(&mut self, data: &impl Serialize) -> &mut Html {
        let json = serde_json::to_string(data).expect("data has no keys but strings");
        // `<` stands in strings alone, so its escape means the same.
        self.0.push_str(&json.replace('<', "\\u003c"));
        self
    }

    /// The whole.
    pub(in crate::render) fn finish(self) -> String {
        self.0
    }
}

/// Columns of a name: the largest of C++ templates would fill the page.
const MAX_NAME_WIDTH: usize = 200;

/// A function's name as pages show it, and as their flame graphs search for it.
pub(in crate::render) fn short_name(symbol: &str) -> String {
    shorten_name(&printable(symbol), MAX_NAME_WIDTH)
}

/// What stands between two functions of a path.
pub(in crate::render) const STEP: &str = " <span class=\"step\">›</span> ";

/// Frames of a chain that say little, as one line that unfolds.
pub(in crate::render) fn folded(html: &mut Html, frames: &[Link]) {
    html.raw("<details class=\"folded\"><summary>… ")
        .text(&folded_name(frames))
        .raw("</summary>");
    for (ix, frame) in frames.iter().enumerate() {
        if ix > 0 {
            html.raw(STEP);
        }
        html.raw("<code>")
            .text(&short_name(frame.symbol))
            .raw("</code>");
    }
    html.raw("</details>");
}

#[cfg(test)]
mod tests {
    use super::{Html, folded, short_name};
    use crate::tree::Link;

    #[test]
    fn text_and_data_cannot_become_markup() {
        let hostile = "</script><script>alert('1')</script>&\"\u{202e}\n";
        let mut html = Html::default();
        html.raw("<p title=\"").text(hostile).raw("\">");
        assert_eq!(
            html.finish(),
            "<p title=\"&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;\
             \\u{202e}\\u{a}\">"
        );
        let mut data = Html::default();
        data.data(&[hostile]);
        let data = data.finish();
        assert!(!data.contains('<'), "{data}");
        let read: Vec<String> = serde_json::from_str(&data).expect("it is JSON");
        assert_eq!(read, [hostile]);
    }

    #[test]
    fn folded_frames_unfold_and_long_names_lose_their_head() {
        let link = |symbol| Link {
            symbol,
            module: "",
            is_passed_through: true,
        };
        let mut html = Html::default();
        folded(&mut html, &["std::rt::start", "core::a<b>"].map(link));
        assert_eq!(
            html.finish(),
            "<details class=\"folded\"><summary>… 2 frames: std</summary><code>std::rt::start</code> \
             <span class=\"step\">›</span> <code>core::a&lt;b&gt;</code></details>"
        );
        let long = format!("{}::search", ["outer"; 60].join("::"));
        let short = short_name(&long);
        assert!(
            short.starts_with('…') && short.ends_with("::outer::search"),
            "{short}"
        );
    }
}
