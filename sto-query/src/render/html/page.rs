//! A page in one file: it loads nothing, and runs no script but its own.

use super::Html;
use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

/// What a page needs around its body.
pub(in crate::render) struct Page<'a> {
    /// The document's title.
    pub(in crate::render) title: &'a str,
    /// Style sheets beside those of the parts in [`html`](super).
    pub(in crate::render) styles: &'a [&'static str],
    /// Scripts beside those.
    pub(in crate::render) scripts: &'a [&'static str],
}

const STYLES: [&str; 2] = [include_str!("page.css"), include_str!("flame.css")];
const SCRIPTS: [&str; 2] = [include_str!("page.js"), include_str!("flame.js")];

impl Page<'_> {
    /// The document around what `body` writes.
    pub(in crate::render) fn render(&self, body: impl FnOnce(&mut Html)) -> String {
        let mut html = Html::default();
        html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
            // The policy stands before all that it governs. It has no host to load from, and names
            // style and script by their content, so what a name might smuggle in is not run.
            .raw(
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;",
            );
        let styles: Vec<&'static str> = STYLES.iter().chain(self.styles).copied().collect();
        allow(&mut html, "; style-src", &styles);
        let scripts: Vec<&'static str> = SCRIPTS.iter().chain(self.scripts).copied().collect();
        allow(&mut html, "; script-src", &scripts);
        html.raw("; base-uri &#39;none&#39;; form-action &#39;none&#39;\">\n")
            .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
            .raw("<meta name=\"color-scheme\" content=\"light dark\">\n")
            .raw("<meta name=\"referrer\" content=\"no-referrer\">\n<title>")
            .text(self.title)
            .raw("</title>\n");
        for style in styles {
            html.raw("<style>").raw(style).raw("</style>\n");
        }
        html.raw("</head>\n<body>\n");
        body(&mut html);
        for script in scripts {
            html.raw("<script>").raw(script).raw("</script>\n");
        }
        html.raw("</body>\n</html>\n");
        html.finish()
    }
}

fn allow(html: &mut Html, directive: &'static str, sources: &[&str]) {
    html.raw(directive);
    for source in sources {
        html.raw(" &#39;sha256-")
            .text(&BASE64_STANDARD.encode(Sha256::digest(source)))
            .raw("&#39;");
    }
}
