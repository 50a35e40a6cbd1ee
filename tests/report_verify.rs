//! The result of a run in every form, from outcomes made by hand.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod outcomes;

use callpair::case::Case;
use callpair::generate::Options;
use callpair::generate::labels::{Label, Labels};
use callpair::item::Modalities;
use callpair::json::Json;
use callpair::report::matrix;
use callpair::report::verify::{
    Start, write_html, write_json, write_junit, write_observe, write_observed, write_start,
};
use callpair::subject::Reference;
use callpair::subject::Subject;
use callpair::verify::{Amount, JudgedCase, Outcome, Seed, Violation};
use outcomes::*;
use std::sync::Arc;
use std::time::Duration;

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
    let failed_early = Outcome { interrupted: true, ..failing() };
    let outcomes = [passing(), failing(), failed_early, vacuous(), interrupted(), known_and_stale()];
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
fn json_is_the_document_that_was_reviewed() {
    let json =
        |outcome: &Outcome| text(|out| write_json(out, outcome, &settings(true))).replace("},{", "},\n{");
    insta::assert_snapshot!("json_fail", json(&failing()));
    insta::assert_snapshot!("json_vacuous", json(&vacuous()));
    insta::assert_snapshot!("json_known_and_stale", json(&known_and_stale()));
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
    insta::assert_snapshot!("junit_vacuous", text(|out| write_junit(out, &vacuous(), &settings(true))));
    insta::assert_snapshot!(
        "junit_interrupted",
        text(|out| write_junit(out, &interrupted(), &settings(true)))
    );
    insta::assert_snapshot!(
        "junit_known_and_stale",
        text(|out| write_junit(out, &known_and_stale(), &settings(true)))
    );
    let red = |outcome: &Outcome| {
        text(|out| write_junit(out, outcome, &settings(true))).matches("<failure").count()
    };
    let outcomes = [passing(), failing(), vacuous(), interrupted(), known_and_stale()];
    assert_eq!(outcomes.each_ref().map(red), [0, 2, 1, 1, 1]);
    assert_eq!(
        red(&Outcome { interrupted: true, ..failing() }),
        3,
        "a run that failed early did not come to its end"
    );
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
    let observed = |broken, refused| JudgedCase { case_number: 17, case: &case, labels, broken, refused };
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
    let representations: Vec<String> = lines
        .lines()
        .skip(cases.len())
        .filter_map(|line| Json::parse(line).ok()?.get("representation")?.as_str().map(str::to_owned))
        .collect();
    let distinct: std::collections::BTreeSet<&String> = representations.iter().collect();
    assert_eq!(distinct.len(), representations.len(), "a smallest case is no text that was seen before");
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
        Violation { trace: None, ..violation("robustness/answers", crash, case.clone(), <[_]>::to_vec) },
    ];
    let labels = Labels::of(&case, &Options::for_subject(outcome.subject.clone()));
    let broken = &["order/others-survive"][..];
    let judged = JudgedCase { case_number: 17, case: &case, labels, broken, refused: false };
    let line = |show| text(|out| write_observed(out, &start(&outcome.subject), &judged, &settings(show)));
    assert!(!line(false).contains(secret), "{}", line(false));
    assert!(line(true).contains(secret));
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

#[test]
fn json_of_the_matrix_is_the_document_that_was_reviewed() {
    let json = text(|out| matrix::write_json(out, &small_matrix()));
    let unneeded = json.find(r#","unneeded":["#).expect("a list");
    insta::assert_snapshot!("json_matrix", json[..unneeded].replace("},{", "},\n{"));
}
