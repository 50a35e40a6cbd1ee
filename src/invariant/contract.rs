//! What the API accepts of its history it accepts of the request: a projection breaks no rule that its input keeps.
//!
//! The rules are those of `contract/`; here each becomes a law that relates a request to the history it was made of. A history
//! that breaks a rule itself is none of the projection's doing, so it says nothing.

use super::view::same_item;
use super::{BOTH, Check, Invariant, Needs, Sighting, Verdict};
use crate::contract::{ContractRule, is_by_the_model};
use crate::item::{ItemId, ResponseItem};
use std::sync::Arc;

macro_rules! contract {
    ($($name:ident = $id:literal, $rule:ident;)*) => {
        $(pub(super) const $name: Invariant = Invariant {
            id: $id,
            statement: ContractRule::$rule.statement,
            law: "H keeps the rule ⇒ P(H) keeps it",
            why: ContractRule::$rule.why,
            needs: Needs::Nothing,
            profiles: BOTH,
            reports: ContractRule::$rule.evidence,
            check: Check::Projection(|sighting| kept(sighting, &ContractRule::$rule)),
        };)*
    };
}

contract! {
    DUPLICATE_ITEM_ID = "contract/duplicate-item-id", DUPLICATE_ITEM_ID;
    DUPLICATE_OUTPUT = "contract/duplicate-output-for-call", DUPLICATE_OUTPUT;
    REASONING_FOLLOWED = "contract/reasoning-without-following-item", REASONING_FOLLOWED;
    OUTPUT_ID_PREFIX = "contract/id-prefix-tool-output", OUTPUT_ID_PREFIX;
    ID_CHARSET = "contract/id-charset", ID_CHARSET;
    ID_LENGTH = "contract/id-too-long", ID_LENGTH;
    USER_PARTS = "contract/user-output-text", USER_PARTS;
    STATUS = "contract/status-value", STATUS;
}

/// The rule cannot be told from a request alone, only from what stood before the item in the history; so it is stated here.
pub(super) const REASONING_KEPT: Invariant = Invariant {
    id: "contract/item-without-required-reasoning",
    statement: "Where a message or call of the model keeps its item id, the reasoning item that it stands right behind in the history stands there in the request too.",
    law: "H = … r i …, r reasoning, i ∈ P(H) with its id ⇒ P(H) = … r i …",
    why: "The API refuses the request: \"was provided without its required 'reasoning' item\". Who drops one drops both, or the id.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &["continuedev/continue#12620", "0xPlaygrounds/rig#751"],
    check: Check::Projection(reasoning_kept),
};

fn reasoning_kept(sighting: &Sighting<'_>) -> Verdict {
    let mut checked = 0;
    for &(own, sent) in &sighting.alignment.matched {
        let Some(reasoning) = behind(sighting.before, own).filter(|item| is_reasoning(item)) else {
            continue;
        };
        let (item, kept) = (sighting.before.get(own), id(sighting.items(), sent));
        let by_the_model = item.is_some_and(|item| is_by_the_model(item) && !is_reasoning(item));
        if !by_the_model || kept.is_none() || kept != id(sighting.before, own) {
            continue;
        }
        checked += 1;
        // By value: of two reasoning items that are alike, one is as good as the other.
        let stands = behind(sighting.items(), sent);
        if stands.is_none_or(|stands| !same_item(reasoning, stands, sighting.profile)) {
            return Verdict::broken(format!(
                "{} has its item id still, and not the reasoning right before it that it has in the history",
                sighting.in_request(sent)
            ));
        }
    }
    Verdict::holds_if_any(checked)
}

/// The item right before a place.
fn behind(items: &[Arc<ResponseItem>], at: usize) -> Option<&Arc<ResponseItem>> {
    items.get(at.checked_sub(1)?)
}

/// The item id of the item at a place.
fn id(items: &[Arc<ResponseItem>], at: usize) -> Option<&ItemId> {
    items.get(at)?.id()
}

fn is_reasoning(item: &ResponseItem) -> bool {
    matches!(item, ResponseItem::Reasoning(_))
}

fn kept(sighting: &Sighting<'_>, rule: &ContractRule) -> Verdict {
    let request = rule.read(sighting.items());
    if request.concerned == 0 {
        return Verdict::NotApplicable;
    }
    let Some(breach) = request.breach else {
        // Where the request keeps the rule, it matters little whether the history did: nothing was broken.
        return Verdict::Holds;
    };
    if rule.read(sighting.before).breach.is_some() {
        return Verdict::NotApplicable;
    }
    Verdict::broken(format!(
        "{} {}; no item of the history does",
        sighting.in_request(breach.index),
        breach.how
    ))
}

#[cfg(test)]
mod tests {
    use crate::case::{Case, Items};
    use crate::item::{Modalities, ResponseItem};
    use crate::json::Json;
    use crate::subject::{Capabilities, Stateless, Subject};
    use crate::verify::Judge;

    const REASONING: &str = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    const CALL: &str = r#"{"type":"function_call","id":"fc_1","name":"f","arguments":"","call_id":"a"}"#;
    const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"a","output":""}"#;

    fn items(texts: &[&str]) -> Items {
        let item =
            |text: &&str| ResponseItem::load(Json::parse(text).expect("JSON")).expect("an item").into();
        texts.iter().map(item).collect()
    }

    /// Whether the law is broken by a projector that drops the first items of a history.
    fn is_broken_by_dropping(first: usize, history: &[&str]) -> bool {
        let mut subject = Stateless::new(Capabilities::stateless("cuts"), move |history: &mut Items, _| {
            history.iter().skip(first).cloned().collect()
        });
        let capabilities = subject.capabilities();
        let judge = Judge::new(capabilities.profile, capabilities);
        let case = Case::of_history(items(history), Modalities::TextAndImage);
        judge.breaks(&mut subject, &case, "contract/item-without-required-reasoning").is_some()
    }

    #[test]
    fn a_call_that_keeps_its_id_and_loses_its_reasoning_is_seen() {
        let whole = [REASONING, CALL, OUTPUT];
        assert!(!is_broken_by_dropping(0, &whole));
        assert!(is_broken_by_dropping(1, &whole), "the call comes first now");
        assert!(!is_broken_by_dropping(2, &whole), "the call is gone too");
        let doubled = [REASONING, REASONING, CALL, OUTPUT];
        assert!(!is_broken_by_dropping(1, &doubled), "of two that are alike one is left");
        let user = r#"{"type":"message","role":"user","id":"msg_1","content":[]}"#;
        assert!(!is_broken_by_dropping(1, &[REASONING, user]), "the model did not write it");
        let without_id = CALL.replace(r#""id":"fc_1","#, "");
        assert!(
            !is_broken_by_dropping(1, &[REASONING, &without_id, OUTPUT]),
            "nothing ties it to its reasoning"
        );
    }
}
