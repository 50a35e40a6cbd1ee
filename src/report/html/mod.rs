//! What every page has: one self-contained file, no script, and nothing that is loaded from anywhere.
//!
//! What stands in a page of others' texts goes through [`escaped`]: no markup, no control character and no mark that turns
//! the direction of writing passes.

mod grid;

pub(super) use grid::write_matrix;

use super::text::plain;
use std::io::{self, Write};

/// The only style sheet.
const STYLE: &str = include_str!("page.css");

/// Forbids the page to load anything, should something get past the escaping.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Begins a page: all that stands before its header.
pub(super) fn begin(out: &mut impl Write, title: &str) -> io::Result<()> {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escaped(title)
    )?;
    writeln!(out, "<a class=\"skip\" href=\"#main\">Skip to the result</a>")
}

/// The verdict in large letters, and what there is to know of the run; `class` is `good`, `bad` or `warn`.
pub(super) fn header(
    out: &mut impl Write,
    command: &str,
    class: &str,
    (word, words): (&str, &str),
    facts: &[(&str, String)],
) -> io::Result<()> {
    writeln!(out, "<header class=\"{class}\">\n<p class=\"tool\">callpair {command}</p>")?;
    writeln!(out, "<h1><span class=\"verdict\">{word}</span> {}</h1>\n<dl>", escaped(words))?;
    for (name, value) in facts {
        writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value))?;
    }
    writeln!(out, "</dl>\n</header>")
}

/// The links to the sections, each by its id, and the beginning of the main part.
pub(super) fn contents(out: &mut impl Write, links: &[(&str, &str)]) -> io::Result<()> {
    writeln!(out, "<nav aria-label=\"On this page\"><ul>")?;
    for (id, text) in links {
        writeln!(out, "<li><a href=\"#{id}\">{text}</a></li>")?;
    }
    writeln!(out, "</ul></nav>\n<main id=\"main\">")
}

/// Ends the main part and the page.
pub(super) fn end(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "</main>\n<footer><p>callpair {}. This page loads nothing and holds no script.</p></footer>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    )
}

/// A text as it stands in the page, in an element or in a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Begins a section with its heading.
pub(super) fn section(out: &mut impl Write, id: &str, heading: &str) -> io::Result<()> {
    writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_markup_and_no_control_character_passes() {
        assert_eq!(escaped("<script>\"&\u{1b}'\u{202e}"), "&lt;script&gt;&quot;&amp;\\u{1b}&#39;\\u{202e}");
    }
}
