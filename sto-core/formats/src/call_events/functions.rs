//! The functions named by events.

use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use hashbrown::HashMap;
use sto_model::trace::paths::TraceFunctionIx;

/// Functions by name, in the order of their first mention.
#[derive(Default)]
pub(crate) struct Functions {
    numbers: HashMap<Vec<u8>, TraceFunctionIx>,
    names: Vec<String>,
    locations: Vec<LocationIx>,
}

impl Functions {
    /// The number of a function. `work (/srv/work.py:12)`, VizTracer's form, has a file and a line.
    pub(crate) fn number(
        &mut self,
        name: &[u8],
        builder: &mut RecordingBuilder,
    ) -> Built<TraceFunctionIx> {
        if let Some(&known) = self.numbers.get(name) {
            return Ok(known);
        }
        let (symbol, file, line) = name_and_source(name);
        let frame = NamedFrame {
            symbol,
            file,
            line,
            ..NamedFrame::default()
        };
        let function = TraceFunctionIx(self.locations.len() as u32);
        self.locations.push(frame.add(builder)?);
        self.names.push(builder.text(name).into_owned());
        self.numbers.insert(name.to_owned(), function);
        Ok(function)
    }

    pub(crate) fn name(&self, function: TraceFunctionIx) -> &str {
        &self.names[function.get()]
    }

    /// The location of each function, by number.
    pub(crate) fn locations(&self) -> &[LocationIx] {
        &self.locations
    }
}

/// Splits `work (/srv/work.py:12)` into name, file and line.
fn name_and_source(name: &[u8]) -> (&[u8], &[u8], u32) {
    let parts = || {
        let start = memchr::memmem::rfind(name, b" (")?;
        let source = name[start + 2..].strip_suffix(b")")?;
        let colon = memchr::memrchr(b':', source)?;
        let line = std::str::from_utf8(&source[colon + 1..])
            .ok()?
            .parse()
            .ok()?;
        Some((&name[..start], &source[..colon], line))
    };
    parts().unwrap_or((name, b"", 0))
}
