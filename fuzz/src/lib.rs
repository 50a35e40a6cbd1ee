//! What the targets share: the glue between `callpair::fuzzing` and libFuzzer.
//!
//! A target is a few lines: it hands bytes over, and panics with the sentence that comes back. Nothing is decided here.

use callpair::fuzzing::{Target, mutated, spliced};

/// Ends the run where something is broken; the engine keeps the input.
pub fn report(result: Result<(), String>) {
    if let Err(broken) = result {
        panic!("{broken}");
    }
}

/// Changes `data[..size]` in place, as a history or as bytes, and gives its new length.
pub fn mutate(target: Target, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    match mutated(target, &data[..size], seed, most) {
        Some(changed) => put(&changed, data),
        None => libfuzzer_sys::fuzzer_mutate(data, size, most),
    }
}

/// Writes what two inputs become together, and gives its length.
pub fn cross_over(target: Target, front: &[u8], back: &[u8], out: &mut [u8], seed: u32) -> usize {
    spliced(target, front, back, seed, out.len()).map_or(0, |bytes| put(&bytes, out))
}

fn put(bytes: &[u8], place: &mut [u8]) -> usize {
    place[..bytes.len()].copy_from_slice(bytes);
    bytes.len()
}

/// A target whose inputs are cases of `$target`: changed as histories.
#[macro_export]
macro_rules! case_target {
    ($target:expr, |$bytes:ident: &[u8]| $body:expr) => {
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate($target, data, size, max_size, seed)
        });
        libfuzzer_sys::fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
            $crate::cross_over($target, data1, data2, out, seed)
        });
        libfuzzer_sys::fuzz_target!(|$bytes: &[u8]| $body);
    };
}
