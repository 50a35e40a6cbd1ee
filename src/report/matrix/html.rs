//! The kill matrix as a page: the verdict, what is wrong, the grid, and the smallest case of every fault.

use super::{passes, verdict_word, verdict_words};
use crate::report::case_line;
use crate::report::html as page;
use crate::report::html::{escaped, section};
use crate::report::text::{counted, grouped};
use crate::verify::Matrix;
use std::io::{self, Write};

/// Writes the page.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_html(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    page::begin(out, &format!("{}: planted faults – callpair faults", verdict_word(matrix)))?;
    let facts = [
        ("Faults", grouped(matrix.rows.len() as u64)),
        ("Each given at most", counted(matrix.limit, "case")),
        ("Seed", matrix.seed.to_string()),
    ];
    let class = if passes(matrix) { "good" } else { "bad" };
    let words = verdict_words(matrix);
    page::header(out, "faults", class, (verdict_word(matrix), &words), &facts)?;
    page::contents(out, &[("faults", "Planted faults"), ("smallest", "Smallest cases")])?;
    page::write_matrix(out, matrix)?;
    smallest(out, matrix)?;
    page::end(out)?;
    out.flush()
}

fn smallest(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    section(out, "smallest", "Smallest cases")?;
    writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" aria-label=\"Table of smallest cases\" tabindex=\"0\">\n<table class=\"cases\">\n\
         <caption>Of every fault the smallest case by the law that caught it first</caption>\n\
         <thead><tr><th scope=\"col\">Fault</th><th scope=\"col\">Law</th>\
         <th scope=\"col\" class=\"number\">Items</th><th scope=\"col\">Case</th></tr></thead>\n<tbody>"
    )?;
    for row in &matrix.rows {
        let (items, case) = match &row.smallest {
            Some(case) => {
                (grouped(case.item_count() as u64), format!("<code>{}</code>", escaped(&case_line(case))))
            }
            None => ("–".to_owned(), "none: it takes a chain of cases, or nothing caught it".to_owned()),
        };
        let law = row.first_law.map_or("nothing".to_owned(), |law| format!("<code>{}</code>", escaped(law)));
        writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code><small>{}</small></th><td>{law}</td>\
             <td class=\"number\">{items}</td><td>{case}</td></tr>",
            escaped(row.fault),
            escaped(row.why)
        )?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>\n</section>")
}
