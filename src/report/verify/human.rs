//! For a person: what was asked for; how it ended, with each failure as what was broken, on which history, and what to type
//! next; a verdict as the last line.

use super::compare::{Compared, Mark, compare};
use super::failure::{Failure, Shown, Sighted, StepView, model, shown};
use super::laws::{LAWS, Standing, promise, verdict_word, verdict_words};
use super::{Settings, Start, clipped_json, redact, subject_name};
use crate::case::{Items, SavedCase};
use crate::invariant::by_id;
use crate::projection::summary;
use crate::report::style::{BOLD, DIM, GREEN, RED, YELLOW, styled};
use crate::report::text::{counted, duration, grouped, per_mille, plain, share};
use crate::subject::Profile;
use crate::verify::{Amount, FLOORS_FROM, LabelCount, Outcome, Verdict, Violation};
use anstyle::Style;
use std::io::{self, Write};

/// Writes what the run was asked for, before it starts: with it the run can be repeated, also when it never ends.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_start(out: &mut impl Write, start: &Start<'_>) -> io::Result<()> {
    let amount = match start.amount {
        Amount::Cases(cases) => ("cases", grouped(cases)),
        Amount::Time(time) => ("time", duration(time)),
    };
    let rows = [
        ("callpair", env!("CARGO_PKG_VERSION").to_owned()),
        ("subject", subject_name(start.subject)),
        ("profile", start.profile.to_string()),
        ("seed", start.seed.to_string()),
        amount,
        ("jobs", start.jobs.to_string()),
        ("shard", start.shard.to_string()),
        ("histories", plain(start.histories)),
    ];
    for (name, value) in rows {
        writeln!(out, "{} {value}", styled(DIM, &format!("{name:<10}")))?;
    }
    writeln!(out)?;
    out.flush()
}

/// Writes the result.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_human(out: &mut impl Write, outcome: &Outcome, settings: &Settings<'_>) -> io::Result<()> {
    let mut human = Human { out, outcome, settings };
    human.laws()?;
    human.invariants()?;
    human.labels()?;
    human.promise()?;
    human.violations()?;
    human.baseline()?;
    human.verdict()
}

struct Human<'a, W> {
    out: &'a mut W,
    outcome: &'a Outcome,
    settings: &'a Settings<'a>,
}

/// What stands below a failure is set in by so much.
const INDENT: &str = "            ";

impl<W: Write> Human<'_, W> {
    fn heading(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", styled(BOLD, text))
    }

    fn laws(&mut self) -> io::Result<()> {
        self.heading("The four laws")?;
        for law in &LAWS {
            let (style, word, on) = match law.standing(self.outcome) {
                Standing::Holds(cases) => (GREEN, "holds", format!("checked on {}", counted(cases, "case"))),
                Standing::Broken(cases) => (RED, "BROKEN", format!("on {}", counted(cases, "case"))),
                Standing::NotChecked => (YELLOW, "NOT CHECKED", String::new()),
            };
            let word = styled(style, &format!("{word:<12}"));
            let line = format!("  {word} {:<37} {on}", law.words);
            writeln!(self.out, "{}", line.trim_end())?;
        }
        writeln!(self.out)
    }

    fn invariants(&mut self) -> io::Result<()> {
        let head = format!("{:<12} {:<38} {:>10} {:>11}", "Family", "invariant", "cases", "violations");
        self.heading(&head)?;
        let mut before = "";
        for count in &self.outcome.invariants {
            let family = count.id.split('/').next().unwrap_or(count.id);
            let shown = if family == before { "" } else { family };
            before = family;
            let known = self
                .outcome
                .violations
                .iter()
                .any(|violation| violation.invariant == count.id && violation.known.is_some());
            let note = match (count.violations, count.checked) {
                (0, 0) => styled(YELLOW, "  nothing to check"),
                (0, _) => String::new(),
                _ if known => styled(YELLOW, "  KNOWN"),
                _ => styled(RED, "  BROKEN"),
            };
            let violations = if count.violations == 0 { String::new() } else { grouped(count.violations) };
            let row = format!("{shown:<12} {:<38} {:>10} {violations:>11}", count.id, grouped(count.checked));
            writeln!(self.out, "{}{note}", row.trim_end())?;
        }
        writeln!(self.out)
    }

    fn labels(&mut self) -> io::Result<()> {
        self.heading("What the cases were made of (share, floor)")?;
        let outcome = self.outcome;
        let (possible, impossible): (Vec<&LabelCount>, Vec<&LabelCount>) =
            outcome.labels.iter().partition(|label| label.floor > 0 || label.cases > 0);
        for label in possible {
            self.label(label)?;
        }
        if !impossible.is_empty() {
            let names: Vec<&str> = impossible.iter().map(|label| label.label.as_str()).collect();
            let text = format!("  not drawn for this subject and mode: {}", names.join("; "));
            writeln!(self.out, "{}", styled(DIM, &text))?;
        }
        if !outcome.judges_floors() {
            let text = format!("  floors are held against {} or more", counted(FLOORS_FROM, "case"));
            writeln!(self.out, "{}", styled(DIM, &text))?;
        }
        writeln!(self.out)
    }

    fn label(&mut self, label: &LabelCount) -> io::Result<()> {
        let cases = self.outcome.cases;
        let low = self.outcome.judges_floors() && label.is_low(cases);
        let (style, word) = if low { (RED, styled(RED, " LOW")) } else { (GREEN, String::new()) };
        let floor = if label.floor == 0 { "-".to_owned() } else { per_mille(u64::from(label.floor)) };
        writeln!(
            self.out,
            "  {:>7} {:>7} {} {}{word}",
            share(label.cases, cases),
            floor,
            bar(label.cases, cases, style),
            label.label.as_str(),
        )
    }

    fn promise(&mut self) -> io::Result<()> {
        let outcome = self.outcome;
        writeln!(self.out, "{}", promise(outcome))?;
        let seconds = outcome.elapsed.as_secs_f64();
        let rate = if seconds > 0.0 { outcome.cases as f64 / seconds } else { 0.0 };
        let took = duration(outcome.elapsed);
        writeln!(self.out, "took {took}, {} cases a second", grouped(rate as u64))?;
        if outcome.refused > 0 {
            let text =
                format!("{} declined by the subject, and not judged", counted(outcome.refused, "case"));
            writeln!(self.out, "{}", styled(YELLOW, &text))?;
        }
        writeln!(self.out)
    }

    fn violations(&mut self) -> io::Result<()> {
        let outcome = self.outcome;
        let unknown = outcome.violations.iter().filter(|violation| violation.known.is_none()).count();
        let mut number = 0;
        for (at, violation) in outcome.violations.iter().enumerate() {
            if violation.known.is_some() {
                continue;
            }
            number += 1;
            let head = format!("BROKEN {number} of {unknown}: {}", violation.invariant);
            writeln!(self.out, "{}", styled(RED, &head))?;
            self.violation(violation, self.settings.replay.get(at).map(String::as_str))?;
            writeln!(self.out)?;
        }
        Ok(())
    }

    fn violation(&mut self, violation: &Violation, replay: Option<&str>) -> io::Result<()> {
        if let Some(invariant) = by_id(violation.invariant) {
            self.field("law", invariant.statement)?;
            self.field("why", invariant.why)?;
        }
        self.field("broken", &redact::message(&violation.message, self.settings.show_content))?;
        self.field("found", &found(violation, self.outcome))?;
        if let Some(note) = &violation.note {
            self.field("note", note)?;
        }
        let failure = Failure::of(violation);
        self.history(&failure.steps)?;
        if let Some(sighted) = &failure.sighted {
            self.due(sighted)?;
            self.came(sighted)?;
        }
        if self.settings.show_content {
            let case = SavedCase::bare(violation.case.clone()).to_json();
            self.field("case", &clipped_json(&case))?;
        } else {
            self.field("case", "it may hold a user's words: --show-content shows it whole")?;
        }
        self.field("replay", replay.unwrap_or("run again with the seed above"))
    }

    /// A field of a failure; further lines stand below the first.
    fn field(&mut self, name: &str, text: &str) -> io::Result<()> {
        let mut name = name;
        for line in plain(text).lines() {
            writeln!(self.out, "  {} {line}", styled(BOLD, &format!("{name:<9}")))?;
            name = "";
        }
        Ok(())
    }

    fn history(&mut self, steps: &[StepView]) -> io::Result<()> {
        let mut name = "history";
        for (number, step) in steps.iter().enumerate() {
            let failed = step.failed.map(|kind| styled(RED, &format!("  <- {}", kind.to_uppercase())));
            let title = format!("step {}: {}", number + 1, step.title);
            let label = styled(BOLD, &format!("{name:<9}"));
            writeln!(self.out, "  {label} {title}{}", failed.unwrap_or_default())?;
            name = "";
            self.items(&step.brings)?;
            if let Some(live) = &step.live {
                let text =
                    if live.is_empty() { "the live history is empty now" } else { "the live history is now" };
                writeln!(self.out, "{INDENT}  {}", styled(DIM, text))?;
                self.items(live)?;
            }
        }
        Ok(())
    }

    fn items(&mut self, items: &Items) -> io::Result<()> {
        let width = items.len().saturating_sub(1).to_string().len();
        for row in shown(items.len(), |_| false) {
            match row {
                Shown::Row(at) => {
                    let Some(item) = items.get(at) else { continue };
                    writeln!(self.out, "{INDENT}  {at:>width$} {}", summary(item))?;
                }
                Shown::Gap(rows) => self.gap(rows)?,
            }
        }
        Ok(())
    }

    fn gap(&mut self, rows: usize) -> io::Result<()> {
        writeln!(self.out, "{INDENT}  {}", styled(DIM, &format!("… {}", counted(rows, "more item"))))
    }

    fn due(&mut self, sighted: &Sighted) -> io::Result<()> {
        let what = format!("{} (+ put in, - taken out, ~ replaced):", whose(sighted, self.outcome));
        self.field("expected", &what)?;
        let columns = sighted.due.columns();
        let rows: Vec<_> = sighted.due.rows().collect();
        if rows.is_empty() {
            return writeln!(self.out, "{INDENT}{}", styled(DIM, "  nothing: the history is empty"));
        }
        for row in shown(rows.len(), |at| rows.get(at).is_some_and(|row| row.mark != ' ')) {
            match row {
                Shown::Row(at) => {
                    let Some(row) = rows.get(at) else { continue };
                    let text = columns.text(row);
                    let style = if row.mark == ' ' { Style::new() } else { YELLOW };
                    writeln!(self.out, "{INDENT}{}", styled(style, &text))?;
                }
                Shown::Gap(rows) => self.gap(rows)?,
            }
        }
        Ok(())
    }

    fn came(&mut self, sighted: &Sighted) -> io::Result<()> {
        let Some(came) = &sighted.came else {
            return self.field("came", "no request: what happened is said above");
        };
        let due = sighted.due.to_items();
        let rows = compare(&due, came);
        if rows.iter().all(|row| row.mark == Mark::Same) {
            return self.field("came", "exactly that: this one request is not what is wrong");
        }
        self.field("came", "the request of the subject (! where it is another):")?;
        let width = came.len().saturating_sub(1).to_string().len();
        for row in shown(rows.len(), |at| rows.get(at).is_some_and(|row| row.mark != Mark::Same)) {
            match row {
                Shown::Row(at) => {
                    let Some(row) = rows.get(at) else { continue };
                    self.compared(row, width)?;
                }
                Shown::Gap(rows) => self.gap(rows)?,
            }
        }
        Ok(())
    }

    fn compared(&mut self, row: &Compared<'_>, width: usize) -> io::Result<()> {
        let place = row.place.map(|place| place.to_string()).unwrap_or_default();
        let mark = if row.mark == Mark::Same { ' ' } else { '!' };
        let text = format!("{mark} {place:>width$} {}{}", summary(row.item), mark_words(&row.mark));
        let style = if row.mark == Mark::Same { Style::new() } else { RED };
        writeln!(self.out, "{INDENT}{}", styled(style, &text))?;
        if let (Mark::Differs(differences), true) = (&row.mark, self.settings.show_content) {
            for difference in differences {
                let side =
                    |value: &Option<String>| value.as_deref().map_or("nothing".to_owned(), clipped_json);
                let (due, came) = (side(&difference.due), side(&difference.came));
                writeln!(self.out, "{INDENT}    {}: expected {due}, came {came}", difference.field)?;
            }
        }
        Ok(())
    }

    fn baseline(&mut self) -> io::Result<()> {
        let outcome = self.outcome;
        let mut any = false;
        for (at, violation) in outcome.violations.iter().enumerate() {
            let Some(reason) = &violation.known else { continue };
            any = true;
            let word = styled(YELLOW, "KNOWN");
            writeln!(self.out, "{word} {}: {}", violation.invariant, plain(reason).replace('\n', " "))?;
            if let Some(replay) = self.settings.replay.get(at) {
                writeln!(self.out, "      {}", styled(DIM, &plain(replay)))?;
            }
        }
        for stale in &outcome.stale {
            any = true;
            let word = styled(RED, "STALE");
            let stale = plain(stale);
            writeln!(self.out, "{word} {stale}: known to fail, and does not; take it out of the baseline")?;
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }

    fn verdict(&mut self) -> io::Result<()> {
        let style = match self.outcome.verdict {
            Verdict::Pass => GREEN,
            Verdict::Fail | Verdict::Vacuous => RED,
            Verdict::Interrupted => YELLOW,
        };
        if self.outcome.verdict == Verdict::Vacuous {
            for label in self.outcome.low_labels() {
                let share = share(label.cases, self.outcome.cases);
                let floor = per_mille(u64::from(label.floor));
                writeln!(
                    self.out,
                    "{} {}: {share}, floor {floor}",
                    styled(RED, "LOW"),
                    label.label.as_str()
                )?;
            }
        }
        let word = styled(style, verdict_word(self.outcome.verdict));
        writeln!(self.out, "{word}: {}", verdict_words(self.outcome))?;
        self.out.flush()
    }
}

/// Whose projection the expected one is, and how binding.
pub(super) fn whose(sighted: &Sighted, outcome: &Outcome) -> String {
    let model = model(sighted.modalities);
    match outcome.profile {
        Profile::Codex => format!("for {model}, as Codex rust-v0.144.6 projects the live history"),
        Profile::Responses => {
            format!("one right answer for {model}, that of Codex rust-v0.144.6; this profile allows others")
        }
    }
}

/// On how many cases it was found.
pub(super) fn found(violation: &Violation, outcome: &Outcome) -> String {
    if violation.saved_case().is_some() {
        return format!("by a saved case with {}", counted(violation.case.item_count(), "item"));
    }
    let count = outcome.invariants.iter().find(|count| count.id == violation.invariant);
    let broken = count.map_or(1, |count| count.violations.max(1));
    let items = counted(violation.case.item_count(), "item");
    format!(
        "on {} of {}, first on case {}; the smallest that breaks it, with {items}, is this",
        counted(broken, "case"),
        grouped(outcome.cases),
        violation.case_number,
    )
}

/// What became of an item, behind its summary.
pub(super) fn mark_words(mark: &Mark) -> String {
    match mark {
        Mark::Same => String::new(),
        Mark::Missing => "  <- MISSING".to_owned(),
        Mark::NotDue => "  <- NOT EXPECTED".to_owned(),
        Mark::Differs(differences) => {
            let fields: Vec<&str> = differences.iter().map(|difference| difference.field.as_str()).collect();
            format!("  <- DIFFERS in {}", fields.join(", "))
        }
    }
}

/// How wide a full bar is.
const BAR: u64 = 20;

fn bar(part: u64, whole: u64, style: Style) -> String {
    let tenths = u128::from(part) * u128::from(BAR) * 2 / u128::from(whole.max(1));
    let halves = usize::try_from(tenths).unwrap_or_default().min(2 * BAR as usize);
    let mut full = "█".repeat(halves / 2);
    if halves % 2 == 1 {
        full.push('▌');
    }
    let rest = BAR as usize - full.chars().count();
    format!("{}{}", styled(style, &full), styled(DIM, &"·".repeat(rest)))
}
