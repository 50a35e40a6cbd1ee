//! JUnit XML: a suite a file, a test a rule of severity error. Held in memory until the end, so what stands in it of a
//! file is bounded.

use super::human::place;
use super::{Reporter, Summary};
use crate::check::{Checked, Finding, Rule, Severity};
use crate::report::text::plain;
use crate::report::{junit, shown_path};
use crate::source::Kind;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};

pub(super) struct Junit<W> {
    out: W,
    report: Report,
}

/// So many findings of a rule are listed for a file.
const LISTED: usize = 100;

impl<W: Write> Junit<W> {
    pub(super) fn new(out: W) -> Junit<W> {
        Junit { out, report: Report::new("callpair check") }
    }
}

impl<W: Write> Reporter for Junit<W> {
    fn file(&mut self, path: &str, checked: &Checked) -> io::Result<()> {
        let path = shown_path(path);
        let mut suite = TestSuite::new(path.clone());
        let is_rollout = checked.kind == Kind::CodexRollout;
        let rules = Rule::ALL.iter().filter(|rule| is_rollout || !rule.is_of_rollouts());
        for rule in rules.filter(|rule| rule.severity() == Severity::Error) {
            let mut case = TestCase::new(rule.id(), status(*rule, checked));
            case.set_classname(path.clone());
            suite.add_test_case(case);
        }
        self.report.add_test_suite(suite);
        Ok(())
    }

    fn unusable(&mut self, path: &str, why: &str) -> io::Result<()> {
        let path = shown_path(path);
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(plain(why));
        let mut case = TestCase::new("can be checked", status);
        case.set_classname(path.clone());
        let mut suite = TestSuite::new(path);
        suite.add_test_case(case);
        self.report.add_test_suite(suite);
        Ok(())
    }

    fn end(&mut self, _summary: &Summary) -> io::Result<()> {
        junit::write(&self.report, &mut self.out)
    }
}

fn status(rule: Rule, checked: &Checked) -> TestCaseStatus {
    let broken = || checked.findings_by(move |of| of == rule);
    let Some(first) = broken().next() else { return TestCaseStatus::success() };
    let mut lines: Vec<String> = broken().take(LISTED).map(|finding| line(&finding)).collect();
    let more = broken().count().saturating_sub(LISTED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(rule.id()).set_message(line(&first)).set_description(lines.join("\n"));
    status
}

fn line(finding: &Finding) -> String {
    let place = place(&finding.place, finding.index);
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    format!("{place}{}; {}", finding.message, finding.next)
}
