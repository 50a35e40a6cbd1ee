//! What single laws say at edges where the planted faults do not look: profile `responses`, the words of a sentence, what a law
//! asks of a subject. Each test sees a change of the code that nothing else saw.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use callpair::case::{Case, Failure, Items, Projected, Step};
use callpair::history::ToolOutputLimit;
use callpair::invariant::Needs;
use callpair::item::{Modalities, ResponseItem};
use callpair::json::Json;
use callpair::subject::{Capabilities, Profile, Stateless, Subject};
use callpair::verify::Judge;
use std::sync::Arc;

const CALL: &str = r#"{"type":"function_call","id":"fc_1","name":"f","arguments":"","call_id":"a"}"#;
const ANOTHER: &str = r#"{"type":"function_call","id":"fc_2","name":"g","arguments":"","call_id":"a"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"a","output":"1"}"#;
const SECOND: &str = r#"{"type":"function_call_output","call_id":"a","output":"2"}"#;
const USER: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#;

fn items(texts: &[&str]) -> Items {
    texts.iter().map(|text| Arc::new(ResponseItem::load(Json::parse(text).unwrap()).unwrap())).collect()
}

/// What a law says of a subject on a case, where it is broken.
fn sentence(subject: &mut dyn Subject, case: &Case, law: &str) -> Option<String> {
    let capabilities = subject.capabilities();
    Judge::new(capabilities.profile, capabilities).breaks(subject, case, law)
}

/// What a law says of a projector that sends `request` in place of `history`.
fn sentence_of(profile: Profile, law: &str, history: &[&str], request: &[&str]) -> Option<String> {
    let (request, capabilities) =
        (items(request), Capabilities { profile, ..Capabilities::stateless("plain") });
    let mut subject = Stateless::new(capabilities, move |_: &mut Items, _| request.clone());
    sentence(&mut subject, &Case::of_history(items(history), Modalities::TextAndImage), law)
}

/// A subject with a history that records and projects by plain functions.
struct Plain {
    capabilities: Capabilities,
    history: Items,
    record: fn(&[Arc<ResponseItem>]) -> Items,
    /// How the request is written the next time it is asked for.
    texts: Vec<&'static str>,
}

impl Plain {
    fn new(record: fn(&[Arc<ResponseItem>]) -> Items) -> Plain {
        let capabilities =
            Capabilities { stateful: true, profile: Profile::Codex, ..Capabilities::stateless("plain") };
        Plain { capabilities, history: Items::new(), record, texts: Vec::new() }
    }
}

impl Subject for Plain {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.history.clear();
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.history.extend((self.record)(items));
        Ok(())
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.history = items.to_vec();
        Ok(())
    }

    fn project(&mut self, _: Modalities) -> Result<Projected, Failure> {
        let text = self.texts.pop().map(str::to_owned);
        Ok(Projected { text, ..Projected::of_items(self.history.clone()) })
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        Ok(self.history.clone())
    }
}

#[test]
fn a_law_applies_where_the_subject_has_what_it_needs_and_asks_for_no_more() {
    let everything = Capabilities {
        stateful: true,
        resume: true,
        rollback: true,
        fork: true,
        truncation: Some(ToolOutputLimit::Bytes(1)),
        prepares_pictures: true,
        ..Capabilities::stateless("all")
    };
    type Take = fn(&mut Capabilities);
    let without: [(&str, Take); 8] = [
        ("stateful", |can| can.stateful = false),
        ("resume", |can| can.resume = false),
        ("rollback", |can| can.rollback = false),
        ("fork", |can| can.fork = false),
        ("truncation", |can| can.truncation = None),
        ("pictures", |can| can.prepares_pictures = false),
        ("text", |can| can.modalities = vec![Modalities::TextAndImage]),
        ("image", |can| can.modalities = vec![Modalities::Text]),
    ];
    let needs: [(Needs, &[&str]); 10] = [
        (Needs::Nothing, &[]),
        (Needs::Stateful, &["stateful"]),
        (Needs::Truncation, &["stateful", "truncation"]),
        (Needs::Resume, &["resume"]),
        (Needs::Preparation, &["resume", "pictures"]),
        (Needs::Rollback, &["rollback"]),
        (Needs::Fork, &["fork"]),
        (Needs::TextModel, &["text"]),
        (Needs::ImageModel, &["image"]),
        (Needs::BothModels, &["text", "image"]),
    ];
    for (need, asked) in needs {
        assert!(need.met_by(&everything), "{need:?}");
        for (what, take) in without {
            let mut can = everything.clone();
            take(&mut can);
            assert_eq!(need.met_by(&can), !asked.contains(&what), "{need:?} without {what}");
        }
    }
}

#[test]
fn in_profile_responses_a_second_output_may_go_and_an_only_one_may_not() {
    let survives = |history: &[&str], request: &[&str]| {
        sentence_of(Profile::Responses, "order/outputs-survive", history, request)
    };
    assert_eq!(survives(&[USER, CALL, OUTPUT, SECOND], &[USER, CALL, OUTPUT]), None, "one of two");
    assert!(survives(&[USER, CALL, OUTPUT, SECOND], &[USER, CALL]).is_some(), "both");
    let only = survives(&[USER, CALL, OUTPUT], &[USER, CALL]).expect("the only one");
    assert!(only.starts_with("item 2 of the history (function_call_output"), "{only}");
    // An output of another kind under the same call id stands for nothing.
    let custom = r#"{"type":"custom_tool_call_output","call_id":"a","output":"1"}"#;
    let shared = r#"{"type":"custom_tool_call","name":"c","input":"","call_id":"a"}"#;
    let history = [CALL, shared, OUTPUT, custom];
    assert!(survives(&history, &[CALL, shared, OUTPUT]).is_some(), "the only one of its kind");
    let strict = sentence_of(
        Profile::Codex,
        "order/outputs-survive",
        &[USER, CALL, OUTPUT, SECOND],
        &[USER, CALL, OUTPUT],
    );
    assert!(strict.is_some(), "profile codex wants every one");
}

#[test]
fn one_synthetic_output_too_many_or_too_few_is_called_so() {
    let made = r#"{"type":"function_call_output","call_id":"a","output":"aborted"}"#;
    let says = |request: &[&str]| {
        sentence_of(Profile::Codex, "position/one-for-each-call", &[CALL, ANOTHER], request)
    };
    assert_eq!(says(&[CALL, made, ANOTHER, made]), None);
    let too_few = says(&[CALL, made, ANOTHER]).unwrap();
    assert!(too_few.contains("there are fewer synthetic function_call_output"), "{too_few}");
    let too_many = says(&[CALL, made, made, ANOTHER, made]).unwrap();
    assert!(too_many.contains("there are more synthetic function_call_output"), "{too_many}");
}

#[test]
fn what_was_recorded_and_is_not_for_the_model_is_named() {
    let mut keeps_all = Plain::new(<[Arc<ResponseItem>]>::to_vec);
    let system = r#"{"type":"message","role":"system","content":[]}"#;
    let case = |texts: &[&str]| Case {
        steps: vec![Step::Record(items(texts)), Step::Project(Modalities::TextAndImage)],
    };
    let says = sentence(&mut keeps_all, &case(&[USER, system, CALL, OUTPUT]), "record/filters").unwrap();
    assert!(says.starts_with("message") && says.contains("not for the model"), "{says}");
    assert_eq!(sentence(&mut keeps_all, &case(&[USER, CALL, OUTPUT]), "record/filters"), None);

    // One that was never recorded is no matter of the filter's: another law names it.
    let mut adds = Plain::new(|items| {
        let system = r#"{"type":"message","role":"system","content":[]}"#;
        items.iter().cloned().chain(self::items(&[system])).collect()
    });
    assert_eq!(sentence(&mut adds, &case(&[USER, CALL, OUTPUT]), "record/filters"), None);
}

#[test]
fn a_picture_that_changes_while_it_is_recorded_is_no_picture_prepared() {
    let picture = |url: &str| {
        format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_image","image_url":"{url}"}}]}}"#
        )
    };
    let mut swaps = Plain::new(|_| {
        items(&[
            r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,b"}]}"#,
        ])
    });
    swaps.capabilities.prepares_pictures = true;
    let case = Case {
        steps: vec![Step::Record(items(&[&picture("data:,a")])), Step::Project(Modalities::TextAndImage)],
    };
    assert!(sentence(&mut swaps, &case, "record/appends").is_some());
    // Where only a resume shows it, it may have been prepared.
    swaps.capabilities.seen_by_resuming = true;
    assert_eq!(sentence(&mut swaps, &case, "record/appends"), None);
}

#[test]
fn a_request_that_is_written_with_other_bytes_the_second_time_does_not_repeat_itself() {
    let case = Case { steps: vec![Step::Replace(items(&[USER])), Step::Project(Modalities::TextAndImage)] };
    let law = "metamorphic/repeat";
    let says = |texts: &[&'static str]| {
        let mut subject = Plain::new(<[Arc<ResponseItem>]>::to_vec);
        subject.texts = texts.to_vec();
        sentence(&mut subject, &case, law)
    };
    assert!(says(&["[1]", "[2]"]).unwrap().contains("written with other bytes"));
    assert_eq!(says(&["[1]", "[1]"]), None);
    assert_eq!(says(&[]), None, "a subject that writes nothing is compared by value");
}

#[test]
fn profile_responses_leaves_statuses_and_words_for_pictures_to_the_runtime() {
    let law = "order/value-for-value";
    let says = |history: &str, request: &str| sentence_of(Profile::Responses, law, &[history], &[request]);
    let search = |status: &str| format!(r#"{{"type":"web_search_call","id":"ws_1","status":"{status}"}}"#);
    assert_eq!(says(&search("completed"), &search("in_progress")), None);

    let message = |text: &str| {
        let text = format!(r#"{{"type":"input_text","text":"{text}"}}"#);
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"x"}},{text}]}}"#)
    };
    let alone = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}"#;
    let words = |length: usize| format!("{:.<length$}", "an image was here");
    assert_eq!(says(&message(&words(199)), alone), None, "a sentence that stands for a picture");
    assert!(says(&message(&words(200)), alone).is_some(), "too long for one");
}
