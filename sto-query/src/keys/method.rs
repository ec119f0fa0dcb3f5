//! The parts of the name of a method.

/// A method of a type, as in `<Cart as Add>::add`.
pub(crate) struct Method<'a> {
    pub(crate) self_type: &'a str,
    pub(crate) of_trait: Option<&'a str>,
    /// The rest of the path: `::add`.
    pub(crate) after: &'a str,
}

impl<'a> Method<'a> {
    /// Reads a name without arguments.
    pub(crate) fn parse(name: &'a str) -> Option<Method<'a>> {
        let inside = name.strip_prefix('<')?;
        let mut depth = 1usize;
        let mut as_trait = None;
        for (at, byte) in inside.bytes().enumerate() {
            match byte {
                b'<' => depth += 1,
                b'>' if inside[..at].ends_with('-') => {}
                b'>' => depth -= 1,
                b' ' if depth == 1 && inside[at..].starts_with(" as ") => as_trait = Some(at),
                _ => {}
            }
            if depth == 0 {
                return Some(Method {
                    self_type: &inside[..as_trait.unwrap_or(at)],
                    of_trait: as_trait.map(|start| &inside[start + " as ".len()..at]),
                    after: &inside[at + 1..],
                });
            }
        }
        None
    }
}
