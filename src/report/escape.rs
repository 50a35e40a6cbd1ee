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

const DELETE: u8 = 0x7F;

impl<W: Write> EscapeControls<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> EscapeControls<W> {
        EscapeControls { inner, lead: false }
    }
}

impl<W: Write> Write for EscapeControls<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.lead) {
                if (0x80..=0x9F).contains(first) {
                    write!(self.inner, "\\u{first:04x}")?;
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                self.inner.write_all(&[LEAD])?;
            }
            let plain = rest.iter().position(|byte| matches!(*byte, LEAD | DELETE)).unwrap_or(rest.len());
            let (text, special) = rest.split_at(plain);
            self.inner.write_all(text)?;
            match special.first() {
                Some(&LEAD) => self.lead = true,
                Some(byte) => write!(self.inner, "\\u{byte:04x}")?,
                None => break,
            }
            rest = special.get(1..).unwrap_or_default();
        }
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
