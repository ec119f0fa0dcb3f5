//! Recordings made in tests, and the frames of their locations.

use sto_core::formats::Format;
use sto_core::id::RecordingDigest;
use sto_core::ingest::ModuleSymbols;
use sto_core::ingest::SymbolOptions;
use sto_core::model::{FrameKind, FrameTable, Granularity, Origin};
use sto_core::recording::{
    Location, LocationIx, Module, ModuleIx, Recording, RecordingParts, Stacks,
};
use sto_core::stages::{Symbols, symbolize};
use sto_core::units::Bytes;

/// A recording that has only modules and locations.
pub(crate) fn recording(modules: Vec<Module>, locations: Vec<Location>) -> Recording {
    let parts = RecordingParts {
        format: Format::PerfData,
        source: RecordingDigest([0; 16]),
        source_bytes: Bytes(0),
        origin: Origin::default(),
        sample_types: Vec::new(),
        processes: Vec::new(),
        recorded: None,
        threads: Vec::new(),
        modules,
        locations,
        named: FrameTable::new(),
        stacks: Stacks::default(),
        samples: Vec::new(),
        metrics: Vec::new(),
        calls: None,
        lost: 0,
        warnings: Vec::new(),
    };
    parts.try_into().unwrap()
}

/// A frame that owns its strings, at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) kind: FrameKind,
    pub(crate) module: String,
    pub(crate) symbol: String,
    pub(crate) file: String,
    pub(crate) frame_line: u32,
    pub(crate) line: u32,
}

/// The frames of a location, outermost first.
pub(crate) fn shown(symbols: &Symbols, location: usize) -> Vec<Shown> {
    let lines = symbols.code_lines(LocationIx(location as u32)).iter();
    let frames = lines.map(|ix| {
        let line = symbols.lines[ix.0 as usize];
        let frame = symbols.frames.frame(line.frame);
        Shown {
            kind: frame.kind,
            module: frame.module.to_owned(),
            symbol: frame.symbol.to_owned(),
            file: frame.file.to_owned(),
            frame_line: frame.line,
            line: line.line,
        }
    });
    frames.collect()
}

/// The addresses of one module, resolved.
pub(crate) struct Resolved {
    pub(crate) symbols: Symbols,
    pub(crate) frames: Vec<Vec<Shown>>,
}

impl Resolved {
    pub(crate) fn module(&self) -> &ModuleSymbols {
        &self.symbols.modules[0]
    }

    pub(crate) fn problem(&self) -> &str {
        self.module()
            .problem
            .as_ref()
            .map_or("", |problem| &problem.text)
    }

    /// The symbols of the outermost frames.
    pub(crate) fn functions(&self) -> Vec<&str> {
        let frames = self.frames.iter();
        frames.map(|frames| frames[0].symbol.as_str()).collect()
    }
}

/// Resolves addresses of one module.
pub(crate) fn resolve_with(
    module: Module,
    addresses: impl IntoIterator<Item = u64>,
    options: &SymbolOptions,
    granularity: Granularity,
) -> Resolved {
    let locations = addresses.into_iter().map(|address| Location::Address {
        module: ModuleIx(0),
        address,
    });
    let recording = recording(vec![module], locations.collect());
    let options = SymbolOptions {
        granularity,
        ..options.clone()
    };
    let symbols = symbolize(&recording, &options);
    let frames = 0..recording.locations.len();
    Resolved {
        frames: frames.map(|location| shown(&symbols, location)).collect(),
        symbols,
    }
}

pub(crate) fn resolve(
    module: Module,
    addresses: impl IntoIterator<Item = u64>,
    options: &SymbolOptions,
) -> Resolved {
    resolve_with(module, addresses, options, Granularity::Function)
}
