//! The reference, served over stdin and stdout: a subject with a history of its own.
//!
//! `callpair verify --subject-cmd target/release/examples/reference_subject`

use callpair::subject::{Reference, serve};
use std::io;

fn main() -> io::Result<()> {
    serve(&mut Reference::new(), io::stdin().lock(), io::stdout().lock())
}
