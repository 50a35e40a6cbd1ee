//! The result of a run in every form, from outcomes made by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::case::{Case, Failure, Items, Projected, Step};
use callpair::generate::Options;
use callpair::generate::labels::{Label, Labels};
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::report::matrix;
use callpair::report::verify::{
    Observed, Settings, Start, write_html, write_human, write_json, write_junit, write_observe,
    write_observed, write_start,
};
use callpair::subject::{Capabilities, Profile, Reference, Subject};
use callpair::verify::{
    Amount, Caught, InvariantCount, Judge, LabelCount, Matrix, Outcome, Seed, Shard, Verdict, Violation,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn item(json: &str) -> Arc<ResponseItem> {
    Arc::new(ResponseItem::load(Json::parse(json).expect("JSON")).expect("an item"))
}

/// Some of the catalogue, so that a new invariant does not change every text.
const ASKED: [&str; 10] = [
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
const DRAWN: [(Label, u32); 6] = [
    (Label::Empty, 5),
    (Label::Paired, 200),
    (Label::OpenFunction, 60),
    (Label::OrphanFunction, 60),
    (Label::Resume, 100),
    (Label::Fork, 0),
];

/// A run of 2,000 cases in which everything holds, with numbers that differ from row to row.
fn passing() -> Outcome {
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
    }
}

const CALL: &str = r#"{"type":"function_call","id":"fc_1","name":"ls","arguments":"{}","call_id":"a"}"#;

/// A subject that keeps its history as the reference does, and projects it by a function.
struct ByHand<F> {
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
fn violation(
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

fn unpaired() -> Violation {
    let case = Case::of_history(vec![item(CALL)], Modalities::Text);
    let message = "item 0 of the request, function_call a #fc_1, has no function_call_output in the request";
    violation("pairing/function-call", message, case, <[_]>::to_vec)
}

/// A history of which the subject repairs one call with another text, drops an orphan and sends another twice.
fn wrong_words() -> Violation {
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

fn count(outcome: &mut Outcome, id: &str, violations: u64) {
    let count = outcome.invariants.iter_mut().find(|count| count.id == id).expect("it is asked");
    count.violations = violations;
}

fn failing() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Fail, refused: 3, ..passing() };
    outcome.violations = vec![unpaired(), wrong_words()];
    count(&mut outcome, "pairing/function-call", 12);
    count(&mut outcome, "content/function-call-output", 1);
    outcome
}

fn vacuous() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Vacuous, ..passing() };
    for label in outcome.labels.iter_mut().filter(|label| label.floor > 0).take(2) {
        label.cases = 1 + u64::from(label.floor);
    }
    outcome
}

fn interrupted() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Interrupted, cases: 412, ..passing() };
    outcome.invariants.iter_mut().for_each(|count| count.checked /= 5);
    outcome.labels.iter_mut().for_each(|label| label.cases /= 5);
    outcome
}

fn known_and_stale() -> Outcome {
    let mut outcome = Outcome { verdict: Verdict::Fail, stale: vec!["image".to_owned()], ..passing() };
    outcome.violations = vec![Violation { known: Some("issue 12 of ours".to_owned()), ..unpaired() }];
    count(&mut outcome, "pairing/function-call", 12);
    outcome
}

fn settings(show_content: bool) -> Settings<'static> {
    let replay = vec!["callpair replay one.json".to_owned(), "callpair replay two.json".to_owned()];
    Settings { show_content, replay, matrix: None, run_start: Duration::from_millis(1_700_000_000_250) }
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

fn human(outcome: &Outcome, show_content: bool) -> String {
    uncoloured(&text(|out| write_human(out, outcome, &settings(show_content))))
}

/// The text as a terminal without colours gets it.
fn uncoloured(text: &str) -> String {
    let mut plain = Vec::new();
    use std::io::Write;
    anstream::StripStream::new(&mut plain).write_all(text.as_bytes()).expect("a vector");
    String::from_utf8(plain).expect("UTF-8")
}

fn every_form(outcome: &Outcome, settings: &Settings<'_>) -> [(&'static str, String); 5] {
    [
        ("human", uncoloured(&text(|out| write_human(out, outcome, settings)))),
        ("json", text(|out| write_json(out, outcome, settings))),
        ("junit", text(|out| write_junit(out, outcome, settings))),
        ("html", text(|out| write_html(out, outcome, settings))),
        ("observe", text(|out| write_observe(out, outcome, settings))),
    ]
}

fn start(subject: &Capabilities) -> Start<'_> {
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

#[test]
fn a_run_says_what_it_was_asked_for_before_it_starts() {
    let subject = Reference::new().capabilities();
    let head = text(|out| write_start(out, &start(&subject)));
    let head = uncoloured(&head).replace(env!("CARGO_PKG_VERSION"), "[version]");
    insta::assert_snapshot!(head);
    let timed = Start { amount: Amount::Time(Duration::from_secs(90)), ..start(&subject) };
    let head = uncoloured(&text(|out| write_start(out, &timed)));
    assert!(head.contains("time       1 min 30 s"), "{head}");
}

#[test]
fn a_run_that_passes_names_the_four_laws_and_promises_no_more_than_it_can() {
    insta::assert_snapshot!(human(&passing(), true));
}

#[test]
fn a_failure_says_what_was_broken_on_which_history_and_what_to_type_next() {
    insta::assert_snapshot!(human(&failing(), true));
}

#[test]
fn a_vacuous_run_names_the_labels_below_their_floors() {
    insta::assert_snapshot!(human(&vacuous(), true));
}

#[test]
fn an_interrupted_run_tells_what_it_saw_so_far() {
    insta::assert_snapshot!(human(&interrupted(), true));
}

#[test]
fn known_failures_and_stale_entries_are_told_from_new_failures() {
    insta::assert_snapshot!(human(&known_and_stale(), true));
}

#[test]
fn a_case_of_a_recorded_session_is_shown_by_kinds_and_sizes() {
    insta::assert_snapshot!(human(&failing(), false));
}

#[test]
fn the_last_line_is_the_verdict() {
    let outcomes = [passing(), failing(), vacuous(), interrupted(), known_and_stale()];
    let last =
        outcomes.map(|outcome| human(&outcome, true).lines().last().map(str::to_owned).expect("lines"));
    insta::assert_snapshot!(last.join("\n"));
}

#[test]
fn json_holds_every_field_of_the_design() {
    let outcome = failing();
    let json = text(|out| write_json(out, &outcome, &settings(true)));
    let json = Json::parse(&json).expect("one document");
    let string = |json: &Json, key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    let number = |json: &Json, key: &str| json.get(key).and_then(Json::as_u64);
    let list = |key: &str| json.get(key).and_then(Json::as_array).expect("a list").to_vec();
    assert_eq!(string(&json, "schema").as_deref(), Some("callpair.verify/1"));
    let subject = json.get("subject").expect("a subject");
    assert_eq!(string(subject, "name").as_deref(), Some("reference"));
    assert_eq!(string(subject, "version").as_deref(), Some("1.2.3"));
    assert_eq!(string(&json, "profile").as_deref(), Some("codex-0.144.6"));
    assert_eq!(string(&json, "seed"), Some(Seed(7).to_string()));
    assert_eq!(string(&json, "verdict").as_deref(), Some("fail"));
    let numbers = ["cases", "elapsed_ms", "refused", "promise"].map(|key| number(&json, key));
    assert_eq!(numbers, [Some(2000), Some(812), Some(3), Some(667)]);
    assert_eq!(list("invariants").len(), outcome.invariants.len());
    for (json, count) in list("invariants").iter().zip(&outcome.invariants) {
        assert_eq!(string(json, "id").as_deref(), Some(count.id));
        assert_eq!(number(json, "checked"), Some(count.checked));
        assert_eq!(number(json, "violations"), Some(count.violations));
    }
    assert_eq!(list("labels").len(), outcome.labels.len());
    for (json, label) in list("labels").iter().zip(&outcome.labels) {
        assert_eq!(string(json, "label").as_deref(), Some(label.label.as_str()));
        assert_eq!(number(json, "cases"), Some(label.cases));
        assert_eq!(number(json, "floor_per_mille"), Some(u64::from(label.floor)));
        assert_eq!(json.get("low"), Some(&Json::Bool(label.is_low(2000))));
    }
    assert_eq!(list("violations").len(), 2);
    for (at, (json, violation)) in list("violations").iter().zip(&outcome.violations).enumerate() {
        assert_eq!(string(json, "invariant").as_deref(), Some(violation.invariant));
        assert_eq!(string(json, "message").as_deref(), Some(violation.message.as_str()));
        assert_eq!(number(json, "items"), Some([1, 3][at]));
        assert_eq!(number(json, "case_number"), Some(17));
        assert_eq!(string(json, "replay"), Some(settings(true).replay[at].clone()));
        assert_eq!(json.get("case"), Some(&violation.case.to_json()));
    }
}

#[test]
fn json_of_every_verdict_says_so() {
    let outcomes = [passing(), failing(), vacuous(), interrupted()];
    let words = outcomes.map(|outcome| {
        let json = text(|out| write_json(out, &outcome, &settings(true)));
        let json = Json::parse(&json).expect("one document");
        json.get("verdict").and_then(Json::as_str).map(str::to_owned).expect("a verdict")
    });
    assert_eq!(words, ["pass", "fail", "vacuous", "interrupted"]);
    let json = text(|out| write_json(out, &known_and_stale(), &settings(true)));
    let json = Json::parse(&json).expect("one document");
    let first = |key: &str| json.get(key).and_then(Json::as_array).and_then(|list| list.first()).cloned();
    assert_eq!(first("stale"), Some(Json::String("image".to_owned())));
    let known = first("known").expect("a known failure");
    assert_eq!(known.get("reason").and_then(Json::as_str), Some("issue 12 of ours"));
    let violation = first("violations").expect("it still fails");
    assert_eq!(violation.get("known").and_then(Json::as_str), Some("issue 12 of ours"));
}

#[test]
fn a_case_deeper_than_serde_json_reads_and_with_long_numbers_is_written_whole() {
    let deep = format!("{}1.10{}", r#"{"a":["#.repeat(60), "]}".repeat(60));
    let call =
        format!(r#"{{"type":"tool_search_call","call_id":"a","execution":"client","arguments":{deep}}}"#);
    let mut outcome = failing();
    outcome.violations[0].case = Case::of_history(vec![item(&call)], Modalities::Text);
    let json = text(|out| write_json(out, &outcome, &settings(true)));
    assert!(json.contains("1.10"), "the number keeps its digits");
    Json::parse_wrapped(&json, 8).expect("one document");
}

#[test]
fn junit_has_a_test_an_invariant_and_is_red_where_the_run_says_nothing() {
    insta::assert_snapshot!("junit_fail", text(|out| write_junit(out, &failing(), &settings(true))));
    let red = |outcome: &Outcome| {
        text(|out| write_junit(out, outcome, &settings(true))).matches("<failure").count()
    };
    let outcomes = [passing(), failing(), vacuous(), interrupted(), known_and_stale()];
    assert_eq!(outcomes.each_ref().map(red), [0, 2, 1, 1, 1]);
    let tests = text(|out| write_junit(out, &passing(), &settings(true))).matches("<testcase").count();
    assert_eq!(tests, passing().invariants.len() + 3);
}

#[test]
fn observations_hold_the_fields_of_their_form_and_no_others() {
    let outcome = failing();
    let subject = outcome.subject.clone();
    let case = outcome.violations[0].case.clone();
    let labels = Labels::of(&case, &Options::for_subject(subject.clone()));
    assert!(labels.has(Label::OpenFunction));
    let observed = |broken, refused| Observed { case_number: 17, case: &case, labels, broken, refused };
    let cases = [observed(&[][..], false), observed(&["order/sequence"][..], false), observed(&[][..], true)];
    let mut lines = text(|out| {
        cases.iter().try_for_each(|case| write_observed(out, &start(&subject), case, &settings(true)))
    });
    lines.push_str(&text(|out| write_observe(out, &outcome, &settings(true))));
    lines.push_str(&text(|out| write_observe(out, &vacuous(), &settings(true))));
    let test_case = [
        "type",
        "run_start",
        "property",
        "status",
        "status_reason",
        "representation",
        "arguments",
        "how_generated",
        "features",
        "coverage",
        "timing",
        "metadata",
    ];
    let message = ["type", "title", "content", "property", "run_start"];
    let mut statuses = Vec::new();
    for line in lines.lines() {
        let json = Json::parse(line).expect("a document a line");
        let keys: Vec<&str> = json.as_object().expect("an object").iter().map(|(key, _)| key).collect();
        let kind = json.get("type").and_then(Json::as_str).expect("a type");
        assert_eq!(keys, if kind == "test_case" { &test_case[..] } else { &message[..] });
        statuses.push(json.get("status").and_then(Json::as_str).unwrap_or(kind).to_owned());
    }
    let end = ["info", "info", "info"];
    let expected: Vec<&str> = ["passed", "failed", "gave_up", "failed", "failed"]
        .into_iter()
        .chain(end)
        .chain(end)
        .chain(["alert", "alert"])
        .collect();
    assert_eq!(statuses, expected);
    // Without the labels, so that a new one does not change the text.
    let without_labels = |line: &str| match (line.find(r#","no items":"#), line.find(r#"},"coverage""#)) {
        (Some(from), Some(to)) => format!("{}{}", &line[..from], &line[to..]),
        _ => line.to_owned(),
    };
    assert!(lines.contains(r#""function_call without output":"yes","#));
    assert!(lines.contains(r#""orphan function_call_output":"no","#));
    insta::assert_snapshot!("observe", lines.lines().map(without_labels).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let matrix = small_matrix();
    for outcome in [passing(), failing(), vacuous(), interrupted(), known_and_stale()] {
        let settings = Settings { matrix: Some(&matrix), ..settings(true) };
        let page = text(|out| write_html(out, &outcome, &settings));
        well_formed(&page);
        for loads in ["http:", "https:", "src=", "url(", "@import", "<script", "<link", "<img", "javascript:"]
        {
            assert!(!page.contains(loads), "{loads}");
        }
        for id in page.split("aria-labelledby=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        for id in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        assert_eq!(page.matches("<h1>").count(), 1);
        assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
    }
}

#[test]
fn the_page_shows_history_plan_and_request_with_the_difference_marked() {
    let page = text(|out| write_html(out, &failing(), &settings(true)));
    let body = page.split_once("<main").expect("a main part").1.split_once("id=\"cases\"").expect("labels").0;
    insta::assert_snapshot!(body);
}

/// Every element that is opened is closed, in order.
fn well_formed(page: &str) {
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

/// What a hostile subject, session or file can put into a result.
const HOSTILE: &str = "\u{1b}[31mred\u{9b}1m\u{7f}\u{202e}</pre><script>alert(1)</script>\" onload=\"x";

#[test]
fn no_control_character_and_no_markup_passes() {
    let mut outcome = known_and_stale();
    outcome.subject.name = HOSTILE.to_owned();
    outcome.subject.version = HOSTILE.to_owned();
    outcome.stale = vec![HOSTILE.to_owned()];
    let call = CALL.replace("\"a\"", &serde_json::to_string(HOSTILE).expect("a string"));
    let case = Case::of_history(vec![item(&call)], Modalities::Text);
    let mut violation = violation("pairing/function-call", HOSTILE, case, <[_]>::to_vec);
    violation.note = Some(HOSTILE.to_owned());
    outcome.violations = vec![
        Violation { known: Some(HOSTILE.to_owned()), ..violation.clone() },
        Violation { invariant: "pairing/tool-search-call", ..violation },
    ];
    let settings = Settings { replay: vec![HOSTILE.to_owned(); 2], ..settings(true) };
    for (form, text) in every_form(&outcome, &settings) {
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{form}");
        if form == "html" {
            well_formed(&text);
            assert!(!text.contains("<script"), "{form}");
            assert!(!text.contains('\u{202e}'), "{form}");
        }
    }
}

#[test]
fn what_a_user_wrote_is_in_no_form_unless_it_is_allowed() {
    let secret = "SECRET";
    let items = [
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"SECRET"}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,SECRET"}]}"#,
        r#"{"type":"function_call","name":"SECRET","arguments":"{\"SECRET\":1}","call_id":"a"}"#,
        r#"{"type":"function_call_output","call_id":"b","output":"SECRET"}"#,
        r#"{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"SECRET":["SECRET"]}}"#,
        r#"{"type":"tool_search_output","call_id":"c","status":"completed","execution":"client","tools":[{"name":"SECRET"}]}"#,
        r#"{"type":"local_shell_call","call_id":"d","status":"completed","action":{"type":"exec","command":["SECRET"],"env":{"SECRET":"SECRET"}}}"#,
        r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"SECRET"}],"encrypted_content":"SECRET"}"#,
        r#"{"type":"custom_tool_call","call_id":"e","name":"SECRET","input":"SECRET"}"#,
    ];
    let case = Case::of_history(items.iter().map(|json| item(json)).collect(), Modalities::Text);
    let crash = "step 2 (project) failed: crashed: exit status 1, stderr: KeyError: SECRET";
    let mut outcome = failing();
    outcome.violations = vec![
        violation("order/others-survive", "item 0 of the history is gone", case.clone(), |history| {
            history.iter().rev().cloned().collect()
        }),
        Violation { trace: None, ..violation("robustness/answers", crash, case, <[_]>::to_vec) },
    ];
    for (form, text) in every_form(&outcome, &settings(false)) {
        assert!(!text.contains(secret), "{form}: {text}");
    }
    for (form, text) in every_form(&outcome, &settings(true)) {
        assert!(text.contains(secret), "{form} shows the case where it may");
    }
    let json = text(|out| write_json(out, &outcome, &settings(false)));
    let json = Json::parse(&json).expect("one document");
    let mut shown = Vec::new();
    let violations = json.get("violations").and_then(Json::as_array).expect("violations");
    violations[0].get("case").expect("a case").write(&mut shown, callpair::json::Numbers::AsWritten);
    insta::assert_snapshot!(
        "redacted_case",
        String::from_utf8(shown).expect("UTF-8").replace("},{", "},\n{")
    );
}

#[test]
fn a_long_history_is_cut_to_what_matters() {
    let message = |n: usize| item(&format!(r#"{{"type":"message","role":"user","id":"m{n}","content":[]}}"#));
    let case = Case::of_history((0..5000).map(message).collect(), Modalities::Text);
    let mut outcome = failing();
    outcome.violations =
        vec![violation("order/others-survive", "item 2500 of the history is gone", case, |history| {
            history
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != 2500)
                .map(|(_, item)| Arc::clone(item))
                .collect()
        })];
    let shown = human(&outcome, true);
    assert!(shown.lines().count() < 220, "{}", shown.lines().count());
    let missing = shown.lines().find(|line| line.contains("MISSING")).expect("the missing item is shown");
    assert!(missing.contains("#m2500"), "{missing}");
    let page = text(|out| write_html(out, &outcome, &settings(true)));
    assert!(page.len() < 100_000, "{}", page.len());
    assert!(page.contains("#m2500 <em>MISSING</em>"), "{page}");
}

fn caught(fault: &'static str, after: Option<u64>, by_laws: Option<(u64, &'static str)>) -> Caught {
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

fn small_matrix() -> Matrix {
    let rows = vec![
        caught("function-call-forgotten", Some(2), Some((3, "pairing/function-call"))),
        caught("caught-by-the-model-alone", Some(40), None),
        caught("caught-by-nothing", None, None),
    ];
    Matrix { rows, limit: 1000 }
}

/// A matrix in which every invariant is needed by a fault of its own.
fn whole_matrix() -> Matrix {
    let needed = small_matrix().unneeded().into_iter().chain(["pairing/function-call"]);
    let rows = needed.zip(1..).map(|(id, after)| caught(id, Some(after), Some((after, id)))).collect();
    Matrix { rows, limit: 1000 }
}

#[test]
fn the_matrix_names_what_is_uncaught_and_what_is_unneeded() {
    let matrix = small_matrix();
    let text = uncoloured(&text(|out| matrix::write_human(out, &matrix)));
    let (unneeded, others): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("UNNEEDED"));
    assert_eq!(unneeded.len(), matrix.unneeded().len());
    let unneeded_count = format!("{} invariants unneeded", unneeded.len());
    let shown = others.join("\n").replace(&unneeded_count, "[count] invariants unneeded");
    insta::assert_snapshot!(format!("{}\n{shown}", unneeded[0]));
}

#[test]
fn a_matrix_without_gaps_passes() {
    let text = uncoloured(&text(|out| matrix::write_human(out, &whole_matrix())));
    let verdict = text.lines().last().expect("a verdict");
    let faults = whole_matrix().rows.len();
    let (median, last) = (faults / 2 + 1, faults);
    assert_eq!(
        verdict,
        format!(
            "pass: all {faults} faults are caught by the laws alone, the median after {median} cases, the last after {last}; no \
             smallest case has more than 1 item"
        )
    );
    assert!(!text.contains("UNCAUGHT") && !text.contains("UNNEEDED"), "{text}");
}

#[test]
fn json_of_the_matrix_holds_both_columns() {
    let json = text(|out| matrix::write_json(out, &small_matrix()));
    let json = Json::parse(&json).expect("one document");
    let list = |key: &str| json.get(key).and_then(Json::as_array).expect("a list").to_vec();
    assert_eq!(json.get("schema").and_then(Json::as_str), Some("callpair.faults/1"));
    assert_eq!(json.get("verdict").and_then(Json::as_str), Some("fail"));
    assert_eq!(json.get("limit").and_then(Json::as_u64), Some(1000));
    let columns: Vec<[Option<u64>; 4]> = list("faults")
        .iter()
        .map(|row| {
            ["after", "after_by_laws", "items", "elapsed_ms"].map(|key| row.get(key).and_then(Json::as_u64))
        })
        .collect();
    let expected =
        [[Some(2), Some(3), Some(1), Some(5)], [Some(40), None, None, Some(5)], [None, None, None, Some(5)]];
    assert_eq!(columns, expected);
    let uncaught = ["caught-by-the-model-alone", "caught-by-nothing"];
    assert_eq!(list("uncaught"), uncaught.map(|fault| Json::String(fault.to_owned())));
    let json = text(|out| matrix::write_json(out, &whole_matrix()));
    assert!(json.starts_with(r#"{"schema":"callpair.faults/1","verdict":"pass""#), "{json}");
}
