//! Outcomes made by hand, one of every verdict, and kill matrices: what reports are made of.

// Each test file uses its part of this.
#![allow(dead_code)]

use callpair::case::{Case, Failure, Items, Projected, Step};
use callpair::generate::labels::Label;
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::report::verify::{
    Settings, Start, write_html, write_human, write_json, write_junit, write_observe,
};
use callpair::subject::{Capabilities, Profile, Reference, Subject};
use callpair::verify::{
    Amount, Caught, InvariantCount, Judge, LabelCount, Matrix, Outcome, Seed, Shard, Verdict, Violation,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn item(json: &str) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(Json::parse(json).expect("JSON")).expect("an item"))
}

/// Some of the catalogue, so that a new invariant does not change every text.
pub(crate) const ASKED: [&str; 10] = [
    "pairing/function-call",
    "pairing/local-shell-call",
    "orphan/function-call-output",
    "order/others-survive",
    "content/function-call-output",
    "identity/stable",
    "live/history-unchanged",
    "record/cuts",
    "metamorphic/repeat",
    "agreement/projection",
];

/// Some of the labels, each with its floor; the last cannot occur.
pub(crate) const DRAWN: [(Label, u32); 6] = [
    (Label::Empty, 5),
    (Label::Paired, 200),
    (Label::OpenFunction, 60),
    (Label::OrphanFunction, 60),
    (Label::Resume, 100),
    (Label::Fork, 0),
];

/// A run of 2,000 cases in which everything holds, with numbers that differ from row to row.
pub(crate) fn passing() -> Outcome {
    let subject = Capabilities { version: "1.2.3".to_owned(), ..Reference::new().capabilities() };
    let invariants = ASKED.iter().zip(1..).map(|(id, n)| {
        let checked = if id.starts_with("record/") { 0 } else { 2000 - 117 * n };
        InvariantCount { id, checked, violations: 0 }
    });
    let labels = DRAWN.iter().zip(1..).map(|(&(label, floor), n)| {
        let cases = if floor == 0 { 0 } else { 1900 - 335 * n };
        LabelCount { label, cases, floor }
    });
    Outcome {
        invariants: invariants.collect(),
        labels: labels.collect(),
        subject,
        profile: Profile::Codex,
        seed: Seed(7),
        cases: 2000,
        elapsed: Duration::from_millis(812),
        verdict: Verdict::Pass,
        violations: Vec::new(),
        stale: Vec::new(),
        refused: 0,
        interrupted: false,
    }
}

pub(crate) const CALL: &str =
    r#"{"type":"function_call","id":"fc_1","name":"ls","arguments":"{}","call_id":"a"}"#;

/// A subject that keeps its history as the reference does, and projects it by a function.
pub(crate) struct ByHand<F> {
    session: Reference,
    answer: F,
}

impl<F: Fn(&[Arc<ResponseItem>]) -> Vec<Arc<ResponseItem>>> Subject for ByHand<F> {
    fn capabilities(&self) -> Capabilities {
        self.session.capabilities()
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.session.reset()
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.session.record(items)
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.session.replace(items)
    }

    fn project(&mut self, _modalities: Modalities) -> Result<Projected, Failure> {
        Ok(Projected::of_items((self.answer)(&self.session.snapshot()?)))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        self.session.snapshot()
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.session.resume()
    }
}

/// A violation with what such a subject makes of the case.
pub(crate) fn violation(
    invariant: &'static str,
    message: &str,
    case: Case,
    answer: impl Fn(&[Arc<ResponseItem>]) -> Vec<Arc<ResponseItem>>,
) -> Violation {
    let mut subject = ByHand { session: Reference::new(), answer };
    let trace = Judge::new(Profile::Codex, subject.capabilities()).trace(&mut subject, &case);
    Violation {
        invariant,
        message: message.to_owned(),
        case,
        case_number: 17,
        known: None,
        note: None,
        trace: Some(trace),
    }
}

pub(crate) fn unpaired() -> Violation {
    let case = Case::of_history(vec![item(CALL)], Modalities::Text);
    let message = "item 0 of the request, function_call a #fc_1, has no function_call_output in the request";
    violation("pairing/function-call", message, case, <[_]>::to_vec)
}

/// A history of which the subject repairs one call with another text, drops an orphan and sends another twice.
pub(crate) fn wrong_words() -> Violation {
    let message = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}"#;
    let orphan = r#"{"type":"function_call_output","call_id":"b","output":"late"}"#;
    let case = Case {
        steps: vec![
            Step::Record(vec![item(message), item(orphan)]),
            Step::Record(vec![item(CALL)]),
            Step::Resume,
            Step::Project(Modalities::TextAndImage),
        ],
    };
    let mut violation = violation(
        "content/function-call-output",
        "item 3 of the request, function_call_output a 9 bytes, is synthetic and not the text \"aborted\"",
        case,
        |history| {
            let id = "fco_d08ee114-ed5d-5706-8dbd-16ccacd40aa4";
            let output = format!(
                r#"{{"type":"function_call_output","id":"{id}","call_id":"a","output":"cancelled"}}"#
            );
            history.iter().cloned().chain([item(&output)]).collect()
        },
    );
    violation.note = Some("the budget for a smaller case was used up".to_owned());
    violation
}

pub(crate) fn count(outcome: &mut Outcome, id: &str, violations: u64) {
    let count = outcome.invariants.iter_mut().find(|count| count.id == id).expect("it is asked");
    count.violations = violations;
}

pub(crate) fn failing() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Fail, refused: 3, ..passing() };
    outcome.violations = vec![unpaired(), wrong_words()];
    count(&mut outcome, "pairing/function-call", 12);
    count(&mut outcome, "content/function-call-output", 1);
    outcome
}

pub(crate) fn vacuous() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Vacuous, ..passing() };
    for label in outcome.labels.iter_mut().filter(|label| label.floor > 0).take(2) {
        label.cases = 1 + u64::from(label.floor);
    }
    outcome
}

pub(crate) fn interrupted() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Interrupted, interrupted: true, cases: 412, ..passing() };
    outcome.invariants.iter_mut().for_each(|count| count.checked /= 5);
    outcome.labels.iter_mut().for_each(|label| label.cases /= 5);
    outcome
}

pub(crate) fn known_and_stale() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Fail, stale: vec!["image".to_owned()], ..passing() };
    outcome.violations = vec![Violation { known: Some("issue 12 of ours".to_owned()), ..unpaired() }];
    count(&mut outcome, "pairing/function-call", 12);
    outcome
}

pub(crate) fn settings(show_content: bool) -> Settings<'static> {
    let replay = vec!["callpair replay one.json".to_owned(), "callpair replay two.json".to_owned()];
    Settings { show_content, replay, matrix: None, run_start: Duration::from_millis(1_700_000_000_250) }
}

pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

pub(crate) fn human(outcome: &Outcome, show_content: bool) -> String {
    uncoloured(&text(|out| write_human(out, outcome, &settings(show_content))))
}

/// The text as a terminal without colours gets it.
pub(crate) fn uncoloured(text: &str) -> String {
    let mut plain = Vec::new();
    use std::io::Write;
    anstream::StripStream::new(&mut plain).write_all(text.as_bytes()).expect("a vector");
    String::from_utf8(plain).expect("UTF-8")
}

pub(crate) fn every_form(outcome: &Outcome, settings: &Settings<'_>) -> [(&'static str, String); 5] {
    [
        ("human", uncoloured(&text(|out| write_human(out, outcome, settings)))),
        ("json", text(|out| write_json(out, outcome, settings))),
        ("junit", text(|out| write_junit(out, outcome, settings))),
        ("html", text(|out| write_html(out, outcome, settings))),
        ("observe", text(|out| write_observe(out, outcome, settings))),
    ]
}

pub(crate) fn start(subject: &Capabilities) -> Start<'_> {
    Start {
        subject,
        profile: Profile::Codex,
        seed: Seed(7),
        amount: Amount::Cases(2000),
        jobs: 2,
        shard: Shard::WHOLE,
        histories: "arbitrary",
    }
}

pub(crate) fn caught(
    fault: &'static str,
    after: Option<u64>,
    by_laws: Option<(u64, &'static str)>,
) -> Caught {
    let law = by_laws.map(|(_, law)| law);
    let codex: BTreeMap<&'static str, u64> = by_laws.iter().map(|(after, law)| (*law, *after)).collect();
    Caught {
        fault,
        why: "Where it was seen.",
        after,
        after_by_laws: by_laws.map(|(after, _)| after),
        elapsed: Duration::from_millis(5),
        first_law: law,
        codex,
        responses: BTreeMap::new(),
        smallest: law.map(|_| Case::of_history(vec![item(CALL)], Modalities::Text)),
        calls: 40,
    }
}

pub(crate) fn small_matrix() -> Matrix {
    let rows = vec![
        caught("function-call-forgotten", Some(2), Some((3, "pairing/function-call"))),
        caught("caught-by-the-model-alone", Some(40), None),
        caught("caught-by-nothing", None, None),
    ];
    Matrix { rows, limit: 1000, seed: 7 }
}

/// A matrix in which every invariant is needed by a fault of its own.
pub(crate) fn whole_matrix() -> Matrix {
    let needed = small_matrix().unneeded().into_iter().chain(["pairing/function-call"]);
    let rows = needed.zip(1..).map(|(id, after)| caught(id, Some(after), Some((after, id)))).collect();
    Matrix { rows, limit: 1000, seed: 7 }
}

/// What a hostile subject, session or file can put into a result.
pub(crate) const HOSTILE: &str =
    "\u{1b}[31mred\u{9b}1m\u{7f}\u{202e}</pre><script>alert(1)</script>\" onload=\"x";

/// Every element that is opened is closed, in order.
pub(crate) fn well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let body = page.split_once("</style>").expect("a style").1;
    for tag in body.split('<').skip(1).map(|rest| rest.split('>').next().expect("a tag")) {
        let name = tag.split([' ', '\n']).next().expect("a name");
        match name.strip_prefix('/') {
            Some("head" | "html") => {}
            Some(name) => assert_eq!(open.pop(), Some(name), "closing {name} in {open:?}"),
            None if name == "br" => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, [""; 0]);
}
