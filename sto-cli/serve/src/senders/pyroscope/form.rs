//! Forms: `multipart/form-data`, as RFC 7578 describes it.

use crate::problem::Problem;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use std::collections::BTreeMap;

/// Maximum number of parts.
const MAX_PARTS: usize = 16;

/// The parts of a form by name.
pub(super) struct Form(BTreeMap<String, Bytes>);

impl Form {
    /// The boundary between the parts of a body; `None` if it is not a form.
    pub(super) fn boundary(headers: &HeaderMap) -> Option<String> {
        let content_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let (name, parameters) = content_type.split_once(';')?;
        if !name.trim().eq_ignore_ascii_case("multipart/form-data") {
            return None;
        }
        parameters.split(';').find_map(|parameter| {
            let (key, value) = parameter.split_once('=')?;
            let is_boundary = key.trim().eq_ignore_ascii_case("boundary");
            is_boundary.then(|| value.trim().trim_matches('"').to_owned())
        })
    }

    pub(super) fn parse(body: &Bytes, boundary: &str) -> Result<Form, Problem> {
        let delimiter = format!("--{boundary}");
        let begin = memmem(body, delimiter.as_bytes()).ok_or_else(|| {
            Problem::bad_request(format!(
                "a form without the boundary {boundary:?} that its content type names"
            ))
        })?;
        let delimiter = format!("\r\n{delimiter}");
        let mut parts = BTreeMap::new();
        let mut rest = body.slice(begin + delimiter.len() - 2..);
        while !rest.starts_with(b"--") {
            let end = memmem(&rest, delimiter.as_bytes()).ok_or_else(|| {
                Problem::bad_request("a form that ends within a part; expected its last boundary")
            })?;
            let (name, content) = part(&rest.slice(..end))?;
            parts.insert(name, content);
            if parts.len() > MAX_PARTS {
                return Err(Problem::bad_request(format!(
                    "a form of more than {MAX_PARTS} parts"
                )));
            }
            rest = rest.slice(end + delimiter.len()..);
        }
        Ok(Form(parts))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Bytes> {
        self.0.remove(name)
    }

    /// Takes a part that has to be there.
    pub(super) fn take_required(&mut self, name: &str) -> Result<Bytes, Problem> {
        self.take(name).ok_or_else(|| {
            let found: Vec<&str> = self.0.keys().map(String::as_str).collect();
            Problem::bad_request(format!(
                "a form without the part `{name}`; found {}",
                if found.is_empty() {
                    "no parts".to_owned()
                } else {
                    found.join(", ")
                }
            ))
        })
    }
}

/// Splits a part into its name and its content.
fn part(part: &Bytes) -> Result<(String, Bytes), Problem> {
    let split = memmem(part, b"\r\n\r\n").and_then(|end| {
        let head = std::str::from_utf8(&part[..end]).ok()?;
        Some((head, part.slice(end + 4..)))
    });
    let named = split.and_then(|(head, content)| Some((name(head)?.to_owned(), content)));
    named.ok_or_else(|| {
        Problem::bad_request(
            "a part of a form without a name; expected `Content-Disposition: form-data; name=…`",
        )
    })
}

fn name(head: &str) -> Option<&str> {
    let disposition = head.split("\r\n").find(|line| {
        line.split_once(':')
            .is_some_and(|(key, _)| key.eq_ignore_ascii_case("content-disposition"))
    })?;
    disposition.split(';').find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        (key.trim() == "name").then(|| value.trim().trim_matches('"'))
    })
}

fn memmem(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, sought)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &[u8] = b"preamble\r\n--b\r\nContent-Disposition: form-data; name=\"profile\"; filename=\"x.pprof\"\r\n\
        Content-Type: application/octet-stream\r\n\r\n\x1f\x8b\r\n--\0\r\n--b\r\ncontent-disposition: form-data; name=config\r\n\r\n\r\n--b--\r\n";

    #[test]
    fn parts_are_found_by_name() {
        let mut form = Form::parse(&Bytes::from_static(FORM), "b").expect("a form");
        assert_eq!(
            form.take("profile").as_deref(),
            Some(&b"\x1f\x8b\r\n--\0"[..])
        );
        let problem = form.take_required("jfr").expect_err("no such part");
        assert!(
            problem.detail.contains("found config"),
            "{}",
            problem.detail
        );
        assert_eq!(form.take("config").as_deref(), Some(&b""[..]));
    }

    #[test]
    fn rejects_damaged_forms() {
        for length in 0..FORM.len() - 4 {
            assert!(
                Form::parse(&Bytes::from_static(&FORM[..length]), "b").is_err(),
                "{length}"
            );
        }
    }

    #[test]
    fn the_boundary_is_in_the_content_type() {
        let boundary = |text: &str| {
            Form::boundary(&HeaderMap::from_iter([(
                CONTENT_TYPE,
                text.parse().expect("a header"),
            )]))
        };
        assert_eq!(
            boundary("multipart/form-data; boundary=\"a b\"").as_deref(),
            Some("a b")
        );
        assert_eq!(
            boundary("multipart/form-data;boundary=--x").as_deref(),
            Some("--x")
        );
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary("text/plain; boundary=x"), None);
    }
}
