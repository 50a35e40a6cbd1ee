//! Text of a subject, made fit for a report: no control character reaches a terminal, no novel a message.

/// At most `most` characters of the text, what cannot be printed as an escape.
pub(super) fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for character in text.chars().take(most) {
        push(&mut shown, character);
    }
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// Quotes and backslashes stay as they are: a traceback is full of them.
fn push(shown: &mut String, character: char) {
    match character {
        '"' | '\'' | '\\' => shown.push(character),
        other => shown.extend(other.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(shown("a\u{1b}[31m\u{202e}\u{9b}b\n", 99), "a\\u{1b}[31m\\u{202e}\\u{9b}b\\n");
        assert_eq!(shown("File \"x\\y\", it's", 99), "File \"x\\y\", it's");
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(shown("ééé", 3), "ééé");
        assert_eq!(shown("éééé", 3), "ééé…");
    }
}
