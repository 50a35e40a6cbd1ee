//! All invariants, and the table of them that the documents show.

use super::{
    Invariant, agreement, content, contract, durable, identity, image, live, metamorphic, order, orphan,
    pairing, position, record, robustness,
};
use crate::subject::{Capabilities, Profile};

/// All invariants, family by family.
pub const CATALOGUE: &[Invariant] = &[
    pairing::FUNCTION_CALL,
    pairing::LOCAL_SHELL_CALL,
    pairing::CUSTOM_TOOL_CALL,
    pairing::TOOL_SEARCH_CALL,
    orphan::FUNCTION_CALL_OUTPUT,
    orphan::CUSTOM_TOOL_CALL_OUTPUT,
    orphan::TOOL_SEARCH_OUTPUT,
    orphan::SERVER_OUTPUT_STAYS,
    orphan::OUTPUT_WITHOUT_CALL_ID_STAYS,
    order::CALLS_SURVIVE,
    order::OUTPUTS_SURVIVE,
    order::OTHERS_SURVIVE,
    order::SEQUENCE,
    order::VALUE_FOR_VALUE,
    order::NOTHING_INVENTED,
    position::AFTER_ITS_CALL,
    position::ONE_FOR_EACH_CALL,
    content::FUNCTION_OUTPUT,
    content::CUSTOM_OUTPUT,
    content::TOOL_SEARCH_OUTPUT,
    identity::NAMED_BY_ITEM_ID,
    identity::ABSENT_WITHOUT_ITEM_ID,
    identity::STABLE,
    live::HISTORY_UNCHANGED,
    durable::RESUME_LOSES_NOTHING,
    durable::RESUME_ADDS_NOTHING,
    durable::RESUME_PREPARES,
    durable::FORK_KEEPS_HISTORY,
    image::NONE_FOR_TEXT_MODELS,
    image::GENERATED_CLEARED,
    image::PLACEHOLDER,
    image::KEPT_FOR_IMAGE_MODELS,
    record::FILTERS,
    record::APPENDS,
    record::CUTS,
    record::REPLACE_INSTALLS,
    metamorphic::REPEAT,
    metamorphic::IDEMPOTENCE,
    metamorphic::EQUIVARIANCE,
    metamorphic::PIECES,
    metamorphic::PREFIX,
    metamorphic::LATE,
    metamorphic::RESUME,
    metamorphic::FORK,
    metamorphic::MODALITY,
    metamorphic::WELL_FORMED,
    contract::DUPLICATE_ITEM_ID,
    contract::DUPLICATE_OUTPUT,
    contract::REASONING_FOLLOWED,
    contract::OUTPUT_ID_PREFIX,
    contract::ID_CHARSET,
    contract::ID_LENGTH,
    contract::USER_PARTS,
    contract::STATUS,
    agreement::PROJECTION,
    agreement::ROLLBACK,
    robustness::AGAINST,
    robustness::ANSWERS,
    robustness::NOT_REFUSED,
    robustness::LEAKS_OVER_RESET,
    robustness::SAME_OVER_PROCESSES,
];

/// The invariant of this id.
pub fn by_id(id: &str) -> Option<&'static Invariant> {
    CATALOGUE.iter().find(|invariant| invariant.id == id)
}

/// The families, in order.
pub fn families() -> Vec<&'static str> {
    let mut families: Vec<&str> = CATALOGUE.iter().map(Invariant::family).collect();
    families.dedup();
    families
}

/// Whether this is the id of an invariant or the name of a family.
pub fn is_known_id(id: &str) -> bool {
    by_id(id).is_some() || families().contains(&id)
}

/// The invariants that apply to a subject judged by a profile.
pub fn applicable(profile: Profile, can: &Capabilities) -> impl Iterator<Item = &'static Invariant> {
    CATALOGUE
        .iter()
        .filter(move |invariant| invariant.profiles.contains(&profile) && invariant.needs.met_by(can))
}

/// The table of all invariants in Markdown, as `docs/invariants.md` holds it.
pub fn table() -> String {
    let mut table = String::from(
        "# Invariants\n\nMade from the code; a test compares. H is the live history, P the projection, R the durable record. \
         Profile `responses` judges by kind, call id, arguments and texts where `codex` judges value for value.\n\n\
         | invariant | statement | law | why | needs | profiles | public reports |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for invariant in CATALOGUE {
        let Invariant { id, statement, law, why, needs, profiles, reports, .. } = invariant;
        let profiles = if profiles.contains(&Profile::Responses) { "codex, responses" } else { "codex" };
        let cells = [statement, law, why].map(|cell| cell.replace('|', "\\|"));
        let [statement, law, why] = &cells;
        let (needs, reports) = (needs.as_str(), reports.join(", "));
        table.push_str(&format!(
            "| `{id}` | {statement} | {law} | {why} | {needs} | {profiles} | {reports} |\n"
        ));
    }
    table
}
