//! An item as a file held it.

use super::{ResponseItem, ShapeError};
use crate::json::{Json, Object};
use std::fmt;

/// An item as a file held it: unknown kinds, unknown fields, the digits of numbers and the order of keys are kept,
/// so that a session of another version survives being read and written. (A key given twice is kept once, its last
/// value; blanks between tokens are not kept.)
///
/// ```
/// # use callpair::{item::LosslessItem, json::Json};
/// let text = r#"{"type":"hologram","depth":1.50,"call_id":"a"}"#;
/// let item = LosslessItem::from_json(Json::parse(text)?).unwrap();
/// assert_eq!((item.type_name(), item.to_string().as_str()), (Some("hologram"), text));
/// # Ok::<(), callpair::json::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LosslessItem(Object);

impl LosslessItem {
    /// Takes any JSON object; an item without a `type` is one too.
    ///
    /// # Errors
    /// Where `json` is no object.
    pub fn from_json(json: Json) -> Result<LosslessItem, ShapeError> {
        super::shape::object(json).map(LosslessItem)
    }

    /// The `type`, where it is a string.
    pub fn type_name(&self) -> Option<&str> {
        self.0.get("type")?.as_str()
    }

    /// The fields.
    pub fn fields(&self) -> &Object {
        &self.0
    }

    /// Loads the wire form, which drops what release rust-v0.144.6 does not know.
    ///
    /// # Errors
    /// Where the item does not fit its shape.
    pub fn load(&self) -> Result<ResponseItem, ShapeError> {
        ResponseItem::load(Json::Object(self.0.clone()))
    }
}

/// Compact JSON, digit for digit.
impl fmt::Display for LosslessItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Json::Object(self.0.clone()), f)
    }
}
