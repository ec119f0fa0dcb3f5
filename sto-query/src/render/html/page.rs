//! A page in a single file: it loads nothing and runs only its own scripts.

use crate::text::printable;
use base64::prelude::{BASE64_STANDARD, Engine};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// The parts of a page that surround its body.
pub(crate) struct Page<'a> {
    /// Title of the document.
    pub(crate) title: &'a str,
    /// Style sheet, in addition to the sheets that all pages have.
    pub(crate) style: &'static str,
    /// Script, in addition to the scripts that all pages have.
    pub(crate) script: &'static str,
}

impl Page<'_> {
    /// Returns the document with this body. Hidden characters in names are made visible, as by
    /// [`printable`]; the markup itself contains no such characters.
    pub(crate) fn render(&self, content: &Markup) -> String {
        let styles = [
            include_str!("page.css"),
            include_str!("../flame/flame.css"),
            self.style,
        ];
        let scripts = [
            concat!(include_str!("element.js"), include_str!("page.js")),
            include_str!("../flame/flame.js"),
            self.script,
        ];
        // The policy allows no host, and styles and scripts only by the hash of their content, so
        // that nothing injected by a name can run.
        let policy = format!(
            "default-src 'none'; style-src{}; script-src{}; base-uri 'none'; form-action 'none'",
            hashes(&styles),
            hashes(&scripts),
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    // Comes before everything that the policy applies to.
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (printable(self.title)) }
                    @for style in used(&styles) { style { (PreEscaped(style)) } }
                }
                body {
                    (PreEscaped(printable(&content.0)))
                    @for script in used(&scripts) { script { (PreEscaped(script)) } }
                }
            }
        };
        page.into_string() + "\n"
    }
}

fn used<'a>(sources: &'a [&str]) -> impl Iterator<Item = &'a &'a str> {
    sources.iter().filter(|source| !source.is_empty())
}

fn hashes(sources: &[&str]) -> String {
    let hash = |source| BASE64_STANDARD.encode(Sha256::digest(source));
    used(sources)
        .map(|source| format!(" 'sha256-{}'", hash(source)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Page;
    use maud::html;

    #[test]
    fn names_are_escaped_in_markup() {
        let hostile = "</script><script>alert('1')</script>&\"\u{202e}\n";
        let page = Page {
            title: hostile,
            style: "",
            script: "",
        };
        let page = page.render(&html! { p title=(hostile) { (hostile) } });
        let shown =
            "&lt;/script&gt;&lt;script&gt;alert('1')&lt;/script&gt;&amp;&quot;\\u{202e}\\u{a}";
        for part in [
            format!("<title>{shown}</title>"),
            format!("<p title=\"{shown}\">{shown}</p>"),
        ] {
            assert!(page.contains(&part), "{page}");
        }
    }
}
