//! What kinds of input a model accepts.

use std::fmt;
use std::str::FromStr;

/// The kinds of input that a model accepts. Text always is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modalities {
    /// Text only: pictures are stripped.
    Text,
    /// Text and pictures.
    TextAndImage,
}

impl Modalities {
    /// Both of them.
    pub const ALL: [Modalities; 2] = [Modalities::Text, Modalities::TextAndImage];

    /// Whether pictures may be sent.
    pub fn accepts_images(self) -> bool {
        self == Modalities::TextAndImage
    }

    /// The names, as a model catalogue and the subject protocol list them.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Modalities::Text => &["text"],
            Modalities::TextAndImage => &["text", "image"],
        }
    }

    /// Reads a list of names, in any order.
    ///
    /// # Errors
    /// Where a name is unknown, or `text` is missing.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Modalities, ModalitiesError> {
        let (mut text, mut image) = (false, false);
        for name in names {
            match name {
                "text" => text = true,
                "image" => image = true,
                other => return Err(ModalitiesError::Unknown(other.chars().take(40).collect())),
            }
        }
        match (text, image) {
            (false, _) => Err(ModalitiesError::WithoutText),
            (true, false) => Ok(Modalities::Text),
            (true, true) => Ok(Modalities::TextAndImage),
        }
    }
}

/// Why a list of modalities cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModalitiesError {
    /// A name that is neither `text` nor `image`.
    #[error("no such modality: {0:?}; known are text and image")]
    Unknown(String),
    /// Every model takes text.
    #[error("the list must hold text: write text or text,image")]
    WithoutText,
}

/// `text` or `text,image`.
impl fmt::Display for Modalities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(","))
    }
}

impl FromStr for Modalities {
    type Err = ModalitiesError;

    fn from_str(text: &str) -> Result<Modalities, ModalitiesError> {
        Modalities::from_names(text.split(',').map(str::trim))
    }
}
