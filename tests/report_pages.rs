//! The pages: whole, self-contained, safe whatever stands in them, and readable by whoever and whatever reads them.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod outcomes;

use callpair::case::Case;
use callpair::invariant::CATALOGUE;
use callpair::item::Modalities;
use callpair::report::matrix;
use callpair::report::verify::{Settings, write_html};
use callpair::verify::{Outcome, Verdict, Violation};
use outcomes::*;

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let matrix = small_matrix();
    for outcome in [passing(), failing(), vacuous(), interrupted(), known_and_stale()] {
        let settings = Settings { matrix: Some(&matrix), ..settings(true) };
        let page = text(|out| write_html(out, &outcome, &settings));
        well_formed(&page);
        loads_nothing(&page);
        for id in page.split("aria-labelledby=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        for id in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
        readable(&page);
    }
}

#[test]
fn the_page_of_the_matrix_is_whole_and_names_every_fault_with_its_smallest_case() {
    for matrix in [small_matrix(), whole_matrix()] {
        let page = text(|out| matrix::write_html(out, &matrix));
        well_formed(&page);
        loads_nothing(&page);
        readable(&page);
        for row in &matrix.rows {
            assert_eq!(page.matches(&format!("<th scope=\"row\"><code>{}</code>", row.fault)).count(), 2);
        }
    }
    let page = text(|out| matrix::write_html(out, &small_matrix()));
    let body = page.split_once("<header").expect("a header").1;
    let lines: Vec<&str> = body.lines().filter(|line| !line.contains("UNNEEDED")).collect();
    insta::assert_snapshot!("matrix_page", lines.join("\n").replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

/// What a screen reader goes by: one h1, no level left out, every cell of a heading with its scope, every table with a caption,
/// every part that scrolls a region with a name that the keyboard reaches, and a language.
fn readable(page: &str) {
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    assert_eq!(page.matches("<h1>").count(), 1);
    for landmark in ["<header", "<nav aria-label=", "<main id=", "<footer"] {
        assert_eq!(page.matches(landmark).count(), 1, "{landmark}");
    }
    let mut before = 0;
    for level in page.split("<h").skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10)) {
        assert!(level <= before + 1, "h{level} behind h{before}");
        before = level;
    }
    assert_eq!(page.matches("<th ").count(), page.matches("<th scope=").count());
    assert_eq!(page.matches("<th>").count(), 0);
    assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
    let scrolled = page.split("<div class=\"scroll").skip(1);
    for tag in scrolled.filter_map(|rest| rest.split('>').next()) {
        assert!(tag.contains(" role=\"region\" aria-label") && tag.ends_with(" tabindex=\"0\""), "{tag}");
    }
}

/// Violations of every invariant of the catalogue, with ids that are made to break a page.
fn hostile_page() -> String {
    let ids =
        ["<script>alert(1)</script>".to_owned(), "\u{202e}gpj.\u{2066}exe".to_owned(), "x".repeat(100_000)];
    let calls = ids.iter().map(|id| {
        let id = serde_json::to_string(id).expect("a string");
        item(&format!(
            r#"{{"type":"function_call","id":{id},"name":{id},"arguments":"{{}}","call_id":{id}}}"#
        ))
    });
    let case = Case::of_history(calls.collect(), Modalities::Text);
    let broken = CATALOGUE
        .iter()
        .map(|invariant| violation(invariant.id, &ids[..2].concat(), case.clone(), <[_]>::to_vec));
    let outcome = Outcome { verdict: Verdict::Fail, violations: broken.collect(), ..passing() };
    let replay = vec![format!("callpair replay '{}'", ids[0]); outcome.violations.len()];
    text(|out| write_html(out, &outcome, &Settings { replay, ..settings(true) }))
}

#[test]
fn many_violations_with_ids_of_a_hundred_kilobytes_make_a_page_that_opens() {
    let page = hostile_page();
    well_formed(&page);
    loads_nothing(&page);
    readable(&page);
    assert!(!page.contains('\u{202e}') && !page.contains('\u{2066}'));
    assert_eq!(page.matches("<article").count(), CATALOGUE.len());
    let shown = page.len() / CATALOGUE.len();
    assert!(shown < 20_000, "{shown} bytes a violation");
}

fn loads_nothing(page: &str) {
    for loads in ["http:", "https:", "src=", "url(", "@import", "<script", "<link", "<img", "javascript:"] {
        assert!(!page.contains(loads), "{loads}");
    }
}

#[test]
fn the_page_shows_history_plan_and_request_with_the_difference_marked() {
    let page = text(|out| write_html(out, &failing(), &settings(true)));
    let body = page.split_once("<main").expect("a main part").1.split_once("id=\"cases\"").expect("labels").0;
    insta::assert_snapshot!(body);
}

#[test]
fn no_control_character_and_no_markup_passes() {
    let mut outcome = known_and_stale();
    outcome.subject.name = HOSTILE.to_owned();
    outcome.subject.version = HOSTILE.to_owned();
    outcome.stale = vec![HOSTILE.to_owned()];
    let call = CALL.replace("\"a\"", &serde_json::to_string(HOSTILE).expect("a string"));
    let case = Case::of_history(vec![item(&call)], Modalities::Text);
    let mut violation = violation("pairing/function-call", HOSTILE, case, <[_]>::to_vec);
    violation.note = Some(HOSTILE.to_owned());
    outcome.violations = vec![
        Violation { known: Some(HOSTILE.to_owned()), ..violation.clone() },
        Violation { invariant: "pairing/tool-search-call", ..violation },
    ];
    let settings = Settings { replay: vec![HOSTILE.to_owned(); 2], ..settings(true) };
    for (form, text) in every_form(&outcome, &settings) {
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{form}");
        if form == "html" {
            well_formed(&text);
            assert!(!text.contains("<script"), "{form}");
            assert!(!text.contains('\u{202e}'), "{form}");
        }
    }
}
