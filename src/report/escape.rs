//! JSON that is safe to print to a terminal.

use std::io::{self, Write};

/// Passes JSON text through, with the control characters that JSON lets stand raw (U+007F to U+009F) written as escapes.
/// They can only stand in strings, so the value stays the same.
#[derive(Debug)]
pub struct EscapeControls<W> {
    inner: W,
    /// Whether the last byte was the first of two, the second of which decides.
    lead: bool,
}

/// The first byte in UTF-8 of U+0080 to U+00BF.
const LEAD: u8 = 0xC2;

impl<W: Write> EscapeControls<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> EscapeControls<W> {
        EscapeControls { inner, lead: false }
    }
}

impl<W: Write> Write for EscapeControls<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut plain = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let lead = std::mem::replace(&mut self.lead, *byte == LEAD);
            let control = *byte == 0x7F || (lead && (0x80..=0x9F).contains(byte));
            if !(lead || self.lead || control) {
                continue;
            }
            // What is held back is not written yet, so it is not part of the plain text either.
            self.inner.write_all(bytes.get(plain..at).unwrap_or_default())?;
            plain = at + 1;
            if lead && !control {
                self.inner.write_all(&[LEAD])?;
            }
            if control {
                write!(self.inner, "\\u{byte:04x}")?;
            } else if !self.lead {
                self.inner.write_all(&[*byte])?;
            }
        }
        self.inner.write_all(bytes.get(plain..).unwrap_or_default())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_escapes_wherever_the_text_is_split() {
        let text = "\"a\u{7f}\u{80}\u{9b}31m\u{a0}é\u{2028}𝄞\u{9f}\u{a9}\u{ff}\"";
        let safe = "\"a\\u007f\\u0080\\u009b31m\u{a0}é\u{2028}𝄞\\u009f\u{a9}\u{ff}\"";
        for split in 0..=text.len() {
            let mut out = EscapeControls::new(Vec::new());
            out.write_all(&text.as_bytes()[..split]).expect("a vector");
            out.write_all(&text.as_bytes()[split..]).expect("a vector");
            assert_eq!(String::from_utf8(out.inner).expect("UTF-8"), safe, "split at {split}");
        }
    }
}
