//! Files of all allocations: calls, allocations and frees in order of time.

use super::frames::{Code, Threads};
use super::header::Header;
use super::heap::Heap;
use super::record::{Read, add, native};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::wire::records::{RecordFailure, undefined_number};
use hashbrown::HashMap;
use sto_model::bytes::Cursor;

#[derive(Default)]
pub(super) struct Allocations {
    code: Code,
    threads: Threads,
    heap: Heap,
    pointers: Pointers,
    old: OldFrames,
}

/// The last address, and the cache of recent addresses, which are written by index.
#[derive(Default)]
struct Pointers {
    last: u64,
    recent: [u64; 15],
}

impl Pointers {
    fn add(&mut self, difference: i64) -> u64 {
        self.last = self.last.wrapping_add_signed(difference);
        self.last
    }
}

/// The frames of version 11, which have names and lines.
#[derive(Default)]
struct OldFrames {
    last: u64,
    line: i64,
    frames: HashMap<u64, LocationIx>,
}

/// The effect of an allocator's function.
enum AllocatorEffect {
    Allocate,
    Free,
    Map,
    Unmap,
}

impl AllocatorEffect {
    fn from_allocator(version: u32, allocator: u8) -> Result<AllocatorEffect, String> {
        Ok(match (version, allocator) {
            (11, 2 | 15) | (12.., 1 | 5) => AllocatorEffect::Free,
            (11, 10) | (12.., 14) => AllocatorEffect::Map,
            (11, 11) | (12.., 15) => AllocatorEffect::Unmap,
            (_, 1..=15) => AllocatorEffect::Allocate,
            _ => {
                return Err(format!(
                    "an allocator {allocator}; expected 1 to 15, those that memray knows"
                ));
            }
        })
    }
}

/// A number in the low bits that is an index of the cache.
const CACHED: u8 = 15;

impl Allocations {
    pub(super) fn record(
        &mut self,
        header: &Header,
        bytes: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<Read, RecordFailure> {
        let token = bytes.u8()?;
        if header.version == 11 {
            return self.old_record(token, bytes, builder, header);
        }
        match token {
            0 => return Ok(Read::Zeros),
            1 => return Ok(Read::EndMark),
            2 => {
                let _resident_and_time = (bytes.varint()?, bytes.varint()?);
            }
            10 => self.threads.name(bytes.until_zero()?)?,
            12 => {
                self.threads.enter(bytes.u64()?);
            }
            14 => self.code.function(bytes)?,
            16..=31 => self.threads.end_calls(usize::from(token - 16) + 1)?,
            32..=63 => {
                let pointer = Pointer::read((token >> 1) & CACHED, bytes)?;
                if header.has_native && token & 1 == 1 {
                    let _native = bytes.signed_varint()?;
                }
                self.pointer(pointer);
            }
            64..=127 => {
                let location = self.code.frame(header, bytes, builder)?;
                self.threads.call(header, location, builder)?;
            }
            128.. => self.allocation(header, token, bytes)?,
            other => return native(other, bytes),
        }
        Ok(Read::Record)
    }

    fn allocation(
        &mut self,
        header: &Header,
        token: u8,
        bytes: &mut Cursor<'_>,
    ) -> Result<(), RecordFailure> {
        let pointer = Pointer::read((token >> 3) & CACHED, bytes)?;
        let allocator = match token & 7 {
            0 => bytes.u8()?,
            allocator => allocator,
        };
        let does = AllocatorEffect::from_allocator(header.version, allocator)?;
        let mut size = 0;
        if !matches!(does, AllocatorEffect::Free) {
            if header.has_native {
                let _native = bytes.signed_varint()?;
            }
            size = bytes.varint()?;
        }
        let address = self.pointer(pointer);
        Ok(self.done(&does, address, size)?)
    }

    fn pointer(&mut self, pointer: Pointer) -> u64 {
        let recent = &mut self.pointers.recent;
        match pointer {
            Pointer::Recent(place) => recent[place],
            Pointer::Difference(difference) => {
                // Addresses are multiples of 8.
                let address = self.pointers.add(difference) << 3;
                let recent = &mut self.pointers.recent;
                recent.rotate_right(1);
                recent[0] = address;
                address
            }
        }
    }

    fn done(&mut self, does: &AllocatorEffect, address: u64, size: u64) -> Result<(), String> {
        let site = self.threads.site()?;
        match does {
            AllocatorEffect::Allocate => self.heap.allocate(site, address, size),
            AllocatorEffect::Map => self.heap.map(site, address, size),
            AllocatorEffect::Free => {
                self.heap.free(address);
                Ok(())
            }
            AllocatorEffect::Unmap => {
                self.heap.unmap(address, size);
                Ok(())
            }
        }
    }

    /// A record of version 11, whose kind is in the low half of its first byte.
    fn old_record(
        &mut self,
        token: u8,
        bytes: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
        header: &Header,
    ) -> Result<Read, RecordFailure> {
        let (kind, flags) = (token & 15, token >> 4);
        match kind {
            0 if flags == 0 => return Ok(Read::Zeros),
            0 => return Ok(Read::EndMark),
            1 => {
                let does = AllocatorEffect::from_allocator(header.version, flags)?;
                let difference = bytes.signed_varint()?;
                let size = match does {
                    AllocatorEffect::Free => 0,
                    _ => bytes.varint()?,
                };
                let address = self.pointers.add(difference);
                self.done(&does, address, size)?;
            }
            2 => {
                let does = AllocatorEffect::from_allocator(header.version, flags)?;
                let (difference, size) = (bytes.signed_varint()?, bytes.varint()?);
                let _native = bytes.signed_varint()?;
                let address = self.pointers.add(difference);
                self.done(&does, address, size)?;
            }
            3 => self.old.frame(bytes, builder)?,
            4 => {
                let location = self.old.called(bytes.signed_varint()?)?;
                self.threads.call(header, location, builder)?;
            }
            9 => self.threads.end_calls(usize::from(flags) + 1)?,
            10 => self.threads.name(bytes.until_zero()?)?,
            11 => {
                let _resident_and_time = (bytes.varint()?, bytes.varint()?);
            }
            12 => {
                self.threads.enter(bytes.u64()?);
            }
            other => return native(other, bytes),
        }
        Ok(Read::Record)
    }

    pub(super) fn finish(self, builder: &mut RecordingBuilder) -> Built<Threads> {
        for (site, allocated) in self.heap.finish() {
            let costs = [allocated.all, allocated.at_peak, allocated.left];
            add(builder, site, costs)?;
        }
        Ok(self.threads)
    }
}

/// An encoded address.
enum Pointer {
    Recent(usize),
    Difference(i64),
}

impl Pointer {
    fn read(place: u8, bytes: &mut Cursor<'_>) -> Result<Pointer, RecordFailure> {
        Ok(match place {
            CACHED => Pointer::Difference(bytes.signed_varint()?),
            place => Pointer::Recent(usize::from(place)),
        })
    }
}

impl OldFrames {
    fn frame(
        &mut self,
        bytes: &mut Cursor<'_>,
        builder: &mut RecordingBuilder,
    ) -> Result<(), RecordFailure> {
        let (difference, symbol, file) = (
            bytes.signed_varint()?,
            bytes.until_zero()?,
            bytes.until_zero()?,
        );
        self.line = self.line.wrapping_add(bytes.signed_varint()?);
        self.last = self.last.wrapping_add_signed(difference);
        let frame = NamedFrame {
            symbol,
            file,
            line: u32::try_from(self.line).unwrap_or(0),
            ..NamedFrame::default()
        };
        self.frames.insert(self.last, frame.add(builder)?);
        Ok(())
    }

    fn called(&mut self, difference: i64) -> Result<LocationIx, String> {
        self.last = self.last.wrapping_add_signed(difference);
        let known = self.frames.get(&self.last).copied();
        known.ok_or_else(|| undefined_number("frame", self.last))
    }
}
