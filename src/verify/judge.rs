//! Judging one case: runs its script and those of the laws, and asks every invariant.

use crate::case::{Case, Failure, FailureKind, Outcome, Step, Trace};
use crate::invariant::{AGAINST, ANSWERS, Check, Invariant, NOT_REFUSED, Observed, Verdict, applicable};
use crate::subject::{Capabilities, Profile, Subject};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The least that a subject which is known to hang has for an answer, while a smaller case is looked for.
const HASTE: Duration = Duration::from_millis(250);

/// How many times what an empty case takes it has.
const HASTE_FACTOR: u32 = 20;

/// What is to be judged, and by what.
#[derive(Debug, Clone)]
pub struct Judge {
    invariants: Vec<Invariant>,
    profile: Profile,
    capabilities: Capabilities,
    allow_refusals: bool,
    /// Whether the subject is compared with another one.
    compares: bool,
}

/// The judgement of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The invariants that had something to check, by place in [`Judge::invariants`].
    pub checked: Vec<usize>,
    /// Those that are broken, with the sentence that says how.
    pub broken: Vec<(usize, String)>,
    /// Whether the subject declined the case and that is allowed.
    pub refused: bool,
    /// Whether a step was not answered in time.
    pub hung: bool,
}

impl Judge {
    /// Judges a subject by all invariants of a profile that its capabilities allow.
    pub fn new(profile: Profile, capabilities: Capabilities) -> Judge {
        let applies = applicable(profile, &capabilities).filter(|invariant| invariant.id != AGAINST.id);
        let invariants = applies.copied().collect();
        Judge { invariants, profile, capabilities, allow_refusals: false, compares: false }
    }

    /// Judges by nothing but whether the two subjects of an [`Against`](crate::subject::Against) differ.
    pub(super) fn comparing_only(profile: Profile, capabilities: Capabilities) -> Judge {
        Judge { invariants: vec![AGAINST], profile, capabilities, allow_refusals: true, compares: true }
    }

    /// Keeps the invariants that pass; `robustness/answers` stays, since nothing can be judged without answers.
    #[must_use]
    pub fn keep(mut self, passes: impl Fn(&Invariant) -> bool) -> Judge {
        self.invariants.retain(|invariant| invariant.id == ANSWERS.id || passes(invariant));
        self
    }

    /// Adds an invariant of one's own.
    #[must_use]
    pub fn with(mut self, own: Invariant) -> Judge {
        self.invariants.push(own);
        self
    }

    /// Lets the subject decline histories on purpose; such cases are counted, not judged.
    #[must_use]
    pub fn allowing_refusals(mut self, allow: bool) -> Judge {
        self.allow_refusals = allow;
        self
    }

    /// Says that the subject is an [`Against`](crate::subject::Against): where the other one differs, that is broken.
    #[must_use]
    pub fn comparing(mut self) -> Judge {
        self.compares = true;
        self.invariants.push(AGAINST);
        self
    }

    /// The invariants.
    pub fn invariants(&self) -> &[Invariant] {
        &self.invariants
    }

    /// The subject's capabilities.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Runs a case and judges it.
    pub fn judge(&self, subject: &mut dyn Subject, case: &Case) -> Judgement {
        self.judge_only(subject, case, |_| true)
    }

    /// Whether a case has only steps, kinds of items and modalities that the subject knows; a smaller case must not ask for more.
    fn is_for_the_subject(&self, case: &Case) -> bool {
        let can = &self.capabilities;
        case.steps.iter().all(|step| match step {
            Step::Record(items) | Step::Replace(items) => items.iter().all(|item| can.knows(item.kind())),
            Step::Project(modalities) => can.modalities.contains(modalities),
            Step::Resume => can.resume,
            Step::Rollback(_) => can.rollback,
            Step::Fork => can.fork,
            Step::Snapshot => true,
        })
    }

    /// Runs a case and asks only the invariant of this id; the sentence, where it is broken. Minimising goes by it.
    pub fn breaks(&self, subject: &mut dyn Subject, case: &Case, id: &str) -> Option<String> {
        if !self.is_for_the_subject(case) {
            return None;
        }
        let judgement = self.judge_only(subject, case, |invariant| invariant.id == id);
        let broken = judgement.broken.into_iter();
        broken
            .filter(|(at, _)| self.invariants.get(*at).is_some_and(|invariant| invariant.id == id))
            .map(|(_, how)| how)
            .next()
    }

    /// Readies a subject that hangs for the search for a smaller case, which would cost the whole time limit with each that is
    /// tried: it is waited for no longer than many times what an empty case takes. Whether it hangs on an empty case too; then
    /// there is none smaller.
    pub fn hasten(&self, subject: &mut dyn Subject) -> bool {
        let nothing = Case::default();
        // It was ended just now: this starts it again, which is not to be measured.
        let first = self.trace(subject, &nothing);
        if first.failure().is_some_and(|failure| failure.kind == FailureKind::Hung) {
            return true;
        }
        let start = Instant::now();
        let _ = self.trace(subject, &nothing);
        subject.hurry((start.elapsed() * HASTE_FACTOR).max(HASTE));
        false
    }

    /// Runs the script of a case and keeps what came of it; a panic is a failure like any other.
    pub fn trace(&self, subject: &mut dyn Subject, case: &Case) -> Trace {
        guarded_run(subject, case.script(&self.capabilities.modalities))
    }

    fn judge_only(
        &self,
        subject: &mut dyn Subject,
        case: &Case,
        wanted: impl Fn(&Invariant) -> bool,
    ) -> Judgement {
        let trace = self.trace(subject, case);
        let checked = Vec::with_capacity(self.invariants.len());
        let mut judgement = Judgement { checked, ..Judgement::default() };
        self.judge_answers(&trace, &mut judgement);
        if trace.failure().is_some() {
            return judgement;
        }
        let observed = Observed::new(&trace, self.profile, &self.capabilities);
        for (at, invariant) in self.invariants.iter().enumerate() {
            if !wanted(invariant) {
                continue;
            }
            let verdict = match invariant.check {
                Check::Projection(check) => over_projections(&observed, check),
                Check::Trace(check) => check(&observed),
                Check::Law { scripts, judge } => self.law(subject, &observed, scripts, judge, &mut judgement),
                Check::Runner => continue,
            };
            judgement.take(at, verdict);
        }
        judgement
    }

    fn law(
        &self,
        subject: &mut dyn Subject,
        observed: &Observed<'_>,
        scripts: fn(&Observed<'_>) -> Vec<Vec<Step>>,
        judge: fn(&Observed<'_>, &[Trace]) -> Verdict,
        judgement: &mut Judgement,
    ) -> Verdict {
        let mut traces = Vec::new();
        for script in scripts(observed) {
            let trace = guarded_run(subject, script);
            if trace.failure().is_some() {
                self.judge_answers(&trace, judgement);
                return Verdict::NotApplicable;
            }
            traces.push(trace);
        }
        if traces.is_empty() { Verdict::NotApplicable } else { judge(observed, &traces) }
    }

    /// Whether every step of a trace was answered.
    fn judge_answers(&self, trace: &Trace, judgement: &mut Judgement) {
        let failure = trace.failure();
        let of_kind = |kind| failure.is_some_and(|failure| failure.kind == kind);
        let (refused, differs) = (of_kind(FailureKind::Refused), of_kind(FailureKind::Differs));
        judgement.refused |= refused && self.allow_refusals;
        judgement.hung |= of_kind(FailureKind::Hung);
        for (at, invariant) in self.invariants.iter().enumerate() {
            let breaks = match invariant.id {
                id if id == ANSWERS.id => failure.is_some() && !refused && !differs,
                id if id == AGAINST.id && self.compares => differs,
                id if id == NOT_REFUSED.id && !self.allow_refusals => refused,
                _ => continue,
            };
            let verdict = match failure {
                Some(failure) if breaks => Verdict::Broken(failed_step(trace, failure)),
                _ => Verdict::Holds,
            };
            judgement.take(at, verdict);
        }
    }
}

impl Judgement {
    fn take(&mut self, at: usize, verdict: Verdict) {
        if verdict == Verdict::NotApplicable {
            return;
        }
        // An invariant comes twice only where a law's script fails, and then right after itself or not at all.
        if self.checked.last().is_none_or(|last| *last < at) || !self.checked.contains(&at) {
            self.checked.push(at);
        }
        if let Verdict::Broken(how) = verdict
            && !self.broken.iter().any(|(broken, _)| *broken == at)
        {
            self.broken.push((at, how));
        }
    }
}

fn over_projections(
    observed: &Observed<'_>,
    check: fn(&crate::invariant::Sighting<'_>) -> Verdict,
) -> Verdict {
    let mut overall = Verdict::NotApplicable;
    for sighting in &observed.sightings {
        match check(sighting) {
            Verdict::NotApplicable => {}
            Verdict::Holds => overall = Verdict::Holds,
            broken @ Verdict::Broken(_) => return broken,
        }
    }
    overall
}

/// Runs a script; a panic of a subject within the process is a failure of the step like any other.
fn guarded_run(subject: &mut dyn Subject, script: Vec<Step>) -> Trace {
    let outcomes = catch_unwind(AssertUnwindSafe(|| subject.run(&script))).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        vec![Outcome::Failed(Failure::new(FailureKind::Crashed, format!("panicked: {words}")))]
    });
    Trace { script, outcomes }
}

fn failed_step(trace: &Trace, failure: &Failure) -> String {
    let at = trace.outcomes.len().saturating_sub(1);
    match trace.script.get(at) {
        Some(step) => format!("step {at} ({}) failed: {failure}", step.name()),
        None => format!("the script failed: {failure}"),
    }
}
