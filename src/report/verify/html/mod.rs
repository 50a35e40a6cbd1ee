//! One self-contained page: no script, and nothing that is loaded from anywhere.
//!
//! What stands in a page of others' texts goes through [`escaped`]: no markup, no control character and no mark that turns
//! the direction of writing passes.

mod grid;
mod violation;

use super::laws::{LAWS, Standing, promise, verdict_word, verdict_words};
use super::{Settings, subject_name};
use crate::invariant::by_id;
use crate::report::text::{counted, duration, grouped, per_mille, plain, share};
use crate::verify::{FLOORS_FROM, LabelCount, Outcome, Verdict};
use std::io::{self, Write};

/// The page's only style sheet.
const STYLE: &str = include_str!("page.css");

/// Forbids the page to load anything, should something get past the escaping.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Writes the page.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_html(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let title = format!("{} – callpair verify", subject_name(&outcome.subject));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escaped(&title)
    )?;
    writeln!(out, "<a class=\"skip\" href=\"#main\">Skip to the result</a>")?;
    header(out, outcome)?;
    contents(out, outcome, settings)?;
    writeln!(out, "<main id=\"main\">")?;
    laws(out, outcome)?;
    violation::write_violations(out, outcome, settings)?;
    baseline(out, outcome)?;
    labels(out, outcome)?;
    invariants(out, outcome)?;
    if let Some(matrix) = settings.matrix {
        grid::write_matrix(out, matrix)?;
    }
    writeln!(out, "</main>")?;
    writeln!(
        out,
        "<footer><p>callpair {}. This page loads nothing and holds no script.</p></footer>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    )?;
    out.flush()
}

/// A text as it stands in the page, in an element or in a quoted attribute.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
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
    let class = verdict_class(outcome.verdict);
    writeln!(out, "<header class=\"{class}\">\n<p class=\"tool\">callpair verify</p>")?;
    let (word, words) = (verdict_word(outcome.verdict), escaped(&verdict_words(outcome)));
    writeln!(out, "<h1><span class=\"verdict\">{word}</span> {words}</h1>\n<dl>")?;
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
    for (name, value) in facts {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(&value))?;
    }
    writeln!(out, "</dl>\n</header>")
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
    writeln!(out, "<nav aria-label=\"On this page\"><ul>")?;
    for (id, text) in links {
        writeln!(out, "<li><a href=\"#{id}\">{text}</a></li>")?;
    }
    writeln!(out, "</ul></nav>")
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

/// Begins a section with its heading.
fn section(out: &mut impl Write, id: &str, heading: &str) -> io::Result<()> {
    writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>")
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

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_markup_and_no_control_character_passes() {
        assert_eq!(escaped("<script>\"&\u{1b}'\u{202e}"), "&lt;script&gt;&quot;&amp;\\u{1b}&#39;\\u{202e}");
    }
}
