//! The last lines of a subject's stderr, kept to be shown with a failure.

use super::escaped::shown;

/// Lines that are shown.
const LINES: usize = 20;
/// Bytes that are shown.
const BYTES: usize = 4096;

/// What came last on stderr: never more than a few kilobytes, however much was written.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    /// Takes what was read.
    pub(super) fn push(&mut self, read: &[u8]) {
        let fresh = read.get(read.len().saturating_sub(BYTES)..).unwrap_or_default();
        self.cut |= fresh.len() < read.len();
        self.bytes.extend_from_slice(fresh);
        if self.bytes.len() > 2 * BYTES {
            self.cut = true;
            self.bytes.drain(..self.bytes.len() - BYTES);
        }
    }

    /// What a message ends with: nothing where nothing was written, otherwise a headline and the lines, indented.
    pub(super) fn report(&self) -> String {
        let start = self.bytes.len().saturating_sub(BYTES);
        let text = String::from_utf8_lossy(self.bytes.get(start..).unwrap_or_default());
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let left_out = lines.len().saturating_sub(LINES);
        let Some(lines) = lines.get(left_out..).filter(|lines| !lines.is_empty()) else {
            return String::new();
        };
        let all = left_out == 0 && start == 0 && !self.cut;
        let mut report = String::from(if all { "\nstderr:" } else { "\nstderr ended with:" });
        for line in lines {
            report.push_str("\n  ");
            report.push_str(&shown(line, BYTES));
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_twenty_lines_are_kept() {
        let mut tail = Tail::default();
        (0..1000).for_each(|n| tail.push(format!("line {n}\n").as_bytes()));
        let report = tail.report();
        assert!(report.starts_with("\nstderr ended with:\n  line 980\n"), "{report}");
        assert!(report.ends_with("\n  line 999"), "{report}");
    }

    #[test]
    fn a_line_without_an_end_keeps_its_last_four_kilobytes() {
        let mut tail = Tail::default();
        (0..100).for_each(|_| tail.push(&[b'x'; 3000]));
        tail.push(b"the end");
        assert!(tail.bytes.len() <= 2 * BYTES);
        let report = tail.report();
        assert!(report.len() < BYTES + 40 && report.ends_with("xthe end"), "{}", report.len());
    }

    #[test]
    fn silence_adds_nothing_and_a_short_word_is_whole() {
        let mut tail = Tail::default();
        assert_eq!(tail.report(), "");
        tail.push(b"\n\n");
        assert_eq!(tail.report(), "");
        tail.push(b"a\x1b[2J\n");
        assert_eq!(tail.report(), "\nstderr:\n  \n  \n  a\\u{1b}[2J");
    }
}
