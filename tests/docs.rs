//! The tables in `docs/` that are made from the code say what the code says.
//!
//! `UPDATE_DOCS=1 cargo test --test docs` writes them anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::fault::{Slip, Trivial};
use callpair::invariant;
use std::fs;
use std::path::Path;

/// Compares a page with what the code says, or writes it where UPDATE_DOCS is set.
fn assert_page_is(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, made).expect("the page can be written");
        return;
    }
    // Git may have put a CR before each line end on checking out.
    let page = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let differs = page.lines().zip(made.lines()).position(|(page, made)| page != made);
    let at = differs.unwrap_or_else(|| page.lines().count().min(made.lines().count())) + 1;
    assert!(
        page == made,
        "docs/{name} is not what the code says, first in line {at}; `UPDATE_DOCS=1 cargo test --test docs` writes it anew"
    );
}

#[test]
fn the_page_of_invariants_is_made_from_the_catalogue() {
    assert_page_is("invariants.md", &invariant::table());
}

#[test]
fn the_page_of_faults_is_made_from_the_bank() {
    assert_page_is("faults.md", &faults());
}

fn faults() -> String {
    let mut page = String::from(
        "# Faults\n\nMade from the code; a test compares. Each is planted in the bank (`src/fault/`) alone, and must be caught by an \
         invariant that is no comparison with an exact model. `owner/repository#number` is a public report of such a fault.\n\n\
         | fault | where it was seen, or why it is likely |\n| --- | --- |\n",
    );
    for slip in Slip::ALL {
        let child = if slip.needs_child() { " (runs in a child process)" } else { "" };
        page.push_str(&format!("| `{}`{child} | {} |\n", slip.id(), slip.why().replace('|', "\\|")));
    }
    page.push_str(
        "\n## Trivial projectors\n\nThey keep many a law by doing nothing worth the name, and must fail too.\n\n",
    );
    for trivial in Trivial::ALL {
        page.push_str(&format!("- `{}`\n", trivial.id()));
    }
    page
}
