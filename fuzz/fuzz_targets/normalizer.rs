#![no_main]
//! See `callpair::fuzzing::normalizer`.

use callpair::fuzzing::{Target, normalizer};

callpair_fuzz::case_target!(Target::Normalizer, |bytes: &[u8]| callpair_fuzz::report(normalizer(bytes)));
