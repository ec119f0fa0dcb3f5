//! The messages of an export in JSON: field names, and field numbers of version 1.10.
//!
//! Unknown names are ignored, as the specification demands.

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) kind: Kind,
    pub(super) is_list: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Integer,
    Fixed64,
    Double,
    Bool,
    Text,
    /// Bytes in base64.
    Bytes,
    Message(&'static [Field]),
}
use Kind::{Bool, Bytes, Double, Fixed64, Integer, Message, Text};

const fn one(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        number,
        kind,
        is_list: false,
    }
}

const fn list(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        is_list: true,
        ..one(number, name, kind)
    }
}

/// `ProfilesData` and `ExportProfilesServiceRequest`.
pub(super) const EXPORT: &[Field] = &[
    list(1, "resourceProfiles", Message(RESOURCE_PROFILES)),
    one(2, "dictionary", Message(DICTIONARY)),
];

const RESOURCE_PROFILES: &[Field] = &[
    one(1, "resource", Message(RESOURCE)),
    list(2, "scopeProfiles", Message(SCOPE_PROFILES)),
];

const RESOURCE: &[Field] = &[list(1, "attributes", Message(KEY_VALUE))];

const KEY_VALUE: &[Field] = &[
    one(1, "key", Text),
    one(2, "value", Message(ANY_VALUE)),
    one(3, "keyStrindex", Integer),
];

const ANY_VALUE: &[Field] = &[
    one(1, "stringValue", Text),
    one(2, "boolValue", Bool),
    one(3, "intValue", Integer),
    one(4, "doubleValue", Double),
    one(5, "arrayValue", Message(&[])),
    one(6, "kvlistValue", Message(&[])),
    one(7, "bytesValue", Bytes),
    one(8, "stringValueStrindex", Integer),
];

const SCOPE_PROFILES: &[Field] = &[list(2, "profiles", Message(PROFILE))];

const PROFILE: &[Field] = &[
    one(1, "sampleType", Message(VALUE_TYPE)),
    list(2, "samples", Message(SAMPLE)),
    one(3, "timeUnixNano", Fixed64),
    one(4, "durationNano", Integer),
    one(5, "periodType", Message(VALUE_TYPE)),
    one(6, "period", Integer),
    list(11, "attributeIndices", Integer),
];

const VALUE_TYPE: &[Field] = &[
    one(1, "typeStrindex", Integer),
    one(2, "unitStrindex", Integer),
];

const SAMPLE: &[Field] = &[
    one(1, "stackIndex", Integer),
    list(2, "attributeIndices", Integer),
    list(4, "values", Integer),
    list(5, "timestampsUnixNano", Fixed64),
];

const DICTIONARY: &[Field] = &[
    list(1, "mappingTable", Message(MAPPING)),
    list(2, "locationTable", Message(LOCATION)),
    list(3, "functionTable", Message(FUNCTION)),
    list(5, "stringTable", Text),
    list(6, "attributeTable", Message(ATTRIBUTE)),
    list(7, "stackTable", Message(STACK)),
];

const MAPPING: &[Field] = &[
    one(1, "memoryStart", Integer),
    one(3, "fileOffset", Integer),
    one(4, "filenameStrindex", Integer),
    list(5, "attributeIndices", Integer),
];

const LOCATION: &[Field] = &[
    one(1, "mappingIndex", Integer),
    one(2, "address", Integer),
    list(3, "lines", Message(LINE)),
    list(4, "attributeIndices", Integer),
];

const LINE: &[Field] = &[one(1, "functionIndex", Integer), one(2, "line", Integer)];

const FUNCTION: &[Field] = &[
    one(1, "nameStrindex", Integer),
    one(2, "systemNameStrindex", Integer),
    one(3, "filenameStrindex", Integer),
];

const ATTRIBUTE: &[Field] = &[
    one(1, "keyStrindex", Integer),
    // From before version 1.8; the reader rejects it.
    one(1, "key", Text),
    one(2, "value", Message(ANY_VALUE)),
    one(3, "unitStrindex", Integer),
];

const STACK: &[Field] = &[list(1, "locationIndices", Integer)];
