//! A broken invariant: the history, the plan of the reference and the request of the subject side by side, the difference
//! marked in colour and in words.

use crate::case::{Items, SavedCase};
use crate::invariant::by_id;
use crate::projection::summary;
use crate::report::html::{escaped, section};
use crate::report::text::counted;
use crate::report::verify::compare::{Mark, compare};
use crate::report::verify::failure::{Failure, Shown, Sighted, StepView, shown};
use crate::report::verify::human::{found, mark_words, whose};
use crate::report::verify::{Settings, clipped_json, redact};
use crate::verify::{Outcome, Violation};
use std::io::{self, Write};

pub(super) fn write_violations(
    out: &mut impl Write,
    outcome: &Outcome,
    settings: &Settings<'_>,
) -> io::Result<()> {
    if outcome.violations.is_empty() {
        return Ok(());
    }
    section(out, "broken", "Broken invariants")?;
    for (at, violation) in outcome.violations.iter().enumerate() {
        write_violation(out, outcome, settings, at, violation)?;
    }
    writeln!(out, "</section>")
}

fn write_violation(
    out: &mut impl Write,
    outcome: &Outcome,
    settings: &Settings<'_>,
    at: usize,
    violation: &Violation,
) -> io::Result<()> {
    let (class, word) = if violation.known.is_some() { ("warn", "KNOWN") } else { ("bad", "BROKEN") };
    let id = escaped(violation.invariant);
    writeln!(out, "<article class=\"{class}\" aria-labelledby=\"broken-{at}\">")?;
    writeln!(out, "<h3 id=\"broken-{at}\"><strong>{word}</strong> <code>{id}</code></h3>\n<dl>")?;
    let mut facts = Vec::new();
    if let Some(invariant) = by_id(violation.invariant) {
        facts.push(("The law", escaped(invariant.statement)));
        facts.push(("Why", escaped(invariant.why)));
    }
    facts.push(("Broken", escaped(&redact::message(&violation.message, settings.show_content))));
    facts.push(("Found", escaped(&found(violation, outcome))));
    facts.extend(violation.known.as_deref().map(|reason| ("Known", escaped(reason))));
    facts.extend(violation.note.as_deref().map(|note| ("Note", escaped(note))));
    for (name, value) in facts {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", value.replace('\n', "<br>"))?;
    }
    writeln!(out, "</dl>")?;
    let failure = Failure::of(violation);
    writeln!(out, "<div class=\"columns\">")?;
    write_history(out, &failure.steps)?;
    if let Some(sighted) = &failure.sighted {
        write_due(out, sighted, outcome)?;
        write_came(out, sighted, settings)?;
    }
    writeln!(out, "</div>")?;
    if settings.show_content {
        let case = clipped_json(&SavedCase::bare(violation.case.clone()).to_json());
        writeln!(out, "<details><summary>The case as JSON</summary><pre>{}</pre></details>", escaped(&case))?;
    } else {
        writeln!(out, "<p><small>The case may hold a user's words: its texts are not shown.</small></p>")?;
    }
    if let Some(replay) = settings.replay.get(at) {
        writeln!(out, "<p class=\"replay\">Run it again:</p>\n<pre><code>{}</code></pre>", escaped(replay))?;
    }
    writeln!(out, "</article>")
}

fn write_history(out: &mut impl Write, steps: &[StepView]) -> io::Result<()> {
    writeln!(out, "<div class=\"column\">\n<h4>History</h4>\n<ol class=\"steps\">")?;
    for step in steps {
        let failed =
            step.failed.map(|kind| format!(" <strong class=\"bad\">{}</strong>", kind.to_uppercase()));
        writeln!(out, "<li>{}{}", step.title, failed.unwrap_or_default())?;
        write_items(out, &step.brings)?;
        if let Some(live) = &step.live {
            let words =
                if live.is_empty() { "The live history is empty now." } else { "The live history is now:" };
            writeln!(out, "<p>{words}</p>")?;
            write_items(out, live)?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ol>\n</div>")
}

fn write_items(out: &mut impl Write, items: &Items) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"rows\" role=\"list\">")?;
    for row in shown(items.len(), |_| false) {
        match row {
            Shown::Row(at) => {
                let Some(item) = items.get(at) else { continue };
                write_row(out, "same", " ", Some(at), &summary(item), "")?;
            }
            Shown::Gap(rows) => write_gap(out, rows)?,
        }
    }
    writeln!(out, "</ul>")
}

/// A row: a mark for the eye, the place, the item, and the mark in words.
fn write_row(
    out: &mut impl Write,
    class: &str,
    mark: &str,
    place: Option<usize>,
    item: &str,
    words: &str,
) -> io::Result<()> {
    let place = place.map(|place| place.to_string()).unwrap_or_default();
    let words = if words.is_empty() { String::new() } else { format!(" <em>{}</em>", escaped(words)) };
    writeln!(
        out,
        "<li class=\"{class}\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span><span class=\"place\">{place}</span>\
         <span class=\"item\">{}{words}</span></li>",
        escaped(item)
    )
}

fn write_gap(out: &mut impl Write, rows: usize) -> io::Result<()> {
    writeln!(out, "<li class=\"gap\">… {}</li>", counted(rows, "more item"))
}

fn write_due(out: &mut impl Write, sighted: &Sighted, outcome: &Outcome) -> io::Result<()> {
    writeln!(out, "<div class=\"column\">\n<h4>Plan of the reference</h4>")?;
    writeln!(out, "<p>{}.</p>", sentence(&whose(sighted, outcome)))?;
    let rows: Vec<_> = sighted.due.rows().collect();
    if rows.is_empty() {
        return writeln!(out, "<p>Nothing: the history is empty.</p>\n</div>");
    }
    writeln!(out, "<ul class=\"rows\" role=\"list\">")?;
    for shown in shown(rows.len(), |at| rows.get(at).is_some_and(|row| row.mark != ' ')) {
        match shown {
            Shown::Row(at) => {
                let Some(row) = rows.get(at) else { continue };
                let why = row.edit.map(|edit| edit.reason.to_string()).unwrap_or_default();
                let (class, mark, word) = match row.mark {
                    '+' => ("put", "+", "put in: "),
                    '-' => ("out", "−", "taken out: "),
                    '~' => ("new", "~", "replaced: "),
                    _ => ("same", " ", ""),
                };
                write_row(out, class, mark, row.index, &summary(row.item), &format!("{word}{why}"))?;
            }
            Shown::Gap(rows) => write_gap(out, rows)?,
        }
    }
    writeln!(out, "</ul>\n</div>")
}

fn write_came(out: &mut impl Write, sighted: &Sighted, settings: &Settings<'_>) -> io::Result<()> {
    writeln!(out, "<div class=\"column\">\n<h4>Request of the subject</h4>")?;
    let Some(came) = &sighted.came else {
        return writeln!(out, "<p>None is known: what happened is said above.</p>\n</div>");
    };
    let due = sighted.due.to_items();
    let rows = compare(&due, came);
    if rows.iter().all(|row| row.mark == Mark::Same) {
        writeln!(out, "<p>As planned: this one request is not what is wrong.</p>")?;
    }
    if rows.is_empty() {
        return writeln!(out, "<p>It is empty.</p>\n</div>");
    }
    writeln!(out, "<ul class=\"rows\" role=\"list\">")?;
    for shown in shown(rows.len(), |at| rows.get(at).is_some_and(|row| row.mark != Mark::Same)) {
        match shown {
            Shown::Row(at) => {
                let Some(row) = rows.get(at) else { continue };
                let same = row.mark == Mark::Same;
                let (class, mark) = if same { ("same", " ") } else { ("wrong", "!") };
                let words = words(&row.mark, settings.show_content);
                write_row(out, class, mark, row.place, &summary(row.item), &words)?;
            }
            Shown::Gap(rows) => write_gap(out, rows)?,
        }
    }
    writeln!(out, "</ul>\n</div>")
}

fn words(mark: &Mark, show_content: bool) -> String {
    let words = mark_words(mark);
    let mut words = words.trim_start_matches([' ', '<', '-']).to_owned();
    if let (Mark::Differs(differences), true) = (mark, show_content) {
        for difference in differences {
            let side = |value: &Option<String>| value.as_deref().map_or("nothing".to_owned(), clipped_json);
            let (due, came) = (side(&difference.due), side(&difference.came));
            words.push_str(&format!("; {}: expected {due}, came {came}", difference.field));
        }
    }
    words
}

/// Words as a sentence begins.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
