#![no_main]
//! See `callpair::fuzzing::json`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| callpair_fuzz::report(callpair::fuzzing::json(bytes)));
