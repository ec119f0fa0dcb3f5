//! Numeric arguments of calls: debug annotations.

use super::schema::Annotation;
use super::sequence::Sequence;
use crate::error::Decoded;
use crate::wire::protobuf::Message;

/// Limit to the arguments of a call, and to the entries of a dictionary.
const MOST: usize = 16;

/// The numbers among an event's annotations, including numeric texts. Entries of a dictionary have
/// both names: `func_args.n`.
pub(super) fn numbers(
    annotations: &[Message<'_>],
    sequence: &Sequence,
) -> Decoded<Vec<(String, f64)>> {
    let mut found = Vec::new();
    for &annotation in annotations.iter().take(MOST) {
        let outer = Annotation::read(annotation)?;
        let name = name(&outer, sequence);
        found.extend(outer.number().map(|number| (name.clone(), number)));
        for &entry in outer.entries.iter().take(MOST) {
            let inner = Annotation::read(entry)?;
            let name = || format!("{name}.{}", self::name(&inner, sequence));
            found.extend(inner.number().map(|number| (name(), number)));
        }
    }
    found.truncate(MOST);
    Ok(found)
}

fn name(annotation: &Annotation<'_>, sequence: &Sequence) -> String {
    let name = match annotation.name_id {
        0 => annotation.name,
        id => sequence.annotation(id),
    };
    String::from_utf8_lossy(name.unwrap_or(b"[unknown]")).into_owned()
}
