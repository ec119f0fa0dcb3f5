#![no_main]

use sto_core::formats::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sto_core_fuzz::read(Some(Format::VTune), bytes));
