//! What the Responses API accepts of an input: rules as data with evidence, and the check of each.
//!
//! Here are the rules that a projection can break although the history that it was made of keeps them, and although it
//! changes nothing that must survive; and that can be told from the items alone. That calls have outputs, that outputs have calls and that text-only models get no pictures is the
//! work of a projection itself; those rules stand in [`check`](crate::check) and in the families `pairing`, `orphan` and
//! `image`. Rules for which there is no more than an inference are left out: they are no ground for an error.

mod responses;

pub(crate) use responses::is_by_the_model;

use crate::item::{ItemKind, ResponseItem};
use std::fmt;
use std::sync::Arc;

/// A rule of the API.
#[derive(Debug, Clone, Copy)]
pub struct ContractRule {
    /// `responses/name`. Stable: it is the rule's name in the catalogue of rules, whatever checks it.
    pub id: &'static str,
    /// The rule in a sentence.
    pub statement: &'static str,
    /// What becomes of a request that breaks it, and where that was seen.
    pub why: &'static str,
    /// How sure it is.
    pub confidence: Confidence,
    /// Public evidence: `owner/repo#number`, or the schema of OpenAI's published specification.
    pub evidence: &'static [&'static str],
    read: for<'a> fn(&'a [Arc<ResponseItem>]) -> Reading<'a>,
}

/// How sure a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Confidence {
    /// It stands in the published schema.
    Documented,
    /// Several people were refused for it.
    ReportedBySeveral,
    /// One was.
    OneReport,
}

/// What a rule says of an input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading<'a> {
    /// How many items it has something to say of.
    pub concerned: usize,
    /// The first item that breaks it.
    pub breach: Option<Breach<'a>>,
}

/// An item that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach<'a> {
    /// Its place, from 0.
    pub index: usize,
    /// How.
    pub how: How<'a>,
}

/// How an item breaks a rule: the rest of a sentence that begins with the item. Free of content but for ids and statuses,
/// which are escaped and cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How<'a> {
    /// An item before it has its item id.
    SharesItemId(&'a str),
    /// It is the second output, or a later one, and there are fewer calls.
    OneTooMany(&'a str),
    /// This stands behind a reasoning item; nothing, if it is the last.
    FollowedBy(Option<ItemKind>),
    /// Its id does not begin as it should.
    Prefix {
        /// The id.
        id: &'a str,
        /// What it should begin with.
        prefix: &'static str,
    },
    /// Its id holds other characters than ids do, or none.
    Charset(&'a str),
    /// Its id is too long.
    TooLong(&'a str),
    /// This part of it is an `output_text`.
    OutputText(usize),
    /// It has a status that is none.
    Status(&'a str),
}

impl fmt::Display for How<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            How::SharesItemId(id) => write!(f, "has the id {} of an item before it", Shown(id)),
            How::OneTooMany(id) => {
                write!(f, "is one output too many for the calls with call id {}", Shown(id))
            }
            How::FollowedBy(None) => f.write_str("is followed by nothing"),
            How::FollowedBy(Some(kind)) => write!(f, "is followed by a {}", kind.as_str()),
            How::Prefix { id, prefix } => {
                write!(f, "has the id {}, which does not begin with {prefix:?}", Shown(id))
            }
            How::Charset(id) => write!(f, "has the id {}", Shown(id)),
            How::TooLong(id) => write!(f, "has an id of {} characters, {}", id.chars().count(), Shown(id)),
            How::OutputText(part) => write!(f, "has an output_text (part {part})"),
            How::Status(status) => write!(f, "has the status {}", Shown(status)),
        }
    }
}

/// A string from the outside as a report shows it.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(40) {
            Some((end, _)) => write!(f, "{:?}…", self.0.get(..end).unwrap_or_default()),
            None => write!(f, "{:?}", self.0),
        }
    }
}

impl ContractRule {
    /// The rules, in the order of the catalogue.
    pub const ALL: &[ContractRule] = &[
        Self::DUPLICATE_ITEM_ID,
        Self::DUPLICATE_OUTPUT,
        Self::REASONING_FOLLOWED,
        Self::OUTPUT_ID_PREFIX,
        Self::ID_CHARSET,
        Self::ID_LENGTH,
        Self::USER_PARTS,
        Self::STATUS,
    ];

    /// Reads an input.
    ///
    /// ```
    /// # use callpair::{contract::ContractRule, item::ResponseItem, json::Json};
    /// let output = r#"{"type":"function_call_output","call_id":"a","output":"","id":"two words"}"#;
    /// let items = [ResponseItem::load(Json::parse(output)?).unwrap().into()];
    /// let breach = ContractRule::ID_CHARSET.read(&items).breach.unwrap();
    /// assert_eq!(breach.index, 0);
    /// # Ok::<(), callpair::json::JsonError>(())
    /// ```
    pub fn read<'a>(&self, items: &'a [Arc<ResponseItem>]) -> Reading<'a> {
        (self.read)(items)
    }
}

impl<'a> Reading<'a> {
    /// Reads the items that `look` has something to say of: `Ok` where they keep the rule, `Err` with how they break it.
    fn of(
        items: &'a [Arc<ResponseItem>],
        mut look: impl FnMut(usize, &'a ResponseItem) -> Option<Result<(), How<'a>>>,
    ) -> Reading<'a> {
        let mut reading = Reading::default();
        for (index, item) in items.iter().enumerate() {
            let Some(verdict) = look(index, item) else { continue };
            reading.concerned += 1;
            if let (Err(how), None) = (verdict, &reading.breach) {
                reading.breach = Some(Breach { index, how });
            }
        }
        reading
    }
}
