//! The answer to `initialize` becomes capabilities.
//!
//! A field that is not of the protocol is ignored; one that is, and cannot be read, is an error that names it.

use super::escaped::shown;
use crate::history::ToolOutputLimit;
use crate::item::{ItemKind, Modalities};
use crate::json::{Json, Object};
use crate::subject::protocol::PROTOCOL;
use crate::subject::{Capabilities, Profile};

/// Characters of a name that are shown.
const NAME_CHARS: usize = 100;

/// What is wrong with a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldProblem {
    pub(super) field: &'static str,
    pub(super) problem: String,
}

/// Reads the result of `initialize`.
pub(super) fn capabilities(result: &Object) -> Result<Capabilities, FieldProblem> {
    let fields = Fields(result);
    match fields.optional("protocol").and_then(Json::as_u64) {
        Some(PROTOCOL) => {}
        _ => return Err(problem("protocol", format!("{PROTOCOL} is required: the version of the protocol"))),
    }
    let stateful = fields.flag("stateful")?;
    let resume = fields.flag("resume")?;
    if resume && !stateful {
        return Err(problem("resume", "only a stateful subject can resume"));
    }
    let steps = fields.names("steps")?.unwrap_or_default();
    if let Some(unknown) = steps.iter().find(|step| !["rollback", "fork"].contains(step)) {
        return Err(problem(
            "steps",
            format!("no such step: \"{}\"; known are rollback and fork", shown(unknown, 40)),
        ));
    }
    if !steps.is_empty() && !stateful {
        return Err(problem("steps", "only a stateful subject has steps"));
    }
    Ok(Capabilities {
        name: shown(fields.text("name")?, NAME_CHARS),
        version: shown(fields.text("version")?, NAME_CHARS),
        stateful,
        resume,
        rollback: steps.contains(&"rollback"),
        fork: steps.contains(&"fork"),
        modalities: fields.modalities()?,
        kinds: fields.kinds()?,
        exact_numbers: fields.exact_numbers()?,
        truncation: fields.truncation()?,
        // The protocol has no word for it, so nothing that needs it is drawn.
        prepares_pictures: false,
        profile: fields.profile()?,
    })
}

fn problem(field: &'static str, problem: impl Into<String>) -> FieldProblem {
    FieldProblem { field, problem: problem.into() }
}

/// The fields of the result; `null` is as good as none.
struct Fields<'a>(&'a Object);

impl<'a> Fields<'a> {
    fn optional(&self, field: &str) -> Option<&'a Json> {
        self.0.get(field).filter(|value| **value != Json::Null)
    }

    fn required(&self, field: &'static str) -> Result<&'a Json, FieldProblem> {
        self.optional(field).ok_or_else(|| problem(field, "is required and missing"))
    }

    fn text(&self, field: &'static str) -> Result<&'a str, FieldProblem> {
        let value = self.required(field)?;
        value.as_str().ok_or_else(|| expected(field, "a string", value))
    }

    fn flag(&self, field: &'static str) -> Result<bool, FieldProblem> {
        match self.required(field)? {
            Json::Bool(flag) => Ok(*flag),
            other => Err(expected(field, "true or false", other)),
        }
    }

    fn names(&self, field: &'static str) -> Result<Option<Vec<&'a str>>, FieldProblem> {
        let Some(value) = self.optional(field) else { return Ok(None) };
        let list = value.as_array().ok_or_else(|| expected(field, "a list of names", value))?;
        let names =
            list.iter().map(|name| name.as_str().ok_or_else(|| expected(field, "a list of names", name)));
        names.collect::<Result<_, _>>().map(Some)
    }

    /// A model that takes pictures is asked with and without them.
    fn modalities(&self) -> Result<Vec<Modalities>, FieldProblem> {
        let names =
            self.names("modalities")?.ok_or_else(|| problem("modalities", "is required and missing"))?;
        match Modalities::from_names(names) {
            Ok(Modalities::Text) => Ok(vec![Modalities::Text]),
            Ok(Modalities::TextAndImage) => Ok(Modalities::ALL.to_vec()),
            Err(error) => Err(problem("modalities", error.to_string())),
        }
    }

    fn kinds(&self) -> Result<Option<Vec<ItemKind>>, FieldProblem> {
        let Some(names) = self.names("kinds")? else { return Ok(None) };
        if names.is_empty() {
            return Err(problem("kinds", "a subject that knows no kind of item cannot be asked anything"));
        }
        let kind = |name: &str| ItemKind::ALL.iter().copied().find(|kind| kind.as_str() == name);
        let unknown = |name: &str| problem("kinds", format!("no such kind of item: \"{}\"", shown(name, 40)));
        names
            .into_iter()
            .map(|name| kind(name).ok_or_else(|| unknown(name)))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn exact_numbers(&self) -> Result<bool, FieldProblem> {
        match self.optional("numbers") {
            None => Ok(false),
            Some(Json::String(word)) if word == "exact" => Ok(true),
            Some(_) => Err(problem("numbers", "\"exact\" is the only value")),
        }
    }

    fn truncation(&self) -> Result<Option<ToolOutputLimit>, FieldProblem> {
        const FIELD: &str = "truncation";
        let Some(value) = self.optional(FIELD) else { return Ok(None) };
        let form = || problem(FIELD, "{\"mode\":\"bytes\"|\"tokens\",\"limit\":N} is required");
        let limit = value.get("limit").and_then(Json::as_u64).ok_or_else(form)?;
        match value.get("mode").and_then(Json::as_str) {
            Some("bytes") => Ok(Some(ToolOutputLimit::Bytes(limit))),
            Some("tokens") => Ok(Some(ToolOutputLimit::Tokens(limit))),
            _ => Err(form()),
        }
    }

    fn profile(&self) -> Result<Profile, FieldProblem> {
        match self.optional("profile") {
            None => Ok(Profile::Responses),
            Some(Json::String(name)) => name.parse().map_err(|error| problem("profile", format!("{error}"))),
            Some(other) => Err(expected("profile", "a string", other)),
        }
    }
}

fn expected(field: &'static str, expected: &str, found: &Json) -> FieldProblem {
    problem(field, format!("expected {expected}, found {}", found.describe()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest answer with a few members more; of a doubled key the last counts.
    fn read(more: &str) -> Result<Capabilities, FieldProblem> {
        let text = format!(
            r#"{{"protocol":1,"name":"n","version":"v","stateful":true,"resume":false,"modalities":["text"]{more}}}"#
        );
        match Json::parse(&text) {
            Ok(Json::Object(object)) => capabilities(&object),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_left_out_has_the_meaning_that_the_protocol_gives_it() {
        let expected = Capabilities {
            stateful: true,
            exact_numbers: false,
            version: "v".to_owned(),
            modalities: vec![Modalities::Text],
            ..Capabilities::stateless("n")
        };
        assert_eq!(read("").as_ref(), Ok(&expected));
        assert_eq!(read(r#","kinds":null,"steps":null,"colour":"red""#), Ok(expected));
    }

    #[test]
    fn every_field_of_the_protocol_is_read() {
        let more = r#","resume":true,"modalities":["image","text"],"profile":"codex","steps":["fork"],
            "kinds":["message","function_call"],"numbers":"exact","truncation":{"mode":"tokens","limit":10}"#;
        let expected = Capabilities {
            name: "n".to_owned(),
            version: "v".to_owned(),
            stateful: true,
            resume: true,
            rollback: false,
            fork: true,
            modalities: Modalities::ALL.to_vec(),
            kinds: Some(vec![ItemKind::Message, ItemKind::FunctionCall]),
            exact_numbers: true,
            truncation: Some(ToolOutputLimit::Tokens(10)),
            prepares_pictures: false,
            profile: Profile::Codex,
        };
        assert_eq!(read(more), Ok(expected));
    }

    #[test]
    fn a_malformed_field_is_named() {
        let cases = [
            (r#","protocol":2"#, "protocol", "1 is required: the version of the protocol"),
            (r#","name":null"#, "name", "is required and missing"),
            (r#","version":3"#, "version", "expected a string, found a number"),
            (r#","stateful":"yes""#, "stateful", "expected true or false, found a string"),
            (r#","resume":true,"stateful":false"#, "resume", "only a stateful subject can resume"),
            (r#","modalities":["image"]"#, "modalities", "the list must hold text: write text or text,image"),
            (r#","modalities":"text""#, "modalities", "expected a list of names, found a string"),
            (r#","steps":["rewind"]"#, "steps", "no such step: \"rewind\"; known are rollback and fork"),
            (r#","steps":["fork"],"stateful":false"#, "steps", "only a stateful subject has steps"),
            (r#","kinds":["massage"]"#, "kinds", "no such kind of item: \"massage\""),
            (r#","kinds":[]"#, "kinds", "a subject that knows no kind of item cannot be asked anything"),
            (r#","numbers":true"#, "numbers", "\"exact\" is the only value"),
            (
                r#","truncation":{"mode":"lines","limit":3}"#,
                "truncation",
                "{\"mode\":\"bytes\"|\"tokens\",\"limit\":N} is required",
            ),
            (
                r#","profile":"chat""#,
                "profile",
                "no such profile: \"chat\"; known are codex (codex-0.144.6) and responses",
            ),
        ];
        for (more, field, message) in cases {
            let expected = FieldProblem { field, problem: message.to_owned() };
            assert_eq!(read(more), Err(expected), "{more}");
        }
    }

    #[test]
    fn a_name_cannot_steer_a_terminal() {
        assert_eq!(read(r#","name":"a\u001b[2J""#).map(|c| c.name).as_deref(), Ok("a\\u{1b}[2J"));
    }
}
