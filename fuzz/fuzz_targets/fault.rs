#![no_main]
//! A planted fault, named by `CALLPAIR_FAULT`: shows that fuzzing finds it. See `callpair::fuzzing::fault`.

use callpair::fault::Slip;
use callpair::fuzzing::{Target, fault};
use std::sync::LazyLock;

static SLIP: LazyLock<Slip> = LazyLock::new(|| {
    let name = std::env::var("CALLPAIR_FAULT").unwrap_or_default();
    Slip::from_id(&name).unwrap_or_else(|| {
        let known: Vec<&str> = Slip::ALL.iter().map(|slip| slip.id()).collect();
        panic!("CALLPAIR_FAULT must name a planted fault:\n{}", known.join("\n"))
    })
});

callpair_fuzz::case_target!(Target::Script, |bytes: &[u8]| callpair_fuzz::report(fault(*SLIP, bytes)));
