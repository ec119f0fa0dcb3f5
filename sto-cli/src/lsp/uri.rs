//! Conversion between paths and URIs.

use gen_lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Characters to encode: all except those that RFC 3986 allows in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The path in a URI, without resolving links; `None` if the URI is not a file of this machine.
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = path.split(['?', '#']).next()?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let is_path = bytes.starts_with(b"/") && !bytes.contains(&0);
    is_path.then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}

/// The URI of an absolute path.
pub(super) fn from_path(path: &Path) -> Uri {
    let path = percent_encode(path.as_os_str().as_bytes(), ESCAPED);
    Uri(format!("file://{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(uri: &str) -> Option<PathBuf> {
        to_path(&uri.into())
    }

    #[test]
    fn every_path_survives_the_conversion_to_a_uri() {
        let strange = OsStr::from_bytes(b"/a b/%20/\xff#?\"/gr\xc3\xb6\xc3\x9fe.c");
        let uri = from_path(Path::new(strange));
        assert_eq!(uri.0, "file:///a%20b/%2520/%FF%23%3F%22/gr%C3%B6%C3%9Fe.c");
        assert_eq!(to_path(&uri).as_deref(), Some(Path::new(strange)));
    }

    #[test]
    fn other_uris_have_no_path() {
        for uri in [
            "untitled:Untitled-1",
            "file://server/share/a.c",
            "file:a.c",
            "https://x/a.c",
            "file:///a%00.c",
            "",
        ] {
            assert_eq!(path(uri), None, "{uri}");
        }
        assert_eq!(path("file://localhost/a.c"), Some("/a.c".into()));
    }
}
