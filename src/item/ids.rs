//! The two names that an item can carry: its own, and that of the call it belongs to.

use super::{Shape, ShapeError};
use crate::json::{Json, write_string};
use std::fmt;
use std::sync::Arc;

macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> $name {
                $name(text.into())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl Shape for $name {
            fn load(json: Json) -> Result<$name, ShapeError> {
                String::load(json).map($name::from)
            }

            fn write(&self, out: &mut Vec<u8>) {
                write_string(&self.0, out);
            }
        }
    };
}

id_type! {
    /// The id of an item itself (`fc_…`, `msg_…`). Any string, also the empty one. Shared, so a clone is cheap.
    ItemId
}

id_type! {
    /// The id that ties an output to its call. Any string, compared byte for byte. Shared, so a clone is cheap.
    CallId
}
