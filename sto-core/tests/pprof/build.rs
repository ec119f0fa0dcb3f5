//! A builder of profiles.

use prost::Message;
use std::path::Path;
use sto_core::formats::{FormatError, read_bytes};
use sto_core::recording::Recording;
use sto_test_support::pprof::{
    Function, Label, Line, Location, Mapping, Profile, Sample, ValueType,
};

/// A profile whose strings are interned.
#[derive(Clone)]
pub(crate) struct Builder(pub(crate) Profile);

impl Builder {
    /// A profile of these sample types, as (name, unit).
    pub(crate) fn new(types: &[(&str, &str)]) -> Builder {
        let mut builder = Builder(Profile::default());
        builder.string("");
        for (name, unit) in types {
            let (r#type, unit) = (builder.string(name), builder.string(unit));
            builder.0.sample_type.push(ValueType { r#type, unit });
        }
        builder
    }

    /// `samples` and `cpu` in nanoseconds, as Go writes.
    pub(crate) fn cpu() -> Builder {
        Builder::new(&[("samples", "count"), ("cpu", "nanoseconds")])
    }

    pub(crate) fn string(&mut self, text: &str) -> i64 {
        let table = &mut self.0.string_table;
        let known = table.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            table.push(text.to_owned());
            table.len() - 1
        }) as i64
    }

    pub(crate) fn mapping(&mut self, filename: &str, build_id: &str) -> u64 {
        let id = self.0.mapping.len() as u64 + 1;
        let (filename, build_id) = (self.string(filename), self.string(build_id));
        self.0.mapping.push(Mapping {
            id,
            memory_start: 0x1000,
            memory_limit: 0x9000,
            file_offset: 0x400,
            filename,
            build_id,
            ..Mapping::default()
        });
        id
    }

    /// A location of functions, as (name, file, line), the innermost first.
    pub(crate) fn location(&mut self, mapping_id: u64, lines: &[(&str, &str, i64)]) -> u64 {
        let line = lines
            .iter()
            .map(|&(name, file, line)| Line {
                function_id: self.function(name, name, file),
                line,
            })
            .collect();
        let id = self.0.location.len() as u64 + 1;
        self.0.location.push(Location {
            id,
            mapping_id,
            address: 0x1000 + id,
            line,
        });
        id
    }

    pub(crate) fn function(&mut self, name: &str, system_name: &str, file: &str) -> u64 {
        let id = self.0.function.len() as u64 + 1;
        let function = Function {
            id,
            name: self.string(name),
            system_name: self.string(system_name),
            filename: self.string(file),
            start_line: 0,
        };
        self.0.function.push(function);
        id
    }

    /// A sample of plain functions, written as `root;caller;leaf`.
    pub(crate) fn stack(&mut self, folded: &str, value: &[i64]) -> &mut Sample {
        let names = folded.split(';').rev();
        let ids = names
            .map(|name| self.location(0, &[(name, "", 0)]))
            .collect();
        self.sample(ids, value)
    }

    /// A sample of locations, the leaf first.
    pub(crate) fn sample(&mut self, location_id: Vec<u64>, value: &[i64]) -> &mut Sample {
        self.0.sample.push(Sample {
            location_id,
            value: value.to_vec(),
            label: Vec::new(),
        });
        self.0.sample.last_mut().unwrap()
    }

    /// Labels the last sample.
    pub(crate) fn label(&mut self, key: &str, text: &str, num: i64) {
        self.label_of_unit(key, text, num, "");
    }

    pub(crate) fn label_of_unit(&mut self, key: &str, text: &str, num: i64, unit: &str) {
        let label = Label {
            key: self.string(key),
            str: self.string(text),
            num,
            num_unit: self.string(unit),
        };
        self.0.sample.last_mut().unwrap().label.push(label);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }

    #[track_caller]
    pub(crate) fn read(&self) -> Recording {
        read(&self.bytes()).unwrap()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> String {
        read(&self.bytes()).unwrap_err().to_string()
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Recording, FormatError> {
    read_bytes(Path::new("a/file"), bytes, &Default::default())
}
