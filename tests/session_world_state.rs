//! The world state: patches are the smallest and applied as RFC 7386 says; sections are told when they must be.

#![cfg(feature = "session")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod session_support;

use callpair::item::ItemList;
use callpair::json::{Json, Object};
use callpair::world_state::{
    AgentsMd, AgentsMdSection, Environment, EnvironmentSnapshot, FragmentRole, SkillsSection, SwitchSection,
    WorldState, WorldStateSnapshot, apply, diff,
};
use proptest::prelude::*;
use session_support::{item, json, texts};

/// Values as snapshots hold them: no null, keys from a small pool so that they meet.
fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::Bool),
        (0..3_u64).prop_map(Json::from),
        "[ab]{0,2}".prop_map(Json::from),
        Just(json("1.50")),
        Just(json("1e400")),
        Just(json(r#"{"$serde_json::private::Number":"5"}"#)),
        Just(json("[null,1]")),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let member = ("[abc]", inner);
        proptest::collection::vec(member, 0..4).prop_map(|members| {
            let members = members.into_iter().map(|(key, value)| (key.into_boxed_str(), value));
            Json::Object(members.collect::<Object>())
        })
    })
}

fn state() -> impl Strategy<Value = Json> {
    value().prop_map(|value| {
        let mut state = Object::new();
        state.set("section", value);
        Json::Object(state)
    })
}

/// RFC 7386, its pseudocode word for word.
fn merge_patch(target: &Json, patch: &Json) -> Json {
    let Json::Object(patch) = patch else { return patch.clone() };
    let mut result: Vec<(String, Json)> = match target {
        Json::Object(target) => target.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect(),
        _ => Vec::new(),
    };
    for (key, value) in patch.iter() {
        let place = result.iter().position(|(there, _)| there == key);
        match (value, place) {
            (Json::Null, Some(place)) => {
                result.remove(place);
            }
            (Json::Null, None) => {}
            (value, Some(place)) => result[place].1 = merge_patch(&result[place].1, value),
            (value, None) => result.push((key.to_owned(), merge_patch(&Json::Null, value))),
        }
    }
    Json::Object(result.into_iter().map(|(key, value)| (key.into_boxed_str(), value)).collect())
}

/// Every patch that says one thing less.
fn smaller(patch: &Json) -> Vec<Json> {
    let Json::Object(members) = patch else { return Vec::new() };
    let with = |skip: usize, replaced: Option<Json>| {
        let kept =
            members.iter().enumerate().filter_map(|(at, (key, value))| match (at == skip, &replaced) {
                (true, Some(replaced)) => Some((key.into(), replaced.clone())),
                (true, None) => None,
                (false, _) => Some((key.into(), value.clone())),
            });
        Json::Object(kept.collect())
    };
    let mut all = Vec::new();
    for (at, (_, value)) in members.iter().enumerate() {
        all.push(with(at, None));
        all.extend(smaller(value).into_iter().map(|less| with(at, Some(less))));
    }
    all
}

/// Removals stand first, at every level.
fn removals_first(patch: &Json) -> bool {
    let Json::Object(members) = patch else { return true };
    let removals: Vec<bool> = members.iter().map(|(_, value)| *value == Json::Null).collect();
    removals.is_sorted_by(|a, b| a >= b) && members.iter().all(|(_, value)| removals_first(value))
}

fn config() -> ProptestConfig {
    let file = "proptest-regressions/session.txt";
    let persistence = proptest::test_runner::FileFailurePersistence::Direct(file);
    ProptestConfig { failure_persistence: Some(Box::new(persistence)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_patch_makes_the_new_state_of_the_old(old in state(), new in state()) {
        match diff(&old, &new) {
            None => prop_assert_eq!(&old, &new),
            Some(patch) => prop_assert_eq!(apply(&old, &patch), new),
        }
    }

    #[test]
    fn no_part_of_a_patch_can_be_left_out(old in state(), new in state()) {
        if let Some(patch) = diff(&old, &new) {
            prop_assert!(removals_first(&patch), "{}", patch);
            for less in smaller(&patch) {
                prop_assert_ne!(apply(&old, &less), new.clone(), "{} is enough", less);
            }
        }
    }

    #[test]
    fn any_patch_is_applied_as_the_standard_says(document in value(), patch in value(), removed in "[abc]") {
        let mut members = Object::new();
        members.set(removed, Json::Null);
        members.set("section", patch.clone());
        for patch in [patch, Json::Object(members)] {
            prop_assert_eq!(apply(&document, &patch), merge_patch(&document, &patch));
            // Key order and digits too.
            prop_assert_eq!(apply(&document, &patch).to_string(), merge_patch(&document, &patch).to_string());
        }
    }

    #[test]
    fn a_chain_of_patches_gives_the_last_state(states in proptest::collection::vec(state(), 1..6)) {
        let snapshots: Vec<WorldStateSnapshot> =
            states.iter().map(|state| WorldStateSnapshot::from_json(state).unwrap()).collect();
        let chained = snapshots.windows(2).fold(snapshots[0].clone(), |state, pair| {
            match pair[1].diff(&pair[0]) {
                Some(patch) => state.patched(&patch).unwrap(),
                None => state,
            }
        });
        prop_assert_eq!(Some(&chained), snapshots.last());
        prop_assert!(!chained.to_json().to_string().contains("null"));
    }
}

#[test]
fn hand_written_patches_are_applied_as_the_standard_says() {
    let old = r#"{"agents_md":{},"environments":{"environments":{"local":{"cwd":"/a","status":"available"}}},"future":{"x":[1]}}"#;
    let cases = [
        (
            r#"{"agents_md":null}"#,
            r#"{"environments":{"environments":{"local":{"cwd":"/a","status":"available"}}},"future":{"x":[1]}}"#,
        ),
        (
            r#"{"future":null}"#,
            r#"{"agents_md":{},"environments":{"environments":{"local":{"cwd":"/a","status":"available"}}}}"#,
        ),
        (
            r#"{"environments":{"environments":{"local":null,"remote":{"cwd":"/b","gone":null}}}}"#,
            r#"{"agents_md":{},"environments":{"environments":{"remote":{"cwd":"/b"}}},"future":{"x":[1]}}"#,
        ),
        (r#"{"never":null}"#, old),
        (
            r#"{"future":{"x":{"y":1}}}"#,
            r#"{"agents_md":{},"environments":{"environments":{"local":{"cwd":"/a","status":"available"}}},"future":{"x":{"y":1}}}"#,
        ),
        ("[1]", "[1]"),
    ];
    for (patch, new) in cases {
        assert_eq!(apply(&json(old), &json(patch)).to_string(), new, "{patch}");
    }
}

#[test]
fn what_a_snapshot_does_not_know_any_more_is_removed_by_the_next_patch() {
    let old =
        WorldStateSnapshot::from_json(&json(r#"{"future":{"x":1},"plugins_instructions":false}"#)).unwrap();
    let mut world = WorldState::new();
    world.set(SwitchSection::plugins(None));
    assert_eq!(world.snapshot().diff(&old).unwrap().to_string(), r#"{"future":null}"#);
}

fn agents_md(text: Option<&str>) -> WorldState {
    let observed = text.map(|text| AgentsMd { directory: "/w".to_owned(), text: text.to_owned() });
    let mut world = WorldState::new();
    world.set(AgentsMdSection { observed, notices: texts().agents_md });
    world
}

fn told(world: &WorldState, previous: Option<&str>, retained: &[&str]) -> Vec<String> {
    let previous = previous.map(|state| WorldStateSnapshot::from_json(&json(state)).unwrap());
    let retained: ItemList = retained.iter().map(|text| item(text)).collect();
    world.render_history_diff(previous.as_ref(), &retained).iter().map(|fragment| fragment.text()).collect()
}

const RULES_TOLD: &str = r##"{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"}]}"##;

#[test]
fn without_a_snapshot_that_loads_the_retained_history_decides_what_was_known() {
    let whole = "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>";
    let replaced = "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n{note: these replace all earlier ones}\n\nx\n</INSTRUCTIONS>";
    let removed = "# AGENTS.md instructions\n\n<INSTRUCTIONS>\n{note: the earlier ones no longer apply}\n</INSTRUCTIONS>";
    let known = r#"{"agents_md":{"directory":"/w","text":"x"}}"#;
    let broken = r#"{"agents_md":{"directory":7}}"#;
    let none: &[&str] = &[];
    // Absent, unknown, known; there and not there.
    assert_eq!(told(&agents_md(Some("x")), None, none), [whole]);
    assert_eq!(told(&agents_md(Some("x")), None, &[RULES_TOLD]), [replaced]);
    assert_eq!(told(&agents_md(Some("x")), Some(broken), &[RULES_TOLD]), [replaced]);
    assert_eq!(told(&agents_md(Some("x")), Some(broken), none), [whole]);
    assert!(told(&agents_md(Some("x")), Some(known), &[RULES_TOLD]).is_empty());
    assert_eq!(told(&agents_md(Some("x")), Some(r#"{"agents_md":{}}"#), none), [whole]);
    assert!(told(&agents_md(None), None, none).is_empty());
    assert_eq!(told(&agents_md(None), None, &[RULES_TOLD]), [removed]);
    assert_eq!(told(&agents_md(None), Some(known), none), [removed]);
    assert!(told(&agents_md(None), Some(r#"{"agents_md":{}}"#), &[RULES_TOLD]).is_empty());
}

#[test]
fn plugins_are_told_once_and_skills_whenever_it_is_not_known() {
    let plugins_told = r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"<plugins_instructions>p</plugins_instructions>"}]}"#;
    let skills_told = r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"<skills_instructions>s</skills_instructions>"}]}"#;
    let mut world = WorldState::new();
    world.set(SwitchSection::plugins(Some("p".to_owned())));
    world.set(SkillsSection { instructions: Some("s".to_owned()) });
    let (plugins, skills) =
        ("<plugins_instructions>p</plugins_instructions>", "<skills_instructions>s</skills_instructions>");
    assert_eq!(told(&world, None, &[]), [plugins, skills]);
    assert_eq!(told(&world, None, &[plugins_told, skills_told]), [skills]);
    let known = r#"{"plugins_instructions":true,"skills":{"includeInstructions":true}}"#;
    assert!(told(&world, Some(known), &[]).is_empty());
    // A full injection has them the other way round.
    let full: Vec<String> = world.render_full().iter().map(|fragment| fragment.text()).collect();
    assert_eq!(full, [skills, plugins]);
}

#[test]
fn environments_that_are_gone_are_unavailable_and_unchanged_ones_are_not_repeated() {
    let environment = |cwd: &str| Environment {
        cwd: cwd.to_owned(),
        status: "available".to_owned(),
        shell: Some("bash".to_owned()),
    };
    let snapshot = |ids: &[(&str, &str)], date: &str| EnvironmentSnapshot {
        environments: ids.iter().map(|(id, cwd)| ((*id).to_owned(), environment(cwd))).collect(),
        current_date: Some(date.to_owned()),
        timezone: None,
        filesystem: None,
    };
    let told_after = |before: &EnvironmentSnapshot, now: &EnvironmentSnapshot| {
        let (mut world, mut earlier) = (WorldState::new(), WorldState::new());
        world.set(now.clone());
        earlier.set(before.clone());
        let fragments = world.render_history_diff(Some(&earlier.snapshot()), &ItemList::new());
        assert!(fragments.iter().all(|fragment| fragment.role == FragmentRole::User));
        fragments.iter().map(|fragment| fragment.text()).collect::<String>()
    };
    let local = snapshot(&[("local", "/a")], "1");
    assert_eq!(told_after(&local, &local), "");
    let wrapped = |lines: &str| format!("<environment_context>\n{lines}</environment_context>");
    let next_day = snapshot(&[("local", "/a")], "2");
    assert_eq!(told_after(&local, &next_day), wrapped("  <current_date>2</current_date>\n"));
    let gone = "  <environments>\n    <environment id=\"local\" status=\"unavailable\" />\n  </environments>\n  <current_date>1</current_date>\n";
    assert_eq!(told_after(&local, &snapshot(&[], "1")), wrapped(gone));
    let moved = "  <cwd>/b</cwd>\n  <shell>bash</shell>\n  <current_date>1</current_date>\n";
    assert_eq!(told_after(&local, &snapshot(&[("local", "/b")], "1")), wrapped(moved));
    let renamed = told_after(&local, &snapshot(&[("remote", "/b")], "1"));
    assert!(renamed.contains("<environment id=\"remote\" status=\"available\">"), "{renamed}");
    assert!(renamed.contains("<environment id=\"local\" status=\"unavailable\" />"), "{renamed}");
}
