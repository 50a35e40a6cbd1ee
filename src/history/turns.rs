//! Where turns begin in a history, and what a rollback takes off.
//!
//! All rules were seen from outside; none was read in the program.

use crate::item::{ContentPart, InterAgentCommunication, Message, ResponseItem, Shape};
use crate::json::Json;

/// Tags that enclose what the runtime, not a person, says in a message of role `user`.
const USER_CONTEXT_TAGS: [&str; 7] = [
    "environment_context",
    "turn_aborted",
    "user_shell_command",
    "subagent_notification",
    "skill",
    "goal_context",
    "recommended_plugins",
];

/// The same with exactly one attribute, which must not be empty.
const USER_CONTEXT_TAGS_WITH_ATTRIBUTE: [(&str, &str); 2] =
    [("codex_internal_context", "source"), ("hook_prompt", "hook_run_id")];

/// Other texts of the runtime in a message of role `user`: how they begin and how they end.
const USER_CONTEXT_FRAMES: [(&str, &str); 4] = [
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("Warning: The maximum number of unified exec processes you can keep open is", ""),
    ("Warning: Your account was flagged for potentially high-risk cyber activity", ""),
    ("Warning: apply_patch was requested via", ". Use the apply_patch tool instead of exec_command."),
];

/// How texts of the runtime begin in a message of role `developer`.
const DEVELOPER_CONTEXT_LEADS: [&str; 13] = [
    "<permissions instructions>",
    "<model_switch>",
    "<personality_spec>",
    "<realtime_conversation>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<token_budget>",
    "<context_window>",
    "<context_window_guidance>",
    "<rollout_budget>",
];

/// Whether an item is a message in which the runtime tells the model about its surroundings. Such a message begins no
/// turn, and a rollback takes it off with the turn that it stands before.
pub fn is_context_message(item: &ResponseItem) -> bool {
    let ResponseItem::Message(message) = item else { return false };
    let is_context = match message.role.as_str() {
        "user" => is_user_context,
        "developer" => is_developer_context,
        _ => return false,
    };
    texts(message).any(|text| is_context(text.trim()))
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|part| match part {
        ContentPart::InputText(text) | ContentPart::OutputText(text) => Some(text.text.as_str()),
        ContentPart::InputImage(_) => None,
    })
}

fn is_user_context(text: &str) -> bool {
    let enclosed = |tag: &&str| {
        strip_start(text, "<")
            .and_then(|rest| strip_start(rest, tag))
            .is_some_and(|rest| rest.starts_with('>'))
            && ends_with_tag(text, tag)
    };
    USER_CONTEXT_TAGS.iter().any(enclosed)
        || USER_CONTEXT_FRAMES
            .iter()
            .any(|(start, end)| strip_start(text, start).is_some() && ends_with(text, end))
        || USER_CONTEXT_TAGS_WITH_ATTRIBUTE.iter().any(|(tag, attribute)| {
            opens_with_attribute(text, tag, attribute).is_some() && ends_with_tag(text, tag)
        })
}

fn is_developer_context(text: &str) -> bool {
    DEVELOPER_CONTEXT_LEADS.iter().any(|lead| strip_start(text, lead).is_some())
}

/// `<tag attribute="value">`, the value not empty.
fn opens_with_attribute(text: &str, tag: &str, attribute: &str) -> Option<()> {
    let rest = strip_start(strip_start(text, "<")?, tag)?;
    let rest = strip_start(strip_start(rest, " ")?, attribute)?;
    let (value, rest) = rest.strip_prefix("=\"")?.split_once('"')?;
    (!value.is_empty() && rest.starts_with('>')).then_some(())
}

/// What follows `start`, in any case of letters.
fn strip_start<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

fn ends_with(text: &str, end: &str) -> bool {
    let Some(from) = text.len().checked_sub(end.len()) else { return false };
    text.get(from..).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn ends_with_tag(text: &str, tag: &str) -> bool {
    let Some(text) = text.strip_suffix('>') else { return false };
    let Some(from) = text.len().checked_sub(tag.len()) else { return false };
    text.split_at_checked(from)
        .is_some_and(|(before, end)| end.eq_ignore_ascii_case(tag) && before.ends_with("</"))
}

/// Whether an item begins a turn: a message of role `user` that is no context message (also one of pictures only, also
/// an empty one), a message from another agent, or an assistant message of one text that reads as such a message.
pub fn is_turn_start(item: &ResponseItem) -> bool {
    match item {
        ResponseItem::AgentMessage(_) => true,
        ResponseItem::Message(message) if message.role == "user" => !is_context_message(item),
        ResponseItem::Message(message) if message.role == "assistant" => match message.content.as_slice() {
            [ContentPart::InputText(text) | ContentPart::OutputText(text)] => is_inter_agent_text(&text.text),
            _ => false,
        },
        _ => false,
    }
}

fn is_inter_agent_text(text: &str) -> bool {
    // Most texts are no JSON object; this spares them the parser.
    text.trim_start().starts_with('{')
        && Json::parse(text).is_ok_and(|json| InterAgentCommunication::load(json).is_ok())
}

/// Where a rollback of `turns` turns cuts a history: the items from there on go. `None` where nothing goes.
///
/// At least as many turns as there are: all from the first turn start on goes. Fewer: all from the Nth turn start from
/// the end on goes, and the context messages that stand in a row right before it.
pub fn rollback_cut<'a>(items: impl IntoIterator<Item = &'a ResponseItem>, turns: u64) -> Option<usize> {
    let items: Vec<&ResponseItem> = items.into_iter().collect();
    let starts: Vec<usize> =
        items.iter().enumerate().filter(|(_, item)| is_turn_start(item)).map(|(at, _)| at).collect();
    let first = *starts.first()?;
    if turns == 0 {
        return None;
    }
    let kept_starts = (starts.len() as u64).saturating_sub(turns);
    if kept_starts == 0 {
        return Some(first);
    }
    let start = *starts.get(usize::try_from(kept_starts).ok()?)?;
    let before = items.iter().take(start).rev();
    Some(start - before.take_while(|item| is_context_message(item)).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Text;

    fn message(role: &str, text: &str) -> ResponseItem {
        let content = vec![ContentPart::InputText(Text { text: text.to_owned() })];
        ResponseItem::Message(Message { id: None, role: role.to_owned(), content, phase: None })
    }

    #[test]
    fn what_the_runtime_says_is_context() {
        let context = [
            ("user", "<environment_context>x</environment_context>"),
            ("user", "  <TURN_aborted>\n</turn_ABORTED>\n"),
            ("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
            ("user", "<codex_internal_context source=\"goal\">x</codex_internal_context>"),
            ("user", "<hook_prompt hook_run_id=\"a\">x</hook_prompt>"),
            (
                "user",
                "Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.",
            ),
            ("developer", "<permissions instructions>x"),
            ("developer", " <Model_Switch>"),
        ];
        for (role, text) in context {
            assert!(is_context_message(&message(role, text)), "{role} {text}");
        }
    }

    #[test]
    fn what_a_person_says_is_no_context() {
        let said = [
            ("user", "<environment_context>"),
            ("user", "<environment_context a=\"b\">x</environment_context>"),
            ("user", "say <environment_context>x</environment_context>"),
            ("user", "<environment_context>x</turn_aborted>"),
            ("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS> and so on"),
            ("user", "<hook_prompt>x</hook_prompt>"),
            ("user", "<hook_prompt hook_run_id=\"\">x</hook_prompt>"),
            ("user", "<hook_prompt other=\"a\">x</hook_prompt>"),
            ("user", "<user_instructions>x</user_instructions>"),
            ("user", "<permissions instructions>"),
            ("developer", "<environment_context>x</environment_context>"),
            ("assistant", "<environment_context>x</environment_context>"),
            ("User", "<environment_context>x</environment_context>"),
            ("user", ""),
        ];
        for (role, text) in said {
            assert!(!is_context_message(&message(role, text)), "{role} {text}");
        }
    }

    #[test]
    fn a_turn_begins_with_the_user_and_with_an_agent_that_speaks_to_another() {
        let said = r#"{"author":"/root","recipient":"/root/b","other_recipients":[],"content":"x","trigger_turn":true}"#;
        let starts = |role, text| is_turn_start(&message(role, text));
        assert!(starts("user", "x") && starts("user", ""));
        assert!(starts("assistant", said), "an agent to another");
        assert!(!starts("developer", said) && !starts("tool", said), "only an assistant speaks so");
        for text in ["x", "{}", "{\"author\":\"/root\"}", "{", "[]"] {
            assert!(!starts("assistant", text), "{text}");
        }
    }

    #[test]
    fn a_rollback_takes_the_context_before_its_turn_but_not_before_the_first() {
        let env = || message("user", "<environment_context>x</environment_context>");
        let (q, r, d) = (|| message("user", "q"), || message("assistant", "r"), || message("developer", "x"));
        let items = [env(), q(), r(), d(), env(), env(), q(), r()];
        let cut = |turns| rollback_cut(&items, turns);
        assert_eq!(
            [cut(0), cut(1), cut(2), cut(3), cut(u64::MAX)],
            [None, Some(4), Some(1), Some(1), Some(1)]
        );
        assert_eq!(rollback_cut(&[env(), r()], 1), None);
    }
}
