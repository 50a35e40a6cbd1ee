//! The seed of a run, and its token.

use crate::generate::GENERATOR_VERSION;
use std::fmt;
use std::str::FromStr;

/// The seed of a run. Its token names the version of the generator, `g1-00000000000000ff`: another version draws other cases
/// by the same number, so that a token of one is refused and not replayed as something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "g{GENERATOR_VERSION}-{:016x}", self.0)
    }
}

/// Why a seed cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is of another generator.
    #[error(
        "the seed {token:?} is of generator {version}, and this is generator {GENERATOR_VERSION}: it would draw other \
         cases; replay the saved case instead"
    )]
    OtherGenerator {
        /// The token.
        token: String,
        /// The version that it names.
        version: u32,
    },
    /// It is neither a number nor a token.
    #[error("not a seed: {0:?}; write a whole number, or the token that a run printed")]
    NotASeed(String),
}

/// Reads a token, or a whole number, which stands for the token of this version.
impl FromStr for Seed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Seed, SeedError> {
        let not_a_seed = || SeedError::NotASeed(text.chars().take(40).collect());
        if let Ok(number) = text.parse() {
            return Ok(Seed(number));
        }
        let (version, seed) =
            text.strip_prefix('g').and_then(|rest| rest.split_once('-')).ok_or_else(not_a_seed)?;
        let version: u32 = version.parse().map_err(|_| not_a_seed())?;
        if version != GENERATOR_VERSION {
            return Err(SeedError::OtherGenerator { token: text.chars().take(40).collect(), version });
        }
        if seed.len() != 16 {
            return Err(not_a_seed());
        }
        u64::from_str_radix(seed, 16).map(Seed).map_err(|_| not_a_seed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_is_written() {
        for seed in [Seed(0), Seed(7), Seed(u64::MAX)] {
            assert_eq!(seed.to_string().parse(), Ok(seed));
            assert_eq!(seed.0.to_string().parse(), Ok(seed));
        }
    }

    #[test]
    fn a_token_of_another_generator_is_refused() {
        let refused = "g99-0000000000000007".parse::<Seed>();
        assert!(matches!(refused, Err(SeedError::OtherGenerator { version: 99, .. })));
        for text in ["", "x", "g1", "g1-7", "-1", "g1-zzzzzzzzzzzzzzzz", "18446744073709551616"] {
            assert!(matches!(text.parse::<Seed>(), Err(SeedError::NotASeed(_))), "{text}");
        }
    }
}
