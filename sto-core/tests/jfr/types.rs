//! Malformed types: errors with an offset, in bounded time and memory.

use super::bad::{assert_rejected, changed};
use super::build::{Chunk, Pool, Strings, checkpoint, event, header, numbers, read, shown};

/// A chunk whose types are these bytes, after start time, duration and version.
pub(crate) fn with_types(types: &[u8]) -> Vec<u8> {
    let constants = event(1, &checkpoint(0, &[]));
    let types = event(0, &[&*numbers(&[0, 0, 1]), types].concat());
    let body = [&*constants, &types].concat();
    header(
        68 + body.len() as i64,
        68,
        68 + constants.len() as i64,
        &body,
    )
}

#[test]
fn reports_and_counts_unsupported_events_with_stacks() {
    let mut chunk = Chunk::sound();
    let fields = ["startTime 11", "stackTrace 26*"].map(str::to_owned);
    for (name, id) in [("jdk.ThreadSleep", 900), ("datadog.QueueTime", 901)] {
        chunk.types.push((name.to_owned(), id, fields.to_vec()));
    }
    for (kind, stack) in [(900, 1), (900, 2), (900, 0), (901, 1)] {
        chunk.event(kind, &numbers(&[5, stack]));
    }
    // Counted in all chunks.
    let recording = read(&chunk.bytes().repeat(2)).unwrap();
    let expected = "Events with stacks that are not samples were left out: 2 of datadog.QueueTime, 4 of jdk.ThreadSleep.";
    assert_eq!(recording.warnings, [expected]);
}

#[test]
fn rejects_recursive_and_deeply_nested_types() {
    let expected = ["types in it more than 32 deep, or itself"];
    assert_rejected(
        &changed(|chunk| chunk.fields(26).push("own 26".to_owned())),
        &expected,
    );
    assert_rejected(
        &changed(|chunk| chunk.fields(26).push("own 26[]".to_owned())),
        &expected,
    );
    let deep = |order: fn(i64) -> i64| {
        changed(|chunk| {
            for index in 0..1000 {
                let id = order(index);
                chunk.types.push((
                    format!("T{id}"),
                    1000 + id,
                    vec![format!("inner {}", 1001 + id)],
                ));
            }
            chunk
                .types
                .push(("T1000".to_owned(), 2000, vec!["number 10".to_owned()]));
        })
    };
    assert_rejected(&deep(|index| index), &expected);
    assert_rejected(&deep(|index| 999 - index), &expected);
}

#[test]
fn rejects_deeply_nested_elements() {
    let mut strings = Strings::default();
    let mut root = Vec::new();
    for depth in 0..100_000 {
        // From the innermost outwards, each the only child of the next.
        let name = strings.string("root");
        root.extend([&*name, &numbers(&[0, i64::from(depth < 99_999)])].concat());
    }
    assert_rejected(
        &with_types(&[strings.bytes(), root].concat()),
        &["elements more than 32 deep"],
    );
}

#[test]
fn rejects_incomplete_types() {
    let with_class = |attributes: &[(&str, &str)], field: Option<&[(&str, &str)]>| {
        let mut strings = Strings::default();
        let field = field.map(|attributes| strings.element("field", attributes, &[]));
        let class = strings.element("class", attributes, field.as_slice());
        let root = strings.element("root", &[], &[class]);
        with_types(&[strings.bytes(), root].concat())
    };
    assert_rejected(
        &with_class(&[("id", "5")], None),
        &["without the attribute `name`"],
    );
    assert_rejected(
        &with_class(&[("name", "A")], None),
        &["without the attribute `id`"],
    );
    assert_rejected(
        &with_class(&[("name", "A"), ("id", "-5")], None),
        &["in decimal digits, found `-5`"],
    );
    let class = [("name", "A"), ("id", "5")];
    assert_rejected(
        &with_class(&class, Some(&[("name", "f")])),
        &["without the attribute `class`"],
    );
    let field = [("name", "f"), ("class", "5"), ("dimension", "2")];
    assert_rejected(
        &with_class(&class, Some(&field)),
        &["0 or 1 dimensions, found `2`"],
    );
    assert_rejected(
        &with_types(&numbers(&[0, 5, 0, 0])),
        &["the string 5 of types that have 0 strings"],
    );
    let twice = changed(|chunk| chunk.types.push(("A".to_owned(), 101, vec![])));
    assert_rejected(&twice, &["the type 101 for the second time"]);
}

#[test]
fn rejects_values_of_unknown_types() {
    assert_rejected(
        &changed(|chunk| chunk.fields(101).insert(0, "own 999".to_owned())),
        &["a field `own` of a type"],
    );
    let keyed = changed(|chunk| {
        chunk.fields(101).insert(0, "own 999*".to_owned());
        chunk.events[1] = event(101, &numbers(&[1, 5, 1, 1]));
    });
    assert_eq!(
        shown(&read(&keyed).unwrap()).len(),
        1,
        "a key can be passed over"
    );
    let pool = changed(|chunk| chunk.constants[0].push(Pool::new(999, &[])));
    assert_rejected(&pool, &["constants of the type 999"]);
}
