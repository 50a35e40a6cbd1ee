//! What the API accepts of its history it accepts of the request: a projection breaks no rule that its input keeps.
//!
//! The rules are those of `contract/`; here each becomes a law that relates a request to the history it was made of. A history
//! that breaks a rule itself is none of the projection's doing, so it says nothing.

use super::{BOTH, Check, Invariant, Needs, Sighting, Verdict};
use crate::contract::ContractRule;
use crate::item::ResponseItem;
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
    statement: "Where a message or call keeps its item id, the reasoning item that it stands right behind in the history stands there in the request too.",
    law: "H = … r i …, r reasoning, i ∈ P(H) with its id ⇒ P(H) = … r i …",
    why: "The API refuses the request: \"was provided without its required 'reasoning' item\". Who drops one drops both, or the id.",
    needs: Needs::Nothing,
    profiles: BOTH,
    reports: &["continuedev/continue#12620", "0xPlaygrounds/rig#751"],
    check: Check::Projection(reasoning_kept),
};

fn reasoning_kept(sighting: &Sighting<'_>) -> Verdict {
    let mut checked = 0;
    let mut before = None;
    for &(own, sent) in &sighting.alignment.matched {
        let previous = before.replace((own, sent));
        let Some(behind) = own.checked_sub(1) else { continue };
        let is_reasoning = |item: &Arc<ResponseItem>| matches!(**item, ResponseItem::Reasoning(_));
        let Some(item) = sighting.before.get(own) else { continue };
        let keeps_id =
            item.id().is_some() && sighting.items().get(sent).is_some_and(|sent| sent.id() == item.id());
        if is_reasoning(item) || !keeps_id || !sighting.before.get(behind).is_some_and(is_reasoning) {
            continue;
        }
        checked += 1;
        if previous != sent.checked_sub(1).map(|sent| (behind, sent)) {
            return Verdict::broken(format!(
                "{} has its item id still, and not the reasoning right before it that it has in the history",
                sighting.in_request(sent)
            ));
        }
    }
    Verdict::holds_if_any(checked)
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
