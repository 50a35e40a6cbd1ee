//! `callpair explain`

use super::{Exit, output};
use crate::check::Rule;
use crate::fault::Slip;
use crate::invariant::{CATALOGUE, Invariant};
use crate::subject::Profile;
use std::io::{self, Write};

/// Explains an invariant, a rule of `check`, or a planted fault
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  callpair explain
  callpair explain pairing/function-call
  callpair explain pairing
  callpair explain responses/call-without-output
  callpair explain forget/function-call

Exit status:
  0  it was explained
  2  there is no such id")]
pub(super) struct Args {
    /// An invariant, a family of them, a rule of `check`, or a planted fault; without it all are listed
    id: Option<String>,
}

pub(super) fn run(args: &Args) -> Exit {
    let mut out = output::for_people();
    let written = match args.id.as_deref() {
        None => list(&mut out),
        Some(id) => match explain(&mut out, id) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let shown: String = id.chars().take(60).collect();
                output::complain_of(
                    "explain",
                    &format!("no such id: {shown:?}; `callpair explain` lists them"),
                );
                return Exit::Unusable;
            }
            Err(error) => Err(error),
        },
    };
    output::after_writing(written.and_then(|()| out.flush()), Exit::Holds)
}

fn list(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Invariants (verify):")?;
    for invariant in CATALOGUE {
        writeln!(out, "  {:<36} {}", invariant.id, invariant.statement)?;
    }
    writeln!(out, "\nRules (check):")?;
    for rule in Rule::ALL {
        writeln!(out, "  {:<48} {}", rule.id(), rule.statement())?;
    }
    writeln!(out, "\nPlanted faults (faults):")?;
    for slip in Slip::ALL {
        writeln!(out, "  {:<44} {}", slip.id(), slip.why())?;
    }
    Ok(())
}

/// Whether there is such an id.
fn explain(out: &mut impl Write, id: &str) -> io::Result<bool> {
    let invariants: Vec<&Invariant> =
        CATALOGUE.iter().filter(|invariant| invariant.id == id || invariant.family() == id).collect();
    for (at, invariant) in invariants.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write_invariant(out, invariant)?;
    }
    let rules: Vec<&Rule> = Rule::ALL.iter().filter(|rule| rule.id() == id).collect();
    for rule in &rules {
        writeln!(
            out,
            "{}\n\n  {}\n\n  severity   {}",
            rule.id(),
            rule.statement(),
            rule.severity().as_str()
        )?;
    }
    let slip = Slip::from_id(id);
    if let Some(slip) = slip {
        writeln!(
            out,
            "{}\n\n  A planted fault. {}\n\n  try it     callpair verify --subject bank/{}",
            slip.id(),
            slip.why(),
            slip.id()
        )?;
    }
    Ok(!invariants.is_empty() || !rules.is_empty() || slip.is_some())
}

fn write_invariant(out: &mut impl Write, invariant: &Invariant) -> io::Result<()> {
    let profiles =
        if invariant.profiles.contains(&Profile::Responses) { "codex, responses" } else { "codex" };
    writeln!(out, "{}\n\n  {}\n", invariant.id, invariant.statement)?;
    writeln!(out, "  law        {}", invariant.law)?;
    writeln!(out, "  why        {}", invariant.why)?;
    writeln!(out, "  needs      {}", invariant.needs.as_str())?;
    writeln!(out, "  profiles   {profiles}")?;
    if !invariant.reports.is_empty() {
        writeln!(out, "  reported   {}", invariant.reports.join(", "))?;
    }
    let implied = crate::verify::IMPLIED.iter().find(|(id, _)| *id == invariant.id);
    if let Some((_, why)) = implied {
        writeln!(out, "  beside     {why}")?;
    }
    writeln!(out, "  only this  callpair verify --only {}", invariant.id)?;
    Ok(())
}
