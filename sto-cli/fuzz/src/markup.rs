//! Documents that contain names: names must only become text.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::BTreeSet;
use std::str;

/// All elements and attributes of pages and drawings. None of them loads or runs anything, except `href`, which
/// is checked.
const ELEMENTS: &str = " a article body button circle code dd details div dl dt em figcaption figure g h1 h2 \
    h3 h4 h5 head header html input kbd label li line main meta ol option p path polygon polyline pre \
    rect script section select small span style summary svg table tbody td text th thead title tr \
    tspan ul ";
const ATTRIBUTES: &str = " aria-hidden aria-label aria-live autocomplete charset class content cx cy \
    data-costs data-drawn data-label data-other data-search data-suspect data-unit dx fill height hidden \
    href http-equiv id lang name open placeholder points preserveAspectRatio r role scope spellcheck tabindex \
    text-anchor title transform type value viewBox width x x1 x2 xmlns y y1 y2 selected disabled colspan \
    rowspan ";
/// The elements and attributes of JUnit.
const JUNIT: &str = " testsuites testsuite testcase failure error skipped system-out system-err properties \
    property name classname tests failures errors skipped time timestamp message type file line value \
    hostname id package assertions ";

fn known(list: &str, name: &str) -> bool {
    list.contains(&format!(" {name} "))
}

/// The parts of a document that names must not change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Own {
    /// The text of all scripts and style sheets.
    code: Vec<String>,
}

/// Checks that a document only has characters that XML allows, and none that changes how text is displayed.
fn check_characters(document: &str) {
    let hidden = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    assert_eq!(document.chars().find(|&c| hidden(c)), None);
}

/// Checks an XML document: SVG or JUnit.
pub(crate) fn xml(document: &[u8]) -> Own {
    let document = str::from_utf8(document).expect("UTF-8");
    check_characters(document);
    let (elements, attributes) = if document.contains("<testsuites") {
        (JUNIT, JUNIT)
    } else {
        (ELEMENTS, ATTRIBUTES)
    };
    let mut reader = Reader::from_str(document);
    let mut code = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let check = |start: &BytesStart<'_>| {
        let name = str::from_utf8(start.name().into_inner())
            .expect("UTF-8")
            .to_owned();
        assert!(known(elements, &name), "<{name}>");
        for attribute in start.attributes() {
            let attribute = attribute.expect("attributes are well-formed");
            let name = str::from_utf8(attribute.key.into_inner()).expect("UTF-8");
            assert!(known(attributes, name), "{name}=");
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .expect("references are known");
            check_value(name, &value);
        }
        name
    };
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(start) => open.push(check(&start)),
            Event::Empty(start) => drop(check(&start)),
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                text.decode().expect("UTF-8");
            }
            Event::CData(text) => {
                assert!(
                    open.last()
                        .is_some_and(|name| name == "script" || name == "style")
                );
                code.push(String::from_utf8_lossy(&text).into_owned());
            }
            Event::GeneralRef(entity) => {
                let name = entity.decode().expect("UTF-8");
                let known = ["lt", "gt", "amp", "quot", "apos"].contains(&&*name);
                assert!(
                    known || entity.resolve_char_ref().is_ok_and(|c| c.is_some()),
                    "&{name};"
                );
            }
            Event::Eof => break,
            Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
        }
    }
    assert!(open.is_empty(), "{open:?} is open at the end");
    Own { code }
}

fn check_value(attribute: &str, value: &str) {
    match attribute {
        "href" => assert!(
            value.starts_with('#') || value.starts_with("https://"),
            "{value}"
        ),
        "id" => assert!(!value.contains(char::is_whitespace), "{value}"),
        _ => {}
    }
}

/// Checks a page, parsed like in browsers (<https://html.spec.whatwg.org/multipage/parsing.html>), but without
/// error recovery, because pages must have no errors.
pub(crate) fn html(document: &[u8]) -> Own {
    let document = str::from_utf8(document).expect("UTF-8");
    check_characters(document);
    let mut code = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut rest = document
        .strip_prefix("<!DOCTYPE html>")
        .expect("a document type");
    while let Some(at) = rest.find('<') {
        check_references(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(end) = rest.strip_prefix('/') {
            let (name, behind) = end.split_once('>').expect("an end tag ends");
            assert_eq!(open.pop(), Some(name), "</{name}>");
            rest = behind;
            continue;
        }
        let name_end = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .expect("a tag ends");
        let name = &rest[..name_end];
        assert!(
            known(ELEMENTS, name),
            "<{}",
            &rest[..rest.floor_char_boundary(80)]
        );
        rest = &rest[name_end..];
        let is_empty = loop {
            rest = rest.trim_start();
            if let Some(behind) = rest.strip_prefix("/>") {
                rest = behind;
                break true;
            }
            if let Some(behind) = rest.strip_prefix('>') {
                rest = behind;
                break matches!(name, "meta" | "input");
            }
            let end = rest.find(['=', ' ', '>']).expect("an attribute ends");
            let attribute = &rest[..end];
            assert!(known(ATTRIBUTES, attribute), "{attribute}=");
            rest = &rest[end..];
            if let Some(quoted) = rest.strip_prefix("=\"") {
                let (value, behind) = quoted.split_once('"').expect("a value ends");
                assert!(!value.contains('<'), "{value}");
                check_references(value);
                check_value(attribute, value);
                if attribute == "id" {
                    assert!(ids.insert(value), "two elements are called {value}");
                }
                rest = behind;
            }
        };
        match name {
            "script" | "style" => {
                let (text, behind) = rest.split_once(&format!("</{name}>")).expect("it ends");
                code.push(text.to_owned());
                rest = behind;
            }
            _ if is_empty => {}
            _ => open.push(name),
        }
    }
    check_references(rest);
    assert!(open.is_empty(), "{open:?} is open at the end");
    Own { code }
}

/// Checks that each `&` begins a reference; another one would come from an unescaped name.
fn check_references(text: &str) {
    for reference in text.split('&').skip(1) {
        let name = reference.split_once(';').map_or("", |(name, _)| name);
        let is_number = name.strip_prefix('#').is_some_and(|number| {
            number
                .strip_prefix('x')
                .unwrap_or(number)
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit())
        });
        let is_known = is_number || ["amp", "lt", "gt", "quot", "apos", "nbsp"].contains(&name);
        assert!(
            is_known,
            "&{}",
            &reference[..reference.floor_char_boundary(20)]
        );
    }
}

/// Checks Markdown by GitHub's rules: all rows of a table have the same number of cells, and names cause
/// no markup outside of code.
pub(crate) fn markdown(document: &[u8]) -> Own {
    let document = str::from_utf8(document).expect("UTF-8");
    check_characters(document);
    let mut cells = None;
    let mut is_fenced = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        }
        if is_fenced || line.starts_with("```") {
            continue;
        }
        let count = line.matches('|').count();
        match (line.starts_with('|'), cells) {
            (false, _) => cells = None,
            (true, None) => cells = Some(count),
            (true, Some(cells)) => assert_eq!(count, cells, "{line}"),
        }
        let outside: String = line.split('`').step_by(2).collect();
        for tag in outside.split('<').skip(1) {
            let ours = [
                "details>",
                "/details>",
                "summary>",
                "/summary>",
                "code>",
                "/code>",
                "!-- -->",
                "br>",
                "sub>",
                "/sub>",
            ];
            assert!(ours.iter().any(|own| tag.starts_with(own)), "{line}");
        }
        assert!(!outside.replace("&#", "").contains("]("), "{line}");
    }
    assert!(!is_fenced, "code is open at the end");
    Own { code: Vec::new() }
}

/// Checks that each line is an expected command of GitHub's runner.
pub(crate) fn github(document: &[u8]) -> Own {
    let document = str::from_utf8(document).expect("UTF-8");
    check_characters(document);
    for line in document.lines() {
        let command = line
            .strip_prefix("::")
            .and_then(|line| line.split_once("::"));
        let (command, _) = command.unwrap_or_else(|| panic!("no command: {line}"));
        let (name, properties) = command.split_once(' ').unwrap_or((command, ""));
        assert!(["error", "warning", "notice"].contains(&name), "{line}");
        for property in properties
            .split(',')
            .filter(|property| !property.is_empty())
        {
            let name = property.split_once('=').map_or("", |(name, _)| name);
            assert!(
                ["file", "line", "title", "endLine", "col"].contains(&name),
                "{line}"
            );
        }
    }
    Own { code: Vec::new() }
}

/// Checks text for a terminal.
pub(crate) fn text(document: &[u8]) -> Own {
    let document = str::from_utf8(document).expect("UTF-8");
    check_characters(document);
    assert!(!document.contains('\t'), "{document}");
    Own { code: Vec::new() }
}

/// Checks JSON.
pub(crate) fn json(document: &[u8]) -> Own {
    serde_json::from_slice::<serde_json::Value>(document).expect("JSON");
    Own { code: Vec::new() }
}
