//! What the API accepts of its history it accepts of the request: a projection breaks no rule that its input keeps.
//!
//! The rules are those of `contract/`; here each becomes a law that relates a request to the history it was made of. A history
//! that breaks a rule itself is none of the projection's doing, so it says nothing.

use super::{BOTH, Check, Invariant, Needs, Sighting, Verdict};
use crate::contract::ContractRule;

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
