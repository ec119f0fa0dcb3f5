//! Hostile names, texts and URIs.

use super::session::{Session, uri, with_demo, write_at};
use crate::support::Sandbox;
use serde_json::{Value, json};

/// A callgrind file with a function whose name is markup.
const HOSTILE: &str = "\
# callgrind format
version: 1
events: Ir
fl=src/evil.c
fn=main
1 10
cfn=evil](command:x)`**<img src=x>
calls=1 3
1 90
fn=evil](command:x)`**<img src=x>
3 90
";

#[test]
fn names_are_escaped_in_markup() {
    let sandbox = Sandbox::new();
    sandbox.write("callgrind.out.1", HOSTILE);
    let ingest = [
        "ingest",
        "callgrind.out.1",
        "--exe",
        "evil",
        "--build",
        "<b>v1`",
    ];
    sandbox.sto(&ingest).succeeds();
    let source = "int main(void)\n{\n  return evil();\n}\n";
    write_at(&sandbox, "src/evil.c", source, 0);
    let mut session = Session::start(&sandbox);
    let uri = session.open(&sandbox.path("src/evil.c"));
    let hover = session.hover(&uri, 1, 5)["contents"]["value"].clone();
    let text = hover.as_str().unwrap();
    assert!(
        text.contains("- `` evil](command:x)`**<img src=x> `` 90 %"),
        "{text}"
    );
    assert!(text.contains("of `` evil@<b>v1` ``"), "{text}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn documents_are_identified_by_file_whatever_their_uri() {
    let sandbox = with_demo();
    let mut session = Session::start(&sandbox);
    let source = sandbox.path("src/demo.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let folder = uri(sandbox.path("src"));
    for uri in [
        format!("{folder}/../src/./demo.c"),
        format!("{folder}/d%65mo.c"),
        format!("{folder}/demo.c").replace("file://", "file://localhost"),
    ] {
        session.open_as(&uri, &text);
        assert_eq!(session.hints(&uri, [119, 130]).len(), 6, "{uri}");
    }
    for uri in [
        "untitled:demo.c".to_owned(),
        "https://example.org/src/demo.c".to_owned(),
        format!("{folder}/../../../../../../../../../../etc/passwd"),
        format!("{folder}/%00demo.c"),
        format!("{folder}/new.c"),
        "demo.c".to_owned(),
        String::new(),
    ] {
        session.open_as(&uri, &text);
        assert_eq!(session.hints(&uri, [119, 130]), [], "{uri}");
        assert_eq!(session.hover(&uri, 127, 40), Value::Null, "{uri}");
    }
    assert_eq!(session.end(), Some(0));
}

#[test]
fn answers_for_huge_texts_and_positions_outside_of_them() {
    let sandbox = with_demo();
    let mut session = Session::start(&sandbox);
    let uri = uri(sandbox.path("src/demo.c"));
    session.open_as(&uri, &"int x; // 𝄞\n".repeat(2_000_000));
    assert_eq!(session.hints(&uri, [0, u32::MAX]), []);
    session.open_as(&uri, "");
    let most = u32::MAX;
    assert_eq!(session.hints(&uri, [most, 0]), []);
    assert_eq!(session.hover(&uri, most, most), Value::Null);
    let place = json!({ "line": most, "character": most });
    let range = json!({ "start": place, "end": { "line": 0, "character": 0 } });
    session.change(&uri, &json!([{ "range": range, "text": "x" }]));
    assert_eq!(session.hints(&uri, [0, most]), []);
    assert_eq!(session.end(), Some(0));
}
