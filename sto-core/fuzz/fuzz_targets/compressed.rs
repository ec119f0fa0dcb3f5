#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sto_core_fuzz::read(None, bytes));
