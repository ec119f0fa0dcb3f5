//! The files of the pages.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::LazyLock;

/// Embeds files of the folder `assets`.
macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../assets/", $name)))),*]
    };
}

const PAGE: &str = include_str!("../../assets/index.html");

/// All files of the page, stylesheets in the order in which they apply.
const FILES: &[(&str, &str)] = &files! {
    "icon.svg"
    "styles/base.css"
    "styles/shell.css"
    "styles/compare.css"
    "styles/explorer.css"
    "styles/flame.css"
    "styles/screens.css"
    "styles/table.css"
    "main.js"
    "ask.js"
    "build_ref.js"
    "columns.js"
    "components/builds_choice.js"
    "components/data_table.js"
    "components/dots.js"
    "components/downloads.js"
    "components/explorer.js"
    "components/fields.js"
    "components/filters.js"
    "components/findings.js"
    "components/flame.js"
    "components/flame_picture.js"
    "components/flame_tree.js"
    "components/line_plot.js"
    "components/measures.js"
    "components/numbers.js"
    "components/palette.js"
    "components/part.js"
    "components/regroup.js"
    "components/source_lines.js"
    "components/stacks.js"
    "components/table.js"
    "dom.js"
    "host/address.js"
    "host/call.js"
    "host/files.js"
    "problem.js"
    "save.js"
    "screens/builds.js"
    "screens/compare.js"
    "screens/index.js"
    "screens/inside.js"
    "screens/over_time.js"
    "screens/profile.js"
    "screens/savings.js"
    "screens/sql.js"
    "screens/status.js"
    "shell/commands.js"
    "shell/header.js"
    "shell/keys.js"
    "shell/palette.js"
    "shell/router.js"
    "shell/theme.js"
};

/// The page and its files, compressed at the first request.
pub(super) static ASSETS: LazyLock<Assets> = LazyLock::new(Assets::new);

/// The page of all screens, and its files.
pub(super) struct Assets {
    /// Hash of all files, a part of their addresses.
    pub(super) digest: String,
    /// The HTML of all screens.
    pub(super) page: Asset,
    /// The other files by name.
    pub(super) files: BTreeMap<&'static str, Asset>,
}

/// A file, plain and compressed.
pub(super) struct Asset {
    pub(super) content_type: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) gzipped: Vec<u8>,
}

impl Assets {
    fn new() -> Assets {
        let mut hasher = blake3::Hasher::new();
        for text in FILES.iter().flat_map(|(name, content)| [name, content]) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let digest = hasher.finalize().to_hex()[..16].to_owned();
        let page = PAGE.replace("<!-- files -->", &links(&digest));
        let files = FILES
            .iter()
            .map(|&(name, content)| (name, Asset::new(name, content)));
        Assets {
            page: Asset::new("index.html", &page),
            files: files.collect(),
            digest,
        }
    }
}

impl Asset {
    fn new(name: &str, content: &str) -> Asset {
        let content_type = match name.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        };
        Asset {
            content_type,
            bytes: content.into(),
            gzipped: gzip(content.as_bytes()),
        }
    }
}

/// Returns HTML that loads all files at once: scripts would otherwise be found one import after the other.
fn links(digest: &str) -> String {
    let links = FILES.iter().map(|(name, _)| {
        let kind = match *name {
            "main.js" => {
                return format!(
                    "<script type=\"module\" src=\"/assets/{digest}/{name}\"></script>\n"
                );
            }
            "icon.svg" => "icon",
            _ if name.ends_with(".css") => "stylesheet",
            _ => "modulepreload",
        };
        format!("<link rel=\"{kind}\" href=\"/assets/{digest}/{name}\">\n")
    });
    links.collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // A vector takes all bytes.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ASSETS, FILES};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Bytes that all files may have together, compressed.
    const MAX_SIZE: usize = 100_000;

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("the folder is readable");
        let paths = entries.map(|entry| entry.expect("the entry is readable").path());
        paths
            .flat_map(|path| {
                if path.is_dir() {
                    files_below(&path)
                } else {
                    vec![path]
                }
            })
            .collect()
    }

    #[test]
    fn all_files_of_the_folder_are_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        let found = files_below(&folder);
        let found = found.iter().map(|path| {
            let name = path
                .strip_prefix(&folder)
                .expect("the path is in the folder");
            name.to_string_lossy().into_owned()
        });
        let found: BTreeSet<String> = found.filter(|name| name != "index.html").collect();
        let embedded = FILES.iter().map(|(name, _)| (*name).to_owned());
        assert_eq!(embedded.collect::<BTreeSet<_>>(), found);
    }

    #[test]
    fn all_files_together_stay_small() {
        let files = ASSETS.files.values().map(|asset| asset.gzipped.len());
        let total = ASSETS.page.gzipped.len() + files.sum::<usize>();
        assert!(
            total < MAX_SIZE,
            "{total} bytes, expected less than {MAX_SIZE}"
        );
    }

    #[test]
    fn no_asset_parses_text_as_html_or_code() {
        for (name, content) in FILES {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
            ] {
                assert!(!content.contains(forbidden), "{name} has {forbidden}");
            }
        }
    }
}
