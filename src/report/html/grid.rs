//! The kill matrix as a grid: a row a planted fault, a column an invariant, in a cell after how many cases it was caught.

use super::{escaped, section};
use crate::invariant::CATALOGUE;
use crate::report::matrix::wrong;
use crate::report::text::grouped;
use crate::verify::{Caught, Matrix};
use std::io::{self, Write};

pub(in crate::report) fn write_matrix(out: &mut impl Write, matrix: &Matrix) -> io::Result<()> {
    section(out, "faults", "Planted faults")?;
    for (word, id, words) in wrong(matrix) {
        let (id, words) = (escaped(id), escaped(&words));
        writeln!(out, "<p><strong class=\"bad\">{word}</strong> <code>{id}</code>: {words}</p>")?;
    }
    let columns: Vec<&str> = CATALOGUE
        .iter()
        .map(|invariant| invariant.id)
        .filter(|id| matrix.rows.iter().any(|row| after(row, id).is_some()))
        .collect();
    writeln!(
        out,
        "<p>In a cell: after how many cases the invariant caught the fault, in the profile where it was sooner; the sooner, the \
         stronger its colour. Underlined is the law that caught it first in profile codex, after so many cases.</p>\n\
         <div class=\"scroll tall\" role=\"region\" aria-label=\"Kill matrix\" tabindex=\"0\">\n<table class=\"grid\">\n\
         <caption>Which invariant catches which planted fault</caption>"
    )?;
    write!(out, "<thead><tr><th scope=\"col\">Fault</th><th scope=\"col\" class=\"number\">Cases</th>")?;
    for id in &columns {
        write!(out, "<th scope=\"col\" class=\"turned\"><span>{}</span></th>", escaped(id))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for row in &matrix.rows {
        write_row(out, row, &columns)?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>")?;
    writeln!(out, "</section>")
}

fn write_row(out: &mut impl Write, row: &Caught, columns: &[&str]) -> io::Result<()> {
    let by_laws = match row.after_by_laws {
        Some(cases) => grouped(cases),
        None => "<strong class=\"bad\">NEVER</strong>".to_owned(),
    };
    write!(
        out,
        "<tr><th scope=\"row\"><code>{}</code></th><td class=\"number\">{by_laws}</td>",
        escaped(row.fault)
    )?;
    for id in columns {
        match after(row, id) {
            Some(cases) if row.first_law == Some(id) => {
                write!(out, "<td class=\"{}\"><u>{}</u></td>", shade(cases), grouped(cases))?;
            }
            Some(cases) => write!(out, "<td class=\"{}\">{}</td>", shade(cases), grouped(cases))?,
            None => write!(out, "<td></td>")?,
        }
    }
    writeln!(out, "</tr>")
}

/// After how many cases an invariant caught a fault.
fn after(row: &Caught, id: &str) -> Option<u64> {
    [&row.codex, &row.responses].into_iter().filter_map(|caught| caught.get(id).copied()).min()
}

/// The sooner, the darker.
fn shade(cases: u64) -> &'static str {
    match cases {
        0..=10 => "k1",
        11..=100 => "k2",
        _ => "k3",
    }
}
