//! Mappings of files: the part of `/proc/self/maps` in a profile.

use crate::names::module_of_path;
use crate::recording::{
    Built, Location, LocationIx, Module, ModuleIx, ModuleKind, RecordingBuilder, process_name,
};
use crate::wire::text::{decimal, lines, words};
use hashbrown::HashMap;

/// Mappings of code, by address.
pub(super) struct Mappings(Vec<Mapping>);

struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    module: ModuleIx,
}

impl Mappings {
    /// Reads the mappings in a text. Like pprof, this skips other lines. The first mapping is the
    /// program's.
    pub(super) fn parse(text: &[u8], builder: &mut RecordingBuilder) -> Mappings {
        let mut module_of: HashMap<Module, ModuleIx> = HashMap::new();
        let mut mappings = Vec::new();
        for (_, line) in lines(text) {
            let Some(Line {
                start,
                end,
                offset,
                inode,
                path,
            }) = Line::parse(line)
            else {
                continue;
            };
            let mut module = module_of_path(path, ModuleKind::File, None, builder);
            module.inode = inode.filter(|_| module.kind == ModuleKind::File);
            let module = *module_of
                .entry(module)
                .or_insert_with_key(|module| builder.module(module.clone()));
            mappings.push(Mapping {
                start,
                end,
                offset,
                module,
            });
        }
        let first = builder.modules.first();
        let main = first.filter(|module| module.kind == ModuleKind::File);
        let name = main.map_or_else(String::new, |main| process_name(main.name().as_bytes()));
        let main_module = main.map(|_| ModuleIx(0));
        let process = builder.process(0, &name);
        builder.processes[process.get()].main_module = main_module;
        builder.new_thread(process, 0, "");
        mappings.sort_by_key(|mapping| mapping.start);
        Mappings(mappings)
    }

    pub(super) fn location(
        &self,
        address: u64,
        builder: &mut RecordingBuilder,
    ) -> Built<LocationIx> {
        let after = self.0.partition_point(|mapping| mapping.start <= address);
        let mapping = after.checked_sub(1).and_then(|at| self.0.get(at));
        let location = mapping
            .filter(|mapping| address < mapping.end)
            .and_then(|mapping| {
                let address = match builder.modules[mapping.module.get()].kind {
                    ModuleKind::File => (address - mapping.start).checked_add(mapping.offset)?,
                    _ => address,
                };
                let module = mapping.module;
                Some(Location::Address { module, address })
            });
        builder.unnamed_location(location.unwrap_or(Location::Unmapped))
    }
}

/// A mapping of code.
struct Line<'b> {
    start: u64,
    end: u64,
    offset: u64,
    inode: Option<u64>,
    path: &'b [u8],
}

impl<'b> Line<'b> {
    /// `7f43-7f45 r-xp 00001000 00:00 325843  /lib/libc.so.6`, or `7f43-7f45: /lib/libc.so.6`,
    /// which Google's programs write.
    fn parse(line: &'b [u8]) -> Option<Line<'b>> {
        let mut words = words(line);
        let range = words.next()?;
        let (range, is_brief) = match range.strip_suffix(b":") {
            Some(range) => (range, true),
            None => (range, false),
        };
        let (start, end) = range.split_at_checked(memchr::memchr(b'-', range)?)?;
        let (start, end) = (hexadecimal(start)?, hexadecimal(&end[1..])?);
        let (mut offset, mut inode) = (0, None);
        if !is_brief {
            if !words.next()?.contains(&b'x') {
                return None;
            }
            offset = hexadecimal(words.next()?)?;
            let _device = words.next()?;
            inode = decimal(words.next()?).filter(|&inode| inode > 0);
        }
        // The path is the rest of the line and may contain spaces.
        let path = words.next().map_or(&b""[..], |word| {
            let at = word.as_ptr() as usize - line.as_ptr() as usize;
            line[at..].trim_ascii_end()
        });
        Some(Line {
            start,
            end,
            offset,
            inode,
            path,
        })
    }
}

/// Parses a hexadecimal number with or without `0x`.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    u64::from_str_radix(digits, 16).ok()
}
