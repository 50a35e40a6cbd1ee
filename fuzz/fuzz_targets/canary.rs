#![no_main]
//! See `callpair::fuzzing::canary`.

use callpair::fuzzing::{Target, canary};

callpair_fuzz::case_target!(Target::Canary, |bytes: &[u8]| callpair_fuzz::report(canary(bytes)));
