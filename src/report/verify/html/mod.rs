//! The result of a run as a page.

mod violation;

use super::laws::{LAWS, Standing, promise, verdict_word, verdict_words};
use super::{Settings, subject_name};
use crate::invariant::by_id;
use crate::report::html::{self as page, escaped, section};
use crate::report::text::{counted, duration, grouped, per_mille, share};
use crate::verify::{FLOORS_FROM, LabelCount, Outcome, Verdict};
use std::io::{self, Write};

/// Writes the page.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_html(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    page::begin(out, &format!("{} – callpair verify", subject_name(&outcome.subject)))?;
    header(out, outcome)?;
    contents(out, outcome, settings)?;
    laws(out, outcome)?;
    violation::write_violations(out, outcome, settings)?;
    baseline(out, outcome)?;
    labels(out, outcome)?;
    invariants(out, outcome)?;
    if let Some(matrix) = settings.matrix {
        page::write_matrix(out, matrix)?;
    }
    page::end(out)?;
    out.flush()
}

/// The class that a verdict's colour goes by.
fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "good",
        Verdict::Fail | Verdict::Vacuous => "bad",
        Verdict::Interrupted => "warn",
    }
}

fn header(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let mut facts = vec![
        ("Subject", subject_name(&outcome.subject)),
        ("Profile", outcome.profile.to_string()),
        ("Seed", outcome.seed.to_string()),
        ("Took", duration(outcome.elapsed)),
        ("Promise", promise(outcome)),
    ];
    if outcome.refused > 0 {
        facts.push(("Declined", format!("{}, not judged", counted(outcome.refused, "case"))));
    }
    let words = verdict_words(outcome);
    let verdict = (verdict_word(outcome.verdict), words.as_str());
    page::header(out, "verify", verdict_class(outcome.verdict), verdict, &facts)
}

fn contents(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let mut links = vec![("laws", "The four laws")];
    if !outcome.violations.is_empty() {
        links.push(("broken", "Broken invariants"));
    }
    if !outcome.stale.is_empty() {
        links.push(("baseline", "Baseline"));
    }
    links.extend([("cases", "Cases"), ("invariants", "Invariants")]);
    if settings.matrix.is_some() {
        links.push(("faults", "Planted faults"));
    }
    page::contents(out, &links)
}

fn laws(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    section(out, "laws", "The four laws")?;
    writeln!(out, "<ul class=\"laws\" role=\"list\">")?;
    for law in &LAWS {
        let (class, word, on) = match law.standing(outcome) {
            Standing::Holds(cases) => ("good", "holds", format!("checked on {}", counted(cases, "case"))),
            Standing::Broken(cases) => ("bad", "BROKEN", format!("on {}", counted(cases, "case"))),
            Standing::NotChecked => ("warn", "NOT CHECKED", String::new()),
        };
        writeln!(
            out,
            "<li class=\"{class}\"><strong>{word}</strong> <span>{}</span> <small>{on}</small></li>",
            law.words
        )?;
    }
    writeln!(out, "</ul>\n</section>")
}

fn baseline(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.stale.is_empty() {
        return Ok(());
    }
    section(out, "baseline", "Baseline")?;
    writeln!(out, "<p>Known to fail, and they do not: take them out of the baseline.</p>\n<ul>")?;
    for stale in &outcome.stale {
        writeln!(out, "<li><strong class=\"bad\">STALE</strong> <code>{}</code></li>", escaped(stale))?;
    }
    writeln!(out, "</ul>\n</section>")
}

fn labels(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    section(out, "cases", "What the cases were made of")?;
    let judged = if outcome.judges_floors() {
        "A label below its floor makes the run vacuous: it no longer reaches that corner.".to_owned()
    } else {
        format!("Floors are held against {} or more.", counted(FLOORS_FROM, "case"))
    };
    writeln!(out, "<p>{judged}</p>\n<table class=\"labels\">")?;
    let cases = counted(outcome.cases, "case");
    writeln!(
        out,
        "<caption>Share of the {cases} that hold each label; the mark in a bar is its floor</caption>"
    )?;
    writeln!(
        out,
        "<thead><tr><th scope=\"col\">Label</th><th scope=\"col\" class=\"number\">Share</th>\
         <th scope=\"col\" class=\"number\">Floor</th></tr></thead>\n<tbody>"
    )?;
    let possible = |label: &&LabelCount| label.floor > 0 || label.cases > 0;
    for label in outcome.labels.iter().filter(possible) {
        write_label(out, label, outcome)?;
    }
    writeln!(out, "</tbody>\n</table>")?;
    let impossible = outcome.labels.iter().filter(|label| !possible(label));
    let names: Vec<&str> = impossible.map(|label| label.label.as_str()).collect();
    if !names.is_empty() {
        let names = escaped(&names.join("; "));
        writeln!(out, "<p><small>Not drawn for this subject and mode: {names}.</small></p>")?;
    }
    writeln!(out, "</section>")
}

fn write_label(out: &mut impl Write, label: &LabelCount, outcome: &Outcome) -> io::Result<()> {
    let low = outcome.judges_floors() && label.is_low(outcome.cases);
    let (class, word) =
        if low { (" class=\"low\"", " <strong class=\"bad\">LOW</strong>") } else { ("", "") };
    let share = share(label.cases, outcome.cases);
    let (floor, mark) = match label.floor {
        0 => ("–".to_owned(), String::new()),
        floor => (
            per_mille(u64::from(floor)),
            format!(
                "<span class=\"floor\" style=\"left:{}\"></span>",
                per_mille(u64::from(floor)).replace(' ', "")
            ),
        ),
    };
    writeln!(
        out,
        "<tr{class}><th scope=\"row\"><div class=\"label\"><span>{}{word}</span><span class=\"bar\" aria-hidden=\"true\">\
         <span class=\"fill\" style=\"width:{}\"></span>{mark}</span></div></th>\
         <td class=\"number\">{share}</td><td class=\"number\">{floor}</td></tr>",
        escaped(label.label.as_str()),
        share.replace(' ', ""),
    )
}

fn invariants(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    section(out, "invariants", "Invariants")?;
    writeln!(
        out,
        "<table class=\"invariants\">\n<caption>Each invariant with the cases that had something to check</caption>\n\
         <thead><tr><th scope=\"col\">Invariant</th><th scope=\"col\" class=\"number\">Cases</th>\
         <th scope=\"col\" class=\"number\">Violations</th></tr></thead>"
    )?;
    let family = |id: &'static str| id.split('/').next().unwrap_or(id);
    for group in outcome.invariants.chunk_by(|a, b| family(a.id) == family(b.id)) {
        let name = group.first().map(|count| family(count.id)).unwrap_or_default();
        writeln!(
            out,
            "<tbody>\n<tr class=\"family\"><th scope=\"rowgroup\" colspan=\"3\">{}</th></tr>",
            escaped(name)
        )?;
        for count in group {
            let statement = by_id(count.id).map(|invariant| escaped(invariant.statement)).unwrap_or_default();
            let class = match (count.violations, count.checked) {
                (0, 0) => " class=\"unchecked\"",
                (0, _) => "",
                _ => " class=\"broken\"",
            };
            let checked =
                if count.checked == 0 { "nothing to check".to_owned() } else { grouped(count.checked) };
            writeln!(
                out,
                "<tr{class}><th scope=\"row\"><code>{}</code><small>{statement}</small></th>\
                 <td class=\"number\">{checked}</td><td class=\"number\">{}</td></tr>",
                escaped(count.id),
                grouped(count.violations)
            )?;
        }
        writeln!(out, "</tbody>")?;
    }
    writeln!(out, "</table>\n</section>")
}
