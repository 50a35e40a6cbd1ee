#![no_main]
//! See `callpair::fuzzing::script`.

use callpair::fuzzing::{Target, script};

callpair_fuzz::case_target!(Target::Script, |bytes: &[u8]| callpair_fuzz::report(script(bytes)));
