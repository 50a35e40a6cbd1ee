#![no_main]
//! See `callpair::fuzzing::rollout`.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| callpair_fuzz::report(callpair::fuzzing::rollout(bytes)));
